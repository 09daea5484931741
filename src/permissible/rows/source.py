"""Where the rows of a fit come from, and how a fit asks about them. A learner uses only these protocols.

A fit opens rows with an `Opening`, which says what each part must build, and then asks questions. Answers merge by
integer sums, minima and maxima, in any grouping and order, so a model depends neither on the number of parts nor on
which worker holds them. Rows change only by questions whose `changes` is true.

| | |
|---|---|
| `LocalSource` (rows/local.py) | parts of this process: one in memory, or the blocks of a data set on disk |
| `RemoteSource` (distributed/protocol/remote.py) | parts held by the workers of a cluster, which may be lost |
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from permissible.bins.binning import Binning
from permissible.rows.part import Part
from permissible.types import AnyArray

Rows = TypeVar("Rows")
Answer = TypeVar("Answer")
Outcome = TypeVar("Outcome")
Built = TypeVar("Built", covariant=True)


class Opening(Protocol[Built]):
    """How a part builds the rows of a fit: a frozen dataclass that can be pickled."""

    def build(self, part: Part) -> Built | None:
        """The rows of one part; None if no row of the part is selected."""


class Question(Generic[Rows, Answer]):
    """One question about the rows of each part: a frozen dataclass that can be pickled and carries no state.

    A question with `changes` changes the rows; if it is also `repeatable` it may be applied twice in a row, so its
    answer need not be kept for a repeated request.
    """

    changes: ClassVar[bool] = False
    repeatable: ClassVar[bool] = False

    def answer(self, rows: Rows) -> Answer:
        """The answer of one part."""
        raise NotImplementedError

    def merge(self, answers: Sequence[Answer]) -> Answer:
        """Merge the answers of several parts: by default their sum."""
        total: Any = answers[0]
        for answer in answers[1:]:
            total = total + answer
        return total  # type: ignore[no-any-return]


class ByPart(Question[Rows, dict[int, Answer]]):
    """A question whose answers stay apart, by the number of their part."""

    def merge(self, answers: Sequence[dict[int, Answer]]) -> dict[int, Answer]:
        """All parts, in order."""
        found = {number: answer for each in answers for number, answer in each.items()}
        return {number: found[number] for number in sorted(found)}


class OpenRows(Protocol[Rows]):
    """The rows of one fit."""

    @property
    def only(self) -> Rows | None:
        """The rows themselves, if all of them are in one part of this process."""

    @property
    def here(self) -> Sequence[Rows]:
        """The rows of each part of this process; none if they lie on workers."""

    def ask(self, question: Question[Rows, Answer]) -> Answer:
        """The answer of all parts together."""

    def ask_beside(
        self, question: Question[Rows, Any], others: Sequence[tuple["OpenRows[Any]", Question[Any, Any]]]
    ) -> list[Any]:
        """The answers to this question and to those of other rows of the same source, in one message where there are any."""

    def close(self) -> None:
        """Drop these rows."""


class Journal(Protocol):
    """Records the choices of a fit, so that an interrupted fit can continue from them."""

    def recall(self, choose: Callable[[], Outcome]) -> Outcome:
        """The recorded choice of an interrupted fit, or make it now."""

    def run(self, fit: Callable[[], Outcome]) -> Outcome:
        """A whole run of rounds: once it is complete, only its outcome is kept."""

    def section(self, name: str) -> "Journal":
        """A journal for one of several fits."""


class NoJournal:
    """Records nothing: every choice is made now."""

    def recall(self, choose: Callable[[], Outcome]) -> Outcome:
        """Make the choice."""
        return choose()

    def run(self, fit: Callable[[], Outcome]) -> Outcome:
        """Run the fit."""
        return fit()

    def section(self, name: str) -> "NoJournal":
        """The same for every fit."""
        return self


class Source(Protocol):
    """The rows of a table, with its bins, classes and number of rows."""

    @property
    def binning(self) -> Binning:
        """The bins of the columns."""

    @property
    def classes(self) -> AnyArray:
        """The labels, sorted."""

    @property
    def n_rows(self) -> int:
        """Rows of positive weight."""

    @property
    def weighted(self) -> bool:
        """Whether rows have weights."""

    @property
    def journal(self) -> Journal:
        """Where the choices of a fit are recorded."""

    def with_journal(self, journal: Journal) -> "Source":
        """The same rows, for a fit that keeps a journal."""

    def open(self, opening: Opening[Rows]) -> OpenRows[Rows]:
        """The rows of one fit."""

    def survey(self, question: Question[Part, Answer]) -> Answer:
        """Ask about the parts themselves, before a fit."""

    def each(self, fits: Mapping[str, Callable[["Source"], Outcome]]) -> list[Outcome]:
        """Run several fits by name; questions to workers are sent together."""

    def turn(self) -> None:
        """Wait, as one of several fits, until the others have asked once."""
