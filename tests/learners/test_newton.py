"""The damped Newton reaches the minimum where curvature vanishes, holds endless coordinates, and says when it did not."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.optimize import minimize

from permissible.learners.newton import minimise


@dataclass
class At:
    value: float
    gradient: np.ndarray
    hessian: np.ndarray

    @property
    def residual(self):
        return np.abs(self.gradient)

    @property
    def rounding(self):
        return np.zeros(len(self.gradient))


@dataclass
class Function:
    """A convex function by its value, gradient and Hessian; `edge` is the coordinate beyond which it falls for ever."""

    value: object
    gradient: object
    hessian: object
    edge: float = np.inf

    def at(self, point):
        return At(float(self.value(point)), self.gradient(point), self.hessian(point))

    def direction(self, at, damping, free):
        damped = at.hessian + damping * np.eye(len(at.gradient))
        used = free & (np.diag(damped) > 0)
        step = np.zeros(len(free))
        step[used] = -np.linalg.solve(damped[np.ix_(used, used)], at.gradient[used])
        return step

    def bent(self, at, refused):
        return at

    def endless(self, at, step):
        return int(np.argmax(np.abs(step))) if np.abs(step).max() > self.edge else None


def solved(function, start, **more):
    options = {"tolerance": 1e-12, "accepted": 1e-9, "max_steps": 200, **more}
    return minimise(function, np.asarray(start, dtype=float), np.ones(len(start), dtype=bool), **options)


def huber(centre):
    """sum of Huber functions of x - centre: no curvature further than 1 away, and yet a slope."""
    return Function(
        lambda x: np.where(np.abs(x - centre) < 1, 0.5 * (x - centre) ** 2, np.abs(x - centre) - 0.5).sum(),
        lambda x: np.clip(x - centre, -1, 1),
        lambda x: np.diag((np.abs(x - centre) < 1).astype(float)),
    )


def test_a_quadratic_takes_one_step_and_a_look():
    matrix = np.array([[4.0, 1.0], [1.0, 3.0]])
    found = solved(
        Function(lambda x: 0.5 * x @ matrix @ x - x.sum(), lambda x: matrix @ x - 1, lambda x: matrix), [9.0, -7.0]
    )
    assert found.converged
    assert found.steps <= 3
    np.testing.assert_allclose(found.point, np.linalg.solve(matrix, [1, 1]), rtol=1e-12)


@pytest.mark.parametrize("start", [[50.0, -30.0, 0.0], [1e3, 1e3, 1e3]])
def test_a_start_without_curvature_still_reaches_the_minimum(start):
    centre = np.array([1.0, -2.0, 0.5])
    found = solved(huber(centre), start)
    assert found.converged
    np.testing.assert_allclose(found.point, centre, atol=1e-11)


def test_a_steep_smooth_function_agrees_with_scipy():
    rng = np.random.default_rng(0)
    A, b = rng.normal(size=(30, 4)), rng.normal(size=30)

    def weight(x):
        return np.tanh(A @ x - b)

    function = Function(
        lambda x: np.logaddexp(A @ x - b, b - A @ x).sum(),
        lambda x: A.T @ weight(x),
        lambda x: A.T @ ((1 - weight(x) ** 2)[:, None] * A),
    )
    found = solved(function, [20.0, -20.0, 20.0, 20.0])
    expected = minimize(function.value, np.zeros(4), jac=function.gradient, method="BFGS", options={"gtol": 1e-11})
    assert found.converged
    assert found.at.value == pytest.approx(expected.fun, rel=1e-12)


def test_too_few_steps_are_told():
    found = solved(huber(np.array([1.0, -2.0])), [500.0, 500.0], max_steps=2)
    assert not found.converged
    assert found.residual == pytest.approx(1.0)
    assert found.steps == 2


def test_an_endless_coordinate_is_held_and_the_others_go_on():
    function = Function(
        lambda x: 1 / (1 + x[0]) + (x[1] - 3) ** 2,
        lambda x: np.array([-1 / (1 + x[0]) ** 2, 2 * (x[1] - 3)]),
        lambda x: np.diag([2 / (1 + x[0]) ** 3, 2.0]),
        edge=100.0,
    )
    found = solved(function, [0.0, 0.0])
    assert found.held == (0,)
    assert found.converged
    assert found.point[1] == pytest.approx(3.0)
    assert 100 < found.point[0] < np.inf
