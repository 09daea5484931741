"""The problem of a round against linear programming (HiGHS), and its lower bounds against brute force."""

import numpy as np
import pytest
from scipy.optimize import linprog

from permissible import losses
from permissible.learners.boundary.generation.groups import Groups
from permissible.learners.boundary.generation.master import Master, solve_master
from permissible.learners.boundary.target import Target

ASYMMETRIC = losses.PiecewiseLinear.from_hinges([0.2, 0.6], [-2.0, 0.4, 1.0])


def linear_program(positive, share, terms, lines, alpha, fit_intercept=True):
    """The optimum written with xi_i >= A_k + B_k z_i and l = u - v, for all terms at once."""
    a_pos, b_pos, a_neg, b_neg = lines
    d, n = terms.shape
    sign = np.where(positive, 1.0, -1.0)
    cost = np.r_[np.full(2 * d, alpha), 0.0, share]
    bounds = [(0, None)] * (2 * d) + [(None, None) if fit_intercept else (0, 0)] + [(0, None)] * n
    rows, limits = [], []
    for k in range(len(a_pos)):
        slope = np.where(positive, b_pos[k], b_neg[k]) * sign
        rows.append(np.c_[slope[:, None] * terms.T, -slope[:, None] * terms.T, slope, -np.eye(n)])
        limits.append(-np.where(positive, a_pos[k], a_neg[k]))
    found = linprog(cost, np.vstack(rows), np.concatenate(limits), bounds=bounds, method="highs")
    assert found.status == 0
    return found.fun


def lines_of(surrogate):
    return surrogate.intercepts_pos, surrogate.slopes_pos, surrogate.intercepts_neg, surrogate.slopes_neg


def problem(surrogate, alpha=0.01, n=120, d=15, fit_intercept=True, seed=0):
    rng = np.random.default_rng(seed)
    terms = np.where(rng.random((d, n)) < rng.random((d, 1)), 1.0, -1.0)
    positive = rng.random(n) < 1 / (1 + np.exp(-terms[:4].sum(axis=0) / 2))
    share = rng.integers(1, 4, n) / 1.0
    target = Target.of(surrogate.boundaries, surrogate)
    return Master(target.segments, positive, share / share.sum(), terms, alpha, fit_intercept)


@pytest.mark.parametrize("alpha", [0.3, 0.01, 1e-5])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(
    "surrogate",
    [
        losses.PiecewiseLinear([0.5]),
        losses.PiecewiseLinear([0.1, 0.9], base="matsushita"),
        losses.PiecewiseLinear([0.1, 0.15, 0.5, 0.9]),
        ASYMMETRIC,
    ],
    ids=["hard", "reject", "groups", "asymmetric"],
)
def test_the_optimum_is_that_of_the_linear_program(surrogate, alpha, fit_intercept):
    master = problem(surrogate, alpha, fit_intercept=fit_intercept)
    exact = linear_program(master.positive, master.share, master.terms, lines_of(surrogate), alpha, fit_intercept)
    found = solve_master(master, 1e-9)
    assert found.objective == pytest.approx(exact, rel=1e-8, abs=1e-12)
    assert found.dual_objective <= exact * (1 + 1e-12) + 1e-14
    assert found.objective >= exact * (1 - 1e-12)
    assert found.objective == pytest.approx(master.objective(found.coef, found.intercept), rel=1e-14)


def test_every_balanced_dual_point_bounds_the_optimum_from_below():
    surrogate = losses.PiecewiseLinear([0.25, 0.75])
    master = problem(surrogate)
    exact = linear_program(master.positive, master.share, master.terms, lines_of(surrogate), master.alpha)
    rng = np.random.default_rng(1)
    for scale in (0.01, 0.3, 1.0):
        dual = master.balanced(scale * rng.random(len(master.share)))
        assert abs(master.signed(dual).sum()) < 1e-15
        assert master.dual_value(dual, master.largest_edge(dual)) <= exact


def test_without_terms_the_constant_is_fitted():
    """For K = 1 the best constant is an end of the hinge of the heavier side: the loss is that of the lighter one."""
    surrogate = losses.PiecewiseLinear([0.5])
    positive = np.array([False, True])
    target = Target.of([0.5], surrogate)
    master = Master(target.segments, positive, np.array([0.7, 0.3]), np.empty((0, 2)), 0.1, True)
    found = solve_master(master, 1e-10)
    assert found.objective == pytest.approx(0.3 * 2 * np.log(2), rel=1e-9)


def test_groups_join_equal_rows_and_keep_their_weight():
    rng = np.random.default_rng(0)
    positive, weight = rng.random(200) < 0.4, rng.integers(1, 5, 200).astype(float)
    masks = [rng.random(200) < 0.5 for _ in range(3)]
    groups = Groups.of(positive, weight, outside=-1.0).with_terms(masks[:1]).with_terms(masks[1:])
    seen = np.column_stack([positive, *masks])
    expected = np.unique(seen, axis=0)
    assert np.array_equal(np.column_stack([groups.positive, groups.covers.T]), expected)
    assert np.array_equal(np.column_stack([groups.positive, groups.covers.T])[groups.of_row], seen)
    assert np.array_equal(groups.size, [weight[(seen == row).all(axis=1)].sum() for row in expected])
    values, unit = groups.signed_integers(groups.positive * 0.3 + 0.1)
    assert np.array_equal(values, np.rint(values))
    exact = np.where(positive, 0.4, -0.1) @ weight / weight.sum()
    assert values.sum() * unit == pytest.approx(exact, rel=1e-12)
