"""A fingerprint of rows: their number, and a sum of hashes of their values, labels and weights.

Fingerprints of parts add, and depend neither on the order of rows nor on that of parts. They detect rows that changed
between two passes or since a checkpoint. They do not protect against forgery.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from permissible.bins.hashing import Hashes, category_hash, finalised
from permissible.rows.part import Part
from permissible.rows.source import Question
from permissible.types import AnyArray, FloatArray

CHUNK_ROWS = 4096
"""Rows that are mixed at once: arrays this small stay in the cache, and take no new pages."""


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


def content_of(hashes: Hashes, classes: AnyArray, labels: Hashes, weight: FloatArray | None) -> Content:
    """The content of rows, from the hash of the values, the class and the weight of each row; `labels` by class."""
    total = 0
    for rows in (slice(first, first + CHUNK_ROWS) for first in range(0, len(hashes), CHUNK_ROWS)):
        weights = np.ones(1) if weight is None else np.asarray(weight[rows], dtype=np.float64) + 0.0
        mixed = finalised(finalised(finalised(hashes[rows]) + labels.take(classes[rows])) + weights.view(np.uint64))
        total += int(mixed.sum(dtype=np.uint64))
    return Content(len(hashes), total % 2**64)


@dataclass(frozen=True, slots=True, eq=False)
class ContentOf(Question[Part, Content]):
    """The content of all rows; `labels` are the hashes of the classes."""

    labels: Hashes

    def answer(self, rows: Part) -> Content:
        """The content of one part."""
        return content_of(rows.hashes(), rows.target(), self.labels, rows.weight())


def _plain(label: Any) -> Any:
    if isinstance(label, str):
        return label
    if isinstance(label, bytes):
        return label.decode("utf-8", "backslashreplace")
    return float(label) if abs(label) <= 2**53 else int(label)
