"""Rules trained for the boundaries of a decision beside logistic rules with thresholds: cost a case on the two-class sets.

    python -m benchmarks.boundary_rules run --data DIR -o costs.csv [--only NAME ...]      # one line a set, decision and method
    python -m benchmarks.boundary_rules page costs.csv ... -o docs/results                 # the page and its table

Five stratified folds, the rarer label positive; sets of more than 1,000 rows are cut to that many (stratified, seed 0).
"thresholds" is ULSClassifier with its defaults, which chooses its rounds on held-out log loss, and the decision on its
probabilities. "rules" and "trees" are BoundaryClassifier(decision, learner=..., n_rounds=50), alpha of `ALPHAS` by the
decision's own cost over two inner folds, the largest among equals. Every row is judged once, by a model that has not seen it; a
set's test is paired over its rows, that over all sets is Wilcoxon's on their mean costs.
"""

import argparse
import csv
import os
import sys
import time
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

import permissible as pm
from papers.scope import loaded
from permissible.evaluation import paired
from permissible.types import AnyArray

SETS = (
    *(
        "breast-cancer",
        "colic",
        "credit-a",
        "diabetes",
        "haberman",
        "heart-statlog",
        "ionosphere",
        "kr-vs-kp",
        "sick",
        "sonar",
    ),
    *(
        "spambase",
        "tic-tac-toe",
        "vote",
        "breast-w",
        "wdbc",
        "xd6",
        "wpbc",
        "echocardiogram",
        "monks-1",
        "monks-2",
        "monks-3",
    ),
    *("titanic", "heart-hungarian"),
)
DECISIONS: dict[str, Any] = {
    "hard": pm.Hard(),
    "weighted .1": pm.Weighted(0.1),
    "weighted .2": pm.Weighted(0.2),
    "reject .1": pm.Reject(0.1),
    "reject .2": pm.Reject(0.2),
    "three groups .2 .6": pm.Boundaries((0.2, 0.6)),
}
METHODS = ("thresholds", "rules", "trees")
ALPHAS = (0.05, 0.015, 0.005)
MOST_ROWS, LEVEL = 1_000, 0.05
FIELDS = ("set", "rows", "decision", "method", "cost", "difference", "p_value", "n_rules", "seconds")


def rows_of(name: str) -> tuple[Any, AnyArray]:
    """The columns and whether each row has the rarer label."""
    from sklearn.model_selection import train_test_split

    data = loaded(name)
    labels, counts = np.unique(data.target, return_counts=True)
    y = (data.target == labels[np.argmin(counts)]).astype(np.int64)
    if len(y) > MOST_ROWS:
        kept, _ = train_test_split(np.arange(len(y)), train_size=MOST_ROWS, stratify=y, random_state=0)
        return data.take(np.sort(kept)).frame(), y[np.sort(kept)]
    return data.frame(), y


def split(y: AnyArray, n_folds: int) -> Iterable[tuple[AnyArray, AnyArray]]:
    """Stratified folds."""
    from sklearn.model_selection import StratifiedKFold

    return StratifiedKFold(n_folds, shuffle=True, random_state=0).split(np.zeros(len(y)), y)


def boundary(decision: Any, learner: str, alpha: float) -> Any:
    """Rules, or leaves of trees, for a decision."""
    return pm.BoundaryClassifier(decision, learner=learner, alpha=alpha, n_rounds=50)


def tuned(X: Any, y: AnyArray, decision: Any, learner: str) -> Any:
    """The classifier of the alpha of least cost over two inner folds."""
    costs = []
    for alpha in ALPHAS:
        total = 0.0
        for train, test in split(y, 2):
            model = boundary(decision, learner, alpha).fit(X.iloc[train], y[train])
            total += float(np.sum(decision.loss(y[test], model.predict_proba(X.iloc[test])[:, 1])))
        costs.append(total)
    return boundary(decision, learner, ALPHAS[int(np.argmin(costs))]).fit(X, y)


def measure(name: str) -> list[dict[str, Any]]:
    """Every decision and method on one set."""
    X, y = rows_of(name)
    costs = {(decision, method): np.empty(len(y)) for decision in DECISIONS for method in METHODS}
    sizes, spent = dict.fromkeys(costs, 0.0), dict.fromkeys(costs, 0.0)
    for train, test in split(y, 5):
        start = time.process_time()
        logistic = pm.ULSClassifier(random_state=0).fit(X.iloc[train], y[train])
        used = time.process_time() - start
        probability = logistic.predict_proba(X.iloc[test])[:, 1]
        for label, decision in DECISIONS.items():
            for method in METHODS:
                key, model, start = (label, method), logistic, time.process_time()
                if method != "thresholds":
                    model = tuned(X.iloc[train], y[train], decision, method.removesuffix("s"))
                    used_here, p = time.process_time() - start, model.predict_proba(X.iloc[test])[:, 1]
                else:
                    used_here, p = used, probability
                costs[key][test] = decision.loss(y[test], p)
                sizes[key] += len(model.rules_) / 5
                spent[key] += used_here
    found = []
    for (label, method), each in costs.items():
        test_ = paired.paired_t(each, costs[label, "thresholds"])
        numbers = float(each.mean()), test_.difference, test_.p_value, sizes[label, method], spent[label, method]
        found.append(dict(zip(FIELDS, (name, len(y), label, method, *numbers), strict=True)))
    return found


def run(data: str, output: Path, only: list[str]) -> None:
    """Measure the sets and append their lines."""
    os.environ["PERMISSIBLE_DATA"] = data
    warnings.simplefilter("ignore")
    for name in only or SETS:
        lines = measure(name)
        new = not output.exists()
        with output.open("a", newline="") as file:
            writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
            if new:
                writer.writeheader()
            writer.writerows(lines)
        print(name, flush=True)


def verdict(wins: int, losses: int, p_value: float) -> str:
    """What the rule of the page says of one decision."""
    if p_value >= LEVEL:
        return "cannot be told"
    return "cheaper" if wins > losses else "dearer"


def page(files: list[Path], output: Path) -> None:
    """Write boundary-rules.md and tables/boundary-rules.csv from the lines of some runs."""
    lines = [line for path in files for line in csv.DictReader(path.read_text().splitlines())]
    table = {(line["set"], line["decision"], line["method"]): line for line in lines}
    names = sorted({line["set"] for line in lines})
    written = [table[name, label, method] for name in names for label in DECISIONS for method in METHODS]
    with (output / "tables" / "boundary-rules.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(written)
    text = [HEAD.format(count=len(names), rows=MOST_ROWS, alphas=", ".join(f"{a:g}" for a in ALPHAS), level=LEVEL)]
    absent = [name for name in SETS if name not in names]
    if absent:
        text += [f"Of the sets of the benchmark not measured in this run: {', '.join(absent)}.", ""]
    text += [*plainly(table, names), "", *summary(table, names)]
    for method in METHODS[1:]:
        text += ["", f"## Set by set: {method} minus thresholds", "", *differences(table, names, method)]
    text += ["", "The numbers: [tables/boundary-rules.csv](tables/boundary-rules.csv).", ""]
    (output / "boundary-rules.md").write_text("\n".join(text))


def plainly(table: dict[Any, Any], names: list[str]) -> list[str]:
    """Where it helps and where not, in words that follow from the numbers."""
    text = []
    for method in METHODS[1:]:
        said: dict[str, list[str]] = {"cheaper": [], "dearer": [], "cannot be told": []}
        clear: dict[bool, list[str]] = {True: [], False: []}
        for label in DECISIONS:
            of = [table[name, label, method] for name in names]
            gap, p = (np.array([float(line[field]) for line in of]) for field in ("difference", "p_value"))
            said[verdict(int(np.sum(gap < 0)), int(np.sum(gap > 0)), paired.wilcoxon(gap, 0 * gap).p_value)].append(
                label
            )
            for name, one, value in zip(names, gap, p, strict=True):
                if value < LEVEL:
                    clear[bool(one < 0)].append(f"{name} ({label})")
        over = "; ".join(f"{word}: {', '.join(labels) or 'none'}" for word, labels in said.items())
        helped, hurt = (", ".join(clear[side]) or "none" for side in (True, False))
        text += [
            f"**{method.capitalize()}**, over all sets, {over}. Set by set significantly cheaper: {helped}. Significantly "
            f"dearer: {hurt}.",
            "",
        ]
    return text[:-1]


def summary(table: dict[Any, Any], names: list[str]) -> list[str]:
    """One line a decision and learner."""
    text = [
        "| decision | learner | mean cost | thresholds | sets cheaper / dearer | significantly so | P | verdict | rules "
        "| CPU ratio |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for label in DECISIONS:
        base = np.array([float(table[name, label, "thresholds"]["cost"]) for name in names])
        for method in METHODS[1:]:
            of = [table[name, label, method] for name in names]
            cost, p = (np.array([float(line[field]) for line in of]) for field in ("cost", "p_value"))
            wins, losses = int(np.sum(cost < base)), int(np.sum(cost > base))
            clear = int(np.sum((cost < base) & (p < LEVEL))), int(np.sum((cost > base) & (p < LEVEL)))
            test = paired.wilcoxon(cost, base)
            spent = [sum(float(table[name, label, one]["seconds"]) for name in names) for one in (method, "thresholds")]
            rules = [
                np.mean([float(table[name, label, one]["n_rules"]) for name in names]) for one in (method, "thresholds")
            ]
            text.append(
                f"| {label} | {method} | {cost.mean():.4f} | {base.mean():.4f} | {wins} / {losses} | {clear[0]} / {clear[1]} | "
                f"{test.p_value:.2g} | {verdict(wins, losses, test.p_value)} | {rules[0]:.0f} against {rules[1]:.0f} | "
                f"{spent[0] / spent[1]:.0f} |"
            )
    return text


def differences(table: dict[Any, Any], names: list[str], method: str) -> list[str]:
    """Mean cost minus that of thresholds, bold where the paired test of the set says so."""
    text = ["| set | rows | " + " | ".join(DECISIONS) + " |", "| --- " * (len(DECISIONS) + 2) + "|"]
    for name in names:
        cells = []
        for label in DECISIONS:
            line = table[name, label, method]
            shown = f"{float(line['difference']):+.4f}"
            cells.append(f"**{shown}**" if float(line["p_value"]) < LEVEL else shown)
        text.append(f"| {name} | {table[name, 'hard', method]['rows']} | " + " | ".join(cells) + " |")
    return text


HEAD = """# Rules trained for the decision, and logistic rules with thresholds

`BoundaryClassifier(decision, learner="rule" | "tree", n_rounds=50)` beside `ULSClassifier()` with the decision on its
probabilities: cost a case, that is the theoretical loss (7) of [K] or a special case, on {count} two-class sets. Five stratified
folds, seed 0; the rarer label is positive; larger sets are cut to {rows} rows. alpha is one of {alphas}, chosen by the
decision's own cost over two inner folds; the logistic rules choose their rounds by held-out log loss, once for all decisions.

Rule of the verdicts: by Wilcoxon's signed ranks over the sets' mean costs, two-sided; "cheaper" or "dearer" where P < {level} and
that side has more sets, "cannot be told" otherwise. "Significantly so" counts the sets whose rows differ by the paired
t-test at {level}; one set in forty would on each side by chance. "CPU ratio" is the time of the fits with their choice of
alpha, over that of the logistic rules. Made by `python -m benchmarks.boundary_rules`.
"""


def main(arguments: list[str]) -> None:
    """Run or write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    running = commands.add_parser("run")
    running.add_argument("--data", required=True)
    running.add_argument("-o", "--output", type=Path, required=True)
    running.add_argument("--only", nargs="*", default=[])
    writing = commands.add_parser("page")
    writing.add_argument("files", nargs="+", type=Path)
    writing.add_argument("-o", "--output", type=Path, required=True)
    given = parser.parse_args(arguments)
    if given.command == "run":
        run(given.data, given.output, given.only)
    else:
        page(given.files, given.output)


if __name__ == "__main__":
    main(sys.argv[1:])
