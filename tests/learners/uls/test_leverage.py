"""The root along a rule: exact to the tolerance that is promised, however it was reached."""

import numpy as np
import pytest
from scipy.interpolate import KroghInterpolator
from scipy.optimize import brentq

from permissible import losses
from permissible.kernels._core import boosting as kernels
from permissible.losses.surrogate import compiled

SMOOTH = ("logistic", "matsushita", "exponential", "least_squares")


def side(function, margin, positive, l2=0.0):
    """f, f' and f'' of one side of a rule at a step."""
    sign = np.where(positive, 1.0, -1.0)

    def at(value):
        _, weight, curvature, slope = function.at(np.ascontiguousarray(margin + sign * value)).T
        return (sign @ weight - l2 * value, -curvature.sum() - l2, -(sign @ slope))

    return at


def found(at, function, guess):
    root = kernels.Root()
    root.value = guess
    while not root.done:
        root.advance([at(value) for value in root.trials(function.remainder)], function.remainder, function.cap)
    return root


def surrogate(name):
    function = kernels.LossFunction(name) if name == "least_squares" else compiled(losses.get(name)).function()
    assert function.remainder >= 0.0
    return function


@pytest.mark.parametrize("l2", [0.0, 3.0])
@pytest.mark.parametrize("name", SMOOTH)
def test_the_step_is_the_root_from_any_guess(name, l2):
    function, random = surrogate(name), np.random.default_rng(5)
    passes = []
    for case in range(60):
        positive = random.random(300) < random.uniform(0.1, 0.9)
        score = random.normal(0.3 * case % 2, random.uniform(0.0, 1.5), 300)
        at = side(function, np.where(positive, score, -score), positive, l2)
        exact = brentq(lambda value, at=at: at(value)[0], -30.0, 30.0, xtol=1e-15, rtol=1e-15, maxiter=500)
        newton = -at(0.0)[0] / at(0.0)[1]
        for guess in (newton, 0.0, 0.9 * exact, 1.3 * exact, exact, -exact, exact + 1e-3):
            root = found(at, function, guess)
            assert abs(root.value - exact) <= 1e-11 * max(1.0, abs(exact)), (guess, exact)
            passes += [root.passes] if guess in (newton, 0.9 * exact, exact) else []
    assert np.mean(passes) < 2.0


@pytest.mark.parametrize("name", ["logistic", "matsushita", "exponential"])
def test_the_bound_of_the_remainder_holds(name):
    """The root of SciPy's interpolating polynomial differs from that of f by at most what is stated."""
    function, random = surrogate(name), np.random.default_rng(7)
    for _ in range(40):
        positive = random.random(200) < 0.6
        score = random.normal(0.0, 1.0, 200)
        at = side(function, np.where(positive, score, -score), positive)
        exact = brentq(lambda value, at=at: at(value)[0], -30.0, 30.0, xtol=1e-15, rtol=1e-15)
        nodes = exact + random.uniform(0.1, 0.5) * np.array([-1.1, -0.1, 1.0])
        values = np.concatenate([at(value) for value in nodes])
        polynomial = KroghInterpolator(np.repeat(nodes, 3), values)
        root = brentq(polynomial, nodes[0], nodes[2], xtol=1e-15, rtol=1e-15)
        product = np.abs(np.prod(root - nodes))
        bound = function.remainder * product**3 * np.exp(1.5 * np.ptp(nodes))
        assert abs(root - exact) <= bound + 1e-13


def test_a_loss_with_kinks_is_tried_at_one_step_at_a_time():
    root = kernels.Root()
    assert len(root.trials(compiled(losses.get("squared")).function().remainder)) == 1
