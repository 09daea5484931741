"""Write the table of measured facts into README from the stored results: `python -m tools.readme_facts`.

Every figure comes from a file under docs/results, so README cannot say anything else than the pages; a test compares.
"""

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs" / "results"
BEGIN, END = "<!-- facts: python -m tools.readme_facts -->\n", "<!-- end of facts -->\n"
COSTS = "[cost a case, 1 is no model: {}](docs/results/decision/decision.md), {} sets"
PEERS = ("logistic regression", "LightGBM, early stopping", "EBM, 4 bags", "CatBoost")
TIMES = {
    "fit 100 rounds, 1e6x28, with binning, l=2 against depth 2": "fit 100 rules of two tests, 1,000,000 x 28, binning included",
    "tree of 255 leaves, 1e6x28, with binning": "fit a tree of 255 leaves, 1,000,000 x 28",
    "boundary, dense 1,000,000 x 50, lambda=0.01": "fit a linear support vector machine, 1,000,000 x 50",
    "predict 1e6x28, 100 rounds, l=2": "predict 1,000,000 rows, 100 rules of two tests",
    "one row of pandas: rules": "predict one row of a data frame",
}


def table() -> str:
    """The table in Markdown."""
    head = ["| measured | ours | others | made by |", "|---|---|---|---|"]
    return "\n".join([*head, *(f"| {' | '.join(line)} |" for line in (*decisions(), *errors(), *times()))]) + "\n"


def decisions() -> Iterator[tuple[str, str, str, str]]:
    """The mean relative cost of each decision over the sets on which everything was measured."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    with (RESULTS / "decision" / "costs.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            if row["trained for"] == "probabilities":
                asked = found.setdefault(row["decision"], {}).setdefault(row["model"], {})
                asked[row["set"]] = float(row["relative cost"])
    for decision, models in found.items():
        complete = set.intersection(*(set(costs) for costs in models.values()))
        mean = {model: np.mean([costs[name] for name in complete]) for model, costs in models.items()}
        others = ", ".join(f"{model.split(',')[0]} {mean[model]:.3f}" for model in PEERS)
        what = COSTS.format(decision, len(complete))
        yield what, f"rules {mean['ours, rules']:.3f}", others, "`python -m benchmarks.decision`"


def errors() -> Iterator[tuple[str, str, str, str]]:
    """Log-loss and error on the sets that were not used to choose anything."""
    page = (RESULTS / "quality.md").read_text()
    count, lines = re.search(r"## (\d+) sets held back\n\n(.*?)\n\n", page, flags=re.DOTALL).groups()  # type: ignore[union-attr]
    head, _, *body = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines.splitlines())
    rows = {cells[0]: dict(zip(head, cells, strict=True)) for cells in body}
    names = {
        "LightGBM stopped": "LightGBM",
        "EBM, 2 bags": "EBM (2 bags)",
        "CatBoost": "CatBoost",
        "logistic": "logistic regression",
    }
    for key in ("log-loss", "error"):
        shown = {name: f"{float(row[key]):.3f}" for name, row in rows.items()}
        others = ", ".join(f"{words} {shown[name]}" for name, words in names.items())
        what = f"[{key}](docs/results/quality.md), {count} sets held back"
        yield what, f"rules {shown['ULS']}", others, "`python -m benchmarks.quality`"


def times() -> Iterator[tuple[str, str, str, str]]:
    """Seconds on one thread."""
    rows = {row["row"]: row for row in json.loads((RESULTS / "bench" / "bench.json").read_text())["rows"]}
    for name, words in TIMES.items():
        if name in rows:
            calls = 200 if name.startswith("one row") else 1  # one measurement is so many calls
            loss = "log-loss" in rows[name]["quality"]
            told = {
                who: time(min(found["amounts"]) / calls) + (f" (log-loss {found['quality']:.3f})" if loss else "")
                for who, found in rows[name]["contenders"].items()
            }
            others = ", ".join(f"{who} {words}" for who, words in told.items() if "permissible" not in who)
            yield f"[{words}](docs/results/bench/bench.md)", told["permissible"], others, "`make bench`"


def time(seconds: float) -> str:
    """Seconds or milliseconds with two digits."""
    return f"{seconds:.2g} s" if seconds >= 0.01 else f"{seconds * 1e3:.2g} ms"


def replaced(text: str) -> str:
    """The README with the table of today's results."""
    return re.sub(f"{re.escape(BEGIN)}.*?{re.escape(END)}", f"{BEGIN}\n{table()}\n{END}", text, flags=re.DOTALL)


if __name__ == "__main__":
    readme = ROOT / "README.md"
    readme.write_text(replaced(readme.read_text()))
