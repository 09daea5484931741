"""Loss against time: ``python -m benchmarks.curves [-o DIR]`` fits rules, trees and LightGBM of growing size.

Every point is a fit of its own with reading and binning, timed in processor seconds on one thread, beside the log-loss on
held-out rows. Needs the data folder (PERMISSIBLE_DATA) for adult and covertype, and the extra `bench`.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np

import permissible as pm
from benchmarks.rows.equal_loss import Split, light, log_loss, split_of

RULES = {"adult": (25, 100, 400, 800), "covertype": (25, 100, 400)}
TREES = {"adult": (25, 50, 100, 200), "covertype": (25, 50, 100, 200, 500)}
COLOURS = {"rules": "#009e73", "trees": "#0072b2", "trees, chosen": "#0072b2", "LightGBM": "#d55e00"}

Fit = Callable[[], Any]


def fits_of(data: Split, name: str) -> dict[str, list[tuple[int, Fit]]]:
    """The fits of each contender, by size."""

    def rules(size: int) -> Fit:
        return lambda: pm.ULSClassifier(n_rounds=size, early_stopping=False, n_jobs=1).fit(data.train, data.labels)

    def trees(size: int) -> Fit:
        return lambda: pm.ULSClassifier.trees(size, 31, 0.1, early_stopping=False, max_features=1.0, n_jobs=1).fit(
            data.train, data.labels
        )

    def chosen() -> Any:
        return pm.ULSClassifier.trees(n_jobs=1).fit(data.train, data.labels)

    return {
        "rules": [(size, rules(size)) for size in RULES[name]],
        "trees": [(size, trees(size)) for size in TREES[name]],
        "trees, chosen": [(0, chosen)],
        "LightGBM": [(size, light(data, size)) for size in TREES[name]],
    }


def measure(name: str) -> dict[str, list[tuple[int, float, float]]]:
    """Size, processor seconds and test log-loss of every fit."""
    data = split_of(name)
    found: dict[str, list[tuple[int, float, float]]] = {}
    for contender, fits in fits_of(data, name).items():
        if name == "adult":
            fits[0][1]()  # what is imported and built on first use is not measured
        for size, fit in fits:
            begun = time.process_time()
            model = fit()
            seconds = time.process_time() - begun
            loss = log_loss(data.truth, np.asarray(model.predict_proba(data.test), dtype=np.float64))
            found.setdefault(contender, []).append((size, seconds, loss))
            print(f"{name}: {contender} {size or ''} {seconds:.2f} s, {loss:.4f}", file=sys.stderr, flush=True)
    return found


def draw(found: dict[str, dict[str, list[tuple[int, float, float]]]], path: Path) -> None:
    """One panel a data set, time on a log scale."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import FormatStrFormatter, LogLocator, NullFormatter

    figure = Figure(figsize=(9, 3.6), layout="constrained")
    for axes, (name, contenders) in zip(figure.subplots(1, len(found), squeeze=False)[0], found.items(), strict=True):
        for contender, points in contenders.items():
            single = len(points) == 1
            marker, line = ("*", "none") if single else ("o", "-")
            seconds, losses = [point[1] for point in points], [point[2] for point in points]
            size = 14 if single else 4
            axes.plot(seconds, losses, line, marker=marker, markersize=size, color=COLOURS[contender], label=contender)
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 3.0)))
        axes.xaxis.set_major_formatter(FormatStrFormatter("%g"))
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.set_title(name)
        axes.set_xlabel("processor seconds of the fit")
        axes.set_ylabel("test log-loss")
        axes.legend()
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    """Measure, and keep the figures and the picture."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.curves", description=__doc__)
    parser.add_argument("-o", "--output", type=Path, default=Path("docs/results/bench"))
    output = parser.parse_args().output
    found = {name: measure(name) for name in RULES}
    output.mkdir(parents=True, exist_ok=True)
    (output / "curves.json").write_text(json.dumps(found, indent=1) + "\n")
    draw(found, output / "curves.svg")


if __name__ == "__main__":
    main()
