"""`permissible bench`: the speed of the library beside its peers', measured in one run, from a source checkout."""

from typing import Annotated

import typer


def command(
    full: Annotated[bool, typer.Option("--full", help="All sizes; takes an hour rather than minutes.")] = False,
) -> None:
    """Measure speed beside the peers in one run; needs the source tree, where the benchmarks live.

    Example: permissible bench
    """
    import subprocess
    import sys
    from pathlib import Path

    from permissible.cli.errors import CommandError

    runner = Path("benchmarks")
    if not (runner / "__main__.py").exists():
        raise CommandError(
            "the benchmarks live in the source tree: run this in a checkout, where `make bench` does the same."
        )
    raise typer.Exit(subprocess.call([sys.executable, "-m", "benchmarks", *(["--full"] if full else [])]))
