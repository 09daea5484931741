"""What a worker keeps of a fit, and how it answers.

A session's state depends only on its `Opening` and on the changes applied to it, in order, so the number of changes is
its version. A repeated change is answered from memory, or made again if the question is repeatable. A session that is
behind reports its version and is sent the changes it lacks. No choice of a fit is made here.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from permissible.rows.local import Answers
from permissible.rows.part import Part
from permissible.rows.source import Opening, Question

NO_SESSION = ""
"""The session of a question about the parts themselves: nothing of it is kept, so it need not be closed."""


@dataclass(frozen=True, slots=True)
class Request:
    """One question to every part of a session; None closes the session.

    `version` is the number of changes that the coordinator has made so far; `replay` holds the last of them, for parts
    that lack them.
    """

    session: str
    opening: Opening[Any]
    version: int
    question: Question[Any, Any] | None
    replay: tuple[Question[Any, Any], ...] = ()

    @property
    def closes(self) -> bool:
        """Whether the session ends."""
        return self.question is None


@dataclass(frozen=True, slots=True)
class Batch:
    """Requests of several fits in one message; the answer is a list, one for each."""

    requests: tuple[Request, ...]
    closes: bool = False


TURN = Batch(())
"""What a fit asks that only waits until the others have asked."""


class Transport(Protocol):
    """How requests reach every holder of parts, and their answers come back."""

    def send(self, request: Request | Batch) -> Sequence[Any]:
        """One answer per holder; each may be `Behind` or `NoRows`."""


@dataclass(frozen=True, slots=True)
class Behind:
    """The answer of a worker that lacks changes: it has made the first `version` of them."""

    version: int


@dataclass(frozen=True, slots=True)
class NoRows:
    """The answer of a worker none of whose rows are selected."""


@dataclass(slots=True)
class _Session:
    """The rows of one part as one fit has changed them; None where no row is selected."""

    rows: Any
    version: int = 0
    last: tuple[type, Any] | None = None

    def ask(self, question: Question[Any, Any]) -> Any:
        """Answer, and count a change."""
        answer = NoRows() if self.rows is None else question.answer(self.rows)
        if question.changes:
            self.version += 1
            self.last = (type(question), None if question.repeatable else answer)
        return answer


@dataclass(slots=True)
class Holder:
    """Parts of the data by name, with the sessions open on each of them. Parts may come and go."""

    parts: dict[str, Part] = field(default_factory=dict)
    sessions: dict[tuple[str, str], _Session] = field(default_factory=dict)

    def answer(self, request: Request | Batch, names: Sequence[str] | None = None) -> Any:
        """Answer for the named parts (all, when none are named), merged; `Behind` when one of them lacks changes."""
        if isinstance(request, Batch):
            return [self.answer(single, names) for single in request.requests]
        if request.question is None:
            self.forget(request.session)
            return None
        answers, behind = Answers(request.question), list[int]()
        for name in [*self.parts] if names is None else names:
            answer = self._answer_of(name, request, request.question)
            if isinstance(answer, Behind):
                behind.append(answer.version)
            elif not isinstance(answer, NoRows):
                answers.add(answer)
        if behind:
            return Behind(min(behind))
        return request.question.merge(answers.waiting) if answers.waiting else NoRows()

    def forget(self, session: str) -> None:
        """Drop the state of a session."""
        for key in [key for key in self.sessions if key[0] == session]:
            del self.sessions[key]

    def _answer_of(self, name: str, request: Request, question: Question[Any, Any]) -> Any:
        if request.session == NO_SESSION:
            return question.answer(request.opening.build(self.parts[name]))
        key = (request.session, name)
        if key not in self.sessions:
            self.sessions[key] = _Session(request.opening.build(self.parts[name]))
        session = self.sessions[key]
        if session.version == request.version + 1 and session.last is not None and session.last[0] is type(question):
            # The same change again, after an answer that was lost on its way.
            if question.repeatable and session.rows is not None:
                return question.answer(session.rows)
            return NoRows() if session.rows is None else session.last[1]
        lacking = request.version - session.version
        if lacking < 0 or lacking > len(request.replay):
            return Behind(session.version)
        for change in request.replay[len(request.replay) - lacking :] if lacking else ():
            session.ask(change)
        return session.ask(question)
