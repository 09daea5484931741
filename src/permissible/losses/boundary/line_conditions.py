"""Conditions (C1)-(C3) of [K] on the lines of a piecewise-linear surrogate, and what it is consistent for (section 8.2)."""

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from permissible.losses.boundary.consistency import Consistency
from permissible.types import FloatArray

if TYPE_CHECKING:
    from permissible.losses.boundary.piecewise import PiecewiseLinear

SLACK = 1e-9  # relative; what rounding may do to a condition that holds


@dataclass(frozen=True)
class LinesVerdict:
    """Conditions (C1)-(C3) one by one; true when all hold, that is when the surrogate is minimally consistent.

    Examples
    --------
    >>> from permissible import losses
    >>> bool(losses.PiecewiseLinear([0.25, 0.75]).check())
    True
    """

    slopes: bool
    alignment: bool
    boundaries: bool
    reason: str

    def __bool__(self) -> bool:
        return self.slopes and self.alignment and self.boundaries


def verdict(lines: "PiecewiseLinear") -> LinesVerdict:
    """Check the three conditions and say in words which fails and where."""
    slopes, alignment, boundaries = _slopes(lines), _alignment(lines), _boundaries(lines)
    failures = zip(("C1", "C2", "C3"), (slopes, alignment, boundaries), strict=True)
    words = "; ".join(f"({name}) {text}" for name, text in failures if text)
    reason = words or "(C1), (C2) and (C3) hold: minimally consistent"
    return LinesVerdict(not slopes, not alignment, not boundaries, reason)


def _slopes(lines: "PiecewiseLinear") -> str:
    if not ((lines.slopes_pos < 0).all() and (lines.slopes_neg < 0).all()):
        return "a slope is not negative"
    if not ((np.diff(lines.slopes_pos) >= 0).all() and (np.diff(lines.slopes_neg) <= 0).all()):
        return "slopes are not ordered: B+ must grow and B- fall with pi"
    return ""


def _alignment(lines: "PiecewiseLinear") -> str:
    hinges, mirrored = lines.hinges, _negative_hinges(lines)
    if np.isnan(hinges).any() or np.isnan(mirrored).any():
        return "two lines coincide, so their hinge is not defined"
    scale = 1 + np.abs(hinges[1:-1])
    apart = np.flatnonzero(~(np.abs(hinges[1:-1] - mirrored) <= SLACK * scale))
    if apart.size:
        k = int(apart[0])
        return f"hinge {k + 1} of phi+ lies at {hinges[k + 1]:.6g}, that of phi- at {mirrored[k]:.6g}"
    if not (np.diff(hinges) > 0).all():
        k = int(np.flatnonzero(np.diff(hinges) <= 0)[0])
        return f"hinges are not in order: H_{k} = {hinges[k]:.6g}, H_{k + 1} = {hinges[k + 1]:.6g}"
    return ""


def _boundaries(lines: "PiecewiseLinear") -> str:
    ratio = lines.slopes_neg / (lines.slopes_neg + lines.slopes_pos)
    wrong = np.flatnonzero(np.abs(ratio - np.array(lines.boundaries)) > SLACK)
    if wrong.size:
        k = int(wrong[0])
        return f"B-/(B- + B+) = {ratio[k]:.6g} at boundary {lines.boundaries[k]:g}"
    return ""


def _negative_hinges(lines: "PiecewiseLinear") -> FloatArray:
    """Inner hinges of phi-, on the score axis."""
    a, b = lines.intercepts_neg, lines.slopes_neg
    with np.errstate(divide="ignore", invalid="ignore"):
        return -(a[:-1] - a[1:]) / (b[1:] - b[:-1])


def all_boundaries(lines: "PiecewiseLinear") -> tuple[float, ...]:
    """Return the ratio of slopes on each interval between kinks where both slopes are negative."""
    return tuple(ratio for ratio, _, _ in _pieces(lines))


def consistency(lines: "PiecewiseLinear") -> Consistency:
    """Find for each boundary an interval of scores whose ratio of slopes it is; delta is the tangent point or its middle."""
    pieces = _pieces(lines)
    deltas, missing = [], []
    for k, boundary in enumerate(lines.boundaries):
        match = [(low, high) for ratio, low, high in pieces if abs(ratio - boundary) <= SLACK]
        if not match:
            missing.append(f"no score has the ratio {boundary:g}")
            deltas.append(float("nan"))
            continue
        low, high = match[0]
        own = float(lines.deltas[k])
        deltas.append(own if low < own < high else (low + high) / 2)
    return Consistency(lines.boundaries, tuple(deltas), "; ".join(missing) or "every boundary has its score")


def _pieces(lines: "PiecewiseLinear") -> list[tuple[float, float, float]]:
    """Return (ratio, low, high) for each interval of scores on which both losses are linear and falling."""
    positive = _kinks(lines.intercepts_pos, lines.slopes_pos)
    negative = -_kinks(lines.intercepts_neg, lines.slopes_neg)
    kinks = np.unique(np.concatenate([positive, negative]))
    kinks = kinks[np.insert(np.diff(kinks) > SLACK * (1 + np.abs(kinks[1:])), 0, True)]
    found: list[tuple[float, float, float]] = []
    for low, high in pairwise(kinks):
        middle = (low + high) / 2
        up = -float(np.asarray(lines.subgradient(1, middle)))
        down = float(np.asarray(lines.subgradient(0, middle)))
        if up > 0 and down > 0:
            found.append((down / (down + up), float(low), float(high)))
    return found


def _kinks(intercepts: FloatArray, slopes: FloatArray) -> FloatArray:
    """Return the margins at which the slope of the upper envelope of the lines and 0 changes."""
    a, b = np.append(intercepts, 0.0), np.append(slopes, 0.0)
    rise, run = a[:, None] - a, b - b[:, None]
    crossing = rise / np.where(run == 0, 1.0, run)
    first, _ = np.nonzero(run)
    z = crossing[run != 0]
    top = (a + z[:, None] * b).max(axis=1)
    on_top = np.abs(a[first] + b[first] * z - top) <= SLACK * (1 + np.abs(top))
    return np.unique(z[on_top])
