"""A piecewise-linear loss as weighted hinges, per class: phi(z) = sum_k D_k (h_k - z)_+ with z = y f.

[K] (11)-(12) write the loss as max(0, max_k A_k + B_k z). With t_k = -B_k sorted increasingly, t_0 = 0 and A_0 = 0, the
widths are D_k = t_k - t_{k-1} and the hinges h_k = (A_k - A_{k-1}) / D_k, decreasing when the loss is convex
and every line is used. The concave g with g(t_k) = A_k, linear in between, is what a row adds to the dual objective.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from permissible.types import BoolArray, FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Segments:
    """Hinges and widths of both classes: arrays of shape (2, K), row 0 for the negative class, row 1 for the positive.

    Examples
    --------
    >>> import numpy as np
    >>> hinge_loss = Segments(hinge=np.ones((2, 1)), width=np.ones((2, 1)))
    >>> hinge_loss.loss(np.array([True, False]), np.array([0.25, 2.0]))
    array([0.75, 0.  ])
    """

    hinge: FloatArray
    width: FloatArray

    @property
    def count(self) -> int:
        """K, the number of boundaries."""
        return int(self.hinge.shape[1])

    def loss(self, positive: BoolArray, margin: FloatArray) -> FloatArray:
        """phi(z) of each row."""
        return self.summed(positive, lambda hinge, width: width * np.maximum(hinge - margin, 0.0))

    def slope(self, positive: BoolArray, margin: FloatArray) -> FloatArray:
        """-phi'(z) of each row; the smaller value at a kink."""
        return self.summed(positive, lambda hinge, width: np.where(margin < hinge, width, 0.0))

    def gain(self, positive: BoolArray, dual: FloatArray) -> FloatArray:
        """g(t) = sum_k h_k clip(t - t_{k-1}, 0, D_k) of each row."""
        total, rest = np.zeros_like(dual), dual.copy()
        for hinge, width in self.per_row(positive):
            part = np.clip(rest, 0.0, width)
            total += hinge * part
            rest -= width
        return total

    def summed(self, positive: BoolArray, term: Callable[[FloatArray, FloatArray], FloatArray]) -> FloatArray:
        """The sum over the boundaries of a function of each row's hinge and width."""
        total = np.zeros(len(positive))
        for hinge, width in self.per_row(positive):
            total += term(hinge, width)
        return total

    def per_row(self, positive: BoolArray) -> list[tuple[FloatArray, FloatArray]]:
        """Hinge and width of each row, for each boundary in turn."""
        side = np.asarray(positive, dtype=np.intp)
        return [(self.hinge[side, k], self.width[side, k]) for k in range(self.count)]


NO_SEGMENTS = Segments(np.empty((2, 0)), np.empty((2, 0)))
"""Those of a smooth loss."""
