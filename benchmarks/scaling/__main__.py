"""Measure the curves: ``python -m benchmarks.scaling [--only AXIS] [--up-to SIZE] [--minutes M] [-o DIR]``.

Every point is filed as soon as it is measured, and a second run takes up where the first stopped.
"""

import argparse
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")  # the estimators' own threads are set point by point

from benchmarks.scaling.axes import AXES
from benchmarks.scaling.pages import as_json, as_markdown, as_picture
from benchmarks.scaling.point import measure


def known(file: Path) -> list[dict[str, Any]]:
    """The points of an earlier run."""
    return json.loads(file.read_text())["points"] if file.exists() else []


def wanted(only: str, up_to: int) -> list[dict[str, Any]]:
    """The points asked for; threads no more than there are cores."""
    points = [point for axis in AXES if only in axis.name for point in axis.points()]
    most = os.cpu_count() or 1
    return [point for point in points if point[point["axis"]] <= up_to and point["threads"] <= most]


def main() -> int:
    """Measure what is missing, write the three files; exit code 3 when the time was up before the end."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scaling", description=__doc__)
    parser.add_argument("--only", default="", help="sizes whose name contains this word")
    parser.add_argument("--up-to", type=int, default=10**9, help="no point of a larger size")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop after this time; run again to go on")
    parser.add_argument("-o", "--output", type=Path, default=Path("results/scaling"))
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    file = options.output / "scaling.json"
    points, stop = known(file), time.monotonic() + 60 * options.minutes
    asked = wanted(options.only, options.up_to)
    missing = [spec for spec in asked if not any(spec.items() <= point.items() for point in points)]
    for spec in missing:
        if time.monotonic() > stop:
            print("the time is up; run again to go on", file=sys.stderr)
            return 3
        print(f"{spec['estimator']}, {spec[spec['axis']]:,} {spec['axis']} ...", file=sys.stderr, flush=True)
        points.append({**spec, **measure(spec)})
        file.write_text(as_json(points))
    order = [axis.name for axis in AXES]
    points.sort(key=lambda point: order.index(point["axis"]))
    file.write_text(as_json(points))
    (options.output / "scaling.md").write_text(as_markdown(points))
    as_picture(points, options.output / "scaling.svg")
    print(as_markdown(points).partition("\n\n## ")[0])
    return 0


if __name__ == "__main__":
    sys.exit(main())
