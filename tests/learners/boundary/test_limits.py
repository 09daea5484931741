"""The ends of the range: lambda -> 0 is a linear program, memory stays O(n), hard data are solved."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linprog

from permissible.learners.boundary.linear import solve_linear
from permissible.learners.boundary.problem import Problem
from permissible.learners.boundary.target import Target


def linear_program(features, positive, lines):
    """Problem (18) at lambda = 0: min mean xi, xi >= 0, xi >= A_k + B_k y f, solved by HiGHS."""
    intercepts, slopes_pos, slopes_neg = lines
    n, d = features.shape
    design = np.c_[features, np.ones(n)] * np.where(positive, 1.0, -1.0)[:, None]
    slopes = np.where(positive[:, None], slopes_pos, slopes_neg)
    upper = np.vstack([np.c_[design * slopes[:, [k]], -np.eye(n)] for k in range(len(intercepts))])
    bound = np.concatenate([np.full(n, -a) for a in intercepts])
    limits = [(None, None)] * (d + 1) + [(0, None)] * n
    return linprog(np.r_[np.zeros(d + 1), np.full(n, 1 / n)], upper, bound, bounds=limits, method="highs").fun


@pytest.mark.parametrize("boundaries", [(0.5,), (0.25, 0.5, 0.75)])
def test_a_vanishing_lambda_meets_the_linear_program(boundaries, lines_of):
    rng = np.random.default_rng(0)
    features = rng.normal(size=(120, 4))
    positive = features[:, 0] + rng.normal(size=120) > 0
    program = linear_program(features, positive, lines_of(boundaries))
    values = []
    for alpha in (1e-2, 1e-4, 1e-6, 1e-8, 1e-10):
        problem = Problem(Target.of(boundaries, "logistic").segments, positive, np.ones(120), alpha)
        fit = solve_linear(features, problem)
        assert fit.converged
        values.append(fit.certificate.objective)
    assert values == sorted(values, reverse=True)
    assert values[-1] == pytest.approx(program, rel=1e-7)
    assert values[-1] >= program * (1 - 1e-9)


def hard_cases():
    rng = np.random.default_rng(1)
    n, d = 30_000, 10
    rows = rng.standard_normal((n, d))
    w = rng.normal(size=d)
    score = rows @ w
    yield "separable", rows, score > 0
    order = np.argsort(score > 0, kind="stable")
    yield "sorted by label", np.ascontiguousarray(rows[order]), (score > 0)[order]
    yield "binary features", (rows > 0).astype(float), score + rng.logistic(size=n) > 0
    yield "scales 1e-2 to 1e2", rows * 10 ** np.linspace(-2, 2, d), score + rng.logistic(size=n) > 0
    yield "noise, 3% positive", rows, rng.random(n) < 0.03
    yield "a constant column", np.c_[rows[:, :3], np.ones(n)], score + rng.logistic(size=n) > 0
    yield "few distinct rows", np.round(rows[:, :2]), score + rng.logistic(size=n) > 0


CASES = list(hard_cases())


@pytest.mark.parametrize("case", CASES, ids=[name for name, *_ in CASES])
@pytest.mark.parametrize("alpha", [1e-2, 1e-6])
@pytest.mark.parametrize("boundaries", [(0.5,), (0.25, 0.5, 0.75)])
def test_hard_data_are_solved_to_the_gap(case, alpha, boundaries):
    _, rows, positive = case
    problem = Problem(Target.of(boundaries, "logistic").segments, np.asarray(positive), np.ones(len(rows)), alpha)
    assert solve_linear(rows, problem).converged


MEMORY = """
import sys
import numpy as np
from scipy import sparse
import permissible as pm

kind, n, d, K = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
rng = np.random.default_rng(0)
if kind == "dense":
    X = rng.standard_normal((n, d))
    first = X[:, 0]
else:
    X = sparse.csr_matrix((rng.standard_normal(n * 20), rng.integers(0, d, n * 20), np.arange(0, n * 20 + 1, 20)), (n, d))
    first = X @ rng.standard_normal(d)
y = (first + rng.standard_normal(n) > 0).astype(int)
model = pm.BoundaryClassifier(tuple(np.arange(1, K + 1) / (K + 1)), alpha=1e-3, tol=1e-3)
model.fit(X[:2000], y[:2000])
open("/proc/self/clear_refs", "w").write("5")  # the peak starts anew from what is held now
field = lambda name: next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(name))
before = field("VmRSS")
model.fit(X, y)
print((field("VmHWM") - before) * 1024)
"""


def memory_of_a_fit(kind, n, d, count):
    """Peak memory of a fit beyond its data, in bytes, in a process of its own."""
    run = [sys.executable, "-c", MEMORY, kind, str(n), str(d), str(count)]
    return int(subprocess.run(run, capture_output=True, text=True, check=True).stdout)


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="needs Linux's peak of resident memory")
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_memory_beyond_the_data_is_a_few_vectors(kind):
    # O(n) beyond the data for the linear classifier: a bounded number of values a row, whatever the columns and K.
    n = 60_000
    narrow, broad = (30, 120) if kind == "dense" else (1000, 20_000)
    for d, count in [(narrow, 1), (broad, 3)]:
        assert memory_of_a_fit(kind, n, d, count) < 40 * 8 * n
