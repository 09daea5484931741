"""Questions of MCBoost about parts, by method name (asked.py)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from permissible.kernels._core import sums
from permissible.learners.mcboost.standardise import Spread, mean_sums, spread_of
from permissible.models.kinds.attributes import Attribute
from permissible.rows.part import Part, table_of
from permissible.table.table import Table
from permissible.types import BoolArray, FloatArray, IntArray


class SurveyKind:
    """Questions about the parts themselves, before a fit: counts, weights, hashes. Nothing changes."""

    changes: frozenset[str] = frozenset()

    def build(self, part: Part, settings: Any) -> "PartSurvey":
        """The part itself answers."""
        return PartSurvey(part)

    def merge(self, method: str, answers: Sequence[Any]) -> Any:
        """Lists of (part number, answer), joined; the coordinator puts them in order."""
        return [item for answer in answers for item in answer]


class Mask(Protocol):
    """Some of the rows, chosen by their content and class."""

    def mask(self, hashes: Any, target: Any) -> BoolArray:
        """The rows."""
        ...


@dataclass(frozen=True, slots=True)
class PartSurvey:
    """What a part can say before a fit."""

    part: Part

    def share_sizes(self, share: "Mask | None") -> list[tuple[int, tuple[int, IntArray]]]:
        """Number and exact weight of some rows."""
        part = self.part
        weight, target = part.weight(), part.target()
        weight = np.ones(len(target)) if weight is None else weight
        chosen = weight if share is None else weight[share.mask(part.hashes(), target)]
        return [
            (self.part.number, (len(chosen), sums.exact_limbs(np.ascontiguousarray(chosen, dtype=np.float64)[None, :])))
        ]

    def shares(self, fraction: float, n_classes: int) -> list[tuple[int, FloatArray]]:
        """Of each class: its rows, those whose number (hash / 2^64) is below a fraction, and the largest number."""
        target, number = self.part.target(), self.part.hashes().astype(np.float64) / 2.0**64
        largest = np.zeros(n_classes)
        np.maximum.at(largest, target, number)
        counts = np.bincount(target, minlength=n_classes), np.bincount(target[number < fraction], minlength=n_classes)
        return [(self.part.number, np.stack([*counts, largest], axis=1))]

    def attribute_means(self, share: "Mask | None") -> list[tuple[int, IntArray]]:
        """Exact sums of the values of each attribute, for its mean."""
        return [(self.part.number, mean_sums(*self._valued(share)))]

    def attribute_spread(
        self, attributes: tuple[Attribute, ...], share: "Mask | None"
    ) -> list[tuple[int, Spread]]:  # fmt: skip
        """How the rows lie around the means."""
        return [(self.part.number, spread_of(attributes, *self._valued(share)))]

    def _valued(self, share: "Mask | None") -> tuple[Table, FloatArray]:
        part = self.part
        weight, target = part.weight(), part.target()
        weight = np.ones(len(target)) if weight is None else weight
        rows = None if share is None else share.mask(part.hashes(), target)
        return table_of(part, rows), weight if rows is None else weight[rows]
