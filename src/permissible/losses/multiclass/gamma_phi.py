"""User-defined gamma-phi losses: gamma(sum_j C_zj phi(S_z - S_j)) for any gamma and phi ([B] Definition 4, (15)).

Lemma 1 of [B]: the loss is guess-averse when gamma is strictly increasing and phi(v) < phi(0) for v > 0. GEL is
(identity, e^-v), GLL is (ln(1 + u), e^-v). `is_guess_averse` and `is_classification_calibrated` look at the result.
"""

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from permissible.losses.entropy import Formula
from permissible.losses.multiclass.losses import MulticlassLoss, ScoredRows, balanced
from permissible.losses.own.calls import OwnFunction, on_arrays, refuse_infinite
from permissible.types import FloatArray
from permissible.validation import Words, refusal

SUMS = np.concatenate([[0.0], np.geomspace(1e-3, 1e3, 121)])
MARGINS = np.linspace(-12, 12, 241)
LEAST = {"gamma": 0.0, "phi": -np.inf}
"""Lower ends of the domains: gamma is a function of sums u >= 0."""


@dataclass(frozen=True)
class GammaPhi(MulticlassLoss):
    """A gamma-phi loss of your own ([B] Definition 4).

    Parameters
    ----------
    gamma : callable
        Of the sum of the costs times phi, u >= 0; must increase.
    phi : callable
        Of the difference v = S_z - S_j; must be non-negative and may not increase.
    gamma_prime, phi_prime : callable, optional
        Their derivatives; by default central differences, which are less accurate.
    name : str
        Name shown in reports and files.

    Examples
    --------
    >>> import numpy as np
    >>> from permissible import losses
    >>> gll = losses.GammaPhi(np.log1p, lambda v: np.exp(-v), name="my gll")
    >>> gll.value([[1.0, 0.0, -1.0]], [0]) == losses.GLL().value([[1.0, 0.0, -1.0]], [0])
    array([ True])
    >>> bool(losses.is_guess_averse(gll, 3))
    True
    """

    gamma: OwnFunction
    phi: OwnFunction
    gamma_prime: OwnFunction | None = None
    phi_prime: OwnFunction | None = None
    name: str = "mine"  # type: ignore[misc]  # of the class for built-in losses
    least: ClassVar[float] = -np.inf  # not known

    def __post_init__(self) -> None:
        _check(on_arrays(self.gamma, "gamma"), "gamma", SUMS, 1)
        _check(on_arrays(self.phi, "phi"), "phi", MARGINS, -1)
        for argument, grid in (("gamma_prime", SUMS), ("phi_prime", MARGINS)):
            _check_slope(self, argument, grid)

    def _values(self, at: ScoredRows) -> FloatArray:
        return on_arrays(self.gamma, "gamma")(self._sums(at))

    def _slopes(self, at: ScoredRows) -> FloatArray:
        """The gradient gamma'(u) (-C_zj phi'(S_z - S_j)) for j != z; the entries of a row sum to 0."""
        falls = -at.costs * self._slope("phi")(-at.differences())
        return balanced(at, self._slope("gamma")(self._sums(at))[:, None] * falls)

    def _sums(self, at: ScoredRows) -> FloatArray:
        return np.asarray((at.costs * on_arrays(self.phi, "phi")(-at.differences())).sum(axis=1))

    def _slope(self, name: str) -> Formula:
        given = getattr(self, f"{name}_prime")
        function = on_arrays(getattr(self, name), name)
        return partial(_difference, function, LEAST[name]) if given is None else on_arrays(given, f"{name}_prime")


def _check(function: Formula, argument: str, grid: FloatArray, sign: int) -> None:
    """Finite, and increasing (`sign` 1) or non-negative and nowhere increasing (-1)."""
    values = function(grid)
    refuse_infinite(argument, "finite", values, grid)
    steps = np.diff(values)
    wrong = steps <= 0 if sign > 0 else steps > 1e-12 * np.abs(values[1:])
    if wrong.any():
        place = int(wrong.argmax())
        expected = "strictly increasing on [0, inf)" if sign > 0 else "nowhere increasing"
        came = Words(f"{values[place]:.6g} at {grid[place]:g} and {values[place + 1]:.6g} at {grid[place + 1]:g}")
        raise refusal(argument, expected, came)
    if sign < 0 and values.min() < 0:
        raise refusal(argument, "non-negative", Words(f"{values.min():.6g} at {grid[values.argmin()]:g}"))


def _check_slope(loss: GammaPhi, argument: str, grid: FloatArray) -> None:
    name = argument.removesuffix("_prime")
    given = getattr(loss, argument)
    if given is None:
        return
    slopes, rough = (
        on_arrays(given, argument)(grid),
        _difference(on_arrays(getattr(loss, name), name), LEAST[name], grid),
    )
    wrong = ~(np.abs(slopes - rough) <= 1e-4 * (np.abs(rough) + 1e-3 * np.abs(rough).max()))
    if wrong.mean() > 0.05:  # a corner of a piecewise function may differ
        place = int(wrong.argmax())
        came = f"{slopes[place]:.6g} at {grid[place]:g}, where differences of `{name}` give {rough[place]:.6g}"
        raise refusal(argument, f"the derivative of `{name}`", Words(came))


def _difference(function: Formula, least: float, x: FloatArray) -> FloatArray:
    step = 1e-5 * np.maximum(1.0, np.abs(x))
    low = np.maximum(x - step, least)
    return np.asarray((function(x + step) - function(low)) / (x + step - low))
