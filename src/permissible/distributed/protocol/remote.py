"""Rows held by workers: each question becomes a request; changes are kept so that a restarted worker can catch up."""

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar, Generic

from permissible.bins.binning import Binning
from permissible.distributed.protocol.lockstep import run_in_lockstep
from permissible.distributed.protocol.session import NO_SESSION, TURN, Batch, Behind, NoRows, Request, Transport
from permissible.rows.part import Part
from permissible.rows.source import Answer, Journal, NoJournal, Opening, OpenRows, Outcome, Question, Rows, Source
from permissible.types import AnyArray


class RemoteRows(Generic[Rows]):
    """The rows of one fit, on the workers."""

    only = None
    here: ClassVar[tuple[()]] = ()

    def __init__(self, transport: Transport, opening: Opening[Rows]) -> None:
        self._transport, self._opening = transport, opening
        self._session = uuid.uuid4().hex  # names a session, does not influence the model
        self._changes: list[Question[Any, Any]] = []

    def ask(self, question: Question[Rows, Answer]) -> Answer:
        """Ask every worker and merge the answers; workers that are behind are sent the changes they lack."""
        request = self._request(question)
        return self._merged(request, question, list(self._transport.send(request)))

    def ask_beside(
        self, question: Question[Rows, Any], others: Sequence[tuple[OpenRows[Any], Question[Any, Any]]]
    ) -> list[Any]:
        """The answers for these rows and for other ones of the same workers, asked in one message."""
        if not others:
            return [self.ask(question)]
        asked: list[tuple[RemoteRows[Any], Question[Any, Any]]] = [(self, question)]
        for rows, other in others:
            assert isinstance(rows, RemoteRows)
            asked.append((rows, other))
        requests = tuple(rows._request(each) for rows, each in asked)
        replies = list(self._transport.send(Batch(requests)))
        return [
            rows._merged(requests[place], each, [reply[place] for reply in replies])
            for place, (rows, each) in enumerate(asked)
        ]

    def _request(self, question: Question[Any, Any]) -> Request:
        return Request(self._session, self._opening, len(self._changes), question)

    def _merged(self, request: Request, question: Question[Rows, Answer], answers: list[Any]) -> Answer:
        """One answer from those of the workers."""
        behind = [answer.version for answer in answers if isinstance(answer, Behind)]
        if behind:
            # Ask all again: a part that has already made the change answers from memory.
            answers = list(self._transport.send(replace(request, replay=tuple(self._changes[min(behind) :]))))
        if question.changes:
            self._changes.append(question)
        return question.merge([answer for answer in answers if not isinstance(answer, NoRows)])

    def close(self) -> None:
        """Close the session on the workers."""
        self._transport.send(Request(self._session, self._opening, len(self._changes), None))


@dataclass(frozen=True, slots=True)
class PartItself:
    """Opens the part itself, for questions about it."""

    def build(self, part: Part) -> Part:
        """The part."""
        return part


@dataclass(frozen=True, slots=True, eq=False)
class RemoteSource:
    """A table whose parts are held by workers."""

    transport: Transport
    binning: Binning
    classes: AnyArray
    n_rows: int
    weighted: bool
    journal: Journal = field(default_factory=NoJournal)

    def open(self, opening: Opening[Rows]) -> RemoteRows[Rows]:
        """The rows of one fit."""
        return RemoteRows(self.transport, opening)

    def survey(self, question: Question[Part, Answer]) -> Answer:
        """Ask about the parts themselves."""
        answers = self.transport.send(Request(NO_SESSION, PartItself(), 0, question))
        return question.merge([answer for answer in answers if not isinstance(answer, NoRows)])

    def with_journal(self, journal: Journal) -> Source:
        """The same rows, for a fit that keeps a journal."""
        return replace(self, journal=journal)

    def each(self, fits: Mapping[str, Callable[[Source], Outcome]]) -> list[Outcome]:
        """Run several fits at the same time, so that their questions travel together."""
        if len(fits) == 1:
            return [fit(self) for fit in fits.values()]

        def run(name: str, fit: Callable[[Source], Outcome], transport: Transport) -> Outcome:
            return fit(replace(self, transport=transport, journal=self.journal.section(name)))

        return run_in_lockstep(self.transport, [partial(run, name, fit) for name, fit in fits.items()])

    def turn(self) -> None:
        """Wait until the other fits have asked once."""
        self.transport.send(TURN)
