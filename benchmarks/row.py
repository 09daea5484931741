"""One row: the same work done by us and by peers, interleaved in one process, with what each of them reached.

The law: times are compared only inside a row, as minima over interleaved repetitions; each contender also returns the
quality it reached (a log-loss, an objective, an error), so that nobody wins by doing less. Rows of one thread are timed in
processor time, which is the clock's on a quiet machine and does not move with what else runs on a busy one.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

Work = Callable[[], float]
"""Does the work once and returns the quality reached."""


@dataclass(frozen=True)
class Row:
    """A claim to be measured.

    `ours` and each peer are callables doing the same work; `at_least` maps a peer to the ratio (its time over ours)
    that we state, `at_most` one to the ratio that it may have (a harder problem of ours beside an easier one).
    `prepare` makes the data once and returns the contenders, ours first under the name "permissible".
    For a row about something else than seconds (`unit` "MiB", say) a contender returns (amount, quality) itself.
    """

    name: str
    prepare: Callable[[], Mapping[str, Work]]
    at_least: Mapping[str, float]
    quality: str
    threads: int = 1
    repeats: int = 3
    unit: str = "s"
    note: str = ""
    at_most: Mapping[str, float] = field(default_factory=dict)

    def stated(self, peer: str) -> str:
        """The stated figure in words, empty where there is none."""
        if peer in self.at_most:
            return f"at most {self.at_most[peer]:g}x"
        return f"{self.at_least[peer]:g}x" if peer in self.at_least else ""


@dataclass(frozen=True)
class Measured:
    """What one contender needed and reached: all repetitions, in the row's unit."""

    amounts: tuple[float, ...]
    quality: float

    @property
    def best(self) -> float:
        """The least of the repetitions: noise only adds."""
        return min(self.amounts)

    @property
    def spread(self) -> float:
        """Largest over least, minus one."""
        return max(self.amounts) / self.best - 1 if self.best > 0 else 0.0


@dataclass(frozen=True)
class Outcome:
    """A measured row."""

    row: Row
    measured: Mapping[str, Measured] = field(default_factory=dict)
    failure: str = ""

    def ratio(self, peer: str) -> float:
        """How many times our time the peer took."""
        return self.measured[peer].best / self.measured["permissible"].best

    def verdict(self, peer: str) -> str:
        """Pass or short against the stated figure; "shown" where none was stated."""
        if peer in self.row.at_most:
            return "pass" if self.ratio(peer) <= self.row.at_most[peer] else "short"
        if peer not in self.row.at_least:
            return "shown"
        return "pass" if self.ratio(peer) >= self.row.at_least[peer] else "short"

    def told(self) -> str:
        """One line: our amount, and each peer's with the ratio."""
        if self.failure:
            return f"  failed: {self.failure}"
        ours = self.measured["permissible"]
        peers = [
            f"{peer} {measured.best:.3g} ({self.ratio(peer):.2f}x, {self.verdict(peer)}; {measured.quality:.4g})"
            for peer, measured in self.measured.items()
            if peer != "permissible"
        ]
        return f"  {ours.best:.3g} {self.row.unit} ({self.row.quality} {ours.quality:.4g}); " + "; ".join(peers)


def measure(row: Row) -> Outcome:
    """Run the contenders of a row in turn, `repeats` times, after one unmeasured turn of each."""
    contenders = row.prepare()
    clock = time.process_time if row.threads == 1 else time.perf_counter
    amounts: dict[str, list[float]] = {name: [] for name in contenders}
    quality: dict[str, float] = {}
    for turn in range(row.repeats + 1):
        for name, work in contenders.items():
            start = clock()
            reached = work()
            seconds = clock() - start
            amount, quality[name] = reached if isinstance(reached, tuple) else (seconds, reached)
            if turn or row.repeats == 1:
                amounts[name].append(amount)
        if turn == 0 and row.repeats == 1:
            break
    return Outcome(row, {name: Measured(tuple(amounts[name]), quality[name]) for name in contenders})


def measure_all(rows: Iterable[Row], progress: Callable[[str], None] = print) -> list[Outcome]:
    """Measure every row; a row that fails is reported as failed and does not stop the others."""
    outcomes = []
    for row in rows:
        progress(f"{row.name} ...")
        try:
            outcomes.append(measure(row))
        except Exception as error:  # the table must show which row failed, and go on with the next
            outcomes.append(Outcome(row, failure=f"{type(error).__name__}: {error}"))
        progress(outcomes[-1].told())
    return outcomes
