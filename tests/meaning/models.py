"""Fitted models of every kind on awkward tables, rows that try every corner of them, and the decisions to be made."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

import permissible as pm
from permissible import losses
from permissible.bins.literal import Literal
from permissible.estimators.classifier import card_of, schema_of
from permissible.models.card.scorecard import RuleTerm, TreeTerm

TEXTS = ["red", "", "größe", "O'Brien", "</script>", 'q"q', "NULL", "a\nb", "年齢", "0"]
UNSEEN = "never seen before"


@dataclass(frozen=True)
class Kind:
    """How to fit one kind of model: which estimator, on how many classes, with which columns."""

    name: str
    make: Callable[[], Any]
    n_classes: int = 2
    columns: str = (
        "mixed"  # "mixed": text, categories of numbers, truth values, missing; "numbers": truth values among them
    )
    row_costs: bool = False


def training_rows(kind: Kind, seed: int, n_rows: int = 90) -> tuple[pd.DataFrame, Any]:
    """Columns of every kind and labels that hang on some of them."""
    rng = np.random.default_rng([seed, n_rows])
    frame = pd.DataFrame(
        {
            "age": rng.normal(50, 12, n_rows).round(1),
            'say "hi"': rng.choice(
                [-1.5, -0.0, 0.0, 5e-324, 1e-3, 2.0, 1e9 if kind.columns == "mixed" else 3.0], n_rows
            ),
            "smoker; --": rng.random(n_rows) < 0.4,
        }
    )
    drive = frame["age"] / 12 + 1.5 * frame["smoker; --"] + rng.normal(0, 0.7, n_rows)
    if kind.columns == "mixed":
        texts = rng.choice(TEXTS, 4, replace=False)
        frame["colour"] = pd.Series(rng.choice(texts, n_rows), dtype=object)
        frame["level"] = rng.choice([-3.0, 1.5, 2.25, 7.0], n_rows)
        frame["ward"] = rng.choice([1.0, 2.0, 30.0], n_rows)
        drive += 1.2 * (frame["colour"] == texts[0]) + 0.8 * (frame["level"] == 1.5) - (frame["ward"] == 2.0)
        for name in ("age", "colour", "level", "ward"):
            frame[name] = frame[name].where(rng.random(n_rows) > 0.12)
        drive = drive.fillna(4)
    cuts = np.quantile(drive, np.arange(1, kind.n_classes) / kind.n_classes)
    names = np.array(["well", "sick", "a <b>", "it's"]) if kind.n_classes > 2 else np.array(["well", "sick"])
    return frame, names[np.digitize(drive, cuts)]


def fitted(kind: Kind, seed: int) -> Any:
    """The estimator on its training rows."""
    frame, y = training_rows(kind, seed)
    estimator = kind.make()
    if kind.columns == "mixed":
        estimator.set_params(categorical_features=["level", "ward"])
    if kind.row_costs:
        costs = np.random.default_rng(seed).uniform(0.5, 4, (len(y), kind.n_classes))
        costs[np.arange(len(y)), np.searchsorted(np.unique(y), y)] = 0.0
        return estimator.fit(frame, y, cost=costs)
    return estimator.fit(frame, y)


def awkward_rows(estimator: Any, kind: Kind, seed: int, n_rows: int = 24) -> pd.DataFrame:
    """Rows on thresholds and beside them, huge, tiny and missing values, categories known, unseen, empty and missing."""
    rng = np.random.default_rng([seed, 1])
    card, columns = card_of(estimator), {}
    for place, column in enumerate(schema_of(estimator).columns):
        if column.kind == "boolean":
            values: list[Any] = [False, True] if kind.columns == "numbers" else [False, True, None]
        elif column.kind == "categorical":
            text = any(isinstance(value, str) for value in column.categories)
            values = [*column.categories, None, *([UNSEEN, "", "ÿ"] if text else [float("nan"), 99.5, -0.0])]
        else:
            cuts = [
                literal.threshold
                for literal in _literals(card)
                if literal.column == place and literal.test in ("<=", ">")
            ]
            beside = [float(np.nextafter(cut, side)) for cut in cuts for side in (-np.inf, np.inf)]
            far = [1e15, -1e15, 1e300, -1e300] if kind.columns == "mixed" else [1e6, -1e6, 1e3]
            values = [
                *cuts,
                *beside,
                *far,
                0.0,
                -0.0,
                5e-324,
                -5e-324,
                1e-310,
                1e-170,
                41.0,
                50.0,
                55.0,
                60.0,
                70.0,
                1.0,
            ]
            values += [None, float("nan")] if kind.columns == "mixed" else []
        cells = [values[i] for i in rng.integers(0, len(values), n_rows)]
        columns[column.name] = pd.Series(cells, dtype=object)
    return pd.DataFrame(columns)


def _literals(card: Any) -> Iterator[Literal]:
    for term in card.terms:
        if isinstance(term, RuleTerm):
            yield from term.rule
        elif isinstance(term, TreeTerm):
            yield from (literal for literal in term.literals if literal is not None)


def decisions_for(estimator: Any, seed: int) -> list[Any]:
    """As `predict`, and decisions of every kind; costs by name in an order that is not that of the classes."""
    rng = np.random.default_rng([seed, 2])
    m = len(estimator.classes_)
    order = rng.permutation(m)
    while np.array_equal(order, np.arange(m)):
        order = rng.permutation(m)
    names = estimator.classes_[order].tolist()
    costs = rng.uniform(0.5, 3, (m, m)) * (1 - np.eye(m))
    named = [
        pm.CostMatrix(costs, classes=names),
        pm.CostMatrix(costs, rng.uniform(0.2, 1, m), names),
        pm.CostMatrix.from_class_weights(dict(zip(names, rng.uniform(1, 5, m), strict=True)), reject_cost=0.4),
        costs,
    ]
    two = [pm.Weighted(0.3), pm.Reject(0.2), pm.Boundaries([0.25, 0.5, 0.75])] if m == 2 else []
    return [None, pm.Hard(), *two, *named]


def kinds(every: bool) -> list[Kind]:
    """The kinds of models: the quick choice, or all of them."""
    own = losses.from_phi(lambda p: (p * (1 - p)) ** 0.7, name="mine")
    lines = losses.PiecewiseLinear([0.3, 0.7], base="matsushita")

    def rules(loss: Any, **more: Any) -> Callable[[], Any]:
        literals = {} if more.get("learner") in ("column", "tree") else {"max_literals": 2}
        return lambda: pm.ULSClassifier(loss, n_rounds=9, random_state=0, early_stopping=False, **literals, **more)

    found = [Kind(f"rules, {loss}", rules(loss)) for loss in ("logistic", "auto", "squared", "mu", "power")]
    found += [Kind(f"rules, {loss}, three classes", rules(loss), 3) for loss in ("auto", "logcosh")]
    found += [
        Kind("rules, own phi", rules(own)),
        Kind("points", lambda: pm.ULSClassifier.points(n_rules=4, max_literals=2)),
        Kind("points, three classes", lambda: pm.ULSClassifier.points(n_rules=3, loss="matsushita"), 3),
        Kind("columns", rules("logistic", learner="column"), columns="numbers"),
        Kind("columns, three classes", rules("matsushita", learner="column"), 3, "numbers"),
        Kind("tree", lambda: pm.UDTClassifier(max_leaf_nodes=9)),
        Kind("tree, three classes", lambda: pm.UDTClassifier("matsushita", max_leaf_nodes=7, smoothing=1.0), 3),
        Kind("hard", lambda: pm.BoundaryClassifier(pm.Hard()), columns="numbers"),
        Kind("regions", lambda: pm.BoundaryClassifier((0.3, 0.7), loss=lines), columns="numbers"),
        Kind(
            "boundary leaves",
            lambda: pm.BoundaryClassifier((0.3, 0.7), learner="tree", alpha=0.01, n_rounds=12, max_leaf_nodes=5),
        ),
        Kind("boundary rules", lambda: pm.BoundaryClassifier((0.3, 0.7), learner="rule", alpha=0.01, n_rounds=12)),
        Kind(
            "stumps, one boundary", lambda: pm.BoundaryClassifier((0.3,), learner="rule", max_literals=1, n_rounds=12)
        ),
        Kind("soft", lambda: pm.BoundaryClassifier("soft", alpha=0.1), columns="numbers"),
        Kind("rbf", lambda: pm.BoundaryClassifier(kernel="rbf", gamma=0.02, alpha=0.05), columns="numbers"),
        Kind("boosted lines", lambda: pm.MCBoostClassifier(n_rounds=8, learner="linear"), 3),
        Kind("structured machine", lambda: pm.StructuredSVMClassifier(alpha=0.05), 3),
        Kind("boosted rules", lambda: pm.MCBoostClassifier(learner="rule", n_rounds=4, random_state=0)),
        Kind(
            "boosted trees",
            lambda: pm.MCBoostClassifier("mc", learner="tree", n_rounds=3, decision="bayes", max_leaf_nodes=5),
            4,
        ),
        Kind(
            "costs by row", lambda: pm.MCBoostClassifier(learner="rule", n_rounds=3, decision="bayes"), row_costs=True
        ),
    ]
    if not every:
        return found
    names = ("exponential", "least_squares", "matsushita", "logcosh", "power", "F*", "E1")
    found += [Kind(f"rules, {loss}", rules(loss)) for loss in names if loss != "power"]
    found += [Kind(f"rules, {loss}, four classes", rules(loss), 4) for loss in (*names, "squared", own, "mu")]
    sigmoid = {"gamma": 0.001, "coef0": 1.0}
    kernels = {"poly": {**sigmoid, "degree": 2}, "sigmoid": sigmoid, "linear": {}}
    found += [
        Kind(name, lambda name=name, used=used: pm.BoundaryClassifier((0.5,), kernel=name, **used), columns="numbers")
        for name, used in kernels.items()
    ]
    found += [
        Kind("boosted choice", lambda: pm.MCBoostClassifier(learner="auto", n_rounds=5, random_state=0), 3),
        Kind("boosted full lines", lambda: pm.MCBoostClassifier(learner="linear-full", n_rounds=4), 3),
        Kind("rules from trees", rules("logistic", learner="tree")),
    ]
    return found
