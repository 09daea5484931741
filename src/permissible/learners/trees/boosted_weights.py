"""The unit of weights in a fit of boosted trees, which does not depend on the one they were given in.

Whole weights stay: they are copies of a row. Multiples of the least weight become whole; any others are divided by the largest,
since the kernel keeps them in single precision.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from permissible.rows.part import Part
from permissible.rows.source import Question, Source
from permissible.types import FloatArray

MOST_COPIES = 2**20
CLOSE = 1e-9


@dataclass(frozen=True, slots=True)
class WeightUnit:
    """Weights are divided by `by`, and rounded where they are then `whole`."""

    by: float = 1.0
    whole: bool = True

    @property
    def scale(self) -> float:
        """The factor on a parameter that is a weight."""
        return 1.0 / self.by

    def of(self, weight: FloatArray | None) -> FloatArray | None:
        """The weights in this unit."""
        if weight is None or (self.whole and self.by == 1.0):
            return weight
        return np.rint(weight / self.by) if self.whole else weight / self.by


@dataclass(frozen=True, slots=True)
class WeightRange(Question[Part, tuple[float, float, bool]]):
    """The least and the largest weight, and whether all are whole numbers."""

    def answer(self, rows: Part) -> tuple[float, float, bool]:
        """The answer of one part."""
        weight = rows.weight()
        if weight is None or not len(weight):
            return np.inf, 0.0, True
        return float(weight.min()), float(weight.max()), bool(np.array_equal(weight, np.rint(weight)))

    def merge(self, answers: Sequence[tuple[float, float, bool]]) -> tuple[float, float, bool]:
        """The answers of all parts, merged."""
        least, largest, whole = zip(*answers, strict=True)
        return min(least), max(largest), all(whole)


@dataclass(frozen=True, slots=True)
class AreMultiples(Question[Part, bool]):
    """Whether all weights are multiples of the least one."""

    least: float

    def answer(self, rows: Part) -> bool:
        """The answer of one part."""
        weight = rows.weight()
        if weight is None or not len(weight):
            return True
        multiple = weight / self.least
        return bool(np.abs(multiple - np.rint(multiple)).max() < CLOSE)

    def merge(self, answers: Sequence[bool]) -> bool:
        """The answers of all parts, merged."""
        return all(answers)


def unit_of(source: Source) -> WeightUnit:
    """The unit of the weights of a source."""
    if not source.weighted:
        return WeightUnit()
    least, largest, whole = source.survey(WeightRange())
    if whole and largest < MOST_COPIES:
        return WeightUnit()
    if least * MOST_COPIES > largest and source.survey(AreMultiples(least)):
        return WeightUnit(least)
    return WeightUnit(largest, whole=False)
