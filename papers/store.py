"""Results that survive: one SQLite file, one row per unit of work, written when the unit is done and never changed.

A unit is a data set, a method, a fold and the settings; the settings are part of its key, so a run with another seed or
another number of rules finds nothing of this one. Each row is its own transaction in SQLite's write-ahead log: whoever
kills the process loses the units under way and no other. Each row names the version that made it, so that a page can say
which versions its numbers come from, also where a run was continued by another one.
"""

import hashlib
import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

Payload = dict[str, Any]


@dataclass(frozen=True, slots=True, order=True)
class Unit:
    """One piece of work. `settings` is canonical JSON; make units with `unit`."""

    protocol: str
    dataset: str
    method: str
    fold: int
    settings: str

    @property
    def options(self) -> dict[str, Any]:
        """The settings as a dictionary."""
        return dict(json.loads(self.settings))

    @property
    def digest(self) -> str:
        """A short hash of the settings."""
        return hashlib.sha256(self.settings.encode()).hexdigest()[:16]


def unit(protocol: str, dataset: str, method: str, fold: int, settings: Mapping[str, Any]) -> Unit:
    """Make a unit; settings that are equal as values make equal units, whatever their order.

    Examples
    --------
    >>> unit("uls", "iris", "M", 0, {"b": 1, "a": 2}) == unit("uls", "iris", "M", 0, {"a": 2, "b": 1})
    True
    """
    return Unit(protocol, dataset, method, fold, json.dumps(settings, sort_keys=True))


class Store:
    """The file of results. Only the process that coordinates a run writes to it.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder, Store(pathlib.Path(folder) / "results.sqlite") as store:
    ...     one = unit("uls", "iris", "M", 0, {"seed": 0})
    ...     store.put(one, {"error": 0.1}, seconds=0.5)
    ...     store.get([one])[one]["error"]
    0.1
    """

    def __init__(self, path: Path, made_by: str = "") -> None:
        self._made_by = made_by
        path.parent.mkdir(parents=True, exist_ok=True)
        self._connection = sqlite3.connect(path, timeout=60.0, isolation_level=None)
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute("PRAGMA synchronous=NORMAL")
        self._connection.execute(
            "CREATE TABLE IF NOT EXISTS results (protocol TEXT, dataset TEXT, method TEXT, fold INTEGER, digest TEXT,"
            " settings TEXT, payload TEXT, seconds REAL, made_by TEXT DEFAULT '',"
            " PRIMARY KEY (protocol, dataset, method, fold, digest)) WITHOUT ROWID"
        )
        columns = [row[1] for row in self._connection.execute("PRAGMA table_info(results)")]
        if "made_by" not in columns:  # a file of before
            self._connection.execute("ALTER TABLE results ADD COLUMN made_by TEXT DEFAULT ''")

    def put(self, done: Unit, payload: Payload, seconds: float) -> None:
        """Keep the result of a unit, in a transaction of its own."""
        values = (done.protocol, done.dataset, done.method, done.fold, done.digest, done.settings)
        more = (json.dumps(payload), seconds, self._made_by)
        self._connection.execute("INSERT OR REPLACE INTO results VALUES (?,?,?,?,?,?,?,?,?)", (*values, *more))

    def get(self, wanted: Iterable[Unit]) -> dict[Unit, Payload]:
        """Give the results that are there, in the order wanted; a unit that is not done is not among them."""
        found: dict[Unit, Payload] = {}
        for one in wanted:
            for row in self._column("payload", [one]):
                found[one] = json.loads(row[0])
        return found

    def seconds(self, wanted: Iterable[Unit]) -> float:
        """Sum the CPU time spent on these units."""
        return sum(float(row[0]) for row in self._column("seconds", wanted))

    def versions(self, wanted: Iterable[Unit]) -> dict[str, int]:
        """Count the results by the version that made them."""
        return dict(Counter(str(row[0]) for row in self._column("made_by", wanted)))

    def _column(self, name: str, wanted: Iterable[Unit]) -> Iterator[tuple[Any, ...]]:
        """Give a column of the rows that are there, in the order wanted."""
        for one in wanted:
            yield from self._connection.execute(
                f"SELECT {name} FROM results WHERE protocol=? AND dataset=? AND method=? AND fold=? AND digest=?",
                (one.protocol, one.dataset, one.method, one.fold, one.digest),
            )

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
