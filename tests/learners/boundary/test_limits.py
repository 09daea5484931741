"""The ends of the range: lambda -> 0 is a linear program, memory stays O(n), hard data are solved."""

import numpy as np
import pytest
from scipy.optimize import linprog

from permissible.learners.boundary import Problem, Target, solve_linear


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


@pytest.mark.slow
def test_memory_beyond_the_data_is_a_few_vectors():
    import resource

    rng = np.random.default_rng(0)
    rows = rng.standard_normal((400_000, 50))
    positive = rows[:, 0] + rng.normal(size=400_000) > 0
    problem = Problem(Target.of((0.5,), "logistic").segments, positive, np.ones(400_000), 1e-4)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    solve_linear(rows, problem)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    assert grown < 0.4 * rows.nbytes
