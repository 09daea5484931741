"""The options that several verbs share, each written once."""

from pathlib import Path
from typing import Annotated, TypeAlias

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
    str, typer.Option("--id", help="Columns that identify a row: never learnt from.", show_default=False)
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
Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Seed: TypeAlias = Annotated[int, typer.Option("--seed", help="Of every random choice.", min=0)]
Jobs: TypeAlias = Annotated[
    int, typer.Option("--jobs", "-j", help="Threads; -1 for all. The model does not depend on it.")
]
Folds: TypeAlias = Annotated[
    int | None, typer.Option("--cv", help="Cross-validate with so many stratified folds.", min=2)
]
Rules: TypeAlias = Annotated[
    int | None, typer.Option("--rules", help="At most so many rules, leaves or rounds.", min=1)
]
Literals: TypeAlias = Annotated[
    int | None, typer.Option("--literals", help="At most so many conditions a rule.", min=1)
]
Compact: TypeAlias = Annotated[
    bool, typer.Option("--compact", help="A short list to read: ten rules of at most two conditions.")
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
