"""The options that several verbs share, each written once, and their groups."""

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, TypeAlias, get_type_hints

import typer

Data: TypeAlias = Annotated[
    Path, typer.Argument(help="Rows: CSV (also .gz), Parquet, Arrow or ARFF.", show_default=False)
]
Model: TypeAlias = Annotated[
    Path, typer.Argument(help="A model file written by `permissible fit`.", show_default=False)
]
Target: TypeAlias = Annotated[str, typer.Option("--target", "-t", help="The column to predict.", show_default=False)]
MaybeTarget: TypeAlias = Annotated[
    str | None,
    typer.Option("--target", "-t", help="The column with the truth; that of `fit` unless given.", show_default=False),
]
Categorical: TypeAlias = Annotated[
    str, typer.Option("--categorical", help="Columns of numbers that are names of groups: a,b,c.", show_default=False)
]
Drop: TypeAlias = Annotated[str, typer.Option("--drop", help="Columns to leave out: a,b,c.", show_default=False)]
Id: TypeAlias = Annotated[
    str, typer.Option("--id", help="Columns that identify a row; not used as features.", show_default=False)
]
Weight: TypeAlias = Annotated[
    str | None, typer.Option("--weight", help="The column of row weights.", show_default=False)
]
Delimiter: TypeAlias = Annotated[
    str | None,
    typer.Option("--delimiter", help="Of a CSV file; found from its first lines unless given.", show_default=False),
]
NoHeader: TypeAlias = Annotated[bool, typer.Option("--no-header", help="The CSV file has no first line with names.")]
Missing: TypeAlias = Annotated[
    str | None,
    typer.Option("--missing", help="Cells that mean missing: a,b. (empty, ?, NA, NaN, null)", show_default=False),
]
Decimal: TypeAlias = Annotated[
    str | None,
    typer.Option("--decimal", help="The decimal sign, . or , where it is not clear by itself.", show_default=False),
]
Encoding: TypeAlias = Annotated[
    str | None,
    typer.Option("--encoding", help="Of a CSV file, such as latin-1; UTF-8 unless given.", show_default=False),
]
Dates: TypeAlias = Annotated[
    str, typer.Option("--dates", help="auto, day-first, month-first, or text (leave them as categories).")
]
Numeric: TypeAlias = Annotated[
    str,
    typer.Option(
        "--numeric", help="Columns of numbers to learn from though they look like ids: a,b.", show_default=False
    ),
]
Positive: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--positive", help="The label whose probability is shown; the last in order unless given.", show_default=False
    ),
]
Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Seed: TypeAlias = Annotated[int, typer.Option("--seed", help="Of every random choice.", min=0)]
Jobs: TypeAlias = Annotated[
    int, typer.Option("--jobs", "-j", help="Threads; -1 for all. The model does not depend on it.")
]
Folds: TypeAlias = Annotated[
    int | None, typer.Option("--cv", help="Cross-validate with this many stratified folds.", min=2)
]
Rules: TypeAlias = Annotated[
    int | None, typer.Option("--rules", help="Largest number of rules, leaves or rounds.", min=1)
]
Literals: TypeAlias = Annotated[
    int | None, typer.Option("--literals", help="Largest number of conditions in a rule.", min=1)
]
Compact: TypeAlias = Annotated[
    bool, typer.Option("--compact", help="A short list to read: ten rules of at most two conditions.")
]
Points: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--points", help="A point card: five conditions with at most this many points each.", min=1, show_default=False
    ),
]
Monotone: TypeAlias = Annotated[
    str,
    typer.Option(
        "--monotone", help="Columns with which the probability may only rise or fall: age:+,debt:-.", show_default=False
    ),
]
Boundaries: TypeAlias = Annotated[
    str | None,
    typer.Option("--boundaries", help="Probabilities that part risk groups: .25,.5,.75.", show_default=False),
]
RejectCost: TypeAlias = Annotated[
    float | None,
    typer.Option("--reject-cost", help="What 'I don't know' costs; a mistake costs 1.", show_default=False),
]
CostFile: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--cost-matrix", help="CSV: header = predicted classes, first column = true ones.", show_default=False
    ),
]
Set: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--set", help="Any other parameter of the estimator: name=value.", show_default=False),
]


def listed(text: str | None) -> list[str]:
    """The names in a comma-separated option."""
    return [name.strip() for name in (text or "").split(",") if name.strip()]


@dataclass(frozen=True, slots=True)
class FileOptions:
    """How to read a file."""

    delimiter: Delimiter = None
    no_header: NoHeader = False
    missing: Missing = None
    decimal: Decimal = None
    encoding: Encoding = None
    dates: Dates = "auto"


@dataclass(frozen=True, slots=True)
class ColumnOptions:
    """Which columns of a file to learn from, and how."""

    categorical: Categorical = ""
    drop: Drop = ""
    id_columns: Id = ""
    weight: Weight = None
    numeric: Numeric = ""
    positive: Positive = None

    @property
    def left_out(self) -> list[str]:
        """The columns that are not used as features."""
        return [*listed(self.drop), *listed(self.id_columns)]


@dataclass(frozen=True, slots=True)
class DecisionOptions:
    """What to decide."""

    boundaries: Boundaries = None
    reject_cost: RejectCost = None
    cost_matrix: CostFile = None


@dataclass(frozen=True, slots=True)
class EstimatorOptions:
    """Parameters of the estimator."""

    rules: Rules = None
    literals: Literals = None
    compact: Compact = False
    points: Points = None
    monotone: Monotone = ""
    settings: Set = None
    seed: Seed = 0
    jobs: Jobs = 1


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
