"""Points of rules: line fits against scipy, the search of the best points against exhaustive enumeration, bounds below losses."""

import itertools
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from permissible import losses
from permissible.learners.points.branch import best_points
from permissible.learners.points.cells import RuleCells
from permissible.learners.points.lines import fit_lines, fit_lines_readable
from permissible.learners.points.relaxation import Relaxation
from permissible.learners.points.rounding import PointsProblem, best_of, rounded, roundings, without_factor
from permissible.losses.surrogate import PythonSurrogate, compiled

LOSSES = ("logistic", "matsushita", "squared", "exponential", "logcosh")


def surrogate_of(name):
    return compiled(losses.get(name)).function()


def problem_of(seed, n_rules=3, max_points=3, loss="logistic", l2=0.5, n_rows=120):
    """RuleCells of random rules, some of which matter."""
    random = np.random.default_rng(seed)
    bits = (random.random((n_rows, n_rules)) < random.uniform(0.2, 0.8, n_rules)).astype(np.uint8)
    score = bits @ np.abs(random.normal(size=n_rules)) * 1.5 + random.normal(size=n_rows) - 0.5
    cells = RuleCells(bits, np.column_stack((score <= 0, score > 0)).astype(np.int64), 1.0).of(range(n_rules))
    return PointsProblem(cells, surrogate_of(loss), l2, max_points)


def loss_of(problem, points, offset, unit):
    """The objective as it is written in lines.py, cell by cell."""
    score = offset + unit * (problem.cells.bits @ points)
    negative, positive = problem.cells.weight.T / problem.cells.grid
    at = problem.surrogate.at
    lost = float(positive @ at(score)[:, 0] + negative @ at(-score)[:, 0])
    return lost + 0.25 * problem.l2 * unit**2 * float((np.asarray(points) ** 2).sum())


@pytest.mark.parametrize("name", LOSSES)
def test_offset_and_unit_are_the_minimisers_of_scipy(name):
    problem = problem_of(7, n_rules=4, max_points=5, loss=name)
    for points in ([1, 2, 0, 5], [3, 3, 1, 1], [0, 0, 0, 4]):
        found = best_of(problem, np.array([points]), (0.0, 0.1))
        referee = minimize(
            lambda z, p=points: loss_of(problem, np.array(p), *z),
            [0.0, 0.1],
            method="Nelder-Mead",
            options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 4000},
        )
        assert found.value <= referee.fun * (1 + 1e-9)
        assert found.value == pytest.approx(loss_of(problem, np.array(points), found.offset, found.unit), rel=1e-12)


def test_totals_are_exact_sums_of_weights():
    problem = problem_of(3, n_rules=3, max_points=5)
    points = np.array([[1, 4, 5], [0, 2, 2]])
    tables = problem.cells.totals(points, 10)
    for vector, table in zip(points, tables, strict=True):
        for total in range(11):
            inside = problem.cells.bits @ vector == total
            assert table[total].tolist() == problem.cells.weight[inside].sum(axis=0).tolist()


@pytest.mark.parametrize("most", [1, 2, 5])
def test_every_rounding_is_listed(most):
    random = np.random.default_rng(1)
    coefficients = random.exponential(size=4)
    listed = {tuple(row) for row in roundings(coefficients, most).tolist()}
    for unit in np.exp(random.uniform(-6, 3, 4000)) * coefficients.max():
        assert tuple(np.minimum(np.floor(coefficients / unit + 0.5), most).astype(int).tolist()) in listed | {(0,) * 4}


def every_card(problem):
    vectors = np.array(list(itertools.product(range(problem.max_points + 1), repeat=problem.n_rules)))
    return best_of(problem, vectors, (0.0, 0.3))


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 10**6),
    st.integers(1, 4),
    st.integers(1, 4),
    st.sampled_from(LOSSES),
    st.sampled_from([0.0, 0.3, 3.0]),
)
def test_the_certified_optimum_is_that_of_exhaustive_enumeration(seed, n_rules, max_points, loss, l2):
    problem = problem_of(seed, n_rules, max_points, loss, l2)
    start = best_of(problem, np.zeros((1, n_rules), dtype=np.int64), (0.0, 0.3))
    found, referee = best_points(problem, start, 60.0), every_card(problem)
    assert found.proved
    assert found.card.value == pytest.approx(referee.value, rel=1e-8)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 4), st.sampled_from(LOSSES), st.sampled_from([0.0, 1.0]))
def test_a_bound_is_never_above_the_loss_of_a_completed_card(seed, n_rules, loss, l2):
    problem = problem_of(seed, n_rules, 3, loss, l2)
    relaxation = Relaxation(problem, list(range(n_rules)))
    random = np.random.default_rng(seed)
    for n_fixed in range(n_rules):
        fixed = random.integers(0, 4, (5, n_fixed))
        bounds = relaxation.bounds(fixed, np.zeros(n_rules + 1))
        for prefix, bound in zip(fixed, bounds, strict=True):
            rest = random.integers(0, 4, (6, n_rules - n_fixed))
            vectors = np.column_stack((np.tile(prefix, (6, 1)), rest))
            assert bound <= best_of(problem, vectors, (0.0, 0.3)).value * (1 + 1e-9)


def test_a_time_limit_is_kept_and_the_gap_is_told():
    problem = problem_of(5, n_rules=10, max_points=5, n_rows=600)
    start = rounded(problem, np.ones(10), 0.0)
    best_points(problem, start, 0.05)  # whatever is loaded at the first call
    for seconds in (1.0, 2.0):
        begun, worked = time.monotonic(), time.process_time()
        found = best_points(problem, start, seconds)
        spent, worked = time.monotonic() - begun, time.process_time() - worked
        assert found.bound <= found.card.value
        if not found.proved and worked > 0.5 * spent:  # else the machine gave its time to others
            assert spent <= 1.1 * seconds


def test_an_own_loss_without_compiled_form_is_rounded_too():
    problem = problem_of(2, loss="logistic")
    slow = PointsProblem(problem.cells, PythonSurrogate(losses.get("logistic")), problem.l2, problem.max_points)
    one, other = (rounded(of, np.array([1.0, 0.4, 2.0]), 0.0) for of in (problem, slow))
    assert one.points.tolist() == other.points.tolist()
    assert one.unit == pytest.approx(other.unit, rel=1e-7)


def test_a_common_divisor_goes_into_the_unit():
    problem = problem_of(6)
    card = best_of(problem, np.array([[2, 0, 4]]), (0.0, 0.3))
    lowest = without_factor(card)
    assert lowest.points.tolist() == [1, 0, 2]
    assert lowest.unit == 2 * card.unit


def test_lines_of_separated_totals_end():
    weight = np.array([[[5.0, 0.0], [0.0, 5.0]]])
    found = fit_lines(weight, np.zeros(1), surrogate_of("logistic"), np.array([[0.0, 1.0]]))
    assert np.isfinite(found.unit).all()
    assert found.value[0] < 1e-6


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from((*LOSSES, "least_squares")), st.sampled_from([0.0, 0.1, 5.0]))
def test_compiled_lines_are_those_of_the_readable_twin(seed, name, ridge):
    random = np.random.default_rng(seed)
    weight = random.integers(0, 30, (4, 6, 2)).astype(float) * (random.random((4, 6, 1)) < 0.7)
    weight[:, 0] += 1.0
    given = weight, np.full(4, ridge), surrogate_of(name), random.normal(size=(4, 2))
    one, other = fit_lines(*given), fit_lines_readable(*given)
    assert np.allclose(one.value, other.value, rtol=1e-7, atol=1e-6)
