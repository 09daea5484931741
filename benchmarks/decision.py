"""Does training for the decision pay? Three decisions on 41 data sets, models trained for them and models of probabilities.

Usage: ``python -m benchmarks.decision [--only SET ...] [--page] [-o DIR]``. One set of each source of the quality benchmark
(quality/sets.py), the artificial ones left out; larger sets are cut to 1,500 rows (stratified, seed 0). The rarer class is
positive. Each row is judged by a model that has not seen it (three stratified folds, seed 0). Costs go to DIR/costs.csv one line
at a time, so an interrupted run goes on; ``--page`` writes the page from the lines alone.

The cost of a row is divided by that of the best constant action on the set, so 1 is "no model" and sets of any base rate can be
averaged. Tests are paired over the sets.
"""

import argparse
import csv
import os
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import permissible as pm
from benchmarks.boundary_rules import tuned
from benchmarks.quality import sets
from benchmarks.quality.peers import Fit, Fitted, ebm, lightgbm, numbers, rules
from permissible.evaluation.paired import standard_error, wilcoxon
from permissible.types import AnyArray, FloatArray

SETS = """
german-credit folder:haberman appendicitis carseats bupa folder:breast-cancer folder:heart-hungarian saheart folder:titanic
hepatitis folder:diabetes folder:credit-a mammographic folder:heart-cleveland folder:heart-va spectf folder:colic folder:vote
folder:breast-w yeast1 folder:wpbc cm1 abalone9_18 vehicle1 folder:ionosphere folder:wdbc folder:sonar flaref pc1 college
orange_juice default winequality_red_4 wage_insurance kc1 page_blocks0 folder:sick folder:hypothyroid-weka glass1 caravan
folder:spambase
""".split()  # noqa: SIM905
MOST_ROWS, FOLDS, LEVEL = 1_500, 3, 0.05
DECISIONS: dict[str, Any] = {
    "unequal costs": pm.Weighted(1 / 6),
    "referral": pm.Reject(0.2),
    "risk groups": pm.Boundaries([0.25, 0.5, 0.75]),
}
WORDS = {
    "unequal costs": "A miss costs five false alarms, so the rule is to act above a probability of 1/6.",
    "referral": "A mistake costs 1, a referral 0.2.",
    "risk groups": "Four groups, cut at the probabilities 0.25, 0.5 and 0.75.",
}
PROBABILITIES = "probabilities"
FIELDS = ("set", "rows", "decision", "model", "trained for", "relative cost")


def standardised(classifier: Any) -> Any:
    """A classifier of numbers on standardised columns; one that is empty in the training rows counts as 0."""
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler(), classifier)


def linear(boundaries: Any) -> Fit:
    """A linear BoundaryClassifier, alpha by three inner folds."""
    return numbers(lambda: standardised(pm.BoundaryClassifierCV(boundaries, cv=3)), lambda *_: 0)


def regression() -> Any:
    """Logistic regression, its penalty by three inner folds as for our linear models."""
    from sklearn.linear_model import LogisticRegressionCV

    return standardised(LogisticRegressionCV(cv=3, scoring="neg_log_loss", max_iter=2000))


def by_weights(pi: float) -> Fit:
    """Rules trained for a threshold pi: a positive row weighs (1 - pi) / pi, so one half of the new odds is pi of the old."""
    odds = (1 - pi) / pi

    def fit(frame: pd.DataFrame, y: AnyArray) -> Fitted:
        weights = np.where(y == 1, odds, 1.0)
        model = pm.ULSClassifier(n_jobs=1, random_state=0).fit(frame, y, sample_weight=weights)

        def back(other: pd.DataFrame) -> FloatArray:
            p = model.predict_proba(other)[:, 1]
            p = p / (p + odds * (1 - p))
            return np.column_stack([1 - p, p])

        return Fitted(back, 0)

    return fit


def boundary_rules(decision: Any) -> Fit:
    """BoundaryClassifier(learner="rule"), alpha by two inner folds."""
    return lambda frame, y: Fitted(tuned(frame, y, decision, "rule").predict_proba, 0)


def tree(**settings: Any) -> Fit:
    """A pruned decision tree."""
    return lambda frame, y: Fitted(
        pm.UDTClassifier(pruning="auto", random_state=0, **settings).fit(frame, y).predict_proba, 0
    )


def catboost(frame: pd.DataFrame, y: AnyArray) -> Fitted:
    """CatBoost with its defaults."""
    from catboost import CatBoostClassifier

    named = [c for c in frame.columns if frame[c].dtype == "category"]

    def texts(rows: pd.DataFrame) -> pd.DataFrame:
        return rows.assign(**{c: rows[c].astype(object).where(rows[c].notna(), "missing").astype(str) for c in named})

    quiet = {"verbose": False, "allow_writing_files": False}
    model = CatBoostClassifier(cat_features=named, random_seed=0, thread_count=1, **quiet).fit(texts(frame), y)
    return Fitted(lambda other: model.predict_proba(texts(other)), 0)


MODELS: dict[tuple[str, str], Callable[[Any], Fit]] = {
    ("logistic regression", PROBABILITIES): lambda _: numbers(regression, lambda *_: 0),
    ("LightGBM, early stopping", PROBABILITIES): lambda _: lightgbm(stopped=True),
    ("ours, linear", PROBABILITIES): lambda _: linear("soft"),
    ("ours, linear", "the decision (boundaries)"): linear,
    ("ours, rules", PROBABILITIES): lambda _: rules(),
    ("ours, rules", "the decision (boundaries)"): boundary_rules,
    ("ours, rules", "the decision (weights)"): lambda decision: by_weights(decision.pi),
    ("ours, one tree", PROBABILITIES): lambda _: tree(),
    ("ours, one tree", "the decision (costs in the splits)"): lambda _: tree(cost_matrix=[[0, 1], [5, 0]]),
    ("CatBoost", PROBABILITIES): lambda _: catboost,
    ("EBM, 4 bags", PROBABILITIES): lambda _: ebm(outer_bags=4),
}
ONLY_UNEQUAL = {"the decision (weights)", "the decision (costs in the splits)"}


def rows_of(name: str) -> sets.DataSet:
    """A set of at most MOST_ROWS rows, 1 for the rarer class."""
    from sklearn.model_selection import train_test_split

    if name == "german-credit":
        X, y = pm.datasets.german_credit()
        frame = pd.DataFrame({k: pd.Categorical(v) if v.dtype == object else v for k, v in X.items()})
        data = sets.DataSet(name, frame, (y == "went bad").astype(np.int64))
    else:
        data = sets.load(name)
    target = (data.target == np.bincount(data.target).argmin()).astype(np.int64)
    kept = np.arange(len(target))
    if len(target) > MOST_ROWS:
        kept = np.sort(train_test_split(kept, train_size=MOST_ROWS, stratify=target, random_state=0)[0])
    return sets.DataSet(name, data.frame.iloc[kept].reset_index(drop=True), target[kept])


def measured(data: sets.DataSet, fit: Fit, asked: Iterable[str]) -> dict[str, float]:
    """The cost of held-out rows relative to the best constant action, of each decision asked."""
    from sklearn.model_selection import StratifiedKFold

    y, proba = data.target, np.zeros((len(data.target), 2))
    for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(y, y):
        proba[test] = fit(data.frame.iloc[train], y[train]).probabilities(data.frame.iloc[test])
    share = np.tile([1 - y.mean(), y.mean()], (len(y), 1))
    return {name: DECISIONS[name].risk(y, proba) / DECISIONS[name].risk(y, share) for name in asked}


def measure(names: Sequence[str], path: Path) -> None:
    """Append the lines that are missing, the fastest models first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    known = {(row["set"], row["decision"], row["model"], row["trained for"]) for row in lines(path)}
    for (model, how), make in MODELS.items():
        start = time.process_time()
        for name in names:
            asked = [d for d in DECISIONS if how not in ONLY_UNEQUAL or d == "unequal costs"]
            asked = [decision for decision in asked if (name, decision, model, how) not in known]
            data = rows_of(name) if asked else None
            # One fit of probabilities serves every decision.
            for group in [asked] if how == PROBABILITIES else [[decision] for decision in asked]:
                if data and group:
                    keep(path, data, (model, how), measured(data, make(DECISIONS[group[0]]), group))
        print(f"{model}, {how}: {time.process_time() - start:.0f} s", flush=True)


def keep(path: Path, data: sets.DataSet, model: tuple[str, str], found: dict[str, float]) -> None:
    """Append a line a decision."""
    with path.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if file.tell() == 0:
            writer.writerow(FIELDS)
        for decision, cost in found.items():
            writer.writerow([data.name, len(data.target), decision, *model, f"{cost:.6f}"])


def lines(path: Path) -> list[dict[str, str]]:
    """What has been measured."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def page(rows: list[dict[str, str]]) -> str:
    """The page of all sets on which everything was measured: the answers, then a table for each decision."""
    found: dict[tuple[str, str, str], dict[str, float]] = {}
    for row in rows:
        key = row["decision"], row["model"], row["trained for"]
        found.setdefault(key, {})[row["set"]] = float(row["relative cost"])
    tests = {key: answer(found, *key) for key in found if key[2] != PROBABILITIES}
    complete = [name for name in SETS if all(name in costs for costs in found.values())]
    table = {key: np.array([costs[name] for name in complete]) for key, costs in found.items()}
    paired = min(sum(test[3:]) for test in tests.values())
    text = [
        *("# Does training for the decision pay?", ""),
        "A model of probabilities serves any decision: take the action of least expected cost. Training for one decision may do "
        "better in theory, because such a model need not be right about probabilities far from the thresholds. This page "
        "measures whether it does.",
        "",
        *(f"**{said}**\n" for said in summary(tests)),
        f"The two ways to train are compared on {paired} data sets or more, all libraries on the {len(complete)} sets that all "
        f"were run on. One set of each source, cut to {MOST_ROWS:,} rows; {FOLDS} folds; the rarer class is positive. "
        "A relative cost is the mean cost of held-out rows, divided by that of the best constant action: 1 is no model. Every "
        "library decides by least expected cost. CatBoost and EBM have their default settings, except that EBM averages 4 bags "
        "rather than 14, for time; LightGBM stops early on a fifth of the rows; penalties of linear models are chosen by inner "
        "folds. P values are by Wilcoxon's signed ranks over the sets, two-sided; intervals are 95% by Student's t over the "
        "sets. Rules for boundaries are found by another learner (column generation) than those of probabilities (boosting), so "
        "their difference is not of the loss alone. Make the page with `python -m benchmarks.decision`.",
        "",
    ]
    for question, words in WORDS.items():
        text += [f"## {question.capitalize()}", "", words, "", *answers_table(tests, question), ""]
        text += [*standings(table, question), ""]
    names = [
        ", ".join(sorted(name.removeprefix("folder:") for name in some)) for some in (complete, set(SETS) - {*complete})
    ]
    text += [
        "## The sets",
        "",
        f"All libraries: {names[0]}. Ours, logistic regression and LightGBM only: {names[1]}.",
        "",
    ]
    return "\n".join(text)


def answer(
    found: dict[Any, dict[str, float]], question: str, model: str, how: str
) -> tuple[float, float, float, int, int, int]:
    """Mean difference to the same model of probabilities, half its interval, P, and the sets cheaper, dearer and equal."""
    from scipy.stats import t

    trained, plain = found[question, model, how], found[question, model, PROBABILITIES]
    gap = np.array([trained[name] - plain[name] for name in SETS if name in trained and name in plain])
    half = float(t.ppf(1 - LEVEL / 2, len(gap) - 1)) * standard_error(gap)
    cheaper, dearer = int((gap < -1e-9).sum()), int((gap > 1e-9).sum())
    return (
        float(gap.mean()),
        half,
        wilcoxon(gap, np.zeros_like(gap)).p_value,
        cheaper,
        dearer,
        len(gap) - cheaper - dearer,
    )


def holm(p: Iterable[float]) -> list[float]:
    """P values with Holm's correction for their number, in their order."""
    given = list(p)
    order, found, most = np.argsort(given), [0.0] * len(given), 0.0
    for place, j in enumerate(order):
        most = max(most, min(1.0, (len(given) - place) * given[j]))
        found[j] = most
    return found


def verdicts(tests: dict[Any, Any]) -> dict[Any, str]:
    """Cheaper or dearer where P, corrected for the number of tests, is below the level."""
    corrected = holm(found[2] for found in tests.values())
    return {
        key: "no measurable difference" if p >= LEVEL else ("cheaper" if found[0] < 0 else "dearer")
        for (key, found), p in zip(tests.items(), corrected, strict=True)
    }


def summary(tests: dict[Any, Any]) -> Iterator[str]:
    """One plain sentence for each decision."""
    verdict = verdicts(tests)
    for question in DECISIONS:
        parts: dict[str, list[str]] = {}
        for asked, model, how in tests:
            if asked == question:
                label = model.removeprefix("ours, ") + (
                    f" by {how.split('(')[1][:-1]}" if model != "ours, linear" else ""
                )
                parts.setdefault(verdict[asked, model, how], []).append(label)
        yes = "yes" if "cheaper" in parts and len(parts) == 1 else ("in part" if "cheaper" in parts else "no")
        told = "; ".join(f"{words} for {', '.join(names)}" for words, names in parts.items())
        yield f"{question.capitalize()}: {yes} ({told})."


def answers_table(tests: dict[Any, Any], question: str) -> list[str]:
    """Each way to train for the decision, against the same kind of model of probabilities."""
    verdict = verdicts(tests)
    head = "trained for the decision | difference of relative cost | sets cheaper / dearer / equal | P | verdict (Holm)"
    text = [f"| {head} |", "|---|---|---|---|---|"]
    for key, (mean, half, p, cheaper, dearer, equal) in tests.items():
        if key[0] == question:
            way = f"{key[1]}: {key[2].removeprefix('the decision ')[1:-1]}"
            text.append(
                f"| {way} | {mean:+.3f} ± {half:.3f} | {cheaper} / {dearer} / {equal} | {p:.2g} | {verdict[key]} |"
            )
    return text


def standings(table: dict[Any, AnyArray], question: str) -> list[str]:
    """All models from the cheapest on, against the readable default."""
    asked = {key[1:]: costs for key, costs in table.items() if key[0] == question}
    best, reference = np.array([*asked.values()]).min(axis=0), asked["ours, rules", PROBABILITIES]
    text = ["| model | trained for | mean relative cost | cheapest on | P against our rules by probabilities |"]
    text += ["|---|---|---|---|---|"]
    for (model, how), costs in sorted(asked.items(), key=lambda item: float(item[1].mean())):
        wins = int((costs <= best + 1e-9).sum())
        p = "" if costs is reference else f"{wilcoxon(costs, reference).p_value:.2g}"
        text.append(f"| {model} | {how} | {costs.mean():.3f} | {wins} | {p} |")
    return text


def main() -> None:
    """Measure what is not measured yet, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.decision", description=__doc__)
    parser.add_argument("--only", nargs="*", default=SETS)
    parser.add_argument("--page", action="store_true", help="measure nothing")
    parser.add_argument("-o", "--output", type=Path, default=Path("docs/results/decision"))
    options = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    warnings.simplefilter("ignore")
    if not options.page:
        measure(options.only, options.output / "costs.csv")
    (options.output / "decision.md").write_text(page(lines(options.output / "costs.csv")))


if __name__ == "__main__":
    main()
