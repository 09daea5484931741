"""How much of a difference from Table 2 the fifty cost matrices explain: the risk of MC over all matrices at once.

MC knows no costs, so its errors do not depend on the matrix, and the mean cost of each is 5.5 when C_jk is uniform in [1, 10]:
over all matrices its expected risk is 5.5 times its error. Where few pairs of classes make most errors, fifty draws of few
entries decide the mean of Table 2, for all six algorithms in the same direction. Sets with a predefined split only.
"""

from collections.abc import Mapping

import numpy as np

from permissible.estimators.mcboost import MCBoostClassifier
from permissible.experiments.datasets.registry import Found
from permissible.experiments.guess_averse import PREDEFINED, published_means, trial
from permissible.experiments.pages import Prose, Table
from permissible.experiments.pages.chapter import Cell
from permissible.experiments.scope import Scope
from permissible.experiments.store import Payload, Unit, unit

METHOD = "MC, all matrices"
MEAN_COST = 5.5


def plan(scope: Scope, found: Found, rounds: int) -> list[Unit]:
    """One unit a set with a predefined split."""
    return [
        unit("guess-averse", name, METHOD, 0, {"rounds": rounds, "seed": scope.seed, "source": source})
        for name, source in found.sources.items()
        if name in PREDEFINED
    ]


def work(one: Unit) -> Payload:
    """Fit MC; give its error, and the share of errors between the two classes that are confused most."""
    shared = trial(one.dataset, 0, one.options["seed"])
    settings = {"n_rounds": one.options["rounds"], "tol": 0.0, "calibration": None}
    predicted = MCBoostClassifier("mc", **settings).fit(*shared.train).predict(shared.test[0])
    confused = np.zeros_like(shared.costs)
    np.add.at(confused, (shared.test[1], predicted), 1.0)
    np.fill_diagonal(confused, 0.0)
    pairs = np.triu(confused + confused.T)
    first, second = np.unravel_index(int(pairs.argmax()), pairs.shape)
    return {
        "error": float(confused.sum() / len(predicted)),
        "share": float(pairs.max() / max(confused.sum(), 1.0)),
        "pair": [int(first), int(second)],
    }


def blocks(results: Mapping[Unit, Payload], here: Mapping[str, tuple[float, int]]) -> list[Prose | Table]:
    """Set the risk over all matrices beside the printed one and ours (`here`: mean and number of trials by set)."""
    if not results:
        return []
    printed = published_means()
    rows: list[list[Cell]] = []
    for one, payload in results.items():
        mean, trials = here[one.dataset]
        seed = one.options["seed"]
        entry = np.mean([trial(one.dataset, number, seed).costs[tuple(payload["pair"])] for number in range(trials)])
        paper, error = printed[one.dataset, "MC"]
        rows.append(
            [
                one.dataset,
                f"{paper:.2f} ± {error:.2f}",
                mean,
                MEAN_COST * payload["error"],
                payload["share"],
                float(entry),
            ]
        )
    columns = [
        "data set", "MC, printed", "MC, here", "MC over all matrices", "share of the first pair", "its mean cost here"
    ]  # fmt: skip
    return [
        Prose(
            "How much fifty matrices leave to chance, where the split is predefined: MC knows no costs, so over all matrices "
            f"its expected risk is {MEAN_COST} times its error. The share is that of the errors between the two classes "
            f"confused most; the mean cost of that pair would be {MEAN_COST} in the long run."
        ),
        Table("matrices", "MC over the matrices drawn here and over all of them", columns, rows),
    ]
