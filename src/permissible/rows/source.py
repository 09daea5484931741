"""Where the rows of a fit come from, and how a fit asks about them. A learner knows these protocols and no transport.

A fit opens rows with an `Opening`, which says what each part must build, and then asks questions. The law of a question: its
answers merge by integer sums, minima and maxima, in any grouping and order, so that neither the number of parts nor who
holds them can show in a model. Rows change by questions whose `changes` is true, and by nothing else.

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
        """The rows of one part; None where no row of the part is selected."""
        ...


class Question(Generic[Rows, Answer]):
    """One question about the rows of each part: a frozen dataclass that can be pickled and carries no state.

    A question with `changes` changes the rows; where it is also `repeatable` it may be made twice in a row, and its answer is
    not kept for the case that it was lost on its way.
    """

    changes: ClassVar[bool] = False
    repeatable: ClassVar[bool] = False

    def answer(self, rows: Rows) -> Answer:
        """The answer of one part."""
        raise NotImplementedError

    def merge(self, answers: Sequence[Answer]) -> Answer:
        """The answer of several parts together, from theirs: a sum, unless a question says otherwise."""
        total: Any = answers[0]
        for answer in answers[1:]:
            total = total + answer
        return total  # type: ignore[no-any-return]


class OpenRows(Protocol[Rows]):
    """The rows of one fit."""

    @property
    def only(self) -> Rows | None:
        """The rows themselves, where all of them lie in one part of this process."""
        ...

    def ask(self, question: Question[Rows, Answer]) -> Answer:
        """The answer of all parts together."""
        ...

    def close(self) -> None:
        """Let the holders of the parts forget these rows."""
        ...


class Journal(Protocol):
    """Remembers the choices of a fit, so that a fit that was interrupted can continue from them."""

    def recall(self, choose: Callable[[], Outcome]) -> Outcome:
        """The choice that an interrupted fit made here, or make it now."""
        ...

    def run(self, fit: Callable[[], Outcome]) -> Outcome:
        """A whole run of rounds: once it is complete, only its outcome is remembered."""
        ...

    def section(self, name: str) -> "Journal":
        """A journal for one of several fits."""
        ...


class NoJournal:
    """Remembers nothing: every choice is made now."""

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
    """The rows of a table, with what is known of the whole."""

    @property
    def binning(self) -> Binning:
        """The bins of the columns."""
        ...

    @property
    def classes(self) -> AnyArray:
        """The labels, sorted."""
        ...

    @property
    def n_rows(self) -> int:
        """Rows of positive weight."""
        ...

    @property
    def weighted(self) -> bool:
        """Whether rows have weights."""
        ...

    @property
    def journal(self) -> Journal:
        """Where the choices of a fit are remembered."""
        ...

    def with_journal(self, journal: Journal) -> "Source":
        """The same rows, for a fit that keeps a journal."""
        ...

    def open(self, opening: Opening[Rows]) -> OpenRows[Rows]:
        """The rows of one fit."""
        ...

    def survey(self, question: Question[Part, Answer]) -> Answer:
        """Ask about the parts themselves, before a fit."""
        ...

    def each(self, fits: Mapping[str, Callable[["Source"], Outcome]]) -> list[Outcome]:
        """Run several fits by name; where a question is a message, those of all fits travel together."""
        ...
