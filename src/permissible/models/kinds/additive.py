"""A multiclass additive model: the frozen result of MCBoost. It scores and reads; it does not learn.

    S(x) = prior + sum of parts(x),   S_k = <y_k, f(x)> / 2   (23) of [B]

A part is a family of base functions, affine terms or trees, each of which added something to f in some round. A class is the
largest score (1), or the least expected cost under the posterior softmax(exponent * S), where the exponent is right for the loss:
2 for MC, and for GEL with symmetric costs; 1 for GLL without costs; otherwise a temperature found on held-out rows.
"""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from permissible.table.schema import Schema
from permissible.table.table import Table
from permissible.types import FloatArray


class Part(Protocol):
    """Base functions that score a table, whole or in their first rounds."""

    @property
    def n_rounds(self) -> int:
        """Number of rounds."""
        ...

    def scores(self, table: Table, n_rounds: int | None = None) -> FloatArray:
        """The (n, M) scores of the first rounds, of all when None."""
        ...

    def scaled(self, factor: float) -> Any:
        """The same part with every score times a factor."""
        ...

    def joined(self, later: Any, *, same_rounds: bool = False) -> Any:
        """Itself and another of its kind, one after the other or side by side."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class AdditiveModel:
    """Parts that add up to one score per class.

    Parameters
    ----------
    schema : Schema
        The columns that the parts speak of.
    loss : str
        The loss that was minimised: "gll", "gel", "ls", "lt" or "mc".
    prior : array of float, one per class
        Scores before the first round.
    parts : tuple of parts
    exponent : float
        The posterior is softmax(exponent * S).
    calibrated : bool
        Whether the exponent was found on held-out rows rather than given by theory.
    """

    schema: Schema
    loss: str
    prior: FloatArray
    parts: tuple[Part, ...]
    exponent: float = 1.0
    calibrated: bool = False

    @property
    def n_classes(self) -> int:
        """Number of classes M."""
        return len(self.prior)

    @property
    def n_rounds(self) -> int:
        """Rounds of the longest part."""
        return max((part.n_rounds for part in self.parts), default=0)

    def scores(self, table: Table, n_rounds: int | None = None) -> FloatArray:
        """The (n, M) scores S; those after `n_rounds` rounds when given."""
        total = np.tile(self.prior, (table.n_rows, 1))
        for part in self.parts:
            total += part.scores(table, n_rounds)
        return total

    def probability(self, table: Table, n_rounds: int | None = None) -> FloatArray:
        """The posterior (n, M), softmax(exponent * S)."""
        return posterior(self.scores(table, n_rounds), self.exponent)


def posterior(scores: FloatArray, exponent: float) -> FloatArray:
    """Softmax of exponent * S, row by row, without overflow (33)."""
    raised = np.exp(exponent * (scores - scores.max(axis=1, keepdims=True)))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))
