"""Piecewise-linear surrogates of K probability boundaries: as few pieces as the decision has ([K] sections 3 and 4).

For z = y f: phi+(z) = max(0, max_k A+_k + B+_k z), and phi- likewise. Conditions (C1) slopes ordered and negative, (C2) kinks of
phi+ and phi- aligned and in order, (C3) B-/(B- + B+) = pi make it minimally consistent: right for these boundaries and no
others (Theorem 3). Tangents of b F at the scores g(pi_k) of any permissible phi satisfy all three, since F is balanced:
A = phi(pi) - a, B+ = -(1 - pi), B- = -pi (Proposition 1 is phi = binary entropy).
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from permissible.losses.boundary import line_conditions
from permissible.losses.boundary.consistency import Consistency, check_consistency
from permissible.losses.boundary.line_conditions import LinesVerdict
from permissible.losses.permissible_loss import PermissibleLoss
from permissible.losses.registry import Loss, get
from permissible.types import ArrayLike, BoolArray, FloatArray
from permissible.validation import Words, checked_boundaries, real_numbers, refusal


class WeightedHinges(NamedTuple):
    """One class's loss as weighted hinges, phi(z) = sum_k widths_k (hinges_k - z)_+; what the solvers take.

    `breaks` are 0 = t_0 < t_1 < ... < t_K, the negated slopes; hinges decrease.
    """

    breaks: FloatArray
    widths: FloatArray
    hinges: FloatArray


@dataclass(frozen=True, eq=False)
class PiecewiseLinear:
    """The piecewise-linear surrogate of some boundaries.

    Parameters
    ----------
    boundaries : sequence of float
        pi_1 < ... < pi_K in (0, 1).
    base : str or permissible loss
        The phi whose tangents are taken; ``"logistic"`` is Proposition 1 of [K].

    Attributes
    ----------
    intercepts_pos, intercepts_neg, slopes_pos, slopes_neg : arrays of K numbers
        A+, A-, B+, B-.
    deltas : array of K numbers
        Scores at which the decision changes.
    hinges : array of K + 1 numbers
        H_0 < ... < H_K on the score axis; delta_k lies in (H_{k-1}, H_k).

    Examples
    --------
    >>> from permissible import losses
    >>> surrogate = losses.PiecewiseLinear([0.25, 0.75])
    >>> surrogate.deltas.round(4)
    array([-1.0986,  1.0986])
    >>> surrogate.hinges.round(4)
    array([-2.2493,  0.    ,  2.2493])
    >>> bool(surrogate.check())
    True
    """

    boundaries: tuple[float, ...]
    base: str | PermissibleLoss | None = "logistic"
    intercepts_pos: FloatArray = field(init=False, repr=False)
    intercepts_neg: FloatArray = field(init=False, repr=False)
    slopes_pos: FloatArray = field(init=False, repr=False)
    slopes_neg: FloatArray = field(init=False, repr=False)
    deltas: FloatArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        loss = get(self.base)  # type: ignore[arg-type]
        if not isinstance(loss, PermissibleLoss):
            remedy = "PiecewiseLinear.from_tangents takes any loss, and check() says what is lost"
            raise refusal("base", "the loss of a permissible phi", Words(f"{loss.name!r}"), remedy)
        boundaries = checked_boundaries(self.boundaries)
        pi = np.array(boundaries)
        height = np.asarray(loss.impurity(pi)) * loss.b  # phi(pi) - a
        self._set(boundaries, loss, np.asarray(loss.score(pi)), (height, -(1 - pi), height, -pi))

    def _set(
        self, boundaries: tuple[float, ...], base: Loss | None, deltas: FloatArray, lines: tuple[FloatArray, ...]
    ) -> None:
        """Set the fields of a frozen surrogate, arrays read-only; `lines` are A+, B+, A-, B-."""
        names = ("intercepts_pos", "slopes_pos", "intercepts_neg", "slopes_neg", "deltas")
        for name, array in zip(names, (*lines, deltas), strict=True):
            own = np.array(array, dtype=np.float64)
            own.setflags(write=False)
            object.__setattr__(self, name, own)
        object.__setattr__(self, "boundaries", boundaries)
        object.__setattr__(self, "base", base)

    # -- other ways to build one ---------------------------------------------------------------------------------------

    @classmethod
    def from_lines(
        cls,
        boundaries: ArrayLike,
        intercepts_pos: ArrayLike,
        slopes_pos: ArrayLike,
        intercepts_neg: ArrayLike,
        slopes_neg: ArrayLike,
        deltas: ArrayLike | None = None,
    ) -> "PiecewiseLinear":
        """Build from given lines; ``check()`` says whether they satisfy (C1)-(C3).

        Without `deltas` the middles between neighbouring hinges are taken.
        """
        pi = checked_boundaries(boundaries)
        size = len(pi)
        given = {"intercepts_pos": intercepts_pos, "slopes_pos": slopes_pos}
        given |= {"intercepts_neg": intercepts_neg, "slopes_neg": slopes_neg}
        lines = tuple(_numbers(name, values, size) for name, values in given.items())
        made = object.__new__(cls)
        made._set(pi, None, np.full(size, np.nan), lines)
        middles = (made.hinges[:-1] + made.hinges[1:]) / 2
        made._set(pi, None, middles if deltas is None else _numbers("deltas", deltas, size), lines)
        return made

    @classmethod
    def from_hinges(cls, boundaries: ArrayLike, hinges: ArrayLike) -> "PiecewiseLinear":
        """Build from freely chosen hinges H_0 < ... < H_K, H_0 < 0 < H_K, with the slopes -(1 - pi) and -pi."""
        pi = np.array(checked_boundaries(boundaries))
        h = _numbers("hinges", hinges, pi.size + 1)
        if not (np.diff(h) > 0).all():
            raise refusal("hinges", "strictly increasing", hinges)
        gaps = np.diff(pi)
        # A+ from the right: A+_K = (1 - pi_K) h_K, A+_k = A+_{k+1} + (pi_{k+1} - pi_k) h_k; A- from the left likewise.
        upper = np.append((gaps * h[1:-1])[::-1].cumsum()[::-1], 0.0) + (1 - pi[-1]) * h[-1]
        lower = -np.insert((gaps * h[1:-1]).cumsum(), 0, 0.0) - pi[0] * h[0]
        return cls.from_lines(tuple(pi), upper, -(1 - pi), lower, -pi)

    @classmethod
    def from_tangents(cls, boundaries: ArrayLike, loss: Loss) -> "PiecewiseLinear":
        """Build from the tangents of any loss at its scores delta_k: consistent, but minimal only for a balanced loss."""
        pi = checked_boundaries(boundaries)
        made = get(loss) if isinstance(loss, str) else loss
        verdict = check_consistency(made, pi)
        if not verdict:
            raise refusal("loss", f"consistent for the boundaries {list(pi)}", Words(f"{made!r}: {verdict.reason}"))
        delta = np.array(verdict.deltas)
        up, down = -np.asarray(made.weight(delta)), -np.asarray(made.weight(-delta))
        at_pos = np.asarray(made.value(delta)) - up * delta
        at_neg = np.asarray(made.value(-delta)) + down * delta
        return cls.from_lines(pi, at_pos, up, at_neg, down, delta)

    # -- the loss --------------------------------------------------------------------------------------------------------

    @property
    def intercepts(self) -> FloatArray:
        """A, where phi+ and phi- share it, as they do for every permissible phi."""
        if not np.array_equal(self.intercepts_pos, self.intercepts_neg):
            raise AttributeError("the two classes have different intercepts: use intercepts_pos and intercepts_neg.")
        return self.intercepts_pos

    @property
    def hinges(self) -> FloatArray:
        """H_0, ..., H_K: where the pieces meet, on the score axis (H_K with the minus that [K] lacks: E12)."""
        a, b = self.intercepts_pos, self.slopes_pos
        with np.errstate(divide="ignore", invalid="ignore"):
            inner = (a[:-1] - a[1:]) / (b[1:] - b[:-1])
            return np.concatenate([[self.intercepts_neg[0] / self.slopes_neg[0]], inner, [-a[-1] / b[-1]]])

    def value(self, y: ArrayLike, score: ArrayLike) -> FloatArray:
        """Return the loss of scores f for labels y (positive: 1; negative: 0 or -1), broadcast together."""
        positive, f = _labelled(y, score)
        heights = _upper(self.intercepts_pos, self.slopes_pos, f), _upper(self.intercepts_neg, self.slopes_neg, -f)
        result = np.where(positive, heights[0], heights[1])
        return result if result.ndim else result.item()

    def subgradient(self, y: ArrayLike, score: ArrayLike) -> FloatArray:
        """Return a derivative of the loss with respect to the score; at a kink that of the flatter side."""
        positive, f = _labelled(y, score)
        up = _active_slope(self.intercepts_pos, self.slopes_pos, f)
        down = -_active_slope(self.intercepts_neg, self.slopes_neg, -f)
        result = np.where(positive, up, down)
        return result if result.ndim else result.item()

    @property
    def segments_pos(self) -> WeightedHinges:
        """The loss of positives as weighted hinges of z = f."""
        return _segments(self.intercepts_pos, self.slopes_pos)

    @property
    def segments_neg(self) -> WeightedHinges:
        """The loss of negatives as weighted hinges of z = -f."""
        return _segments(self.intercepts_neg, self.slopes_neg)

    # -- verdicts ----------------------------------------------------------------------------------------------------------

    def check(self) -> LinesVerdict:
        """Check (C1)-(C3): all three make the surrogate minimally consistent ([K] Theorem 3)."""
        return line_conditions.verdict(self)

    def consistency(self) -> Consistency:
        """Check Theorem 2 of [K] for the surrogate itself."""
        return line_conditions.consistency(self)

    def consistent_boundaries(self) -> tuple[float, ...]:
        """Return every pi for which the surrogate is consistent; minimal means these are the boundaries, no more."""
        return line_conditions.all_boundaries(self)

    @property
    def excess_constant(self) -> float:
        """C of Corollary 1: the excess risk of (7) is at most 2 C times the excess risk of the surrogate (s = 1)."""
        pi = np.array(self.boundaries)
        distance = np.abs(self.deltas[:, None] - self.hinges).min(axis=1)
        with np.errstate(divide="ignore"):
            return float((pi / (-self.slopes_neg * distance)).max())


def _numbers(argument: str, values: ArrayLike, size: int) -> FloatArray:
    array = real_numbers(argument, values, f"{size} finite numbers")
    if array.shape != (size,) or not np.isfinite(array).all():
        raise refusal(argument, f"{size} finite numbers", values)
    return array


def _labelled(y: ArrayLike, score: ArrayLike) -> tuple[BoolArray, FloatArray]:
    labels = np.asarray(y)
    if not np.isin(labels, (-1, 0, 1)).all():
        came = labels[~np.isin(labels, (-1, 0, 1))].flat[0].item()
        raise refusal("y", "1 for positives, 0 or -1 for negatives", came)
    positive, f = np.broadcast_arrays(labels > 0, real_numbers("score", score, "an array of numbers"))
    return positive, f


def _upper(intercepts: FloatArray, slopes: FloatArray, z: FloatArray) -> FloatArray:
    height = np.zeros(z.shape)
    for a, b in zip(intercepts, slopes, strict=True):
        np.maximum(height, a + b * z, out=height)
    return height


def _active_slope(intercepts: FloatArray, slopes: FloatArray, z: FloatArray) -> FloatArray:
    """Slope of the line on top, the flattest of those that meet."""
    height, slope = np.zeros(z.shape), np.zeros(z.shape)
    for a, b in sorted(zip(intercepts.tolist(), slopes.tolist(), strict=True), key=lambda line: -line[1]):
        above = a + b * z > height
        slope, height = np.where(above, b, slope), np.where(above, a + b * z, height)
    return slope


def _segments(intercepts: FloatArray, slopes: FloatArray) -> WeightedHinges:
    order = np.argsort(-slopes)
    breaks = np.concatenate([[0.0], -slopes[order]])
    heights = np.concatenate([[0.0], intercepts[order]])
    widths = np.diff(breaks)
    if not (widths > 0).all():
        raise refusal("slopes", "different and negative", Words(f"{slopes.tolist()}"))
    hinges = np.diff(heights) / widths
    if not (np.diff(hinges) < 0).all():
        raise refusal("intercepts", "lines that each form a piece of the loss", Words(f"hinges {hinges.tolist()}"))
    return WeightedHinges(breaks, widths, hinges)
