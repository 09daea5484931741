"""`permissible export`: a model as text, SQL, ONNX, JSON, Python or HTML."""

from pathlib import Path
from typing import Annotated

import typer

from permissible.cli import options


def command(
    model: options.Model,
    format_name: Annotated[str, typer.Option("--format", "-f", help="text, sql, onnx, json, python or html.")] = "text",
    output: Annotated[Path | None, options.optional("--output", "The terminal unless given.", "-o")] = None,
    table: Annotated[str, typer.Option("--table", help="SQL: the table that holds the rows.")] = "data",
    dialect: Annotated[str, typer.Option("--dialect", help="SQL: ansi, duckdb, postgres or sqlite.")] = "ansi",
    keep: Annotated[str, options.optional("--keep", "SQL: columns to return beside the answer: a,b.")] = "",
) -> None:
    """Export a model: SQL for a database, ONNX, plain Python, JSON, text, or a page.

    Example: permissible export model.json --format sql --dialect postgres --table patients -o score.sql
    """
    import typer

    from permissible.cli.errors import UseError
    from permissible.cli.io.rows import load_model, notes_of
    from permissible.cli.io.writing import is_standard_output
    from permissible.estimators.exports import FORMATS
    from permissible.models.files.atomic import write

    if format_name not in FORMATS:
        raise UseError(f"--format must be one of {', '.join(FORMATS)}, got {format_name!r}.")
    if format_name == "onnx" and output is None:
        raise UseError("--format onnx writes a binary file: say where with -o model.onnx.")
    fitted = load_model(model)
    content = FORMATS[format_name](fitted, table=table, dialect=dialect, keep=options.listed(keep) or None)
    if (notations := notes_of(fitted).get("notations")) and format_name in ("sql", "onnx", "python"):
        kinds = {name: "days since 1970-01-01" if "date" in how else "plain numbers" for name, how in notations.items()}
        told = ", ".join(f"{name!r} as {kind}" for name, kind in kinds.items())
        typer.echo(f"permissible: the {format_name} does not read the notation of the file: give it {told}.", err=True)
    if output is None:
        typer.echo(content)
    else:
        write(output, content)
        if not is_standard_output(output):
            typer.echo(f"The {format_name} is in {output}.")
