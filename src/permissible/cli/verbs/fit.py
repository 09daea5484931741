"""`permissible fit`: learn a model from a file."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from permissible.cli import options
from permissible.cli.errors import UseError


def command(
    data: options.Data,
    target: options.Target,
    *,
    model: Annotated[
        str, typer.Option("--model", "-m", help="uls (rules), trees, udt (one tree), boundary or mcboost.")
    ] = "uls",
    loss: Annotated[
        str | None, typer.Option("--loss", help="logistic, matsushita, ...; auto.", show_default=False)
    ] = None,
    given: options.EstimatorOptions,
    deciding: options.DecisionOptions,
    cv: options.Folds = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the model here.", show_default=False)
    ] = None,
    report: Annotated[
        Path | None, typer.Option("--report", help="Write an HTML report here.", show_default=False)
    ] = None,
    columns: options.ColumnOptions,
    file: options.FileOptions,
    out_of_core: Annotated[
        Path | None,
        typer.Option(
            "--out-of-core",
            help="Bin the file into this folder and learn from there, block by block.",
            show_default=False,
        ),
    ] = None,
    json: options.Json = False,
) -> None:
    """Learn a model from a file, print it in words, and write it to a file.

    Example: permissible fit patients.csv --target outcome --compact --cv 10 -o model.json --report report.html
    """
    from permissible.cli.io.model_options import ModelOptions, decision_of
    from permissible.cli.io.rows import training_file

    asked = ModelOptions(model, loss, given, deciding, tuple(options.listed(columns.categorical)))
    decision_of(deciding)  # errors in these options are reported before the file is read
    places = Places(data, target, output, report, json)
    if out_of_core is not None:
        from permissible.cli.io.out_of_core import learn_from_folder

        in_memory = {"--cv": cv, "--report": report, "--delimiter": file.delimiter, "--no-header": file.no_header}
        in_memory["--missing"] = file.missing
        refused = [name for name, value in in_memory.items() if value]
        if refused:
            raise UseError(
                f"--out-of-core reads the file block by block and takes no {', '.join(refused)}; leave it out."
            )
        learn_from_folder(asked, places, out_of_core, columns)
        return
    rows = training_file(data, file, target, columns)
    _learn(asked, places, rows, cv, options.listed(columns.id_columns))


@dataclass(frozen=True, slots=True)
class Places:
    """What to learn from, and where the results go."""

    data: Path
    target: str
    output: Path | None
    report: Path | None
    json: bool


def _learn(asked: Any, places: Places, rows: Any, cv: int | None, ids: list[str]) -> None:
    import numpy as np

    from permissible.cli import show
    from permissible.cli.io.model_options import decision_of
    from permissible.cli.io.rows import check_folds
    from permissible.estimators.files.save_load import save
    from permissible.evaluation.cross_validation import cross_validate, fit
    from permissible.evaluation.metrics import metrics

    classes = np.unique(rows.y)
    decision = decision_of(asked.deciding, classes)
    if cv:
        check_folds(rows, cv)
    if not places.json:
        show.say(show.size_of(places.data.name, len(rows.y), len(rows.X), rows.target, len(classes)))
        show.columns(rows.kinds)
    make = partial(asked.estimator, classes)
    with show.progress("learning", places.json) as tick:
        fitted = fit(make(), rows.X, rows.y, rows.weight)
        figures = cross_validate(rows, make, decision, cv, asked.given.seed, tick) if cv else []
    fitted.decision_, fitted.notes_ = decision, {"target": rows.target, "source": places.data.name, "id": ids}
    codes = np.searchsorted(classes, rows.y)
    trained = metrics(codes, fitted.predict_proba(rows.X), decision, rows.weight)
    if places.output is not None:
        save(fitted, places.output)
    if places.report is not None:
        from permissible.report import write_report

        about = {"sample_weight": rows.weight, "folds": figures, "title": places.data.name}
        write_report(fitted, rows.X, rows.y, places.report, **about)
    if places.json:
        show.as_json(_machine(fitted, rows, trained, figures, places))
        return
    show.say()
    show.say(fitted.to_text())
    show.say()
    _print_figures(trained, figures, cv)
    for what, path in (("model", places.output), ("report", places.report)):
        if path is not None:
            show.say(f"The {what} is in {path}.")


def _print_figures(trained: list[Any], figures: list[Any], cv: int | None) -> None:
    from permissible.cli import show

    if figures:
        rows = [
            [figure.name, f"{figure.mean:.4f}", f"{figure.spread:.4f}", f"{metric.value:.4f}"]
            for figure, metric in zip(figures, trained, strict=True)
        ]
        show.table(f"{cv}-fold cross-validation", ["", "mean", "s.d.", "on the training rows"], rows, right=(1, 2, 3))
    else:
        rows = [[metric.name, f"{metric.value:.4f}"] for metric in trained]
        show.table("On the training rows (--cv 10 gives an honest estimate)", ["", "mean"], rows, right=(1,))


def _machine(fitted: Any, rows: Any, trained: list[Any], figures: list[Any], places: Places) -> dict[str, Any]:
    return {
        "estimator": type(fitted).__name__,
        "classes": fitted.classes_,
        "rows": len(rows.y),
        "columns": rows.kinds,
        "training": {metric.key: metric.value for metric in trained},
        "cross_validation": {
            figure.key: {"mean": figure.mean, "sd": figure.spread, "folds": list(figure.values)} for figure in figures
        },
        "text": fitted.to_text(),
        "model": None if places.output is None else str(places.output),
        "report": None if places.report is None else str(places.report),
    }
