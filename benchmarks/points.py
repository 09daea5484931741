"""Point cards beside FasterRisk 0.1.10: held-out log-loss and CPU time at 3, 5 and 10 rules of at most 5 points.

    python -m benchmarks.points --data DIR --peer PYTHON -o docs/results/tables/points.jsonl [--sets a,b] [--seconds 120]
    python -m benchmarks.points --data DIR --peer PYTHON -o docs/results/tables/points-cpu.jsonl --folds 1
    python -m benchmarks.points --table -o docs/results/tables/points.jsonl --cpu docs/results/tables/points-cpu.jsonl

FasterRisk's pins are old (numpy < 2, pandas 1.5, matplotlib 3.7), so it is installed apart and run by its own interpreter:

    python3.11 -m venv /tmp/fasterrisk && /tmp/fasterrisk/bin/pip install fasterrisk==0.1.10

and `--peer /tmp/fasterrisk/bin/python`. It takes binary columns only. They are made from the training rows of each fold as its
own `convert_continuous_df_to_binary_df` does by default: `x <= t` for at most 100 training values t sampled without
replacement, a column for missing values; a column for each category. That time is not counted. All its options are defaults.
Ours is `ULSClassifier.points(n_rules=k)` on the raw columns, with default options. `real` are the best real
coefficients on the rules of the card, under the same penalty, found by scikit-learn's logistic regression.

Sets: two classes, at least 100 rows, natural data (no generated concepts, no games, no simulations). Stratified 5-fold
cross-validation with one seed, the same folds for all. Every finished fold is one line of the output file; a second call
continues where the first ended. Without `--peer` ours runs alone. `--table` prints the table of what the file holds; with `--cpu`
the CPU times are those of another file, for which both contestants took turns on the same machine.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

import permissible as pm
from benchmarks.data import log_loss
from papers.datasets import load
from papers.datasets.dataset import Dataset
from permissible.estimators.classifier import table_of
from permissible.models.card.from_model import scorecard
from permissible.models.card.scorecard import holds

SETS = (
    *("breast-cancer", "breast-w", "colic", "credit-a", "diabetes", "echocardiogram", "haberman", "heart-cleveland"),
    *("heart-hungarian", "heart-statlog", "ionosphere", "mushroom", "sick", "sonar", "spambase", "titanic", "vote"),
    *("wdbc", "wpbc", "adult"),
)
RULES, POINTS, FOLDS, THRESHOLDS = (3, 5, 10), 5, 5, 100


def folds(data: Dataset) -> list[tuple[Any, Any]]:
    splitter = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    return list(splitter.split(np.zeros(data.n_rows), data.target))


def positive(data: Dataset) -> Any:
    """The last class in sorted order; of heart-cleveland, which has five degrees of disease, any degree above 0."""
    return data.target != data.classes[0] if len(data.classes) > 2 else data.target == data.classes[1]


def binary_columns(data: Dataset, train: Any) -> Any:
    """The columns that FasterRisk sees, over all rows; thresholds and categories are those of the training rows."""
    random, found = np.random.default_rng(0), []
    for name, values in data.columns.items():
        if data.kinds[name] == "categorical":
            known = sorted({value for value in values[train].tolist() if value is not None})
            found += [np.array([value == one for value in values.tolist()]) for one in known]
            missing = np.array([value is None for value in values.tolist()])
        else:
            missing = np.isnan(values)
            distinct = np.unique(values[train][~missing[train]])
            if len(distinct) > THRESHOLDS:
                distinct = np.sort(random.choice(distinct, THRESHOLDS, replace=False))
            found += [np.nan_to_num(values) <= threshold for threshold in distinct[:-1]]
        if missing[train].any():
            found.append(missing)
    columns = np.column_stack(found)
    varied = columns[train].any(axis=0) & ~columns[train].all(axis=0)
    return columns[:, varied]


def ours(data: Dataset, train: Any, test: Any, k: int) -> dict[str, float]:
    labels = positive(data)
    inside, outside = (data.take(rows).frame() for rows in (train, test))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        begun = time.process_time()
        card = pm.ULSClassifier.points(n_rules=k, max_points=POINTS, n_jobs=1).fit(inside, labels[train])
        spent = time.process_time() - begun
    return {
        "loss": log_loss(labels[test], card.predict_proba(outside)[:, 1]),
        "train": log_loss(labels[train], card.predict_proba(inside)[:, 1]),
        "cpu": spent,
        "real": real_loss(card, inside, labels[train], outside, labels[test]),
        "rules": len(card.rules_),
    }


def real_loss(card: Any, inside: Any, train_labels: Any, outside: Any, test_labels: Any) -> float:
    """The held-out log-loss of real coefficients on the rules of the card, under the same penalty."""
    if not card.rules_:
        return log_loss(test_labels, card.predict_proba(outside)[:, 1])
    scores = scorecard(card.model_, card.schema_)
    sides = []
    for frame in (inside, outside):
        rows = table_of(card, frame)
        sides.append(np.column_stack([2.0 * holds(rule, scores, rows) - 1.0 for rule in card.rules_]))
    model = LogisticRegression(C=1.0 / (2.0 * card.l2_regularization), tol=1e-8, max_iter=10_000)
    return log_loss(test_labels, model.fit(sides[0], train_labels).predict_proba(sides[1])[:, 1])


def peer(python: str, rows: Path, k: int, seconds: int) -> dict[str, float] | None:
    command = [python, str(Path(__file__).with_name("points_peer.py")), str(rows), str(k), str(POINTS), str(seconds)]
    alone = {**os.environ, **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=alone)
    return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else None


def run(arguments: argparse.Namespace) -> None:
    output = Path(arguments.output)
    lines = output.read_text().splitlines() if output.exists() else []
    done = {(one["set"], one["k"], one["fold"], one["method"]) for one in map(json.loads, lines)}
    for name in ("breast-cancer", "diabetes"):  # what is loaded once is not counted
        warm = load(name, arguments.data, network=False)
        ours(warm, *folds(warm)[0], 3)
    for name in arguments.sets.split(","):
        data = load(name, arguments.data, network=False)
        for number, (train, test) in enumerate(folds(data)[: arguments.folds]):
            with tempfile.TemporaryDirectory() as folder:
                rows = Path(folder) / "rows.npz"
                for k in RULES:
                    for method in ("ours", "fasterrisk") if arguments.peer else ("ours",):
                        key = (name, k, number, method)
                        if key in done:
                            continue
                        if method == "ours":
                            found: dict[str, float] | None = ours(data, train, test, k)
                        else:
                            if not rows.exists():
                                columns, labels = binary_columns(data, train), positive(data)
                                sides = {"train": columns[train], "test": columns[test]}
                                np.savez(rows, **sides, train_labels=labels[train], test_labels=labels[test])
                            found = peer(arguments.peer, rows, k, arguments.seconds)
                        entry = {"set": name, "k": k, "fold": number, "method": method, **(found or {"loss": None})}
                        with output.open("a") as file:
                            file.write(json.dumps(entry) + "\n")


def finished(path: Path) -> dict[tuple[str, int], list[dict[str, Any]]]:
    """Of each set and number of rules the folds that both have finished."""
    found: dict[tuple[str, int, int], dict[str, Any]] = {}
    for one in map(json.loads, path.read_text().splitlines()):
        found.setdefault((one["set"], one["k"], one["fold"]), {})[one["method"]] = one
    both: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for (name, k, _), of in found.items():
        if len(of) == 2 and of["fasterrisk"]["loss"] is not None:
            both.setdefault((name, k), []).append(of)
    return both


def table(path: Path, cpu_path: Path | None) -> str:
    """The means over the folds that both have finished, and the three claims."""
    found = finished(path)
    timed = found if cpu_path is None else finished(cpu_path)
    lines = ["| set | rules | folds | log-loss | FasterRisk | real coefficients | CPU ms | FasterRisk CPU ms | ratio |"]
    lines.append("|---|---|---|---|---|---|---|---|---|")
    wins, ratios, pairs, rounding, spent = 0, [], 0, [], []
    for (name, k), both in found.items():
        mean = {m: np.mean([one[m]["loss"] for one in both]) for m in ("ours", "fasterrisk")}
        real = np.mean([one["ours"]["real"] for one in both])
        wins, pairs = wins + bool(mean["ours"] < mean["fasterrisk"]), pairs + 1
        times = "- | - | -"
        if (name, k) in timed:
            cpu = [1000 * float(np.mean([one[m]["cpu"] for one in timed[name, k]])) for m in ("ours", "fasterrisk")]
            ratios.append(cpu[1] / cpu[0])
            spent.append(cpu)
            times = f"{cpu[0]:.0f} | {cpu[1]:.0f} | {ratios[-1]:.0f}"
        rounding.append((mean["ours"], real))
        better = "**" if mean["ours"] < mean["fasterrisk"] else ""
        lines.append(
            f"| {name} | {k} | {len(both)} | {better}{mean['ours']:.4f}{better} | {mean['fasterrisk']:.4f} | {real:.4f} | "
            f"{times} |"
        )
    if pairs:
        card, real = (float(np.mean(values)) for values in zip(*rounding, strict=True))
        lines.append("")
        mine, theirs = np.sum(spent, axis=0)
        lines.append(
            f"Lower mean held-out log-loss on {wins} of {pairs}; CPU of FasterRisk over ours: {theirs / mine:.0f} in all, "
            f"median {np.median(ratios):.0f}, at least 50 on {sum(one >= 50 for one in ratios)} of {len(ratios)}, "
            f"least {min(ratios):.0f}; mean log-loss {card:.4f} of cards, {real:.4f} of real coefficients "
            f"({100 * (card / real - 1):+.2f}%)."
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=os.environ.get("PERMISSIBLE_DATA"))
    parser.add_argument("--peer", help="the interpreter that has FasterRisk")
    parser.add_argument("-o", "--output", default="points.jsonl")
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument(
        "--seconds", type=int, default=120, help="CPU seconds after which FasterRisk counts as unfinished"
    )
    parser.add_argument("--folds", type=int, default=FOLDS, help="run only so many folds of each set")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--cpu", help="with --table: the file that has the CPU times")
    arguments = parser.parse_args()
    if not arguments.table:
        run(arguments)
    sys.stdout.write(table(Path(arguments.output), Path(arguments.cpu) if arguments.cpu else None) + "\n")


if __name__ == "__main__":
    main()
