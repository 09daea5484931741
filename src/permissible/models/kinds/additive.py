"""A multiclass additive model: the frozen result of MCBoost. It computes scores; it does not learn.

    S(x) = prior + sum of parts(x),   S_k = <y_k, f(x)> / 2   (23) of [B]

A part is a family of base functions, affine terms or trees, each added to f in some round. A class is the largest score
(1), or the least expected cost under the posterior softmax(exponent * S), where the exponent is right for the loss: 2
for MC, and for GEL with symmetric costs; 1 for GLL without costs; otherwise a temperature found on held-out rows.
"""

from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

import numpy as np

from permissible.models.model import Link, Model, counted, lead
from permissible.table.schema import Schema
from permissible.table.table import Table
from permissible.types import FloatArray, IntArray


class Component(Protocol):
    """Base functions that score a table."""

    @property
    def n_rounds(self) -> int:
        """Number of rounds."""

    def scores(self, table: Table) -> FloatArray:
        """The (n, M) scores."""

    def first(self, n_rounds: int) -> Self:
        """The same part after its first rounds."""

    def scaled(self, factor: float) -> Self:
        """The same part with every score times a factor."""

    def joined(self, later: Any, *, same_rounds: bool = False) -> Self:
        """Itself and another of its kind, one after the other or in the same rounds."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AdditiveModel(Model):
    """Parts that add up to one score per class."""

    schema: Schema  # the columns of the parts
    loss: str  # the loss that was minimised: "gll", "gel", "ls", "lt" or "mc"
    prior: FloatArray  # of each class, the score before the first round
    parts: tuple[Component, ...]
    exponent: float = 1.0  # the posterior is softmax(exponent * S)
    calibrated: bool = False  # whether the exponent was found on held-out rows rather than given by theory

    def _size(self) -> str:
        return f"{self.n_classes} classes, {counted(self.n_rounds, 'round')}: {' and '.join(map(repr, self.parts))}"

    @property
    def link(self) -> Link:
        """The posterior, softmax(exponent * S)."""
        return Link("softmax", (), self.exponent)

    @property
    def n_classes(self) -> int:
        """Number of classes M."""
        return len(self.prior)

    @property
    def n_rounds(self) -> int:
        """Rounds of the longest part."""
        return max((part.n_rounds for part in self.parts), default=0)

    def first(self, n_rounds: int) -> "AdditiveModel":
        """The model after its first rounds."""
        return replace(self, parts=tuple(part.first(n_rounds) for part in self.parts))

    def scores(self, table: Table, n_threads: int = 1) -> FloatArray:
        """The (n, M) scores S."""
        total = np.tile(self.prior, (table.n_rows, 1))
        for part in self.parts:
            total += part.scores(table)
        return total

    def margins(self, table: Table, codes: IntArray, n_threads: int = 1) -> FloatArray:
        """The margin (9) of each row: the score of its class minus the largest other one."""
        return lead(self.scores(table), codes)


def posterior(scores: FloatArray, exponent: float) -> FloatArray:
    """Softmax of exponent * S, row by row (33)."""
    return Link("softmax", (), exponent).probabilities(scores)
