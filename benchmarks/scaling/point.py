"""One fit in a process of its own: ``python -m benchmarks.scaling.point JSON`` prints its seconds, its peak memory and its error.

The data are made in that process; memory is the high-water mark above them, taken at the first fit; time is the least of several.
"""

import json
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data import higgs_like
from benchmarks.scaling.axes import estimator

ENOUGH_SECONDS, LEAST_FITS, MOST_FITS, LONG_SECONDS = 1.0, 3, 20, 60.0


def measure(point: dict[str, Any]) -> dict[str, float]:
    """Measure a point in a fresh process."""
    command = [sys.executable, "-m", "benchmarks.scaling.point", json.dumps(point)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    measured: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return measured


def labels(X: np.ndarray, y: np.ndarray, classes: int) -> np.ndarray:
    """The given two labels, or more of them by a noisy linear choice."""
    if classes == 2:
        return y
    random = np.random.default_rng(1)
    few = X[:, : min(X.shape[1], 28)]
    scores = few @ random.standard_normal((few.shape[1], classes), dtype=np.float32)
    return (scores + random.gumbel(size=scores.shape).astype(np.float32)).argmax(axis=1)


def _status(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name))


def run(point: dict[str, Any]) -> dict[str, float]:
    """Fit in this process: seconds, MiB above the data, training error on the first rows."""
    X, y = higgs_like(point["rows"], point["columns"])
    y = labels(X, y, point["classes"])
    warnings.simplefilter("ignore")  # a solver that stops at its last turn is seen by its time
    estimator({**point, "rounds": 3}).fit(X[:500, :3].copy(), y[:500])  # code and libraries are loaded
    Path("/proc/self/clear_refs").write_text("5")  # the high-water mark starts from here
    before, times = _status("VmRSS"), []
    peak = 0
    while len(times) < LEAST_FITS or (sum(times) < ENOUGH_SECONDS and len(times) < MOST_FITS):
        if sum(times) > LONG_SECONDS:  # such a fit is long enough to be measured by fewer turns
            break
        start = time.perf_counter()
        model = estimator(point).fit(X, y)
        times.append(time.perf_counter() - start)
        peak = peak or _status("VmHWM") - before
    error = float(np.mean(model.predict(X[:20_000]) != y[:20_000]))
    return {"seconds": min(times), "spread": max(times) / min(times) - 1, "mib": peak / 1024, "error": error}


if __name__ == "__main__":
    print(json.dumps(run(json.loads(sys.argv[1]))))
