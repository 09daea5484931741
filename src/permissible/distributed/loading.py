"""The two passes over data in parts, part by part: `FirstPass` looks, `encoded` bins. They run wherever the parts are read.

First passes of parts merge in any order to that of the whole, so files, chunks and partitions of a cluster share this code.
"""

from dataclasses import dataclass, field

import numpy as np

from permissible.bins.binning import Binning
from permissible.bins.encoding import encode
from permissible.bins.sampling import row_hashes
from permissible.distributed.batches import Part
from permissible.distributed.parts import MemoryPart, numbers_of
from permissible.distributed.survey import Survey
from permissible.table.table import Table
from permissible.types import AnyArray, FloatArray
from permissible.validation import Words, refusal

MOST_CLASSES = 65_535


@dataclass(slots=True)
class FirstPass:
    """What the rows look like, and which labels there are."""

    survey: Survey
    labels: list[AnyArray] = field(default_factory=list)
    named: bool = True

    def add(self, part: Part) -> None:
        """Look at one part."""
        self.named = self.named and part.table.schema.named
        self.survey.add(part.table, part.weight)
        counted = part.labels if part.weight is None else part.labels[part.weight > 0]
        if len(counted):
            self._join(distinct_labels(counted))

    def merge(self, other: "FirstPass") -> None:
        """Take in what another pass has seen."""
        self.named = self.named and other.named
        self.survey.merge(other.survey)
        for labels in other.labels:
            self._join(labels)

    def _join(self, labels: AnyArray) -> None:
        self.labels = [labels if not self.labels else np.unique(np.concatenate([*self.labels, labels]))]

    def classes(self) -> AnyArray:
        """The labels, sorted; at least two."""
        if not self.labels or self.survey.n_rows == 0:
            raise refusal("batches", "at least one row of positive weight", Words("none"))
        (labels,) = self.labels
        if len(labels) < 2:
            raise refusal("y", "labels of at least two classes", Words(f"one class only, {labels.tolist()[0]!r}"))
        if len(labels) > MOST_CLASSES:
            raise refusal("target", f"a column of at most {MOST_CLASSES:,} classes", Words(f"{len(labels)} of them"))
        return labels

    def binning(self) -> Binning:
        """The bins of the whole table."""
        return self.survey.binning(self.named)

    @property
    def weighted(self) -> bool:
        """Whether some row weighs other than 1."""
        return bool(self.survey.weights - {1.0})


def refuse_categories(binning: Binning) -> None:
    """A boundary takes numbers alone."""
    for column in binning.schema.columns:
        if column.kind == "categorical":
            remedy = "leave it out, or fit rules or a tree, which take categories"
            raise refusal(
                "X", "columns of numbers for a linear classifier", Words(f"categories in {column.name!r}"), remedy
            )


def distinct_labels(values: AnyArray) -> AnyArray:
    """The different labels, sorted; a missing one is refused."""
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise refusal("y", "a class label in every row", Words("NaN: Input y contains NaN"), "drop those rows")
    if values.dtype.kind == "O" and any(value is None or value != value for value in values):
        raise refusal("y", "a class label in every row", Words("a missing one"), "drop those rows")
    return np.unique(values)


def encoded(
    part: Part, binning: Binning, classes: AnyArray, weighted: bool, seed: int, valued: bool = False
) -> MemoryPart:
    """Pass 2 over one part: codes, classes, weights and hashes (and values) of the rows of positive weight."""
    table, labels, weight = part.table, part.labels, part.weight
    if weight is not None and not weight.all():
        table, labels, weight = _counted(table, labels, weight)
    return MemoryPart(
        encode(binning, table), np.searchsorted(classes, labels).astype(np.uint16), weight if weighted else None,
        row_hashes(table, seed), numbers_of(table) if valued else None,
    )  # fmt: skip


def _counted(table: Table, labels: AnyArray, weight: FloatArray) -> tuple[Table, AnyArray, FloatArray]:
    """Only the rows of positive weight."""
    counts = weight > 0
    columns = tuple(column[counts] for column in table.columns)
    return Table(table.schema, columns, int(counts.sum())), labels[counts], weight[counts]
