"""Does training for the decision pay? Three decisions on the data folder, models trained for them and models of probabilities.

Usage: ``python -m benchmarks.decision [--sets a,b] [-o DIR]``. Each set adds a file to DIR/runs, so that an interrupted run goes
on; the page is made from all of them. The cost of a row is divided by that of the best constant action on the set, so 1 is "no
model" and sets of any base rate can be averaged; tests are paired over the sets.
"""

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

import permissible as pm
from papers.datasets import load
from permissible.cli.io.contenders import LightGBMOnColumns
from permissible.evaluation.paired import wilcoxon

SETS = [
    "german-credit",
    "breast-cancer",
    "colic",
    "credit-a",
    "diabetes",
    "haberman",
    "heart-statlog",
    "heart-hungarian",
    "ionosphere",
    "sonar",
    "wdbc",
    "wpbc",
    "titanic",
    "vote",
]
DECISIONS = {
    "unequal costs": pm.Weighted(1 / 6),
    "referral": pm.Reject(0.2),
    "risk groups": pm.Boundaries([0.25, 0.5, 0.75]),
}
WORDS = {
    "unequal costs": "a miss costs five false alarms, so act above a probability of 1/6",
    "referral": "a mistake costs 1, a referral 0.2",
    "risk groups": "four groups, cut at 0.25, 0.5 and 0.75",
}
FOLDS = 3
Columns = dict[str, Any]


class OnMatrix:
    """A classifier of numbers on one-hot categories, medians for missing values, standardised."""

    def __init__(self, classifier: Any) -> None:
        self.classifier = classifier

    def fit(self, X: Columns, y: Any) -> "OnMatrix":
        """Fit to the matrix."""
        self.names = {
            name: sorted({v for v in values if v is not None}) for name, values in X.items() if values.dtype == object
        }
        numbers = [values for name, values in X.items() if name not in self.names]
        self.middle = [float(np.nanmedian(values)) if not np.isnan(values).all() else 0.0 for values in numbers]
        matrix = self._matrix(X)
        self.mean, self.scale = matrix.mean(axis=0), np.where(matrix.std(axis=0) > 0, matrix.std(axis=0), 1)
        self.classifier.fit((matrix - self.mean) / self.scale, y)
        return self

    def predict_proba(self, X: Columns) -> Any:
        """Probabilities of the rows."""
        return self.classifier.predict_proba((self._matrix(X) - self.mean) / self.scale)

    def _matrix(self, X: Columns) -> Any:
        numbers = [values for name, values in X.items() if name not in self.names]
        filled = [
            np.where(np.isnan(values), middle, values) for values, middle in zip(numbers, self.middle, strict=True)
        ]
        hot = [
            np.array([v == category for v in X[name]], float)
            for name, known in self.names.items()
            for category in known
        ]
        return np.column_stack([*filled, *hot])


class OnFrame:
    """A classifier of pandas frames with categories as text."""

    def __init__(self, make: Callable[[list[int]], Any]) -> None:
        self.make = make

    def fit(self, X: Columns, y: Any) -> "OnFrame":
        """Fit to the frame."""
        self.model = self.make([j for j, values in enumerate(X.values()) if values.dtype == object])
        self.model.fit(_frame(X), y)
        return self

    def predict_proba(self, X: Columns) -> Any:
        """Probabilities of the rows."""
        return self.model.predict_proba(_frame(X))


def _frame(X: Columns) -> Any:
    import pandas as pd

    return pd.DataFrame(
        {name: ["?" if v is None else v for v in c] if c.dtype == object else c for name, c in X.items()}
    )


class ByWeights:
    """Rules trained for a threshold pi: a positive row weighs (1 - pi) / pi, so one half of the new odds is pi of the old."""

    def __init__(self, pi: float) -> None:
        self.odds = (1 - pi) / pi

    def fit(self, X: Columns, y: Any) -> "ByWeights":
        """Fit to weighted rows."""
        self.model = pm.ULSClassifier().fit(X, y, sample_weight=np.where(y == 1, self.odds, 1.0))
        return self

    def predict_proba(self, X: Columns) -> Any:
        """Probabilities of the rows."""
        p = self.model.predict_proba(X)[:, 1]
        back = p / (p + self.odds * (1 - p))
        return np.column_stack([1 - back, back])


def by_probabilities() -> dict[str, Callable[[], Any]]:
    """Models that know nothing of the decision, which reads their probabilities."""
    from catboost import CatBoostClassifier
    from interpret.glassbox import ExplainableBoostingClassifier

    return {
        "logistic regression": lambda: OnMatrix(_regression()),
        "LightGBM": LightGBMOnColumns,
        "EBM, 4 bags": lambda: OnFrame(
            lambda texts: ExplainableBoostingClassifier(n_jobs=1, random_state=0, outer_bags=4)
        ),
        "CatBoost, 200 trees": lambda: OnFrame(
            lambda texts: CatBoostClassifier(
                cat_features=texts, iterations=200, verbose=0, random_seed=0, thread_count=1, allow_writing_files=False
            )
        ),
        "ours, rules": pm.ULSClassifier,
        "ours, linear": lambda: OnMatrix(pm.BoundaryClassifierCV("soft", cv=3)),
    }


def _regression() -> Any:
    from sklearn.linear_model import LogisticRegressionCV

    return LogisticRegressionCV(cv=3, scoring="neg_log_loss", max_iter=2000)


def for_the_decision(question: str) -> dict[str, Callable[[], Any]]:
    """Models trained for a decision, by the name of the model of probabilities that is otherwise the same."""
    decision = DECISIONS[question]
    found: dict[str, Callable[[], Any]] = {"ours, linear": lambda: OnMatrix(pm.BoundaryClassifierCV(decision, cv=3))}
    if question == "unequal costs":
        found["ours, rules"] = lambda: ByWeights(1 / 6)
    return found


def rows_of(name: str) -> tuple[Columns, Any]:
    """The columns of a set and 1 for its rarer class."""
    if name == "german-credit":
        X, y = pm.datasets.german_credit()
        return X, (y == "went bad").astype(np.int64)
    data = load(name, network=False)
    labels, counts = np.unique(data.target, return_counts=True)
    return dict(data.columns), (data.target == labels[counts.argmin()]).astype(np.int64)


def measured(name: str) -> Iterator[tuple[str, str, str, float]]:
    """Question, model, how it was trained, and its cost relative to the best constant action."""
    X, y = rows_of(name)
    splits = list(StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(np.zeros(len(y)), y))

    def probabilities(make: Callable[[], Any]) -> Any:
        found = np.zeros((len(y), 2))
        for training, held_out in splits:
            parts = [{column: values[rows] for column, values in X.items()} for rows in (training, held_out)]
            found[held_out] = make().fit(parts[0], y[training]).predict_proba(parts[1])
        return found

    share = np.tile([1 - y.mean(), y.mean()], (len(y), 1))
    plain = {model: probabilities(make) for model, make in by_probabilities().items()}
    for question, decision in DECISIONS.items():
        constant = decision.risk(y, share)
        for model, proba in plain.items():
            yield question, model, "probabilities", decision.risk(y, proba) / constant
        for model, make in for_the_decision(question).items():
            yield question, model, "the decision", decision.risk(y, probabilities(make)) / constant


def page(runs: Mapping[str, list[list[Any]]]) -> str:
    """The page of all runs: a plain answer for each question, then its table."""
    lines = ["# Does training for the decision pay?", ""]
    lines += [
        "A model of probabilities can serve any decision: choose the action of least expected cost. The theory says that a model "
        "trained for one decision may do better where the probabilities cannot all be right, since it spends its effort at the "
        "boundary. This page measures whether it does, with the same kind of model trained both ways and with other libraries. "
        f"{len(runs)} data sets, {FOLDS} folds, cost of a held-out row divided by that of the best constant action "
        "(1 is no model); "
        f"P: Wilcoxon's paired test over the sets, which cannot be below {2.0 ** (1 - len(runs)):.2g} with so many. "
        "`python -m benchmarks.decision` makes it, and adds the sets that it has not measured yet.",
        "",
    ]
    for question in DECISIONS:
        table: dict[tuple[str, str], list[float]] = {}
        for rows in runs.values():
            for asked, model, how, cost in rows:
                if asked == question:
                    table.setdefault((model, how), []).append(cost)
        lines += [f"## {question.capitalize()}", "", f"({WORDS[question]}.)", "", *_answers(table), ""]
        lines += [
            "| model | trained for | mean relative cost | sets where it is cheapest | P against rules by probabilities |"
        ]
        lines += ["|---|---|---|---|---|"]
        best = np.array([*table.values()]).min(axis=0)
        reference = table["ours, rules", "probabilities"]
        for (model, how), costs in sorted(table.items(), key=lambda item: float(np.mean(item[1]))):
            wins = int(np.sum(np.array(costs) <= best + 1e-12))
            p = "" if costs is reference else f"{wilcoxon(np.array(costs), np.array(reference)).p_value:.2f}"
            lines.append(f"| {model} | {how} | {np.mean(costs):.3f} | {wins} | {p} |")
        lines.append("")
    lines += [f"Sets: {', '.join(sorted(runs))}. The rarer class is the positive one.", ""]
    return "\n".join(lines)


def _answers(table: Mapping[tuple[str, str], list[float]]) -> list[str]:
    said = []
    for model, how in table:
        if how == "the decision":
            trained, plain = np.array(table[model, how]), np.array(table[model, "probabilities"])
            p, change = wilcoxon(trained, plain).p_value, float(trained.mean() - plain.mean())
            answer = "no measurable difference" if p >= 0.05 else ("yes" if change < 0 else "no, it costs more")
            label = model.removeprefix("ours, ").capitalize()
            counted = f"cheaper on {int((trained < plain - 1e-12).sum())}, dearer on {int((trained > plain + 1e-12).sum())} sets"
            said.append(f"**{label}: {answer}** (relative cost {change:+.3f}, {counted}, P = {p:.2f}).")
    return said


def main() -> None:
    """Measure the sets that are not measured yet, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.decision", description=__doc__)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("-o", "--output", type=Path, default=Path("docs/results/decision"))
    options = parser.parse_args()
    folder = options.output / "runs"
    folder.mkdir(parents=True, exist_ok=True)
    for name in options.sets.split(","):
        if name and not (folder / f"{name}.json").exists():
            start = time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = list(measured(name))
            (folder / f"{name}.json").write_text(json.dumps(found, indent=0) + "\n")
            print(f"{name}: {time.process_time() - start:.0f} s", flush=True)
    runs = {path.stem: json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))}
    (options.output / "decision.md").write_text(page(runs))


if __name__ == "__main__":
    main()
