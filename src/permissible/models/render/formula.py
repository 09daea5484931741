"""The probability of a score as a formula that any language can write: ginv of section 2, for the losses that have one.

Only scores below zero are written down (there a tiny probability keeps all its digits); above, p(x) = 1 - p(-x). Beyond
`limit` the probability is 0 or 1 as far as a double can tell, which also keeps `exp` away from overflow in strict databases.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Formula:
    """p = below.format(x=score) for -limit < score < 0, 0 for score <= -limit, and the mirror image above.

    `below` uses {x}, {exp}, {sqrt} and {ln}; everything else in it is arithmetic that SQL, Python, JavaScript and C agree on.
    """

    below: str
    limit: float


def _logistic(_: Mapping[str, float]) -> Formula:
    return Formula("1.0 / (1.0 + {exp}(-({x})))", 700.0)


def _exponential(_: Mapping[str, float]) -> Formula:
    return Formula("1.0 / (1.0 + {exp}(-2.0 * ({x})))", 350.0)


def _squared(_: Mapping[str, float]) -> Formula:
    return Formula("0.5 * (1.0 + ({x}))", 1.0)


def _matsushita(parameters: Mapping[str, float], stretch: float = 1.0) -> Formula:
    # 1 / (2 r (r - x)), r = sqrt(c^2 + x^2): no cancellation for x < 0; c = 1 - mu rescales the score
    root = f"{{sqrt}}({stretch**2!r} + ({{x}}) * ({{x}}))"
    return Formula(f"{0.5 * stretch**2!r} / ({root} * ({root} - ({{x}})))", 1e150)


def _mu(parameters: Mapping[str, float]) -> Formula:
    return _matsushita({}, 1.0 - parameters["mu"])


def _logcosh(parameters: Mapping[str, float]) -> Formula:
    steepness = abs(parameters["zeta"])
    return Formula(f"0.5 + {{ln}}((1.0 + ({{x}})) / (1.0 - ({{x}}))) / {steepness!r}", math.tanh(steepness / 4.0))


_FORMULAS: dict[str, Callable[[Mapping[str, float]], Formula]] = {
    "logistic": _logistic,
    "exponential": _exponential,
    "squared": _squared,
    "least_squares": _squared,
    "matsushita": _matsushita,
    "mu": _mu,
    "logcosh": _logcosh,
}


def formula(loss: Any) -> Formula | None:
    """The formula of a loss, None when its probability has no closed form (power, or a user's own phi)."""
    make = _FORMULAS.get(getattr(loss, "name", ""))
    return None if make is None else make(loss.params)


def formulas(losses: Sequence[Any]) -> tuple[Formula, ...] | None:
    """The formulas of several losses, None when there is no loss or one of them has no formula."""
    found = [formula(loss) for loss in losses]
    return tuple(known for known in found if known is not None) if found and None not in found else None
