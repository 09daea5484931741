"""How much of a difference from Table 2 fifty cost matrices and one order of the classes explain. Predefined splits only.

Matrices. MC knows no costs, so its errors do not depend on the matrix, and the mean cost of each is 5.5 when C_jk is uniform in
[1, 10]: over all matrices its expected risk is 5.5 times its error. Where few pairs of classes make most errors, fifty draws of
few entries decide the mean of Table 2, for all six algorithms in the same direction. So MC is a control variate of the others:
what their risks would be over all matrices follows by regression on its risk, whose expectation is known.

Order. Coordinate descent depends on which codeword a class has (gradient descent does not), and the paper does not say which.
MC and P-MC, fitted with the classes in other orders, show how much.
"""

from collections.abc import Mapping

import numpy as np

from papers.datasets.registry import Found
from papers.guess_averse import ALGORITHMS, PREDEFINED, Trial, published_means, trial
from papers.pages import Prose, Table
from papers.pages.chapter import Cell
from papers.scope import Scope
from papers.store import Payload, Unit, unit
from permissible.estimators.mcboost import MCBoostClassifier
from permissible.evaluation import paired
from permissible.types import AnyArray, FloatArray

METHOD, ORDERED = "MC, all matrices", "MC and P-MC, another order of classes"
METHODS = METHOD, ORDERED
MEAN_COST = 5.5
ORDERS, TRIALS = 20, 50
ROUNDING = 0.005
"""Half of the last digit that is printed: a printed standard error of .00 is one of less than this."""

Risks = Mapping[str, Mapping[str, AnyArray]]
"""Risks of the trials by set and algorithm."""


def plan(scope: Scope, found: Found, rounds: int) -> list[Unit]:
    """One unit a set with a predefined split, and one for each order."""
    options = {"rounds": rounds, "seed": scope.seed}
    return [
        unit("guess-averse", name, method, number, options | {"source": source})
        for name, source in found.sources.items()
        if name in PREDEFINED
        for method, count in ((METHOD, 1), (ORDERED, ORDERS))
        for number in range(count)
    ]


def work(one: Unit) -> Payload:
    """Fit MC once: with the classes in their order, or in another one."""
    shared = trial(one.dataset, 0, one.options["seed"])
    return _pairs(shared, one) if one.method == METHOD else _ordered(shared, one)


def _posterior(shared: Trial, order: AnyArray, rounds: int) -> FloatArray:
    """The posterior of the test rows when class k is learned as number order[k]."""
    model = MCBoostClassifier("mc", n_rounds=rounds, tol=0.0, learner="linear").fit(
        shared.train[0], order[shared.train[1]]
    )
    full = np.zeros((len(shared.test[1]), len(order)))
    full[:, np.argsort(order)[model.classes_]] = model.predict_proba(shared.test[0])
    return full


def _pairs(shared: Trial, one: Unit) -> Payload:
    """Its error, and the share of errors between the two classes that are confused most."""
    predicted = _posterior(shared, np.arange(len(shared.costs)), one.options["rounds"]).argmax(axis=1)
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


def _ordered(shared: Trial, one: Unit) -> Payload:
    """Its error, and the risks of MC and P-MC under the matrices of the trials."""
    seed = one.options["seed"]
    order = np.random.default_rng([seed, one.fold, 15485863]).permutation(len(shared.costs))
    posterior = _posterior(shared, order, one.options["rounds"])
    predicted = posterior.argmax(axis=1)
    costs = [trial(one.dataset, number, seed).costs for number in range(TRIALS)]
    true = shared.test[1]
    return {
        "error": float(np.mean(predicted != true)),
        "MC": [float(cost[true, predicted].mean()) for cost in costs],
        "P-MC": [float(cost[true, (posterior @ cost).argmin(axis=1)].mean()) for cost in costs],
    }


def over_all(risks: AnyArray, control: AnyArray, expected: float) -> tuple[float, float]:
    """The mean of risks, corrected by a control variate of known expectation, and its standard error.

    Examples
    --------
    >>> over_all(np.array([2.0, 4.0, 6.0]), np.array([1.0, 2.0, 3.0]), 2.5)
    (5.0, 0.0)
    """
    gap = control - control.mean()
    spread = float(gap @ gap)
    slope = float(gap @ risks) / spread if spread > 0 else 0.0
    mean = float(risks.mean()) - slope * (float(control.mean()) - expected)
    return mean, paired.standard_error(np.round(risks - slope * control, 12))


def blocks(results: Mapping[Unit, Payload], risks: Risks) -> list[Prose | Table]:
    """Set the risks over all matrices, and those of other orders, beside the printed ones."""
    found = {one.dataset: (one, payload) for one, payload in results.items() if one.method == METHOD}
    if not found:
        return []
    orders = {
        name: [payload for one, payload in results.items() if one.method == ORDERED and one.dataset == name]
        for name in found
    }
    corrected = {
        name: {
            method: over_all(risks[name][method], risks[name]["MC"], MEAN_COST * payload["error"])
            for method in ALGORITHMS
        }
        for name, (_, payload) in found.items()
    }
    made = [_chance(found, risks), _beside(corrected)]
    if all(orders.values()):
        made += [_orders(orders)]
    return [
        Prose(
            "How much fifty matrices leave to chance, where the split is predefined: MC knows no costs, so over all matrices "
            f"its expected risk is {MEAN_COST} times its error. The share is that of the errors between the two classes "
            f"confused most; the mean cost of that pair would be {MEAN_COST} in the long run. Over all matrices the other "
            "five follow by regression on MC under the same matrices. The paper does not say which codeword a class has, and "
            "coordinate descent depends on it: MC and P-MC were also fitted with the classes in other orders, and judged over "
            "all matrices."
        ),
        *made,
        Prose(_verdict(corrected, orders)),
    ]


def _chance(found: Mapping[str, tuple[Unit, Payload]], risks: Risks) -> Table:
    printed = published_means()
    rows: list[list[Cell]] = []
    for name, (one, payload) in found.items():
        mine, seed = risks[name]["MC"], one.options["seed"]
        entry = np.mean([trial(name, number, seed).costs[tuple(payload["pair"])] for number in range(len(mine))])
        paper, error = printed[name, "MC"]
        overall = MEAN_COST * payload["error"]
        rows.append([name, f"{paper:.2f} ± {error:.2f}", float(mine.mean()), overall, payload["share"], float(entry)])
    columns = [
        "data set",
        "MC, printed",
        "MC, here",
        "MC over all matrices",
        "share of the first pair",
        "its mean cost here",
    ]
    return Table("matrices", "MC over the matrices drawn here and over all of them", columns, rows)


def _beside(corrected: Mapping[str, Mapping[str, tuple[float, float]]]) -> Table:
    printed = published_means()
    rows: list[list[Cell]] = []
    for name, cells in corrected.items():
        rows.append([name, "paper", *("{:.2f} ± {:.2f}".format(*printed[name, method]) for method in ALGORITHMS)])
        rows.append([name, "here", *("{:.3f} ± {:.3f}".format(*cells[method]) for method in ALGORITHMS)])
    return Table(
        "all-matrices", "Risk (5) over all matrices, beside the printed table", ["data set", "", *ALGORITHMS], rows
    )


def _of_orders(payloads: list[Payload]) -> dict[str, AnyArray]:
    """Risks over all matrices of MC and P-MC, one for each order."""
    return {
        method: np.array(
            [over_all(np.array(one[method]), np.array(one["MC"]), MEAN_COST * one["error"])[0] for one in payloads]
        )
        for method in ("MC", "P-MC")
    }


def _orders(orders: Mapping[str, list[Payload]]) -> Table:
    printed = published_means()
    rows: list[list[Cell]] = []
    for name, payloads in orders.items():
        for method, values in _of_orders(payloads).items():
            rows.append(
                [
                    name,
                    method,
                    "{:.2f} ± {:.2f}".format(*printed[name, method]),
                    float(values.mean()),
                    float(values.std(ddof=1)),
                    float(values.min()),
                    float(values.max()),
                ]
            )
    title = f"Classes in {len(next(iter(orders.values())))} other orders: risk (5) over all matrices"
    return Table("orders", title, ["data set", "", "printed", "mean", "deviation", "least", "most"], rows)


def _verdict(corrected: Mapping[str, Mapping[str, tuple[float, float]]], orders: Mapping[str, list[Payload]]) -> str:
    """Count the cells within two combined standard errors of the printed ones, and name the others."""
    printed = published_means()
    outside: list[str] = []
    explained: list[str] = []
    for name, cells in corrected.items():
        spread = _of_orders(orders[name]) if orders[name] else {}
        for method, (mean, error) in cells.items():
            paper, paper_error = printed[name, method]
            if abs(mean - paper) <= 2 * np.hypot(error, paper_error + ROUNDING):
                continue
            outside.append(f"{method} on {name}")
            if method in spread:
                values = spread[method]
                among = np.hypot(values.std(ddof=1), paper_error + ROUNDING)
                if abs(values.mean() - paper) <= 2 * among:
                    explained.append(outside[-1])
    count = len(corrected) * len(ALGORITHMS)
    text = (
        f"Over all matrices {count - len(outside)} of {count} cells lie within two combined standard errors of the printed ones "
        f"(a printed error of .00 counts as {ROUNDING})"
    )
    text += f"; not: {', '.join(outside)}." if outside else "."
    if explained:
        text += f" Within two once the order of the classes counts as chance too: {', '.join(explained)}."
    return text
