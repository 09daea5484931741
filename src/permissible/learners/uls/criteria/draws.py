"""The keys of the columns, by which the search of shrunk rules draws (cpp/rules/search/draws.hpp).

A draw is a hash of the round, of the literals of the rule so far, of the key of the column and of its cut. The key is a
hash of the weight of each class in each bin, counted once over all rows of a fit. So it is the same in every round, fold and
continuation, in memory, on disk and on workers, for every loss, and wherever a column stands. Columns that share a key
and differ in their rows are told apart by their names. Weight 2
counts as the row twice, the unit of the weights does not matter, and both classes count alike, so that mirrored labels
mirror the model.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from permissible.bins.hashing import GOLDEN, Hashes, category_hash, finalised
from permissible.bins.layout import layout_of
from permissible.kernels._core import boosting as kernels
from permissible.losses.surrogate import Surrogate
from permissible.rows.keys import distinct_columns
from permissible.rows.part import Part
from permissible.rows.source import Question, Source
from permissible.rows.totals import TotalsOf
from permissible.types import AnyArray, FloatArray, IntArray

SHARES = 4096 * (1 + math.sqrt(5)) / 2
"""The weight of a bin enters the key as the nearest multiple of the total over this: no ratio of small integers is halfway."""
LIMBS, FINEST = 3, 2.0**20
"""Integers by which a weight that does not count rows is summed, and the most that one of them may be."""
AT_ONCE = 256
"""Columns whose keys are computed together."""


@dataclass(frozen=True, slots=True)
class BinWeights(Question[Part, IntArray]):
    """The weight of the rows in each bin, int64 (limbs, columns, 2, 256): of the label minus the others, and of all rows.

    Weights that do not count rows are fractions of the largest one, in limbs: each is 1/grid of the one before.
    """

    label: int
    largest: float
    integers: bool
    grid: float

    def answer(self, rows: Part) -> IntArray:
        """The weights of the bins over the rows of one part."""
        binned, weight = rows.binned(), rows.weight()
        sign = np.where(rows.target() == self.label, np.float32(1.0), np.float32(-1.0))
        copies = weight.astype(np.float32) if weight is not None and self.integers else None
        left = np.ones(len(sign)) if weight is None or self.integers else weight / self.largest
        limbs = list[IntArray]()
        for _ in range(1 if weight is None or self.integers else LIMBS):
            limb = np.floor(left * self.grid)
            left = left * self.grid - limb
            share = (limb / self.grid).astype(np.float32)
            grids = self.grid, self.grid
            limbs.append(kernels.histogram(binned.blocks, binned.n_columns, sign * share, share, copies, None, *grids))
        return np.stack(limbs) if len(limbs) > 1 else limbs[0][None]


def search_layout(source: Source, label: int, drawn: bool, copies: bool = False) -> npt.NDArray[np.int32]:
    """The layout of the columns in a search; a constant or a copy of another column has no literals unless `copies`.

    Where literals are `drawn`, the two halves of the keys follow, so that the shape is (columns, 5) instead of (columns, 3).
    """
    layout, distinct = layout_of(source.binning).by_column, distinct_columns(source)
    if not copies:
        layout[[j for j in range(len(layout)) if j not in distinct]] = 0
    if not drawn:
        return layout
    totals = source.survey(TotalsOf())
    integers = totals.integers and totals.largest <= kernels.MULTIPLICITY_LIMIT
    units = totals.weight if integers else float(totals.n_rows)
    grid = min(kernels.histogram_grids(1.0, 1.0, units, True)[0], FINEST)
    keys = column_keys(source.survey(BinWeights(label, totals.largest, integers, grid)), grid)
    alike = Counter(int(keys[j]) for j in distinct)
    for j in (j for j in distinct if alike[int(keys[j])] > 1):
        keys[j] ^= np.uint64(category_hash(source.binning.schema.columns[j].name))
    return np.ascontiguousarray(np.column_stack((layout, keys.view(np.int32).reshape(-1, 2))))


def column_keys(limbs: IntArray, grid: float) -> Hashes:
    """The key of each column; `limbs` as in `BinWeights`."""
    keys = list[Hashes]()
    for first in range(0, limbs.shape[1], AT_ONCE):
        weights: FloatArray = sum(
            (limb[first : first + AT_ONCE] / grid**k for k, limb in enumerate(limbs)), np.zeros(1)
        )
        shares = weights * (SHARES / np.maximum(weights[:, 1].sum(axis=1), 1e-300))[:, None, None]
        signed, whole = (np.rint(np.abs(shares[:, k])).astype(np.uint64) for k in (0, 1))
        cells = mixed(mixed(mixed(np.arange(256)) ^ whole) ^ signed)
        keys.append(mixed(cells.sum(axis=1, dtype=np.uint64)))
    return np.concatenate([np.zeros(0, dtype=np.uint64), *keys])


def noise_of(surrogate: Surrogate, variance: float) -> float:
    """A variance in units of G^2 / K without a signal, which is w^2 / curvature at margin 0, in those of a surrogate."""
    _, weight, curvature, *_ = surrogate.at(np.zeros(1))[0].tolist()
    return variance * weight * weight / curvature if variance and curvature > 0.0 else 0.0


def number_of_set(codes: Sequence[int]) -> int:
    """The number of a set of categories in a draw; a set and its complement have the smaller of theirs."""
    return int(mixed(np.array(codes, dtype=np.uint64)).sum(dtype=np.uint64))


def mixed(numbers: AnyArray) -> Hashes:
    """splitmix64, as in cpp/common/mixing.hpp."""
    return finalised(numbers.astype(np.uint64) + np.uint64(GOLDEN))
