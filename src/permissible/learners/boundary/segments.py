"""A piecewise-linear loss as weighted hinges, per class: phi(z) = sum_k D_k (h_k - z)_+ with z = y f.

[K] (11)-(12) write the loss as max(0, max_k A_k + B_k z). With t_k = -B_k sorted increasingly, t_0 = 0 and A_0 = 0, the
widths are D_k = t_k - t_{k-1} and the hinges h_k = (A_k - A_{k-1}) / D_k, decreasing when the loss is convex
and every line is used. The concave g with g(t_k) = A_k, linear in between, is what a row brings to the dual.
"""

from dataclasses import dataclass

import numpy as np

from permissible.types import BoolArray, FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Segments:
    """Hinges and widths of both classes: arrays of shape (2, K), row 0 for the negative class, row 1 for the positive one.

    Examples
    --------
    >>> import numpy as np
    >>> Segments.from_lines(np.array([np.log(2)]), np.array([-0.5]), np.array([-0.5])).hinge
    array([[1.38629436],
           [1.38629436]])
    """

    hinge: FloatArray
    width: FloatArray

    @classmethod
    def from_lines(
        cls,
        intercepts: FloatArray,
        slopes_pos: FloatArray,
        slopes_neg: FloatArray,
        intercepts_neg: FloatArray | None = None,
    ) -> "Segments":
        """Build from the lines A_k + B_k z of the two classes (`intercepts_neg`: where A- differs from A+)."""
        negative = _hinges(intercepts if intercepts_neg is None else intercepts_neg, slopes_neg)
        positive = _hinges(intercepts, slopes_pos)
        return cls(
            np.ascontiguousarray([negative[0], positive[0]]), np.ascontiguousarray([negative[1], positive[1]])
        )  # fmt: skip

    @property
    def count(self) -> int:
        """K, the number of boundaries."""
        return int(self.hinge.shape[1])

    def loss(self, positive: BoolArray, margin: FloatArray) -> FloatArray:
        """phi(z) of each row."""
        total = np.zeros_like(margin)
        for hinge, width in self._per_row(positive):
            total += width * np.maximum(hinge - margin, 0.0)
        return total

    def slope(self, positive: BoolArray, margin: FloatArray) -> FloatArray:
        """-phi'(z) of each row; the smaller value at a kink."""
        total = np.zeros_like(margin)
        for hinge, width in self._per_row(positive):
            total += np.where(margin < hinge, width, 0.0)
        return total

    def gain(self, positive: BoolArray, dual: FloatArray) -> FloatArray:
        """g(t) = sum_k h_k clip(t - t_{k-1}, 0, D_k) of each row."""
        total, rest = np.zeros_like(dual), dual.copy()
        for hinge, width in self._per_row(positive):
            part = np.clip(rest, 0.0, width)
            total += hinge * part
            rest -= width
        return total

    def _per_row(self, positive: BoolArray) -> list[tuple[FloatArray, FloatArray]]:
        side = np.asarray(positive, dtype=np.intp)
        return [(self.hinge[side, k], self.width[side, k]) for k in range(self.count)]


def _hinges(intercepts: FloatArray, slopes: FloatArray) -> tuple[FloatArray, FloatArray]:
    order = np.argsort(-slopes, kind="stable")
    width = np.diff(-slopes[order], prepend=0.0)
    return np.diff(intercepts[order], prepend=0.0) / width, width
