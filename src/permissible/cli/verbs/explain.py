"""`permissible explain`: a model in words, or the explanation of one row."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from permissible.cli import options

if TYPE_CHECKING:
    from permissible.estimators.classifier import Classifier
    from permissible.types import AnyArray

MOST_VALUES = 12
_ANSWER = {True: "yes", False: "no", None: ""}


def command(
    model: options.Model,
    data: Annotated[Path | None, typer.Argument(help="Rows to explain.", show_default=False)] = None,
    *,
    row: Annotated[int, typer.Option("--row", "-r", help="Which row of DATA, counted from 1.", min=1)] = 1,
    file: options.FileOptions,
    json: options.Json = False,
) -> None:
    """Print a model in words; with DATA, what each of its terms adds for one row.

    Example: permissible explain model.json patients.csv --row 17
    """
    from permissible.cli import show
    from permissible.cli.io.rows import load_model

    fitted = load_model(model)
    if data is None:
        if json:
            show.as_json({"estimator": type(fitted).__name__, "classes": fitted.classes_, "text": fitted.to_text()})
        else:
            show.say(fitted.to_text())
        return
    asked = one_row(fitted, data, row, file)
    found = _explained(fitted, asked, row)
    if json:
        show.as_json(found)
        return
    show.say(f"row {row} of {data.name}: {_values(found['values'])}")
    shown = [term for term in found["terms"] if any(term["adds"])]
    answers = any(term["holds"] is False for term in shown)  # the column is left out where every term holds
    terms = [
        [term["words"], *([_ANSWER[term["holds"]]] if answers else []), *(f"{value:+.4f}" for value in term["adds"])]
        for term in shown
    ]
    names = ["adds to the score"] if len(found["scores"]) == 1 else [f"adds to {label}" for label in found["classes"]]
    head = ["", *(["holds"] if answers else [])]
    show.table("", [*head, *names], terms, right=range(len(head), len(head) + len(names)))
    shares = zip(found["classes"], found["probabilities"], strict=True)
    show.say(
        "probability "
        + ", ".join(f"{label} {share:.4f}" for label, share in shares)
        + f"; prediction {found['prediction']}"
        + (f"; decision {found['decision']}" if "decision" in found else "")
    )


def one_row(fitted: "Classifier", data: Path, row: int, file_options: options.FileOptions) -> "dict[str, AnyArray]":
    """One row of a file, in the terms of the model's columns."""
    from permissible.cli.errors import UseError
    from permissible.cli.io.rows import chunks_of

    seen = 0
    for asked, _ in chunks_of(data, file_options, fitted, {}):
        n_rows = len(next(iter(asked.values())))
        if row <= seen + n_rows:
            return {name: values[row - seen - 1 : row - seen] for name, values in asked.items()}
        seen += n_rows
    raise UseError(f"--row must be at most {seen}, the number of rows in {data}, got {row}.")


def _values(values: dict[str, object]) -> str:
    """The first values of a row; the others are counted."""
    from permissible.bins.describe import number

    def worded(value: object) -> str:
        if value is None or value != value:
            return "missing"
        return number(float(value)) if isinstance(value, float) else str(value)

    first = ", ".join(f"{name} = {worded(value)}" for name, value in list(values.items())[:MOST_VALUES])
    return first + (f" and {len(values) - MOST_VALUES} more" if len(values) > MOST_VALUES else "")


def _explained(fitted: "Classifier", asked: "dict[str, AnyArray]", row: int) -> dict[str, Any]:
    from permissible.cli.verbs.predict import answers

    found = fitted.explain(asked)[0]
    terms: list[dict[str, object]] = [{"words": "always", "holds": True, "adds": list(found.start)}]
    terms += [{"words": step.words, "holds": step.holds, "adds": list(step.adds)} for step in found.steps]
    answered = answers(fitted, asked, getattr(fitted, "decision_", None))
    decided = {"decision": answered["decision"].tolist()[0]} if "decision" in answered else {}
    return {
        "row": row,
        "values": {name: values[0] for name, values in asked.items()},
        "terms": terms,
        "scores": list(found.scores),
        "classes": list(found.classes),
        "probabilities": list(found.probability),
        "prediction": answered["prediction"].tolist()[0],
        **decided,
    }
