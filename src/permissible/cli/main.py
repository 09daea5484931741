"""The command `permissible`: collects the verbs, and turns every error into one sentence and an exit code.

0: done. 1: it failed. 2: wrong use (a file, a column, an option). Never a traceback, unless the variable
PERMISSIBLE_TRACEBACK is set. Nothing heavy is imported before a verb runs, so `--help` answers at once.
"""

import os
import sys
import warnings
from typing import Annotated

import typer

from permissible.cli.errors import CommandError
from permissible.cli.options import ungrouped
from permissible.cli.verbs import checkout, compare, demo, evaluate, explain, export, fit, predict, report

app = typer.Typer(
    name="permissible",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
_VERBS = (
    ("demo", demo.command, "A decision on real data: what each way to take it costs, and a page."),
    ("fit", fit.command, "Learn a model from a file."),
    ("predict", predict.command, "Ask a model about the rows of a file."),
    ("evaluate", evaluate.command, "How good a model is on rows with known truth."),
    ("explain", explain.command, "A model in words, or what it says of one row."),
    ("report", report.command, "A page about a model that one can explore."),
    ("export", export.command, "A model as text, SQL, ONNX, JSON, Python or HTML."),
    ("compare", compare.command, "Losses and models on the same folds."),
    ("reproduce", checkout.reproduce, "The papers' experiments, run again."),
    ("bench", checkout.bench, "Speed beside the peers, measured in one run."),
)
for name, command, short in _VERBS:
    app.command(name=name, short_help=short)(ungrouped(command))


def _version(wanted: bool) -> None:
    if wanted:
        from permissible import __version__

        typer.echo(f"permissible {__version__}")
        raise typer.Exit


@app.callback()
def start(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Classifiers for the decision that has to be made: readable rules, trees, risk groups, reject options, costs.

    Begin with permissible demo, or with your own file: permissible fit patients.csv --target outcome.
    """


def main(arguments: list[str]) -> int:
    """Run the command with the given arguments, and return its exit code."""
    try:
        code = app(args=arguments, standalone_mode=False, prog_name="permissible")
        if code == 130:  # Ctrl-C, caught by typer
            return _told("stopped.", 130)
        return code if isinstance(code, int) else 0
    except KeyboardInterrupt:
        return _told("stopped.", 130)
    except BrokenPipeError:  # the reader of the output, such as `head`, has ended
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
        return 0
    except Exception as error:
        if "PERMISSIBLE_TRACEBACK" in os.environ:
            raise
        return _explained(error)


def _explained(error: Exception) -> int:
    if isinstance(error, CommandError):
        return _told(str(error), error.exit_code)
    if type(error).__name__ == "FileError":  # by name: the module that defines it loads NumPy
        return _told(str(error), 2)
    if hasattr(error, "format_message"):  # errors of typer about an option or an argument
        return _told(f"{error.format_message()} (see permissible --help)", getattr(error, "exit_code", 2))
    if type(error).__name__ == "Abort":
        return _told("stopped.", 130)
    if isinstance(error, OSError) and error.filename is not None:
        return _told(f"{error.filename}: {(error.strerror or str(error)).lower()}.", 1)
    if isinstance(error, ImportError):
        return _told(f"{error}: install what is missing, for example pip install 'permissible[report,arrow,onnx]'.", 1)
    if isinstance(error, MemoryError):
        return _told("there is not enough memory for this.", 1)
    if isinstance(error, ValueError | TypeError):
        return _told(str(error), 1)
    return _told(
        f"{type(error).__name__}: {error} (this should not happen; set PERMISSIBLE_TRACEBACK=1 to see where)", 1
    )


def _told(sentence: str, code: int) -> int:
    line = " ".join(sentence.split())
    print(f"permissible: {line}", file=sys.stderr)
    return code


def _warned(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
    """Print a warning as one sentence, without the line of code that raised it."""
    _told(str(message), 0)


def run() -> None:
    """Enter from the shell."""
    if "PERMISSIBLE_TRACEBACK" not in os.environ:
        warnings.showwarning = _warned
    sys.exit(main(sys.argv[1:]))
