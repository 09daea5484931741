"""`permissible reproduce` and `permissible bench`: what needs a checkout of the source.

The experiments of the papers and the benchmarks are not part of the installed package. `reproduce` finds the folder
`papers` in the current folder or beside the sources of an editable install; `bench` runs in a checkout.
"""

import sys
from pathlib import Path
from typing import Annotated

import typer

from permissible.cli import options
from permissible.cli.errors import CommandError, UseError


def reproduce(
    what: Annotated[
        str, typer.Argument(help="uls, margins, trees, boundaries, guess-averse, peers or all.", show_default=False)
    ],
    quick: Annotated[bool, typer.Option("--quick", help="A minute's version.")] = False,
    data: Annotated[Path | None, options.optional("--data", "The folder of data sets (or PERMISSIBLE_DATA).")] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder of results.")] = Path("results"),
    jobs: Annotated[int | None, typer.Option("--jobs", "-j", help="Processes; one per core unless given.")] = None,
    seed: options.Seed = 0,
    only: Annotated[str, options.optional("--only", "Names of data sets to keep to: a,b.")] = "",
) -> None:
    """Run the experiments of the papers and write tables and figures next to the published ones.

    Needs a checkout of the source. An interrupted run continues where it stopped.

    Example: permissible reproduce trees --quick -o results/
    """
    sys.path.insert(0, str(_checkout()))
    try:
        from papers import PROTOCOLS, run
    except ImportError as error:
        raise CommandError(f"the experiments need pip install 'permissible[experiments]' ({error}).") from None
    if what not in (*PROTOCOLS, "all"):
        raise UseError(f"WHAT must be one of {', '.join(PROTOCOLS)}, all, got {what!r}.")
    if data is not None and not data.is_dir():
        raise UseError(f"--data must be a folder, got {data}.")
    for page in run(what, quick, data, output, jobs, seed, options.listed(only)):
        typer.echo(str(page))


def _checkout() -> Path:
    """The folder that holds `papers`: the current one, or the root of the sources."""
    import permissible

    for folder in (Path.cwd(), Path(permissible.__file__).parents[2]):
        if (folder / "papers" / "reproduce.py").is_file() and (folder / "src" / "permissible").is_dir():
            return folder
    raise CommandError("the experiments need a checkout of the source: run this in its folder, where `papers` lies.")


def bench(
    full: Annotated[bool, typer.Option("--full", help="All sizes; takes an hour rather than minutes.")] = False,
) -> None:
    """Compare the speed with other libraries in one run; needs a checkout of the source.

    Example: permissible bench
    """
    import subprocess

    if not Path("benchmarks", "__main__.py").exists():
        raise CommandError(
            "the benchmarks live in the source tree: run this in a checkout, where `make bench` does the same."
        )
    raise typer.Exit(subprocess.call([sys.executable, "-m", "benchmarks", *(["--full"] if full else [])]))
