"""Beyond [B]: `learner="auto"` and today's libraries on the trials of Table 2, each deciding at least expected cost.

Every method fits a posterior without costs, which then serves every cost matrix. Rows and matrices are those of Table 2. A set
with a random split has one trial a fit; one with a predefined split has ten fits, each of another seed and judged by five of the
fifty matrices. Nothing is tuned: the rivals have the settings that their names say, `auto` chooses for itself.
"""

import importlib
import importlib.util
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from papers.datasets.registry import Found
from papers.guess_averse import PREDEFINED, published_means, trial
from papers.pages import Drawing, Prose, Table
from papers.pages.chapter import Cell
from papers.scope import Scope
from papers.store import Payload, Unit, unit
from permissible.estimators.mcboost import MCBoostClassifier
from permissible.evaluation import paired
from permissible.types import AnyArray

AUTO = "MCBoost, auto"
MATRICES = 5
"""Cost matrices by which a fit on a predefined split is judged."""


def _auto(seed: int) -> Any:
    return MCBoostClassifier(learner="auto", random_state=seed)


def _extra_trees(seed: int) -> Any:
    return importlib.import_module("sklearn.ensemble").ExtraTreesClassifier(300, random_state=seed)


def _lightgbm(seed: int) -> Any:
    settings = {"n_jobs": 1, "verbose": -1, "deterministic": True, "force_col_wise": True}
    return importlib.import_module("lightgbm").LGBMClassifier(reg_lambda=1.0, random_state=seed, **settings)


def _logistic(seed: int) -> Any:
    scaler = importlib.import_module("sklearn.preprocessing").StandardScaler()
    model = importlib.import_module("sklearn.linear_model").LogisticRegression(max_iter=2000)
    return importlib.import_module("sklearn.pipeline").make_pipeline(scaler, model)


MAKERS: dict[str, tuple[str, Callable[[int], Any]]] = {
    AUTO: ("permissible", _auto),
    "300 extra-trees": ("sklearn", _extra_trees),
    "LightGBM, l2 = 1": ("lightgbm", _lightgbm),
    "logistic regression": ("sklearn", _logistic),
}
METHODS = tuple(MAKERS)


def plan(scope: Scope, found: Found) -> list[Unit]:
    """List the units: sets, fits, methods whose package is installed."""
    here = [name for name, (package, _) in MAKERS.items() if importlib.util.find_spec(package)]
    return [
        unit("guess-averse", name, method, number, {"seed": scope.seed, "source": source, "decision": "bayes"})
        for name, source in found.sources.items()
        for number in range(_fits(name, scope))
        for method in here
    ]


def _fits(name: str, scope: Scope) -> int:
    if scope.quick:
        return 2
    return 10 if name in PREDEFINED else 50


def work(one: Unit) -> Payload:
    """Fit a posterior; give the mean risk (5) of its decisions over the matrices of this fit."""
    seed = one.options["seed"]
    predefined = one.dataset in PREDEFINED
    numbers = range(MATRICES * one.fold, MATRICES * (one.fold + 1)) if predefined else [one.fold]
    trials = [trial(one.dataset, number, seed) for number in numbers]
    rows, label = trials[0].test
    model = MAKERS[one.method][1](seed + one.fold).fit(*trials[0].train)
    posterior = np.zeros((len(label), len(trials[0].costs)))  # a class without training rows has probability 0
    posterior[:, model.classes_] = model.predict_proba(rows)
    risks = [each.risk((posterior @ each.costs).argmin(axis=1)) for each in trials]
    chosen = {"chosen": model.certificate_.chosen} if one.method == AUTO else {}
    return {"risk": float(np.mean(risks)), "error": float(np.mean(posterior.argmax(axis=1) != label)), **chosen}


def blocks(results: Mapping[Unit, Payload]) -> list[Prose | Table | Drawing]:
    """Show the mean risk of each method on each set, in the mean, and on how many sets `auto` is best or tied."""
    if not results:
        return []
    datasets = list(dict.fromkeys(one.dataset for one in results))
    methods = [method for method in METHODS if any(one.method == method for one in results)]
    risks = {(name, method): _column(results, name, method) for name in datasets for method in methods}
    verdicts = {name: _verdict(risks, name, methods) for name in datasets}
    means = {method: float(np.mean([risks[name, method].mean() for name in datasets])) for method in methods}
    printed = published_means()
    gll = {name: printed[name, "GLL"][0] for name in datasets}
    rows: list[list[Cell]] = [
        [name, len(risks[name, AUTO]), *(_cell(risks[name, method]) for method in methods), gll[name], *verdicts[name]]
        for name in datasets
    ]
    rows.append(["mean", "", *(f"{means[m]:.3f}" for m in methods), float(np.mean(list(gll.values()))), "", ""])
    held = sum(word in ("best", "tied") for word, _ in verdicts.values())
    behind = [name for name, (word, _) in verdicts.items() if word == "behind"]
    where = f"; behind on {', '.join(behind)}" if behind else ""
    columns = ["data set", "fits", *methods, "GLL, printed", "auto is", "P"]
    return [
        Prose(
            "Beyond the paper: posteriors fitted without costs, decisions at least expected cost, on the same rows and costs. "
            f"Sets with a predefined split: each fit has a seed of its own and is judged by {MATRICES} of the matrices. P is of "
            "the paired t-test between auto and the best of the others; tied: not below .05, whichever is lower. Fits of one "
            "set share rows, so that P is too small."
        ),
        Table("today", "Risk (5): mean and standard error over the fits", columns, rows),
        Prose(
            f'Over the {len(datasets)} sets learner="auto" has mean risk {means[AUTO]:.3f} and is best or tied on '
            f"{held} of {len(datasets)}{where}. "
            + "; ".join(f"{method}: {value:.3f}" for method, value in means.items() if method != AUTO)
            + "."
        ),
        _choices(results, datasets),
    ]


def _column(results: Mapping[Unit, Payload], name: str, method: str) -> AnyArray:
    own = sorted(
        (one.fold, payload["risk"]) for one, payload in results.items() if (one.dataset, one.method) == (name, method)
    )
    return np.array([risk for _, risk in own])


def _cell(values: AnyArray) -> str:
    return f"{values.mean():.3f} ± {paired.standard_error(values):.3f}"


def _verdict(risks: Mapping[tuple[str, str], AnyArray], name: str, methods: list[str]) -> tuple[str, float]:
    """Whether auto is best, tied with or behind the best of the others, and the P value."""
    rival = min((m for m in methods if m != AUTO), key=lambda method: float(risks[name, method].mean()))
    test = paired.paired_t(risks[name, AUTO], risks[name, rival])
    if len(risks[name, AUTO]) < 2:  # one fit tells no spread
        return ("best" if test.difference <= 0.0 else "behind"), float("nan")
    if test.p_value >= 0.05:
        return "tied", test.p_value
    return ("best" if test.difference <= 0.0 else "behind"), test.p_value


def _choices(results: Mapping[Unit, Payload], datasets: list[str]) -> Table:
    rows: list[list[Cell]] = []
    for name in datasets:
        own = [p["chosen"] for one, p in results.items() if one.dataset == name and one.method == AUTO]
        families = [" + ".join(part.split(" (")[0].split()[-1] for part in choice.split(" + ")) for choice in own]
        counted = {
            family: families.count(family) for family in sorted(set(families), key=lambda f: (-families.count(f), f))
        }
        rows.append([name, ", ".join(f"{family} {count}" for family, count in counted.items())])
    return Table("today-choices", "What auto chose, and in how many fits", ["data set", "chosen"], rows)
