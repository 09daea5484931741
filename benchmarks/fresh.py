"""What only a fresh process can show: start-up time, peak memory above the loaded data, the time of the busiest thread."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

_PEAK = """
import json, pathlib, numpy as np
X, y = np.load({x!r}), np.load({y!r})
{imports}
{warm}
pathlib.Path("/proc/self/clear_refs").write_text("5")        # the high-water mark starts from here
def mark():
    status = pathlib.Path("/proc/self/status").read_text()
    fields = (line.partition(":") for line in status.splitlines())
    return {{name: int(value.split()[0]) for name, _, value in fields if name in ("VmHWM", "VmRSS")}}
before = mark()["VmRSS"]
{work}
print(json.dumps([(mark()["VmHWM"] - before) / 1024, float(quality)]))
"""
_PATH = """
import json, pathlib, numpy as np
X, y = np.load({x!r}), np.load({y!r})
{imports}
{warm}
def threads():
    tasks = pathlib.Path("/proc/self/task").iterdir()
    return {{task.name: int((task / "schedstat").read_text().split()[0]) for task in tasks}}
before = threads()
{work}
longest = max(now - before.get(name, 0) for name, now in threads().items()) / 1e9
{judge}
print(json.dumps([longest, float(quality)]))
"""
_START = """
import time, sklearn.base, sklearn.utils.validation, numpy as np
X = np.random.default_rng(0).standard_normal((300, 10)); y = (X[:, 0] > 0).astype(int)
start = time.process_time()
{work}
print(time.process_time() - start)
"""


def _run(script: str) -> str:
    passive = os.environ | {"OMP_WAIT_POLICY": "passive"}  # a thread that waits takes no processor time
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, env=passive)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    return done.stdout


def peak_memory(X: np.ndarray, y: np.ndarray, imports: str, warm: str, work: str) -> tuple[float, float]:
    """Run `work` (which must set `quality`) on the saved table in a fresh process; MiB above the data, and the quality."""
    return _on_table(_PEAK, X, y, imports=imports, warm=warm, work=work)


def longest_path(X: np.ndarray, y: np.ndarray, imports: str, warm: str, work: str, judge: str) -> tuple[float, float]:
    """Run it likewise; the processor seconds of the thread that took most, and the quality, which `judge` sets.

    That is what the work would take with a core for every thread, but for waiting; it can be measured on a busy machine.
    """
    return _on_table(_PATH, X, y, imports=imports, warm=warm, work=work, judge=judge)


def _on_table(script: str, X: np.ndarray, y: np.ndarray, **parts: str) -> tuple[float, float]:
    with tempfile.TemporaryDirectory() as folder:
        names = {name: str(Path(folder) / f"{name}.npy") for name in ("x", "y")}
        np.save(names["x"], X)
        np.save(names["y"], y)
        amount, quality = json.loads(_run(script.format(**names, **parts)))
    return amount, quality


def start_up(work: str) -> float:
    """Processor seconds of `work` in a fresh process in which scikit-learn is already imported."""
    return float(_run(_START.format(work=work)))
