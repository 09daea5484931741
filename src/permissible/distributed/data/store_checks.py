"""Checks of a data set on disk before a kernel reads it: any files give valid arrays or a one-sentence error.

Folders are not trusted. Kernels count codes in tables of the size given by the description, so a code beyond its bins
would write outside of them.
"""

import math
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from permissible.bins.binning import BLOCK_COLUMNS, Binning, ColumnBins
from permissible.bins.literal import MISSING, OTHER
from permissible.models.files.json_node import Node
from permissible.table.schema import Category, Column, Schema
from permissible.types import AnyArray, Codes, FloatArray, IntArray
from permissible.validation import Words, refusal, shown, summable

MOST_CLASSES = 65_535


def refused(expected: str, got: str) -> ValueError:
    """The error for files that do not match their description."""
    return refusal("directory", f"a data set with {expected}", Words(got), "make it anew")


# -- the description -------------------------------------------------------------------------------------------


def check_schema(schema: Schema) -> None:
    """At least one column; column names are distinct, and so are the categories of a column."""
    if not schema.columns or len(set(schema.names)) < len(schema.columns):
        raise refused("columns of distinct names", shown(list(schema.names)))
    for column in schema.columns:
        if len({(type(c), c) for c in column.categories}) < len(column.categories):
            raise refused("distinct categories in a column", f"one of them twice in {column.name!r}")


def read_bins(node: Node, column: Column) -> ColumnBins:
    """The bins of a column are consistent with its kind."""
    fields = node.fields("n_bins", "has_missing", "thresholds", "code_of_category")
    n_bins, thresholds = fields["n_bins"].integer(0, MISSING + 1), fields["thresholds"].floats(finite=True)
    codes = fields["code_of_category"].integers(len(column.categories), 0, MISSING)
    if column.kind == "categorical":
        own = np.sort(codes[codes != OTHER])
        if len(thresholds) or n_bins > OTHER or own.tolist() != list(range(n_bins)):
            raise node.refused("one code for each of the first n_bins categories, and no threshold")
    elif n_bins != len(thresholds) + 1 or np.any(thresholds[1:] <= thresholds[:-1]):
        raise node.refused("n_bins - 1 increasing thresholds")
    return ColumnBins(n_bins, fields["has_missing"].boolean(), thresholds, codes.astype(np.uint8))


def read_classes(labels: Sequence[Category]) -> AnyArray:
    """At least two classes, of one type, sorted."""
    if not 2 <= len(labels) <= MOST_CLASSES:
        raise refused(f"2 to {MOST_CLASSES:,} classes", f"{len(labels)} of them")
    kinds = {type(label) for label in labels}
    if len(kinds) > 1 or any(isinstance(label, float) and not math.isfinite(label) for label in labels):
        raise refused("class labels of one type", shown(list(labels)))
    if any(not a < b for a, b in pairwise(labels)):  # type: ignore[operator]
        raise refused("classes in increasing order", shown(list(labels)))
    return np.array(labels)


def check_sizes(folder: Path, row_bytes: dict[str, int], n_rows: int) -> None:
    """Every file exists and has the size given by the description."""
    for name, size in row_bytes.items():
        path = folder / name
        found = path.stat().st_size if path.is_file() else -1
        if found != size * n_rows:
            raise refusal(
                "directory",
                f"a complete data set ({name} of {size * n_rows} bytes)",
                Words(f"{found} bytes" if found >= 0 else "none"),
                "make it anew",
            )


# -- the blocks ------------------------------------------------------------------------------------------------


def check_codes(codes: Codes, binning: Binning) -> None:
    """Every code is a bin of its column, the rare categories, or a missing value if the column may have one."""
    for number, block in enumerate(codes):
        largest = [_lane_maxima(block, shift) for shift in (0, 1, 2)]
        for lane in range(BLOCK_COLUMNS):
            position = number * BLOCK_COLUMNS + lane
            if not _fits(binning, position, *(int(of[lane]) for of in largest)):
                name = binning.schema.columns[position].name if position < len(binning.columns) else "the padding"
                raise refused("codes within the bins of their columns", f"a code beyond those of {name!r}")


def _fits(binning: Binning, position: int, plain: int, one_up: int, two_up: int) -> bool:
    """Whether the largest codes of a column are within its bins. MISSING + 1 and OTHER + 2 wrap around to 0."""
    if position >= len(binning.columns):
        return plain == 0
    bins = binning.columns[position]
    if binning.schema.columns[position].kind == "categorical":
        return two_up <= bins.n_bins + 1 and (bins.has_missing or plain < MISSING)
    return one_up <= bins.n_bins and (bins.has_missing or plain < MISSING)


def _lane_maxima(block: Codes, shift: int) -> IntArray:
    """The largest code + shift (mod 256) of each of the 8 columns; 8 rows at a time, for speed."""
    flat = np.ravel(block) + np.uint8(shift)
    whole = len(flat) // 64 * 64
    found = [part.reshape(-1, BLOCK_COLUMNS).max(axis=0) for part in (flat[whole:],) if len(part)]
    if whole:
        found.append(flat[:whole].reshape(-1, 64).max(axis=0).reshape(-1, BLOCK_COLUMNS).max(axis=0))
    return np.asarray(np.max(found, axis=0), dtype=np.int64)


def check_target(target: AnyArray, n_classes: int) -> None:
    """Every class exists."""
    if len(target) and int(target.max()) >= n_classes:
        raise refused(f"classes below {n_classes} in its target", f"class {int(target.max())}")


def check_weight(weight: FloatArray) -> None:
    """Weights are finite and positive: rows of weight 0 are not stored."""
    odd = ~(np.isfinite(weight) & (weight > 0))
    if odd.any():
        raise refused("finite weights above 0", f"{weight[np.argmax(odd)]}")


def check_totals(counts: IntArray, weights: FloatArray, classes: AnyArray) -> None:
    """Every class has a row, and the sum of all weights is finite."""
    if not counts.all():
        raise refused("a row of every class", f"none of class {classes.tolist()[int(np.argmin(counts))]!r}")
    summable("weight", weights)


def check_values(values: FloatArray, schema: Schema) -> None:
    """Numbers are finite or missing; categories are integers below their count, or -1 if missing."""
    for column, held in zip(schema.columns, values.T, strict=True):
        if column.kind == "categorical":
            odd = (held != np.rint(held)) | ~(held >= -1) | ~(held < len(column.categories))
        else:
            odd = np.isinf(held)
        if odd.any():
            raise refused("values that their columns can hold", f"{held[np.argmax(odd)]} in {column.name!r}")
