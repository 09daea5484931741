"""`permissible export`: a model as text, SQL, ONNX, JSON, Python or HTML."""

from pathlib import Path
from typing import Annotated, Any

import typer

from permissible.cli import options

FORMATS = ("text", "sql", "onnx", "json", "python", "html")


def command(
    model: options.Model,
    format_name: Annotated[str, typer.Option("--format", "-f", help="text, sql, onnx, json, python or html.")] = "text",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The terminal unless given.", show_default=False)
    ] = None,
    table: Annotated[str, typer.Option("--table", help="SQL: the table that holds the rows.")] = "data",
    dialect: Annotated[str, typer.Option("--dialect", help="SQL: ansi, duckdb, postgres or sqlite.")] = "ansi",
    keep: Annotated[
        str, typer.Option("--keep", help="SQL: columns to return beside the answer: a,b.", show_default=False)
    ] = "",
) -> None:
    """Export a model: SQL for a database, ONNX, plain Python, JSON, text, or a page.

    Example: permissible export model.json --format sql --dialect postgres --table patients -o score.sql
    """
    import typer

    from permissible.cli.errors import UseError
    from permissible.cli.io.loading import load_model
    from permissible.cli.io.writing import is_standard_output
    from permissible.models.files.atomic import write

    if format_name not in FORMATS:
        raise UseError(f"--format must be one of {', '.join(FORMATS)}, got {format_name!r}.")
    if format_name == "onnx" and output is None:
        raise UseError("--format onnx writes a binary file: say where with -o model.onnx.")
    content = _rendered(load_model(model), format_name, table, dialect, options.listed(keep))
    if output is None:
        typer.echo(content)
    else:
        write(output, content)
        if not is_standard_output(output):
            typer.echo(f"The {format_name} is in {output}.")


def _rendered(fitted: Any, format_name: str, table: str, dialect: str, keep: list[str]) -> Any:
    match format_name:
        case "sql":
            return fitted.to_sql(table=table, dialect=dialect, keep=keep or None) + "\n"
        case "onnx":
            return fitted.to_onnx().SerializeToString()
        case "json":
            from permissible.estimators.files.save_load import text_of

            return text_of(fitted)
        case "python":
            return fitted.to_python()
        case "html":
            return fitted.to_html()
    return fitted.to_text() + "\n"
