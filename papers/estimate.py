"""How long a full run takes: ``python -m papers.estimate -o results/full`` does one unit of each kind, and multiplies.

A kind is all of a unit but its number: data set, method, settings. The units that are done are kept, so that the run
that follows has fewer to do; where a store holds several units of a kind, their mean counts. What units of one process
share (a model that knows no costs, under fifty matrices) is counted as if each had made it, so that the run takes less.
"""

import argparse
import importlib
import os
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from papers.engine import environment, execute
from papers.pages.chapter import Table
from papers.pages.facts import this_version
from papers.pages.page import markdown_table
from papers.reproduce import PROTOCOLS
from papers.scope import Scope
from papers.store import Store, Unit

Kind = tuple[str, str, str, str]


def kind_of(one: Unit) -> Kind:
    """All of a unit but its number."""
    return one.protocol, one.dataset, one.method, one.settings


def missing_kinds(units: Sequence[Unit], store: Store) -> list[Unit]:
    """One unit of each kind of which the store holds none."""
    first: dict[Kind, Unit] = {}
    for one in units:
        first.setdefault(kind_of(one), one)
    held = {kind_of(one) for one in store.get(units)}
    return [one for kind, one in first.items() if kind not in held]


def expected_seconds(units: Sequence[Unit], store: Store) -> float:
    """The time of all units, each counted with the mean time of those of its kind that are done."""
    count = Counter(map(kind_of, units))
    times: dict[Kind, list[float]] = defaultdict(list)
    for one in store.get(units):
        times[kind_of(one)].append(store.seconds([one]))
    return sum(count[kind] * float(np.mean(measured)) for kind, measured in times.items())


def estimate(scope: Scope, store: Store, protocols: Sequence[str] = PROTOCOLS) -> Table:
    """Measure what the store lacks; give units, measured units and minutes of each protocol, and of all."""
    rows: list[list[str | int | float]] = []
    for name in protocols:
        module = importlib.import_module(f"papers.protocols.{name.replace('-', '_')}")
        units, _ = module.plan(scope)
        execute(missing_kinds(units, store), module.work, store, title=name)
        rows.append([name, len(units), len(store.get(units)), expected_seconds(units, store) / 60])
    rows.append(["all", *(sum(row[place] for row in rows) for place in (1, 2, 3))])  # type: ignore[misc]
    columns = ["protocol", "units", "measured", "minutes of CPU"]
    return Table(
        "estimate", "A full run: the mean time of the measured units of a kind, times their number", columns, rows
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m papers.estimate", description=__doc__)
    parser.add_argument("-o", "--output", default="results/full")
    parser.add_argument("--data", default=os.environ.get("PERMISSIBLE_DATA"))
    given = parser.parse_args()
    scope = Scope(data=given.data)
    with (
        environment({"PERMISSIBLE_DATA": given.data or ""}),
        Store(Path(given.output) / "results.sqlite", this_version()) as store,
    ):
        found = estimate(scope, store)
    rows = [
        [cell if isinstance(cell, str) else f"{cell:.1f}" if isinstance(cell, float) else str(cell) for cell in row]
        for row in found.rows
    ]
    print(markdown_table({"caption": found.caption, "columns": found.columns, "rows": rows}))


if __name__ == "__main__":
    main()
