"""Run the rows: ``python -m benchmarks [--full] [--only WORD] [--keep] [-o DIR]``. Exit code 1 when a row is short or failed."""

import argparse
import importlib
import os
import pkgutil
import sys
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")  # rows that use two threads say so and set it for each contender

from benchmarks import rows as areas
from benchmarks.row import measure_all
from benchmarks.tables import as_json, as_markdown, as_picture, from_json


def main() -> int:
    """Measure, print the table, and keep it as JSON, Markdown and a picture."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--full", action="store_true", help="every row at its full size")
    parser.add_argument("--only", default="", help="rows whose name contains this word")
    parser.add_argument("--keep", action="store_true", help="rows of an earlier run in DIR that are not run now stay")
    parser.add_argument("-o", "--output", type=Path, default=Path("results/bench"))
    options = parser.parse_args()
    modules = [
        importlib.import_module(f"{areas.__name__}.{found.name}") for found in pkgutil.iter_modules(areas.__path__)
    ]
    rows = [row for module in modules for row in module.rows(full=options.full) if options.only in row.name]
    # Rows of an earlier run may be of the other size, so the order has the names of both.
    both = (row.name for module in modules for full in (True, False) for row in module.rows(full=full))
    order = list(dict.fromkeys(both))
    file = options.output / "bench.json"
    kept = from_json(file.read_text()) if options.keep and file.exists() else []
    outcomes = measure_all(rows, lambda line: print(line, file=sys.stderr, flush=True))
    outcomes += [old for old in kept if old.row.name not in {row.name for row in rows} and old.row.name in order]
    for gone in [old.row.name for old in kept if old.row.name not in order]:
        print(f"no longer a row, so not kept: {gone}", file=sys.stderr)
    outcomes.sort(key=lambda outcome: order.index(outcome.row.name))
    options.output.mkdir(parents=True, exist_ok=True)
    table = as_markdown(outcomes)
    file.write_text(as_json(outcomes))
    (options.output / "bench.md").write_text(table)
    as_picture(outcomes, options.output / "bench.svg")
    print(table)
    verdicts = ["failed" if o.failure else o.verdict(peer) for o in outcomes for peer in [*o.measured][1:] or ["?"]]
    short = sum(verdict in {"short", "failed"} for verdict in verdicts)
    print(f"{len(outcomes)} rows, {short} comparisons short or failed; kept in {options.output}")
    return int(short > 0)


if __name__ == "__main__":
    sys.exit(main())
