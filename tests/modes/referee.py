"""Losses by an independent hand: value, weight and curvature from the formula of phi, and optima by scipy.optimize.

Nothing here calls the code under test, except that a registered loss without a formula in `FORMULAS` is taken by its phi alone:
its conjugate is then found by a search over p for every margin, so a new loss is covered by being registered.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf

import numpy as np
from scipy.optimize import linprog, minimize
from scipy.special import expit

from permissible import losses


@dataclass(frozen=True)
class Referee:
    """A loss of the margin: the natural value (b F, or psi), minus its derivative, its second derivative.

    `ends` says whether weights become 0 (or negative) at a finite margin, so that a finite minimiser always exists;
    `steepest` is the largest curvature there is, so that the constant a_v of Theorem 2 is 1 / steepest.
    """

    value: Callable
    weight: Callable
    curvature: Callable
    steepest: float
    ends: bool = False
    phi: Callable | None = None
    digits: float = 1e-9

    @property
    def unit(self):
        return float(self.value(np.zeros(1))[0])


def of_logistic():
    return Referee(
        lambda x: np.logaddexp(0, -x),
        lambda x: expit(-x),
        lambda x: expit(x) * expit(-x),
        0.25,
        phi=lambda p: -p * np.log(p) - (1 - p) * np.log1p(-p),
    )


def of_mu(mu=1 / 3):
    s = 1 - mu

    def weight(x):
        r = np.hypot(s, x)
        return np.where(x > 0, s * s / (2 * r * (r + np.abs(x))), (1 - x / r) / 2)

    def value(x):
        r = np.hypot(s, x)
        return np.where(x > 0, s * s / (r + np.abs(x)), r - x) / 2

    return Referee(
        value,
        weight,
        lambda x: s * s / 2 / np.hypot(s, x) ** 3,
        1 / (2 * s),
        phi=lambda p: s * np.sqrt(p * (1 - p)),
    )


def of_squared():
    return Referee(
        lambda x: np.where(x < -1, -x, np.clip(1 - x, 0, 2) ** 2 / 4),
        lambda x: np.clip((1 - x) / 2, 0, 1),
        lambda x: np.where(np.abs(x) < 1, 0.5, 0.0),
        0.5,
        True,
        lambda p: p * (1 - p),
    )


def of_power(upsilon=0.25):
    u = upsilon

    def left(x):
        """p <= 1/2 with u (pq)^(u-1) (1 - 2p) = |x|: bisection on s = ln p, then three steps of Newton."""
        low, high = np.full(x.shape, -690.0), np.full(x.shape, np.log(0.5))

        def excess(s):
            p = np.exp(s)
            return u * (p * (1 - p)) ** (u - 1) * (1 - 2 * p) - np.abs(x)

        for _ in range(34):
            middle = (low + high) / 2
            far = excess(middle) > 0
            low, high = np.where(far, middle, low), np.where(far, high, middle)
        s = (low + high) / 2
        for _ in range(3):
            p = np.exp(s)
            slope = -u * p * (p * (1 - p)) ** (u - 2) * ((1 - u) + (4 * u - 2) * p * (1 - p))
            s = np.clip(s - excess(s) / slope, low, high)
        return np.exp(s)

    def weight(x):
        return np.where(x > 0, left(x), 1 - left(x))

    def value(x):
        p = left(x)
        return (p * (1 - p)) ** u - np.abs(x) * p + np.maximum(-x, 0)

    def curvature(x):
        pq = left(x) * (1 - left(x))
        return pq ** (2 - u) / (u * ((1 - u) + (4 * u - 2) * pq))

    grid = np.linspace(1e-4, 0.5, 20001)
    pq = grid * (1 - grid)
    steepest = float((pq ** (2 - u) / (u * ((1 - u) + (4 * u - 2) * pq))).max())
    return Referee(value, weight, curvature, steepest, phi=lambda p: (p * (1 - p)) ** u)


def of_logcosh(zeta=-8.0):
    z = abs(zeta)
    limit = np.tanh(z / 4)

    def log_cosh(t):
        return np.abs(t) + np.log1p(np.exp(-2 * np.abs(t))) - np.log(2)

    def phi(p):
        return 2 / z * (log_cosh(z / 4) - log_cosh(z / 2 * (p - 0.5)))

    def weight(x):
        return np.clip(0.5 - 2 / z * np.arctanh(np.clip(x, -limit, limit)), 0, 1)

    def value(x):
        p = weight(x)
        return np.where(x >= limit, 0.0, np.where(x <= -limit, -x, phi(p) - x * p))

    def curvature(x):
        return np.where(np.abs(x) < limit, 2 / z / np.where(np.abs(x) < limit, 1 - x * x, 1.0), 0.0)

    return Referee(value, weight, curvature, 2 / z * float(np.cosh(z / 4)) ** 2, True, phi)


def of_exponential():
    def power(x):
        return np.exp(-np.maximum(x, -700))

    return Referee(power, power, power, inf)


def of_least_squares():
    return Referee(lambda x: (1 - x) ** 2, lambda x: 2 * (1 - x), lambda x: np.full(x.shape, 2.0), 2.0, True)


def of_sine():
    """phi(p) = sin(pi p), the example of CONTRIBUTING.md; its curvature grows without bound towards the end of the scores."""

    def weight(x):
        return np.arccos(np.clip(x / np.pi, -1, 1)) / np.pi

    def value(x):
        p = weight(x)
        return np.where(x >= np.pi, 0.0, np.where(x <= -np.pi, -x, np.sin(np.pi * p) - x * p))

    def curvature(x):
        inside = np.abs(x) < np.pi
        return np.where(inside, 1 / (np.pi * np.sqrt(np.where(inside, np.pi**2 - x * x, 1.0))), 0.0)

    return Referee(value, weight, curvature, inf, True, lambda p: np.sin(np.pi * p), digits=1e-8)


KNOTS = np.array([0.0, 0.03, 0.11, 0.27, 0.5])
SLOPES = np.array([4.0, 2.5, 1.3, 0.45, 0.0])
"""phi' of a phi that a user has as a table: linear between the knots, mirrored beyond 1/2."""


def table_slope(p):
    return np.where(p <= 0.5, np.interp(p, KNOTS, SLOPES), -np.interp(1 - p, KNOTS, SLOPES))


def table_phi(p):
    q = np.minimum(p, 1 - p)
    areas = np.append(0.0, np.cumsum(np.diff(KNOTS) * (SLOPES[1:] + SLOPES[:-1]) / 2))
    place = np.clip(np.searchsorted(KNOTS, q, side="right") - 1, 0, len(KNOTS) - 2)
    return areas[place] + (q - KNOTS[place]) * (SLOPES[place] + np.interp(q, KNOTS, SLOPES)) / 2


def of_table():
    limit = SLOPES[0]
    scores, shares = SLOPES[::-1], KNOTS[::-1]
    bends = np.diff(KNOTS) / -np.diff(SLOPES)

    def weight(x):
        left = np.interp(np.abs(x), scores, shares)
        return np.where(x > 0, left, 1 - left)

    def value(x):
        p = weight(x)
        return np.where(x >= limit, 0.0, np.where(x <= -limit, -x, table_phi(p) - x * p))

    def curvature(x):
        place = np.clip(np.searchsorted(-SLOPES, -np.abs(x), side="right") - 1, 0, len(bends) - 1)
        return np.where(np.abs(x) < limit, bends[place], 0.0)

    return Referee(value, weight, curvature, float(bends.max()), True, table_phi)


def of_mixed_psi():
    """psi(x) = e^-x + (1 - x)^2 / 4: strictly convex, and no phi behind it."""

    def power(x):
        return np.exp(-np.maximum(x, -700))

    return Referee(
        lambda x: power(x) + (1 - x) ** 2 / 4, lambda x: power(x) + (1 - x) / 2, lambda x: power(x) + 0.5, inf, True
    )


def by_search(loss):
    """The loss of a phi of which nothing else is known: for every margin x the largest phi(p) - x p, found by a search."""

    def best(x):
        low, high = np.zeros(x.shape), np.ones(x.shape)
        ratio = (np.sqrt(5) - 1) / 2
        for _ in range(80):
            first, second = high - ratio * (high - low), low + ratio * (high - low)
            left = np.asarray(loss.phi(first)) - x * first > np.asarray(loss.phi(second)) - x * second
            low, high = np.where(left, low, first), np.where(left, second, high)
        return (low + high) / 2

    def value(x):
        return np.asarray(loss.phi(best(x))) - x * best(x) - float(loss.phi(0.0))

    def curvature(x):
        return np.maximum((best(x - 1e-4) - best(x + 1e-4)) / 2e-4, 0.0)

    steepest = float(curvature(np.linspace(-20, 20, 4001)).max())
    return Referee(value, best, curvature, steepest, np.isfinite(loss.score_limit), loss.phi, digits=1e-6)


FORMULAS = {
    "logistic": of_logistic,
    "matsushita": lambda: of_mu(0.0),
    "mu": of_mu,
    "squared": of_squared,
    "power": of_power,
    "logcosh": of_logcosh,
    "exponential": of_exponential,
    "least_squares": of_least_squares,
}
PARAMETERS = {
    "mu": ({"mu": 1 / 3}, {"mu": 0.99}),
    "power": ({"upsilon": 0.1}, {"upsilon": 0.25}, {"upsilon": 0.75}),
    "logcosh": ({"zeta": -2.0}, {"zeta": -8.0}, {"zeta": -20.0}, {"zeta": -30.0}),
}


def _registered():
    for name in losses.names():
        for params in PARAMETERS.get(name, ({},)):
            loss = losses.get(name, **params)
            label = name + "".join(f"({value:.3g})" for value in params.values())
            yield label, loss, FORMULAS[name](**params) if name in FORMULAS else by_search(loss)


def _own():
    yield (
        "own sine",
        losses.from_phi(lambda p: np.sin(np.pi * p), lambda p: np.pi * np.cos(np.pi * p), name="sine"),
        of_sine(),
    )
    yield "own table", losses.from_phi(table_phi, table_slope, name="table"), of_table()
    mixed = of_mixed_psi()
    yield "own psi", losses.from_psi(mixed.value, lambda x: -mixed.weight(x), mixed.curvature, name="mixed"), mixed
    yield "own exp", losses.from_psi(lambda x: np.exp(-x), lambda x: -np.exp(-x), name="exp"), of_exponential()


LOSSES = {label: (loss, referee) for label, loss, referee in (*_registered(), *_own())}
"""Every registered loss, with several parameters where it has one, and four of a user's own: the loss, and its referee."""
PERMISSIBLE = [label for label, (_, referee) in LOSSES.items() if referee.phi is not None]


@dataclass(frozen=True)
class Objective:
    """sum_i s_i psi(y_i (D theta)_i) + sum_j cost_j theta_j^2, the problem that a refit solves."""

    referee: Referee
    design: np.ndarray
    sign: np.ndarray
    sample: np.ndarray
    cost: np.ndarray

    def value(self, theta):
        return float(self.sample @ self.referee.value(self.sign * (self.design @ theta)) + self.cost @ theta**2)

    def gradient(self, theta):
        pull = self.sample * self.sign * self.referee.weight(self.sign * (self.design @ theta))
        return 2 * self.cost * theta - self.design.T @ pull

    def hessian(self, theta):
        bend = self.sample * self.referee.curvature(self.sign * (self.design @ theta))
        return (self.design * bend[:, None]).T @ self.design + np.diag(2 * self.cost)

    def separated(self):
        """Rows whose loss can be brought towards 0 without harm to another (Stiemke's condition), by a linear program.

        None where the loss ends, or where every direction costs: then there is a finite minimiser.
        """
        free = self.cost == 0
        n, d = len(self.sign), int(free.sum())
        if self.referee.ends or not d:
            return np.zeros(n, dtype=bool)
        size = np.abs(self.design[:, free]).max(axis=0)
        moved = self.sign[:, None] * self.design[:, free] / np.where(size > 0, size, 1.0)
        found = linprog(
            np.r_[np.zeros(d), -np.ones(n)],
            A_ub=np.c_[-moved, np.eye(n)],
            b_ub=np.zeros(n),
            bounds=[(None, None)] * d + [(0, 1)] * n,
        )
        return found.x[d:] > 0.5

    def of_rows(self, kept):
        """The same problem on some of the rows."""
        return replace(self, design=self.design[kept], sign=self.sign[kept], sample=self.sample[kept])

    def least(self, *starts):
        """The least value that scipy reaches from zero and from other points; each one found is a proof by itself."""
        unit = np.sqrt((self.design**2).sum(axis=0))
        unit = np.where(unit > 0, unit, 1.0)
        scaled = Objective(self.referee, self.design / unit, self.sign, self.sample, self.cost / unit**2)

        def bent(theta):
            """The Hessian with a little on its diagonal: scipy's exact subproblem may loop for ever where it is singular."""
            hessian = scaled.hessian(theta)
            return hessian + 1e-10 * max(np.trace(hessian), 1e-300) * np.eye(len(hessian))

        found = []
        for start in (np.zeros(len(unit)), *(np.asarray(start) * unit for start in starts)):
            with np.errstate(all="ignore"):
                point = minimize(
                    scaled.value,
                    start,
                    jac=scaled.gradient,
                    hess=bent,
                    method="trust-exact",
                    options={"gtol": 1e-10, "maxiter": 300, "initial_trust_radius": 1.0, "max_trust_radius": 1e9},
                ).x
                last = minimize(scaled.value, point, jac=scaled.gradient, method="L-BFGS-B", options={"ftol": 1e-15}).x
            found += [scaled.value(point), scaled.value(last)]
        return min(value for value in found if np.isfinite(value))

    def relative_gradient(self, theta):
        """The gradient, each entry over what it could at most be: the norms of its column and of the weights."""
        size = np.sqrt(self.sample @ self.design**2) * np.sqrt(self.sample.sum()) * self.referee.unit
        return np.abs(self.gradient(theta)) / np.where(size > 0, size, 1.0)
