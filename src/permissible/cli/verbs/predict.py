"""`permissible predict`: predict the rows of a file, as a stream: memory does not grow with the file."""

from pathlib import Path
from typing import Annotated, Any

import typer

from permissible.cli import options


def command(
    model: options.Model,
    data: options.Data,
    *,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="CSV, Parquet or Arrow; the terminal unless given.", show_default=False),
    ] = None,
    keep: Annotated[
        str, typer.Option("--keep", help="Columns of DATA to copy to the output: a,b.", show_default=False)
    ] = "",
    file: options.FileOptions,
    json: options.Json = False,
) -> None:
    """Write the prediction, the probabilities and the decision for every row of a file.

    Columns are found by name; others are ignored. Rows stream, so the file may be larger than memory.

    Example: permissible predict model.json new-patients.csv -o predictions.csv --keep patient_id
    """
    from permissible.cli import show
    from permissible.cli.io.loading import load_model, schema_of
    from permissible.cli.io.notices import Notices
    from permissible.cli.io.rows import chunks_of, open_file
    from permissible.cli.io.writing import is_standard_output, open_output

    fitted = load_model(model)
    kept = options.listed(keep) or [name for name in _identifiers(fitted) if name in open_file(data, file).names]
    n_rows, notices = 0, Notices(schema_of(fitted))
    with show.progress("rows", json or output is None) as tick, open_output(output) as write:
        for asked, extra in chunks_of(data, file, schema_of(fitted), dict.fromkeys(kept, "text")):
            with notices.chunk(asked):
                answered = answers(fitted, asked)
            write({**extra, **answered})
            n_rows += len(next(iter(asked.values())))
            tick(n_rows)
    notices.tell()
    if output is None or is_standard_output(output):
        return
    if json:
        show.as_json({"rows": n_rows, "output": str(output), "columns": [*kept, *answer_names(fitted)]})
    else:
        show.say(f"{show.many(n_rows, 'row')} {'is' if n_rows == 1 else 'are'} in {output}.")


def _identifiers(fitted: Any) -> list[str]:
    return list(getattr(fitted, "notes_", {}).get("id", []))


def answer_names(fitted: Any) -> list[str]:
    """The columns of the answer."""
    names = ["prediction", *(f"probability_{label}" for label in fitted.classes_.tolist())]
    return [*names, "decision"] if getattr(fitted, "decision_", None) is not None else names


def answers(fitted: Any, asked: Any) -> dict[str, Any]:
    """Prediction, probabilities and, where the model has one, the decision of each row."""
    import numpy as np

    proba = fitted.predict_proba(asked)
    predicted = fitted.predict(asked)
    found = dict(zip(answer_names(fitted), [predicted, *proba.T], strict=False))
    decision = getattr(fitted, "decision_", None)
    if decision is not None:
        found["decision"] = _spoken(decision, decision.decide(proba), fitted.classes_)
    return {name: np.asarray(values) for name, values in found.items()}


def _spoken(decision: Any, actions: Any, classes: Any) -> Any:
    """Class labels, "reject", or the number of a risk group."""
    import numpy as np

    from permissible.decisions import Boundaries, Soft

    if isinstance(decision, Boundaries | Soft):
        return actions
    words = np.array([*map(str, classes.tolist()), "reject"], dtype=object)
    return words[actions]
