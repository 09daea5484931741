"""`permissible predict`: predict the rows of a file, as a stream: memory does not grow with the file."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from permissible.cli import options

if TYPE_CHECKING:
    from permissible.decisions import Decision
    from permissible.estimators.classifier import Classifier
    from permissible.types import AnyArray


def command(
    model: options.Model,
    data: options.Data,
    *,
    output: Annotated[
        Path | None, options.optional("--output", "CSV, Parquet or Arrow; the terminal unless given.", "-o")
    ] = None,
    keep: Annotated[str, options.optional("--keep", "Columns of DATA to copy to the output: a,b.")] = "",
    keep_all: Annotated[bool, typer.Option("--keep-all", help="Copy every column of DATA to the output.")] = False,
    reasons: Annotated[
        int | None, options.optional("--reasons", "Also the given number of reasons for each decision, as text.", min=1)
    ] = None,
    deciding: options.DecisionOptions,
    file: options.FileOptions,
    json: options.Json = False,
) -> None:
    """Write the prediction, the probabilities and the decision for every row of a file.

    Columns are found by name; others are ignored. Columns that identified the rows of `fit` are copied. Rows stream, so the
    file may be larger than memory. Another decision than the model's own can be asked for without fitting again.

    Example: permissible predict model.json new-patients.csv -o predictions.csv --keep patient_id --reject-cost 0.2
    """
    from permissible.cli import show
    from permissible.cli.io.model_options import decision_of
    from permissible.cli.io.notices import Notices
    from permissible.cli.io.rows import chunks_of, load_model, notes_of, open_file
    from permissible.cli.io.writing import is_standard_output, needs_table, open_output
    from permissible.estimators.classifier import schema_of
    from permissible.models.model import counted

    needs_table(output)
    fitted = load_model(model)
    asked_for = decision_of(deciding, fitted.classes_)
    decision = getattr(fitted, "decision_", None) if asked_for is None else asked_for
    notes, names = notes_of(fitted), open_file(data, file).names
    kept = [*names] if keep_all else options.listed(keep) or [name for name in notes.get("id", []) if name in names]
    answered = [*answer_names(fitted, decision), *reason_names(reasons)]
    clash = {name: f"input {name}" if name in answered else name for name in kept}
    n_rows, notices = 0, Notices(schema_of(fitted), notes.get("ranges"))
    with show.progress("rows", json or output is None) as tick, open_output(output, json) as write:
        for asked, extra in chunks_of(data, file, fitted, dict.fromkeys(kept, "text")):
            with notices.chunk(asked):
                found = {**answers(fitted, asked, decision), **reasoned(fitted, asked, decision, reasons)}
            write({**{clash[name]: values for name, values in extra.items()}, **found})
            n_rows += len(next(iter(asked.values())))
            tick(n_rows)
    notices.tell()
    if output is None or is_standard_output(output):
        return
    if json:
        show.as_json({"rows": n_rows, "output": str(output), "columns": [*clash.values(), *answered]})
    else:
        show.say(f"{counted(n_rows, 'row')} {'is' if n_rows == 1 else 'are'} in {output}.")


def answer_names(fitted: "Classifier", decision: "Decision | None") -> list[str]:
    """The columns of the answer."""
    names = ["prediction", *(f"probability_{label}" for label in fitted.classes_.tolist())]
    return [*names, "decision"] if decision is not None else names


def reason_names(reasons: int | None) -> list[str]:
    """The columns of the reasons."""
    return [f"reason_{place + 1}" for place in range(reasons or 0)]


def reasoned(
    fitted: "Classifier", asked: "dict[str, AnyArray]", decision: "Decision | None", reasons: int | None
) -> "dict[str, AnyArray]":
    """The principal reasons of each row, a column for each place; nothing where a row has fewer."""
    import numpy as np

    if reasons is None:
        return {}
    found = [[one.words for one in row.reasons] for row in fitted.reasons(asked, reasons, decision=decision)]
    padded = [[*row, *([None] * (reasons - len(row)))] for row in found]
    columns = zip(*padded, strict=True)
    return {name: np.array(values, dtype=object) for name, values in zip(reason_names(reasons), columns, strict=True)}


def answers(fitted: "Classifier", asked: "dict[str, AnyArray]", decision: "Decision | None") -> "dict[str, AnyArray]":
    """Prediction, probabilities and, where there is one, the decision of each row in words."""
    import numpy as np

    from permissible.decisions.words import worded

    proba = fitted.predict_proba(asked)
    predicted = fitted.predict(asked)
    found = dict(zip(answer_names(fitted, decision), [predicted, *proba.T], strict=False))
    if decision is not None:
        found["decision"] = worded(decision, np.asarray(decision.decide(proba)), fitted.classes_)
    return {name: np.asarray(values) for name, values in found.items()}
