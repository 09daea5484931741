"""The compiled passes of multiclass boosting against their readable twins and against scipy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import approx_fprime, brentq, minimize_scalar
from scipy.special import expit, logsumexp

from permissible.kernels._core import mcboost as kernel
from permissible.kernels.reference import mcboost as reference
from permissible.models.kinds.simplex import codewords, scores_of

LOSSES = ["gll", "gel", "ls", "lt", "mc"]


def problem(seed, n=40, m=4, d=3, by_row=False):
    rng = np.random.default_rng(seed)
    target = rng.integers(0, m, n)
    costs = rng.uniform(0.5, 5, (n if by_row else m, m))
    costs[np.arange(len(costs)), target if by_row else np.arange(m)] = 0.0
    functions = rng.normal(size=(n, m - 1))
    weight = rng.uniform(0.1, 2, n)
    return target, costs, functions, weight, rng.normal(size=(n, d))


def state_of(loss, target, costs, weight, scores, by_row=False, threads=1):
    state = kernel.state(target.astype(np.int32), costs, weight, not by_row, LOSSES.index(loss), threads)
    state.set_scores(np.ascontiguousarray(scores))
    return state


def attributes(x, of=None):
    return kernel.Attributes(x if of is None else of, x.min(axis=0), x.max(axis=0))


def affine_round(state, x, gradient=False):
    return state.round_affine(attributes(x), np.ones(x.shape[1], dtype=np.uint8), None, 1.0, gradient)


def test_exponential_is_exact_to_two_ulp():
    x = np.concatenate([np.linspace(-700, 700, 100_001), np.random.default_rng(0).normal(size=10_000)])
    assert np.max(np.abs(kernel.exponential(x) / np.exp(x) - 1)) < 5e-16


@pytest.mark.parametrize("loss", LOSSES)
@given(seed=st.integers(0, 10_000), m=st.integers(2, 6), by_row=st.booleans())
@settings(max_examples=15, deadline=None)
def test_gradient_is_the_numerical_derivative_of_the_value(loss, seed, m, by_row):
    target, costs, functions, weight, _ = problem(seed, n=6, m=m, by_row=by_row)
    rows = costs if by_row else costs[target]
    state = state_of(loss, target, costs, weight, scores_of(functions), by_row)
    surrogate = state.begin_round()[0]

    def total(flat):
        values = reference.loss_values(loss, scores_of(flat.reshape(functions.shape)), target, rows)
        return float(weight @ values)

    assert surrogate == pytest.approx(total(functions.ravel()), rel=1e-12)
    numerical = approx_fprime(functions.ravel(), total, 1e-6).reshape(functions.shape)
    np.testing.assert_allclose(state.derive_all().T, numerical, rtol=2e-4, atol=2e-4 * np.abs(numerical).max())
    twin = weight[:, None] * reference.weights(loss, scores_of(functions), target, rows, codewords(m))
    np.testing.assert_allclose(state.derive_all().T, twin, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("by_row", [False, True])
def test_a_round_of_coordinate_steps_is_algorithm_one_to_the_letter(loss, by_row):
    target, costs, functions, weight, x = problem(3, n=60, m=5, by_row=by_row)
    rows, words = costs if by_row else costs[target], codewords(5)
    state = state_of(loss, target, costs, weight, scores_of(functions), by_row)
    state.begin_round()
    fitted = affine_round(state, x)
    f = functions.copy()
    for r in range(4):
        w = weight * reference.weights(loss, scores_of(f), target, rows, words)[:, r]
        column, slope, level = reference.best_attribute(x, w)
        assert column == fitted[r].column
        assert (slope, level) == pytest.approx((fitted[r].slope[0], fitted[r].level[0]), rel=1e-8)
        direction = np.zeros_like(f)
        direction[:, r] = slope * x[:, column] + level
        before = scores_of(f)
        alpha = brentq(
            lambda a, s=before, d=direction: reference.line_slope(loss, s, d, target, rows, weight, words, a),
            -1,
            20,
            xtol=1e-13,
        )
        assert fitted[r].leverage == pytest.approx(alpha, rel=1e-7)
        f += alpha * direction
    np.testing.assert_allclose(state.scores(), scores_of(f), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_gradient_step_lowers_the_surrogate_to_the_minimum_on_its_line(loss):
    target, costs, functions, weight, x = problem(5, n=80, m=4)
    words = codewords(4)
    state = state_of(loss, target, costs, weight, scores_of(functions))
    before = state.begin_round()[0]
    fitted = affine_round(state, x, gradient=True)[0]
    assert state.begin_round()[0] < before
    direction = fitted.slope * x[:, [fitted.column]] + fitted.level
    moved = functions + fitted.leverage * direction
    np.testing.assert_allclose(state.scores(), scores_of(moved), rtol=1e-9, atol=1e-10)
    slope = reference.line_slope(loss, scores_of(moved), direction, target, costs[target], weight, words, 0.0)
    start = reference.line_slope(loss, scores_of(functions), direction, target, costs[target], weight, words, 0.0)
    assert abs(slope) < 1e-8 * abs(start)


def test_separable_rows_stop_at_the_cap_and_say_so():
    x = np.array([[-1.0], [1.0]])
    state = state_of("gel", np.array([0, 1]), 1.0 - np.eye(2), np.ones(2), np.zeros((2, 2)))
    state.begin_round()
    fitted = affine_round(state, x)
    assert fitted[0].capped
    assert np.all(np.isfinite(state.scores()))


@pytest.mark.parametrize("loss", LOSSES)
def test_threads_do_not_change_a_bit(loss):
    target, costs, functions, weight, x = problem(7, n=60_000, m=5)
    found = []
    for threads in (1, 2, 3):
        state = state_of(loss, target, costs, weight, scores_of(functions), threads=threads)
        for _ in range(2):
            state.begin_round()
            affine_round(state, x)
        found.append(state.scores())
    assert all(np.array_equal(found[0], other) for other in found[1:])


@pytest.mark.parametrize("coordinate", [1, -1])
def test_affine_fits_are_the_same_for_any_parts_and_order_of_the_rows(coordinate):
    target, costs, functions, weight, x = problem(11, n=3000, m=4, d=5)
    x[:, 2] *= 1e6  # columns of other sizes have grids of their own
    outputs, found = 3 if coordinate < 0 else 1, []
    order = np.random.default_rng(0).permutation(len(x))
    for rows in (np.arange(len(x)), order):
        sums, largest = [], []
        states = [
            (
                state_of("gel", target[part], costs, weight[part], scores_of(functions[part])),
                np.ascontiguousarray(x[part]),
            )
            for part in np.split(rows, [1, 700, 700])
        ]
        for state, _ in states:
            state.begin_sums()
            largest.append(state.derive_largest(coordinate))
        for state, values in states:
            sums.append(state.affine_sums(attributes(x, values), None, outputs, max(largest), len(x)))
        choice = kernel.affine_choice(
            sum(sums), attributes(x), np.ones(5, dtype=np.uint8), outputs, max(largest), len(x)
        )
        found.append((sum(sums), choice.column, choice.slope, choice.level, choice.edge))
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)
    whole = state_of("gel", target, costs, weight, scores_of(functions))
    whole.begin_round()
    w = whole.derive_all() if coordinate < 0 else whole.derive(1)[0][None, :]
    size = np.sqrt((w**2).sum(axis=0))
    _, column, slope, level, _ = found[0]
    design = np.sqrt(size)[:, None] * np.column_stack([x[:, column], np.ones(len(x))])
    fit = np.linalg.lstsq(design, (-w / np.sqrt(size)).T, rcond=None)[0]
    np.testing.assert_allclose(np.stack([slope, level]), fit, rtol=1e-7, atol=1e-10)


def test_extreme_scores_stay_finite():
    target, costs, functions, weight, x = problem(9, n=50, m=4)
    for loss in LOSSES:
        state = state_of(loss, target, costs, weight, 1e4 * scores_of(functions))
        state.begin_round()
        assert all(np.isfinite([*step.slope, *step.level, step.leverage]).all() for step in affine_round(state, x))
        assert np.all(np.isfinite(state.scores()))


def test_a_round_begun_at_the_end_of_the_last_is_the_round_begun_afresh():
    # The end of a round prepares the next one while its rows are at hand; scores set from outside undo that.
    target, costs, functions, weight, x = problem(3, n=5000, m=4)
    ahead = state_of("gll", target, costs, weight, scores_of(functions))
    ahead.begin_round()
    affine_round(ahead, x)
    afresh = state_of("gll", target, costs, weight, ahead.scores())
    assert ahead.begin_round() == afresh.begin_round()
    affine_round(ahead, x)
    affine_round(afresh, x)
    np.testing.assert_array_equal(ahead.scores(), afresh.scores())
    ahead.set_scores(scores_of(functions))
    again = state_of("gll", target, costs, weight, scores_of(functions))
    assert ahead.begin_round() == again.begin_round()


def test_a_state_saved_and_restored_goes_on_alike():
    target, costs, functions, weight, x = problem(1, n=30, m=4)
    step = kernel.AffineStep(0, np.array([0.3]), np.array([-0.2]))
    for loss in LOSSES:
        one, other = (state_of(loss, target, costs, weight, scores_of(functions)) for _ in range(2))
        one.begin_round()
        one.derive(0)
        one.set_affine(0, attributes(x), step)
        one.move(0, 0.5)
        other.restore(one.save())
        for state in (one, other):
            state.derive(1)
            state.set_affine(1, attributes(x), step)
        np.testing.assert_array_equal(one.slopes(1, 0.7), other.slopes(1, 0.7))
        np.testing.assert_array_equal(one.scores(), other.scores())


@given(seed=st.integers(0, 10_000), n=st.integers(1, 3000), m=st.integers(2, 6))
@settings(max_examples=20, deadline=None)
def test_sums_of_rows_of_weight_one_are_those_of_any_rows(seed, n, m):
    # Values of GLL add as integers and choices are counted where all weights are 1: to the last bit the sums of single terms.
    target, costs, functions, _, _ = problem(seed, n=n, m=m)
    scores = scores_of(functions * np.random.default_rng(seed).choice([1e-9, 1.0, 40.0]))
    counted = state_of("gll", target, costs, np.ones(n), scores).begin_round()
    assert state_of("gll", target, costs, np.full(n, 2.0), scores).begin_round() == tuple(2 * x for x in counted)
    assert state_of("gll", target, costs[target].copy(), np.ones(n), scores, by_row=True).begin_round() == counted


def test_a_search_along_rounding_errors_takes_no_step_and_ends_at_once():
    asked = []

    def slopes(alpha):  # a slope of rounding errors, which does not change with alpha, and an honest curvature
        asked.append(alpha)
        return -1e-17, 1.0

    assert kernel.line_search(slopes, 1.0) == (0.0, False)
    assert asked == [0.0]
    leverage, capped = kernel.line_search(lambda alpha: (3.0 * (alpha - 0.25), 3.0), 1.0)
    assert (leverage, capped) == (pytest.approx(0.25, rel=1e-12), False)


def test_a_line_search_down_a_steep_exponential_ends_at_its_minimum():
    """Newton moves by a third a step there; the minimum of -1e-29 a + 1e-40 e^(3a) / 3 is at ln(1e11) / 3."""

    def slopes(alpha):
        return -1e-29 + 1e-40 * np.exp(3 * alpha), 3e-40 * np.exp(3 * alpha)

    leverage, capped = kernel.line_search(slopes, 1.0)
    assert leverage == pytest.approx(np.log(1e11) / 3, rel=1e-9)
    assert not capped


@given(seed=st.integers(0, 10_000), n=st.integers(2, 60), l2=st.floats(1e-6, 1e3), reach=st.floats(1e-3, 1e3))
@settings(max_examples=40, deadline=None)
def test_a_penalised_line_search_ends_at_the_minimum_of_loss_and_penalty(seed, n, l2, reach):
    """Also where the rows are separable, and the loss alone has no minimum; the referee minimises values, not slopes."""
    random = np.random.default_rng(seed)
    moves = random.uniform(-1, 1, n) * reach if seed % 2 else random.uniform(0.1, 1, n) * reach  # even seeds: separable

    def slopes(alpha):
        p = expit(-alpha * moves)
        return float(-(moves * p).sum()), float((moves**2 * p * (1 - p)).sum())

    def penalised(move):  # of the score that moves most
        return np.logaddexp(0.0, -move / reach * moves).sum() + l2 / 2 * move**2

    leverage, capped = kernel.line_search(slopes, reach, l2 * reach**2)
    found = minimize_scalar(penalised, bounds=(-99.0, 99.0), method="bounded", options={"xatol": 1e-10})
    assert not capped
    assert penalised(leverage * reach) <= found.fun * (1 + 1e-12) + 1e-12
    assert leverage * reach == pytest.approx(found.x, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize(("m", "gradient"), [(2, False), (2, True), (4, True)])
def test_a_penalised_affine_step_is_the_minimum_of_loss_and_mean_square_move(m, gradient):
    """The first attribute separates a class, so that the step of the loss alone ends at the limit."""
    random, l2 = np.random.default_rng(m), 0.7
    target = np.repeat(np.arange(m), 15)
    x = random.normal(size=(15 * m, 1)) if m > 2 else (target[:, None] == 0) + 0.01 * random.normal(size=(15 * m, 1))
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    moved = {}
    for penalty in (0.0, l2):
        state = state_of("gll", target, 1.0 - np.eye(m), np.ones(15 * m), np.zeros((15 * m, m)))
        state.begin_round()
        allowed = np.ones(1, dtype=np.uint8)
        (step,) = state.round_affine(attributes(x), allowed, None, 1.0, gradient, penalty)
        assert step.capped == (m == 2 and penalty == 0.0)
        moved[penalty] = state.scores()

    words = codewords(m) / 2  # (classes, coordinates): scores are functions times these
    functions = moved[l2] @ np.linalg.pinv(words).T
    square = ((functions * np.abs(words).max(axis=0)) ** 2).mean(axis=0).sum()

    def penalised(t):
        scores = t * moved[l2]
        own = scores[np.arange(15 * m), target]
        return (logsumexp(scores, axis=1) - own).sum() + l2 / 2 * t**2 * square

    found = minimize_scalar(penalised, bounds=(0.0, 10.0), method="bounded", options={"xatol": 1e-10})
    assert found.x == pytest.approx(1.0, rel=1e-6)
    assert np.abs(moved[l2]).max() < np.abs(moved[0.0]).max()
