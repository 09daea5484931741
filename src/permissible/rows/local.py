"""Parts of this process, in memory or on disk: asked one at a time, and their answers merged."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic

import numpy as np

from permissible.bins.binning import BinnedTable, Binning
from permissible.rows.part import MemoryPart, Part
from permissible.rows.selection import Selection
from permissible.rows.source import Answer, Journal, NoJournal, Opening, OpenRows, Outcome, Question, Rows, Source
from permissible.types import AnyArray

MERGE_COUNT, MERGE_BYTES = 16, 1 << 20
"""Answers are merged when there are this many, or this many bytes."""


class Answers(Generic[Answer]):
    """Answers to one question, merged regularly so that few are in memory."""

    def __init__(self, question: Question[Any, Answer]) -> None:
        self._question = question
        self.waiting: list[Answer] = []
        self._bytes = 0

    def add(self, answer: Answer) -> None:
        """Add an answer."""
        self.waiting.append(answer)
        self._bytes += _size(answer)
        if len(self.waiting) == MERGE_COUNT or (len(self.waiting) > 1 and self._bytes > MERGE_BYTES):
            self.waiting = [self._question.merge(self.waiting)]
            self._bytes = _size(self.waiting)


def _size(answer: object) -> int:
    """Bytes of the arrays of an answer."""
    if isinstance(answer, (list, tuple)):
        return sum(map(_size, answer))
    return int(getattr(answer, "nbytes", 0))


def _asked(question: Question[Rows, Answer], parts: Sequence[Part], rows_of: Callable[[int], Rows | None]) -> Answer:
    """Ask the rows of one part after the other."""
    answers = Answers(question)
    for position, part in enumerate(parts):
        rows = rows_of(position)
        if rows is not None:
            answers.add(question.answer(rows))
        part.release()
    return question.merge(answers.waiting)


class LocalRows(Generic[Rows]):
    """The rows of one fit in this process; each part builds its rows when it is first asked."""

    def __init__(self, parts: Sequence[Part], opening: Opening[Rows]) -> None:
        self._parts, self._opening = parts, opening
        self._built: dict[int, Rows | None] = {}

    @property
    def only(self) -> Rows | None:
        """The rows themselves, if there is one part."""
        return self._rows(0) if len(self._parts) == 1 else None

    @property
    def here(self) -> list[Rows]:
        """The rows of all parts."""
        return [rows for k in range(len(self._parts)) if (rows := self._rows(k)) is not None]

    def ask(self, question: Question[Rows, Answer]) -> Answer:
        """The answer of all parts together."""
        return _asked(question, self._parts, self._rows)

    def ask_beside(
        self, question: Question[Rows, Any], others: Sequence[tuple[OpenRows[Any], Question[Any, Any]]]
    ) -> list[Any]:
        """The answers, one after the other."""
        return [self.ask(question), *(rows.ask(asked) for rows, asked in others)]

    def close(self) -> None:
        """Drop the rows."""
        self._built.clear()

    def _rows(self, position: int) -> Rows | None:
        if position not in self._built:
            self._built[position] = self._opening.build(self._parts[position])
        return self._built[position]


@dataclass(frozen=True, slots=True, eq=False)
class LocalSource:
    """A table in parts of this process."""

    parts: tuple[Part, ...]
    binning: Binning
    classes: AnyArray
    n_rows: int
    weighted: bool
    journal: Journal = field(default_factory=NoJournal)

    def open(self, opening: Opening[Rows]) -> LocalRows[Rows]:
        """The rows of one fit."""
        return LocalRows(self.parts, opening)

    def survey(self, question: Question[Part, Answer]) -> Answer:
        """Ask about the parts themselves."""
        return _asked(question, self.parts, self.parts.__getitem__)

    def selected(self, selection: Selection) -> "LocalSource":
        """The selected rows of every part, copied into memory."""
        parts = tuple(_selected(part, selection) for part in self.parts)
        return replace(self, parts=parts, n_rows=sum(len(part.classes) for part in parts))

    def with_journal(self, journal: Journal) -> Source:
        """The same rows, for a fit that keeps a journal."""
        return replace(self, journal=journal)

    def each(self, fits: Mapping[str, Callable[[Source], Outcome]]) -> list[Outcome]:
        """Run several fits, one after the other."""
        if len(fits) == 1:
            return [fit(self) for fit in fits.values()]
        return [fit(self.with_journal(self.journal.section(name))) for name, fit in fits.items()]

    def turn(self) -> None:
        """Nothing: one fit ends before the next begins."""


def _selected(part: Part, selection: Selection) -> MemoryPart:
    binned, target, weight = part.binned(), part.target(), part.weight()
    chosen = selection.rows(part)
    rows = slice(None) if chosen is None else chosen
    blocks = np.ascontiguousarray(binned.blocks[:, rows])
    codes = BinnedTable(binned.binning, blocks, blocks.shape[1])
    weight = None if weight is None else weight[rows]
    return MemoryPart(codes, target[rows], weight, lambda: part.hashes()[rows], number=part.number)
