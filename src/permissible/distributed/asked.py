"""Rows whose questions are still names of methods: an adapter to rows/source.py, until each learner has questions of its own."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from permissible.rows.part import Part
from permissible.rows.source import Question, Source


def _kind(name: str) -> Any:
    from permissible.distributed.kinds import KINDS

    return KINDS[name]


@dataclass(frozen=True, slots=True)
class KindOpening:
    """Builds rows by the name of their kind."""

    kind: str
    settings: Any

    def build(self, part: Part) -> Any:
        """The rows of one part."""
        return _kind(self.kind).build(part, self.settings)


@dataclass(frozen=True, slots=True)
class Call(Question[Any, Any]):
    """A method of the rows."""

    kind: str
    method: str
    arguments: tuple[Any, ...]

    @property
    def changes(self) -> bool:  # type: ignore[override]
        """Whether the rows change."""
        return self.method in _kind(self.kind).changes

    @property
    def repeatable(self) -> bool:  # type: ignore[override]
        """Whether the change may be made twice."""
        return self.method in getattr(_kind(self.kind), "repeatable", ())

    def answer(self, rows: Any) -> Any:
        """Call the method."""
        return getattr(rows, self.method)(*self.arguments)

    def merge(self, answers: Sequence[Any]) -> Any:
        """As the kind says."""
        return _kind(self.kind).merge(self.method, answers)


class Asked:
    """Rows of a kind."""

    def __init__(self, source: Source, kind: str, settings: Any) -> None:
        self.rows, self.kind = source.open(KindOpening(kind, settings)), kind

    def ask(self, method: str, *arguments: Any) -> Any:
        """The answer of all parts."""
        return self.rows.ask(Call(self.kind, method, arguments))

    def close(self) -> None:
        """Forget the rows."""
        self.rows.close()
