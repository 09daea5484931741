"""The reference of the command line, written from the command itself whenever the documentation is built."""

import re
from pathlib import Path

import typer
from typer.cli import get_docs_for_click

from permissible.cli.main import app

HEAD = """# The command line

Made from the command itself; `permissible VERB --help` says the same in a terminal. How the verbs work together:
{doc}`/how-to/command-line`.
"""


def reference() -> str:
    """Every verb with its arguments and options, as Markdown."""
    command = typer.main.get_command(app)
    text = get_docs_for_click(obj=command, ctx=typer.Context(command), name="permissible")
    body = text.partition("**Commands**")[2].partition("\n## ")[2]
    body = re.sub(r"^## `permissible (\w+)`", r"## \1", f"## {body}", flags=re.MULTILINE)
    examples = re.compile(r"^Example: (permissible .*)$", flags=re.MULTILINE)
    return HEAD + "\n" + examples.sub(r"Example:\n\n```text\n\1\n```", body)


def write(path: Path) -> None:
    """Write the page, unless it says so already: an untouched file is not built again."""
    path.parent.mkdir(exist_ok=True)
    text = reference()
    if not path.exists() or path.read_text() != text:
        path.write_text(text)
