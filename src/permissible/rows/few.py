"""All rows of a small table, gathered in this process."""

from dataclasses import dataclass

import numpy as np

from permissible.bins.binning import BinnedTable
from permissible.rows.part import Part
from permissible.rows.source import ByPart, Source
from permissible.types import AnyArray, Codes, FloatArray

Columns = tuple[Codes, AnyArray, FloatArray | None]


@dataclass(frozen=True, slots=True)
class RowsOf(ByPart[Part, Columns]):
    """Codes, classes and weights of all rows, by the number of their part."""

    def answer(self, rows: Part) -> dict[int, Columns]:
        """The answer of one part."""
        return {rows.number: (np.array(rows.binned().blocks), rows.target(), rows.weight())}


def few_rows(source: Source, limit: int) -> tuple[BinnedTable | None, AnyArray, FloatArray | None]:
    """All rows with their classes and weights, in the order of the parts; no table if there are more than `limit`."""
    if source.n_rows > limit:
        return None, np.zeros(0), None
    blocks, targets, weights = zip(*source.survey(RowsOf()).values(), strict=True)
    codes = np.ascontiguousarray(np.concatenate(blocks, axis=1))
    weight = np.concatenate(weights) if source.weighted else None
    return BinnedTable(source.binning, codes, codes.shape[1]), np.concatenate(targets), weight
