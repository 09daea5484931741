"""A fingerprint of rows: their number, and a sum of hashes of their values, labels and weights.

Fingerprints of parts add, and depend neither on the order of rows nor on that of parts. They detect rows that changed
between two passes or since a checkpoint. They do not protect against forgery.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from permissible.bins.hashing import Hashes, category_hash
from permissible.rows.part import Part
from permissible.rows.source import Question
from permissible.types import AnyArray, FloatArray


@dataclass(frozen=True, slots=True)
class Content:
    """The number of rows, and the sum of their hashes modulo 2^64."""

    n_rows: int = 0
    total: int = 0

    def __add__(self, other: "Content") -> "Content":
        """The content of both."""
        return Content(self.n_rows + other.n_rows, (self.total + other.total) % 2**64)


def label_hashes(labels: AnyArray) -> Hashes:
    """A hash of each label; numbers are hashed by value, independent of dtype."""
    return np.array([category_hash(_plain(label)) for label in labels.tolist()], dtype=np.uint64)


def content_of(hashes: Hashes, labels: Hashes, weight: FloatArray | None) -> Content:
    """The content of rows, from the hash of the values, the hash of the label, and the weight of each row."""
    weights = np.full(len(hashes), 1.0) if weight is None else np.asarray(weight, dtype=np.float64) + 0.0
    mixed = _mixed(_mixed(_mixed(hashes) + labels) + np.ascontiguousarray(weights).view(np.uint64))
    return Content(len(hashes), int(mixed.sum(dtype=np.uint64)))


@dataclass(frozen=True, slots=True, eq=False)
class ContentOf(Question[Part, Content]):
    """The content of all rows; `labels` are the hashes of the classes."""

    labels: Hashes

    def answer(self, rows: Part) -> Content:
        """The content of one part."""
        return content_of(rows.hashes(), self.labels[rows.target()], rows.weight())


def _plain(label: Any) -> Any:
    if isinstance(label, str):
        return label
    if isinstance(label, bytes):
        return label.decode("utf-8", "backslashreplace")
    return float(label) if abs(label) <= 2**53 else int(label)


def _mixed(h: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """The finaliser of splitmix64 (Steele, Lea, Flood 2014)."""
    h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(h ^ (h >> np.uint64(31)))
