"""The two passes over data in parts: `FirstPass` surveys, `SecondPass` bins.

First passes of parts merge in any order, so files, chunks and partitions of a cluster share this code. Both passes must
read the same rows, which `check_same` verifies.
"""

from dataclasses import dataclass, field

import numpy as np

from permissible.bins.binning import Binning
from permissible.bins.encoding import encode
from permissible.bins.hashing import Hashes, row_hashes
from permissible.distributed.data.batches import LabelledTable
from permissible.distributed.data.content import Content, content_of, label_hashes
from permissible.distributed.data.store_checks import MOST_CLASSES
from permissible.distributed.data.survey import Survey
from permissible.rows.part import MemoryPart, numbers_of
from permissible.table.labels import joint_labels
from permissible.table.table import Table
from permissible.types import AnyArray
from permissible.validation import Words, refusal, summable

FEW_CLASSES, PROBED_ROWS = 4, 4096


@dataclass(slots=True)
class FirstPass:
    """The survey of the rows, the labels, and the content of each partition by number."""

    survey: Survey
    labels: list[AnyArray] = field(default_factory=list)
    named: bool = True
    contents: dict[int, Content] = field(default_factory=dict)

    def add(self, part: LabelledTable, number: int = 0, sampled: bool = True) -> Hashes:
        """Survey one part of a partition, and return the content hashes of its rows of positive weight."""
        part = counted(part)
        self.named = self.named and part.table.schema.named
        hashes = self.survey.add(part.table, part.weight, sampled)
        if len(part.labels):
            labels = _distinct(part.labels)
            self._join(labels)
            places = _places(labels, part.labels)
            self._count(number, content_of(hashes, places, label_hashes(labels), part.weight))
        return hashes

    def merge(self, other: "FirstPass") -> None:
        """Merge another first pass."""
        self.named = self.named and other.named
        self.survey.merge(other.survey)
        for labels in other.labels:
            self._join(labels)
        for number, content in other.contents.items():
            self._count(number, content)

    def _join(self, labels: AnyArray) -> None:
        self.labels = [joint_labels(self.labels[0], labels) if self.labels else labels]

    def _count(self, number: int, content: Content) -> None:
        self.contents[number] = self.contents.get(number, Content()) + content

    def classes(self) -> AnyArray:
        """Return the sorted labels, of which there must be at least two."""
        if not self.labels or self.survey.n_rows == 0:
            raise refusal("batches", "at least one row of positive weight", Words("none"))
        summable("weight", np.array([self.survey.total_weight]))
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
        """Whether some row has a weight other than 1."""
        return bool(self.survey.weights - {1.0})


def refuse_categories(binning: Binning) -> None:
    """Labels of a boundary classifier must be numbers."""
    for column in binning.schema.columns:
        if column.kind == "categorical":
            remedy = "leave it out, or fit rules or a tree, which take categories"
            raise refusal(
                "X", "columns of numbers for a linear classifier", Words(f"categories in {column.name!r}"), remedy
            )


@dataclass(frozen=True, slots=True)
class SecondPass:
    """What pass 2 needs to know: bins, classes, whether rows are weighted, the seed, and whether values are kept."""

    binning: Binning
    classes: AnyArray
    weighted: bool
    seed: int
    valued: bool = False

    def encode(self, part: LabelledTable, hashes: Hashes | None = None) -> MemoryPart:
        """Codes, classes, weights, hashes and optional values of the rows of positive weight of one part.

        `hashes` are the content hashes, where they are known from the first pass.
        """
        part = counted(part)
        if not self.weighted and part.weight is not None and np.any(part.weight != 1.0):
            raise changed("other weights in the second")
        return MemoryPart(
            encode(self.binning, part.table),
            _codes_among(self.classes, part.labels),
            part.weight if self.weighted else None,
            row_hashes(part.table, self.seed) if hashes is None else hashes,
            numbers_of(part.table) if self.valued else None,
        )


def check_same(first: Content, second: Content) -> None:
    """Raise an error if the rows changed between the passes, since bins and classes would no longer fit."""
    if first.n_rows != second.n_rows:
        raise changed(f"{first.n_rows} rows in the first and {second.n_rows} in the second")
    if first != second:
        raise changed("other values, labels or weights in the second")


def content_of_rows(rows: MemoryPart, classes: AnyArray) -> Content:
    """The content of encoded rows."""
    return content_of(rows.hashes(), rows.classes, label_hashes(classes), rows.weights)


def changed(how: str) -> ValueError:
    """The error for a source whose second pass gives different rows."""
    remedy = "pass data that do not change while they are read, for instance a copy of the files"
    return refusal("batches", "the same rows in both passes over them", Words(how), remedy)


def _distinct(labels: AnyArray) -> AnyArray:
    """The distinct labels, sorted; mostly the first rows have all of them."""
    found = np.unique(labels[:PROBED_ROWS])
    whole = len(found) <= FEW_CLASSES and sum(np.count_nonzero(labels == one) for one in found) == len(labels)
    return found if whole else np.unique(labels)


def _places(classes: AnyArray, labels: AnyArray) -> AnyArray:
    """The place of each label among the sorted classes; comparing with each of a few is faster than a search."""
    if len(classes) > FEW_CLASSES:
        return np.searchsorted(classes[1:], labels, side="right")
    return sum((labels >= known for known in classes[1:]), np.zeros(len(labels), dtype=np.uint8))


def _codes_among(classes: AnyArray, labels: AnyArray) -> AnyArray:
    """The class of each row; a label that was not in the first pass is an error."""
    try:
        codes = _places(classes, labels)
        known = classes.take(codes) == labels
    except TypeError:  # labels of another type
        codes, known = np.zeros(0), np.zeros(1, dtype=bool)
    if not np.all(known):
        raise changed("a label in the second that the first did not have")
    return codes.astype(np.uint16)


def counted(part: LabelledTable) -> LabelledTable:
    """Drop the rows of weight 0. The list of categories stays whole."""
    if part.weight is None or part.weight.all():
        return part
    counts = part.weight > 0
    table = Table(part.table.schema, tuple(c[counts] for c in part.table.columns), int(counts.sum()))
    return LabelledTable(table, part.labels[counts], part.weight[counts])
