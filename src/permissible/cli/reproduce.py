"""`permissible reproduce`: the papers' experiments, their published numbers beside ours."""

from pathlib import Path
from typing import Annotated

import typer


def command(
    what: Annotated[
        str, typer.Argument(help="uls, margins, trees, boundaries, guess-averse or peers.", show_default=False)
    ],
    quick: Annotated[bool, typer.Option("--quick", help="A small part, in minutes.")] = False,
    data: Annotated[Path | None, typer.Option("--data", help="The folder of data sets.", show_default=False)] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder of results.")] = Path("results"),
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Processes.")] = 1,
) -> None:
    """Run the experiments of the papers again and write tables and figures beside the published ones.

    Example: [bold]permissible reproduce trees --quick -o results/[/bold]
    """
    from importlib import import_module

    from permissible.cli.errors import CommandError

    try:
        run = import_module("permissible.experiments").run
    except (ImportError, AttributeError) as error:
        raise CommandError(f"the experiments need pip install 'permissible[experiments]' ({error}).") from None
    run(what, quick=quick, data=data, output=output, jobs=jobs)
