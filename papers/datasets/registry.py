"""Which sets exist, in which suite, and where to look for one: folder, rule, installed package, OpenML, in that order."""

import csv
import functools
import importlib.resources
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from papers.datasets import folder, generated, openml, packages
from papers.datasets.dataset import Dataset
from papers.datasets.openml import UnavailableError
from permissible.validation import refusal


@dataclass(frozen=True, slots=True)
class Entry:
    """What the registry knows of a set before it is loaded. Sizes are those of the papers' copy."""

    name: str
    suite: str
    rows: int
    attributes: int
    classes: int
    openml: int | None


@dataclass(frozen=True, slots=True)
class Found:
    """The sets that can be had here, with their number of rows and origin, and for each of the others the reason why not."""

    rows: dict[str, int]
    sources: dict[str, str]
    missing: dict[str, str]

    @property
    def names(self) -> tuple[str, ...]:
        """The sets that can be had."""
        return tuple(self.sources)

    def at_most(self, rows: int, count: int) -> "Found":
        """Keep the first `count` sets of at most `rows` rows: a quick run's choice."""
        kept = [name for name in self.sources if self.rows[name] <= rows][:count]
        return Found(
            {name: self.rows[name] for name in kept}, {name: self.sources[name] for name in kept}, self.missing
        )


@functools.cache
def registry() -> dict[str, Entry]:
    """Read the registry: name to entry."""
    source = importlib.resources.files(__package__).joinpath("registry.csv").read_text(encoding="utf-8")
    return {
        row["name"]: Entry(
            row["name"],
            row["suite"],
            int(row["rows"]),
            int(row["attrs"]),
            int(row["classes"]),
            int(row["openml"]) if row["openml"] else None,
        )
        for row in csv.DictReader(source.splitlines())
    }


def names() -> tuple[str, ...]:
    """List every registered set."""
    return tuple(registry())


def suite(name: str) -> tuple[str, ...]:
    """List the sets of a suite: "uls" (52 domains), "guess-averse" (ten), "scale" or "tutorials".

    Examples
    --------
    >>> len(suite("uls")), len(suite("guess-averse"))
    (52, 10)
    """
    chosen = tuple(entry.name for entry in registry().values() if entry.suite == name)
    if not chosen:
        raise refusal("name", "a suite: uls, guess-averse, scale or tutorials", name)
    return chosen


def load(name: str, data: str | Path | None = None, *, network: bool = True) -> Dataset:
    """Load a set by name, from the first source that has it.

    Parameters
    ----------
    name : str
        A registered name, a name of the folder's own index, or a rule-defined set.
    data : path, optional
        A folder with an index.csv; by default the one PERMISSIBLE_DATA names, if any.
    network : bool
        Whether OpenML may be asked.

    Raises
    ------
    UnavailableError
        When no source has the set; the message says what was tried.

    Examples
    --------
    >>> iris = load("iris")
    >>> iris.n_rows, len(iris.classes)
    (150, 3)
    """
    place = folder.folder(data)
    found = (folder.load(name, place) if place else None) or generated.generate(name) or packages.load(name)
    if found is not None:
        return found
    entry = registry().get(name)
    if entry is None:
        raise refusal("name", "a registered data set", name, "see papers.datasets.names()")
    if entry.openml is None:
        raise UnavailableError(
            f"{name} is in no data folder, no installed package and not on OpenML under a known number"
        )
    if not network:
        raise UnavailableError(f"{name} needs the data folder (--data DIR or PERMISSIBLE_DATA) or OpenML")
    return openml.load(name, entry.openml, entry.rows)


def find(wanted: Sequence[str], data: str | Path | None = None, *, network: bool = True) -> Found:
    """Sort `wanted` into the sets that can be loaded here and those that cannot, with the reason."""
    found = Found({}, {}, {})
    for name in wanted:
        try:
            data_set = load(name, data, network=network)
        except UnavailableError as reason:
            found.missing[name] = str(reason)
        else:
            found.rows[name] = data_set.n_rows
            found.sources[name] = data_set.source
    return found
