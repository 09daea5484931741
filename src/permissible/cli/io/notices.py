"""Warnings about rows read in chunks: each once, after the last row; unseen categories and numbers out of range by rows."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np

from permissible.models.model import counted
from permissible.table.match import UnseenCategoryWarning, told_once
from permissible.table.reading import read
from permissible.table.schema import Schema
from permissible.table.table import UNSEEN_CATEGORY
from permissible.types import AnyArray
from permissible.validation import shown


class OutOfRangeWarning(UserWarning):
    """A number beyond those of the training rows: the model extrapolates."""


class Notices:
    """The warnings about the rows of a file."""

    def __init__(self, schema: Schema, ranges: Mapping[str, Sequence[float]] | None = None) -> None:
        self._grouped = Schema(tuple(column for column in schema.columns if column.kind == "categorical"))
        self._ranges = ranges or {}
        self._unseen: dict[str, tuple[int, object]] = {}
        self._outside: dict[str, tuple[int, object]] = {}
        self._messages: dict[str, type[Warning]] = {}

    @contextmanager
    def chunk(self, asked: dict[str, AnyArray]) -> Iterator[None]:
        """Inside this context warnings are collected and unseen categories are counted."""
        self._count(asked)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
        for warning in caught:
            if not issubclass(warning.category, UnseenCategoryWarning):
                self._messages.setdefault(str(warning.message), warning.category)

    def _count(self, asked: dict[str, AnyArray]) -> None:
        for name, (low, high) in self._ranges.items():
            if name in asked and asked[name].dtype.kind == "f":
                beyond = np.flatnonzero((asked[name] < low) | (asked[name] > high))
                if len(beyond):
                    count, example = self._outside.get(name, (0, asked[name][beyond[0]]))
                    self._outside[name] = count + len(beyond), example
        names = self._grouped.names
        if not names:
            return
        with told_once(set(names)):
            table = read({name: asked[name] for name in names}, self._grouped)
        for name, codes in zip(names, table.columns, strict=True):
            strange = np.flatnonzero(codes == UNSEEN_CATEGORY)
            if len(strange):
                count, example = self._unseen.get(name, (0, asked[name][strange[0]]))
                self._unseen[name] = count + len(strange), example

    def tell(self) -> None:
        """Give the warnings, one for each message and one for each column with unseen categories."""
        for name, (count, example) in self._unseen.items():
            warnings.warn(
                f"column {name!r} has a category that no row of fit had in {counted(count, 'row')}, the first of "
                f"them {shown(example)}; it counts as different from every known category.",
                UnseenCategoryWarning,
                stacklevel=2,
            )
        for name, (count, example) in self._outside.items():
            low, high = self._ranges[name]
            warnings.warn(
                f"column {name!r} is outside the range of fit, {low:g} to {high:g}, in {counted(count, 'row')}, the first of "
                f"them {example:g}.",
                OutOfRangeWarning,
                stacklevel=2,
            )
        for message, category in self._messages.items():
            warnings.warn(message, category, stacklevel=2)
