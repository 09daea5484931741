"""Small functions whose textbook formulas lose all digits to cancellation, computed here without it.

The divergences are integrals of a smooth function over a short interval; where the direct formula cancels they are
taken by Gauss-Legendre quadrature, whose every term is positive.
"""

from collections.abc import Callable, Sequence

import numpy as np

from permissible.types import FloatArray

_nodes, _weights = np.polynomial.legendre.leggauss(16)
NODES = tuple(((_nodes + 1) / 2).tolist())
WEIGHTS = tuple((_weights / 2).tolist())
# s = e^v / (e^v + e^-v) with v = (pi/2) sinh(t): the nodes crowd towards both ends doubly exponentially.
_t = np.arange(-5.75, 3.5, 0.0625)
_v = np.pi / 2 * np.sinh(_t)
STEEP_NODES = tuple((1 / (1 + np.exp(-2 * _v))).tolist())
STEEP_WEIGHTS = tuple((0.0625 * np.pi / 4 * np.cosh(_t) / np.cosh(_v) ** 2).tolist())


def integral(integrand: Callable[[float], FloatArray]) -> FloatArray:
    """Integrate a smooth function over [0, 1] (Gauss-Legendre quadrature)."""
    return _quadrature(integrand, NODES, WEIGHTS)


def steep_integral(integrand: Callable[[float], FloatArray]) -> FloatArray:
    """Integrate over [0, 1] a function that may grow without bound at 0 (tanh-sinh quadrature)."""
    return _quadrature(integrand, STEEP_NODES, STEEP_WEIGHTS)


def _quadrature(
    integrand: Callable[[float], FloatArray], nodes: Sequence[float], weights: Sequence[float]
) -> FloatArray:
    """The weighted sum, node by node in a fixed order, so that no row depends on its neighbours."""
    total: FloatArray = weights[0] * integrand(nodes[0])
    for node, weight in zip(nodes[1:], weights[1:], strict=True):
        total += weight * integrand(node)
    return total


def log_cosh_tilt(d: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Return ln(cosh d + t sinh d) - t d for d >= 0, low = (1 - t)/2, high = (1 + t)/2: of second order in d.

    With t = tanh u it is ln cosh(u + d) - ln cosh(u) - d tanh(u), the Bregman divergence of ln cosh.
    """
    right = 2 * low * d + np.log1p(np.minimum(low, 0.5) * np.expm1(-2 * d))
    grown = np.log1p(np.minimum(high, 0.5) * np.expm1(2 * np.minimum(d, 300)))
    left = grown + 2 * np.maximum(d - 300, 0) - 2 * high * d
    result: FloatArray = np.where(low <= high, right, left)
    near = d < 0.5
    if near.any():
        short, tilt = d[near], (high - low)[near]
        mean = integral(lambda node: 1 / (1 / np.tanh(np.maximum(short * node, 1e-300)) + tilt))
        result[near] = 4 * low[near] * high[near] * short * mean
    return result


def logarithmic_divergence(p: FloatArray, q: FloatArray, step: FloatArray) -> FloatArray:
    """Return p ln(p/q) - p + q >= 0 for p >= 0, q > 0; step = p - q is passed so that its digits survive p -> 1 - p."""
    relative = step / q
    result = p * np.log(np.where(p > 0, p, q) / q) - step
    near = np.abs(relative) < 0.25
    if near.any():
        short = relative[near]
        result[near] = step[near] * integral(lambda node: np.log1p(short * node))
    return result


def left_logit(p: FloatArray) -> FloatArray:
    """Return ln(p / (1 - p)) for p in (0, 1/2], exact to the last digits at both ends."""
    central = np.maximum(p, 0.25)
    result: FloatArray = np.where(p > 0.25, np.log1p((2 * central - 1) / (1 - central)), np.log(p) - np.log1p(-p))
    return result
