"""The columns by which folds distinguish rows.

A constant column and a copy of another column say nothing about a row, so they are left out. The other columns count
by their content, that is by their bins, and not by their place or name; names are added only for columns that have the
same bins and different values (a dozen yes-or-no questions). A fold then stays as it is when a constant, duplicated or
permuted column is added, and a row's codes are all that a learner of bins sees of it.

Keys travel with a selection, so every worker finds the same rows.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from permissible.bins.binning import ColumnBins
from permissible.bins.hashing import Keys
from permissible.rows.part import Part
from permissible.rows.source import ByPart, Source
from permissible.table.schema import Column


def keys_of(source: Source, seed: int = 0) -> Keys:
    """The keys of the rows of a source."""
    return Keys(tuple((j, int.from_bytes(digest, "little")) for j, digest in distinct_columns(source).items()), seed)


def column_numbers(source: Source) -> tuple[int, ...]:
    """A number of each column that does not depend on its place; 0 for a constant column and for a copy of another one."""
    distinct = distinct_columns(source)
    return tuple(int.from_bytes(distinct.get(j, b""), "little") for j in range(len(source.binning.columns)))


def distinct_columns(source: Source) -> dict[int, bytes]:
    """The columns that are neither constant nor a copy of an earlier column, each with a digest of its own."""
    binning = source.binning
    pairs = list(zip(binning.schema.columns, binning.columns, strict=True))
    content = {j: _content(*pair) for j, pair in enumerate(pairs) if not _constant(*pair)}
    alike = Counter(content.values())
    tied = tuple(j for j, digest in content.items() if alike[digest] > 1)
    values = source.survey(ColumnDigests(tied)) if tied else {}
    seen: dict[tuple[bytes, ...], int] = {}
    for j in tied:
        seen.setdefault((content[j], *(part[j] for part in values.values())), j)
    kept = set(seen.values())
    different = Counter(content[j] for j in kept)
    found = {}
    for j, digest in content.items():
        if alike[digest] > 1 and j not in kept:
            continue
        named = f"{pairs[j][0].name}".encode() if different[digest] > 1 else b""
        found[j] = hashlib.blake2b(digest + named, digest_size=8).digest()
    return found


@dataclass(frozen=True, slots=True)
class ColumnDigests(ByPart[Part, Mapping[int, bytes]]):
    """A digest of the codes of some columns in each part, by the number of the part: copies have equal ones."""

    columns: tuple[int, ...]

    def answer(self, rows: Part) -> dict[int, Mapping[int, bytes]]:
        """The answer of one part."""
        codes = rows.binned()
        digests: Mapping[int, bytes] = {
            j: hashlib.blake2b(codes.column_codes(j).tobytes(), digest_size=16).digest() for j in self.columns
        }
        return {rows.number: digests}


def _constant(column: Column, bins: ColumnBins) -> bool:
    """Whether all rows have the same code."""
    if column.kind == "categorical":
        return len(np.unique(bins.code_of_category)) + bins.has_missing <= 1
    return bins.n_bins + bins.has_missing <= 1


def _content(column: Column, bins: ColumnBins) -> bytes:
    """What the codes of a column mean, apart from its name."""
    values = repr(column.categories).encode() + bins.code_of_category.tobytes() + bins.thresholds.tobytes()
    return hashlib.blake2b(column.kind.encode() + values + bytes([bool(bins.has_missing)]), digest_size=16).digest()
