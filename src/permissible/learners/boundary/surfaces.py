"""Losses for Newton's method: a smooth loss itself, or hinges smoothed over a width.

Continuation: the width of the smoothing starts at the largest margin of a kink and shrinks, each fit starting from the
one before. The slopes of a smoothed loss are a feasible dual point of the true one, so its gap can be certified.

For the classes and margins of rows a surface gives the `loss` to be minimised, its `smooth` version, minus the first derivative
(`slope`) and the second derivative (`curvature`) of that, and the `gain` that a dual point adds to the dual objective.
"""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from permissible.learners.boundary.segments import Segments
from permissible.losses import Loss
from permissible.types import BoolArray, FloatArray

LEAST_WIDTH = 1e-8
"""The last width, relative to the largest kink; a smaller one would be lost in rounding."""


@dataclass(frozen=True, slots=True, eq=False)
class SmoothLoss:
    """The loss bF of a permissible phi."""

    base: Loss
    width: float = 0.0

    def loss(self, positive: BoolArray, margin: FloatArray) -> FloatArray:
        """B F(z)."""
        return np.asarray(self.base.b * np.asarray(self.base.value(margin)), dtype=np.float64)

    smooth = loss

    def slope(self, positive: BoolArray, margin: FloatArray) -> FloatArray:
        """The weight ginv(-z)."""
        return np.asarray(self.base.weight(margin), dtype=np.float64)

    def curvature(self, positive: BoolArray, margin: FloatArray) -> FloatArray:
        """The second derivative of bF."""
        return np.asarray(self.base.curvature(margin), dtype=np.float64)

    def gain(self, positive: BoolArray, dual: FloatArray) -> FloatArray:
        """phi(t) - a."""
        return np.asarray(np.asarray(self.base.phi(dual)) - self.base.a, dtype=np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class SmoothedHinges:
    """Weighted hinges; a parabola of this width joins the two lines of each."""

    segments: Segments
    width: float

    def loss(self, positive: BoolArray, margin: FloatArray) -> FloatArray:
        """The unsmoothed hinges."""
        return self.segments.loss(positive, margin)

    def smooth(self, positive: BoolArray, margin: FloatArray) -> FloatArray:
        """The hinges with their parabolas."""
        total, half = np.zeros_like(margin), 0.5 * self.width
        for hinge, weight in self.segments.per_row(positive):
            inside = np.clip(hinge - margin + half, 0.0, self.width)
            total += weight * (inside * inside / (2.0 * self.width) + np.maximum(hinge - margin - half, 0.0))
        return total

    def slope(self, positive: BoolArray, margin: FloatArray) -> FloatArray:
        """Between 0 and the sum of the weights of the hinges."""
        total = np.zeros_like(margin)
        for hinge, weight in self.segments.per_row(positive):
            total += weight * np.clip((hinge - margin) / self.width + 0.5, 0.0, 1.0)
        return total

    def curvature(self, positive: BoolArray, margin: FloatArray) -> FloatArray:
        """The weight over the width near a kink, else 0."""
        total = np.zeros_like(margin)
        for hinge, weight in self.segments.per_row(positive):
            total += np.where(np.abs(hinge - margin) < 0.5 * self.width, weight / self.width, 0.0)
        return total

    def gain(self, positive: BoolArray, dual: FloatArray) -> FloatArray:
        """The concave g of the hinges."""
        return self.segments.gain(positive, dual)


Surface: TypeAlias = SmoothLoss | SmoothedHinges


def smoothed(segments: Segments) -> list[Surface]:
    """Smoothed hinges: the first width is large enough for curvature at zero, then the widths shrink."""
    farthest = float(np.abs(segments.hinge).max()) or 1.0
    width, surfaces = 4.0 * farthest, list[Surface]()
    while width > LEAST_WIDTH * farthest:
        surfaces.append(SmoothedHinges(segments, width))
        width /= np.sqrt(10.0)
    return surfaces
