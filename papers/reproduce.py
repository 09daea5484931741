"""One command for every paper: plan the units, do what is missing, print the main tables, write figures and pages.

A protocol is a module of `protocols` with three functions: `plan(scope)` gives the units and the sets left out,
`work(unit)` does one of them in any process, `chapter(results, scope, missing)` makes tables and figures of all.
"""

import importlib
import os
from collections.abc import Sequence
from pathlib import Path

from papers.engine import environment, execute
from papers.pages import write
from papers.pages.facts import facts, this_version
from papers.pages.terminal import show
from papers.scope import Scope
from papers.store import Store
from permissible.validation import refusal

PROTOCOLS = ("uls", "margins", "trees", "boundaries", "guess-averse", "peers")


def run(
    protocol: str = "all",
    quick: bool = False,
    data: str | Path | None = None,
    output: str | Path = "results",
    jobs: int | None = None,
    seed: int = 0,
    only: Sequence[str] = (),
) -> list[Path]:
    """Reproduce a paper's results, or all of them.

    Parameters
    ----------
    protocol : str
        One of "uls", "margins", "trees", "boundaries", "guess-averse", "peers", or "all".
    quick : bool
        A minute's version: fewer data sets, folds and replications, and no network.
    data : path, optional
        A folder with an index.csv; by default the one PERMISSIBLE_DATA names, if any. Without one, installed packages,
        rules and (unless quick) OpenML give what they have.
    output : path
        The results folder. A run that was interrupted is taken up where it stopped.
    jobs : int, optional
        Number of processes; by default one a core.
    seed : int
        The same seed gives the same numbers.
    only : sequence of str
        Names of the data sets to keep to; by default all that the protocol uses.

    Returns
    -------
    list of Path
        The pages written.
    """
    if protocol not in (*PROTOCOLS, "all"):
        raise refusal("protocol", f"one of {', '.join(PROTOCOLS)}, all", protocol)
    folder = str(Path(data).resolve()) if data else os.environ.get("PERMISSIBLE_DATA") or ""
    scope = Scope(quick=quick, data=folder or None, seed=seed, network=not quick, only=tuple(only))
    workers = jobs or os.cpu_count() or 1
    pages: list[Path] = []
    path = Path(output) / "results.sqlite"
    with environment({"PERMISSIBLE_DATA": folder}), Store(path, this_version()) as store:
        for name in PROTOCOLS if protocol == "all" else (protocol,):
            pages += _one(name, scope, store, Path(output), workers)
    return list(dict.fromkeys(pages))


def _one(name: str, scope: Scope, store: Store, output: Path, jobs: int) -> list[Path]:
    module = importlib.import_module(f"papers.protocols.{name.replace('-', '_')}")
    units, missing = module.plan(scope)
    results = execute(units, module.work, store, jobs=jobs, title=name)
    chapter = module.chapter(results, scope, missing)
    show(chapter)
    return write(chapter, output, facts(_command(name, scope), store.seconds(units), store.versions(units)))


def _command(name: str, scope: Scope) -> str:
    options = [
        ("--quick", scope.quick),
        ("--data DIR", scope.data is not None),
        (f"--seed {scope.seed}", scope.seed != 0),
        (f"--only {','.join(scope.only)}", bool(scope.only)),
    ]
    return " ".join(["permissible reproduce", name, *(text for text, given in options if given)])
