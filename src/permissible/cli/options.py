"""The options that several verbs share, each written once, and their groups."""

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, TypeAlias, get_type_hints

import typer


def optional(flag: str, help_text: str, *short: str, **more: Any) -> Any:
    """An option whose default is not shown, since it is nothing."""
    return typer.Option(flag, *short, help=help_text, show_default=False, **more)


Data: TypeAlias = Annotated[
    Path, typer.Argument(help="Rows: CSV (also .gz), Parquet, Arrow or ARFF.", show_default=False)
]
Model: TypeAlias = Annotated[
    Path, typer.Argument(help="A model file written by `permissible fit`.", show_default=False)
]
Target: TypeAlias = Annotated[str, optional("--target", "The column to predict.", "-t")]
MaybeTarget: TypeAlias = Annotated[
    str | None, optional("--target", "The column with the truth; that of `fit` unless given.", "-t")
]
Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Seed: TypeAlias = Annotated[int, typer.Option("--seed", help="Of every random choice.", min=0)]
Folds: TypeAlias = Annotated[
    int | None, typer.Option("--cv", help="Cross-validate with this many stratified folds.", min=2)
]
_Text: TypeAlias = str | None
_Count: TypeAlias = int | None


def listed(text: str | None) -> list[str]:
    """The names in a comma-separated option."""
    return [name.strip() for name in (text or "").split(",") if name.strip()]


@dataclass(frozen=True, slots=True)
class FileOptions:
    """How to read a file."""

    delimiter: Annotated[
        str | None, optional("--delimiter", "Of a CSV file; found from its first lines unless given.")
    ] = None
    no_header: Annotated[bool, typer.Option("--no-header", help="The CSV file has no first line with names.")] = False
    missing: Annotated[_Text, optional("--missing", "Cells that mean missing: a,b. (empty, ?, NA, NaN, null)")] = None
    decimal: Annotated[
        str | None, optional("--decimal", "The decimal sign, . or , where it is not clear by itself.")
    ] = None
    encoding: Annotated[_Text, optional("--encoding", "Of a CSV file, such as latin-1; UTF-8 unless given.")] = None
    dates: Annotated[
        str, typer.Option("--dates", help="auto, day-first, month-first, or text (leave them as categories).")
    ] = "auto"


@dataclass(frozen=True, slots=True)
class ColumnOptions:
    """Which columns of a file to learn from, and how."""

    categorical: Annotated[str, optional("--categorical", "Columns of numbers that are names of groups: a,b,c.")] = ""
    drop: Annotated[str, optional("--drop", "Columns to leave out: a,b,c.")] = ""
    id_columns: Annotated[str, optional("--id", "Columns that identify a row; not used as features.")] = ""
    weight: Annotated[_Text, optional("--weight", "The column of row weights.")] = None
    numeric: Annotated[
        str, optional("--numeric", "Columns of numbers to learn from though they look like ids: a,b.")
    ] = ""
    positive: Annotated[
        _Text, optional("--positive", "The label whose probability is shown; the last in order unless given.")
    ] = None

    @property
    def left_out(self) -> list[str]:
        """The columns that are not used as features."""
        return [*listed(self.drop), *listed(self.id_columns)]


@dataclass(frozen=True, slots=True)
class DecisionOptions:
    """What to decide."""

    boundaries: Annotated[_Text, optional("--boundaries", "Probabilities that part risk groups: .25,.5,.75.")] = None
    reject_cost: Annotated[float | None, optional("--reject-cost", "What 'I don't know' costs; a mistake costs 1.")] = (
        None
    )
    cost_matrix: Annotated[
        Path | None, optional("--cost-matrix", "CSV: header = predicted classes, first column = true ones.")
    ] = None


@dataclass(frozen=True, slots=True)
class EstimatorOptions:
    """Parameters of the estimator."""

    rules: Annotated[_Count, typer.Option("--rules", help="Largest number of rules, leaves or rounds.", min=1)] = None
    literals: Annotated[
        int | None, typer.Option("--literals", help="Largest number of conditions in a rule.", min=1)
    ] = None
    compact: Annotated[
        bool, typer.Option("--compact", help="A short list to read: ten rules of at most two conditions.")
    ] = False
    points: Annotated[
        int | None, optional("--points", "A point card: five conditions with at most this many points each.", min=1)
    ] = None
    monotone: Annotated[
        str, optional("--monotone", "Columns with which the probability may only rise or fall: age:+,debt:-.")
    ] = ""
    settings: Annotated[list[str] | None, optional("--set", "Any other parameter of the estimator: name=value.")] = None
    seed: Seed = 0
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Threads; -1 for all. The model does not depend on it.")] = 1


def ungrouped(command: Callable[..., None]) -> Callable[..., None]:
    """A verb with groups of options, as typer needs it: a parameter of a dataclass becomes one for each field."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    parameters: list[Parameter] = []
    for name, parameter in signature(command).parameters.items():
        if name not in groups:
            parameters.append(parameter.replace(annotation=hints[name], kind=Parameter.KEYWORD_ONLY))
            continue
        kinds = get_type_hints(groups[name], include_extras=True)
        parameters += [
            Parameter(field.name, Parameter.KEYWORD_ONLY, default=field.default, annotation=kinds[field.name])
            for field in fields(groups[name])
        ]

    @wraps(command)
    def call(**given: Any) -> None:
        made = {
            name: kind(**{field.name: given.pop(field.name) for field in fields(kind)}) for name, kind in groups.items()
        }
        command(**given, **made)

    call.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return call
