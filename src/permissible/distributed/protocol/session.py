"""The far side of a fit: what a holder of rows keeps, and how it answers. It runs on a worker, or in this process.

The law: a session's state depends only on its `Opening` and on the changes applied to it, in order. So it is versioned by the
number of changes; a change that comes twice is answered from memory (or, where its answer is large and making it twice does no
harm, made again); a session that is behind says how far it is, and is sent the changes it lacks. Nothing here chooses anything.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

FOLD, FOLD_BYTES = 16, 1 << 20
"""Answers of parts that wait to be merged: so many, or so large together."""


@dataclass(frozen=True, slots=True)
class Opening:
    """How to build a session from a part of the data: the name of a kind of rows, and what it needs to know."""

    kind: str
    settings: Any


@dataclass(frozen=True, slots=True)
class Request:
    """One question to every part.

    `version` is the number of changes that the coordinator has made so far; `replay` holds the last of them, for parts that
    lack them.
    """

    session: str
    opening: Opening
    version: int
    method: str
    arguments: tuple[Any, ...] = ()
    replay: tuple[tuple[str, tuple[Any, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class Batch:
    """Questions of several fits in one message; the answer is a list, one for each."""

    requests: tuple[Request, ...]
    method: str = "batch"


@dataclass(frozen=True, slots=True)
class Behind:
    """The answer of a holder that lacks changes: it has made the first `version` of them."""

    version: int


class Kind(Protocol):
    """A kind of rows that can be held: how to build them, which calls change them, and how answers of parts merge.

    Changes whose names are in an attribute `repeatable` may be made twice in a row: their answers are not kept.
    """

    changes: frozenset[str]

    def build(self, part: Any, settings: Any) -> Any:
        """The rows of one part."""
        ...

    def merge(self, method: str, answers: Sequence[Any]) -> Any:
        """The answer of several parts together, from the answers of each, in any grouping."""
        ...


@dataclass(slots=True)
class _Session:
    """The rows of one part as one fit has changed them."""

    rows: Any
    version: int = 0
    last: tuple[str, Any] | None = None


@dataclass(slots=True)
class Holder:
    """Parts of the data by name, with the sessions open on each of them. Parts may come and go."""

    kinds: Mapping[str, Kind]
    parts: dict[str, Any] = field(default_factory=dict)
    sessions: dict[tuple[str, str], _Session] = field(default_factory=dict)

    def answer(self, request: Request | Batch, names: Sequence[str] | None = None) -> Any:
        """Answer for the named parts (all, when none are named), merged; `Behind` when one of them lacks changes."""
        if isinstance(request, Batch):
            return [self.answer(question, names) for question in request.requests]
        asked = [*self.parts] if names is None else names
        if request.method == "close":
            self.forget(request.session)
            return None
        kind = self.kinds[request.opening.kind]
        answers, behind = list[Any](), list[int]()
        for name in asked:
            answer = self._answer_of(name, kind, request)
            if isinstance(answer, Behind):
                behind.append(answer.version)
                continue
            answers.append(answer)
            if len(answers) == FOLD or (len(answers) > 1 and _size(answers) > FOLD_BYTES):
                answers = [kind.merge(request.method, answers)]
        return Behind(min(behind)) if behind else kind.merge(request.method, answers)

    def forget(self, session: str) -> None:
        """Drop the state of a session."""
        for key in [key for key in self.sessions if key[0] == session]:
            del self.sessions[key]

    def _answer_of(self, name: str, kind: Kind, request: Request) -> Any:
        key = (request.session, name)
        session = self.sessions.get(key)
        if session is None:
            session = self.sessions[key] = _Session(kind.build(self.parts[name], request.opening.settings))
        if session.version == request.version + 1 and session.last is not None and session.last[0] == request.method:
            # the same change again, after an answer that was lost on its way
            if request.method in _repeatable(kind):
                return getattr(session.rows, request.method)(*request.arguments)
            return session.last[1]
        lacking = request.version - session.version
        if lacking < 0 or lacking > len(request.replay):
            return Behind(session.version)
        for method, arguments in request.replay[len(request.replay) - lacking :] if lacking else ():
            self._ask(kind, session, method, arguments)
        return self._ask(kind, session, request.method, request.arguments)

    @staticmethod
    def _ask(kind: Kind, session: _Session, method: str, arguments: tuple[Any, ...]) -> Any:
        answer = getattr(session.rows, method)(*arguments)
        if method in kind.changes:
            session.version += 1
            session.last = (method, None if method in _repeatable(kind) else answer)
        return answer


def _size(answer: Any) -> int:
    """Bytes of the arrays of an answer."""
    if isinstance(answer, (list, tuple)):
        return sum(map(_size, answer))
    return int(getattr(answer, "nbytes", 0))


def _repeatable(kind: Kind) -> frozenset[str]:
    found: frozenset[str] = getattr(kind, "repeatable", frozenset())
    return found
