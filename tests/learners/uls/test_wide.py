"""Wide tables, few rows of thousands of columns: a fit takes at most three times the memory of the data beside it."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import permissible as pm
from permissible.learners.uls import search

FIT = """
import pathlib
import numpy as np
import permissible as pm

def kilobytes(name):
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name + ":"))

X = np.random.default_rng(0).standard_normal((500, 10_000))
y = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int)
made = {made}
made.fit(X[:200, :5].copy(), y[:200])  # loads what any fit needs
before = kilobytes("VmRSS")
pathlib.Path("/proc/self/clear_refs").write_text("5")  # the high-water mark begins anew
made.fit(X, y)
print(1024 * (kilobytes("VmHWM") - before) / X.nbytes)
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="needs the memory accounts of Linux")
@pytest.mark.parametrize(
    "made", ["pm.ULSClassifier(n_rounds=3, n_jobs=1)", "pm.ULSClassifier.compact(n_rules=2, beam=3, n_jobs=1)"]
)
def test_a_fit_takes_at_most_three_times_the_memory_of_the_data(made):
    done = subprocess.run([sys.executable, "-c", FIT.format(made=made)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert 0.5 < float(done.stdout) <= 3.0


def test_one_histogram_at_a_time_finds_the_same_rules(monkeypatch):
    X = np.random.default_rng(1).standard_normal((400, 12)).round(1)
    y = (X[:, 0] * X[:, 1] + X[:, 2] > 0.3).astype(int)
    X[::7, 1] = np.nan
    model = pm.ULSClassifier.compact(n_rules=6, max_literals=3, beam=5)
    expected = model.fit(X, y).predict_proba(X)
    asked = []
    alone = search.RuleSearch._completed_alone
    monkeypatch.setattr(search.RuleSearch, "_completed_alone", lambda *of: asked.append(1) or alone(*of))
    monkeypatch.setattr(search, "BEAM_BYTES", 1)
    assert max(len(rule) for rule in model.model_.rules) > 1
    np.testing.assert_array_equal(model.fit(X, y).predict_proba(X), expected)
    assert asked
