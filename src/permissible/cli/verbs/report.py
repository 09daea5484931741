"""`permissible report`: one HTML page that shows a model, how good it is, and what other decisions would cost."""

from pathlib import Path
from typing import Annotated

import typer

from permissible.cli import options


def command(
    model: options.Model,
    data: options.Data,
    *,
    target: options.MaybeTarget = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write the page.")] = Path("report.html"),
    compare: Annotated[
        list[Path] | None, options.optional("--compare", "Another model of the same classes, shown beside.")
    ] = None,
    positive: Annotated[
        str | None, options.optional("--positive", "The class to flag, of two; else the second in sorted order.")
    ] = None,
    title: Annotated[str | None, options.optional("--title", "Of the page.")] = None,
    file: options.FileOptions,
    json: options.Json = False,
) -> None:
    """Write a self-contained HTML page about a model on rows whose class is known; it opens without a network.

    Example: permissible report model.json test.csv --compare other.json -o report.html
    """
    import numpy as np

    from permissible.cli import show
    from permissible.cli.errors import UseError
    from permissible.cli.io.rows import chunks_of, codes_of, load_model, target_of
    from permissible.cli.io.writing import needs_report
    from permissible.report import write_report

    needs_report(output)
    models = [load_model(path) for path in (model, *(compare or ()))]
    fitted = models[0]
    name = target_of(fitted, target)
    X: dict[str, np.ndarray] = {}
    for path, one in zip((model, *(compare or ())), models, strict=True):
        if one.classes_.tolist() != fitted.classes_.tolist():
            raise UseError(
                f"{path} must have the classes of {model}, {fitted.classes_.tolist()}, got {one.classes_.tolist()}."
            )
        parts = list(chunks_of(data, file, one, {name: "text"}))
        if not parts:
            raise UseError(f"{data} must have at least one row, got none.")
        X = {key: np.concatenate([asked[key] for asked, _ in parts]) for key in parts[0][0]} | X
    y = fitted.classes_[codes_of(np.concatenate([extra[name] for _, extra in parts]), fitted.classes_, name, data)]
    known = {str(label): label for label in fitted.classes_.tolist()}
    if positive is not None and (positive not in known or len(known) != 2):
        raise UseError(f"--positive must be one of two classes, got {positive!r}; the model has {', '.join(known)}.")
    flagged = None if positive is None else known[positive]
    write_report(models if len(models) > 1 else fitted, X, y, output, title=title or data.name, pos_label=flagged)
    if json:
        show.as_json({"report": str(output), "rows": len(y)})
    else:
        show.say(f"The report is in {output}.")
