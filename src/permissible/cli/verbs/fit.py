"""`permissible fit`: learn a model from a file."""

from pathlib import Path
from typing import Annotated, Any

import typer

from permissible.cli import options


def command(
    data: options.Data,
    target: options.Target,
    model: Annotated[str, typer.Option("--model", "-m", help="uls (rules), udt (tree), boundary or mcboost.")] = "uls",
    loss: Annotated[
        str | None, typer.Option("--loss", help="logistic, matsushita, ...; auto.", show_default=False)
    ] = None,
    rules: options.Rules = None,
    literals: options.Literals = None,
    compact: options.Compact = False,
    boundaries: options.Boundaries = None,
    reject_cost: options.RejectCost = None,
    cost_matrix: options.CostFile = None,
    cv: options.Folds = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the model here.", show_default=False)
    ] = None,
    report: Annotated[
        Path | None, typer.Option("--report", help="Write an HTML report here.", show_default=False)
    ] = None,
    categorical: options.Categorical = "",
    drop: options.Drop = "",
    id_columns: options.Id = "",
    weight: options.Weight = None,
    delimiter: options.Delimiter = None,
    no_header: options.NoHeader = False,
    missing: options.Missing = None,
    settings: options.Set = None,
    seed: options.Seed = 0,
    jobs: options.Jobs = 1,
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
    """Learn a model from a file, print it in words, and write it where asked.

    Example: permissible fit patients.csv --target outcome --compact --cv 10 -o model.json --report report.html
    """
    from permissible.cli.io.model_options import Learner
    from permissible.cli.io.rows import FileOptions, training_file

    chosen = tuple(settings or ()), tuple(options.listed(categorical))
    learner = Learner(model, loss, rules, literals, compact, boundaries, reject_cost, cost_matrix, seed, jobs, *chosen)
    decision = learner.decision()
    left_out = [*options.listed(drop), *options.listed(id_columns)]
    if out_of_core is not None:
        from permissible.cli.io.out_of_core import learn_from_folder

        wanted = {
            "--cv": cv,
            "--report": report,
            "--delimiter": delimiter,
            "--no-header": no_header,
            "--missing": missing,
        }
        learn_from_folder(
            learner, decision, data, out_of_core, target, weight, left_out, options.listed(id_columns), output, json,
            [name for name, value in wanted.items() if value],
        )  # fmt: skip
        return
    rows = training_file(
        data, FileOptions(delimiter, no_header, missing), target, options.listed(categorical), left_out, weight
    )
    _learn(learner, decision, rows, data, cv, output, report, options.listed(id_columns), json)


def _learn(
    learner: Any, decision: Any, rows: Any, data: Path, cv: int | None, output: Path | None, report: Path | None,
    ids: list[str], json: bool,
) -> None:  # fmt: skip
    import numpy as np

    from permissible.cli import show
    from permissible.cli.io.rows import check_folds
    from permissible.estimators.files.save_load import save
    from permissible.evaluation.cross_validation import cross_validate, fit
    from permissible.evaluation.metrics import metrics

    classes = np.unique(rows.y)
    if decision is not None:
        decision = aligned(decision, classes)
    if cv:
        check_folds(rows, cv)
    if not json:
        show.say(show.size_of(data.name, len(rows.y), len(rows.X), rows.target, len(classes)))
        show.columns(rows.kinds)
    with show.progress("learning", json) as tick:
        fitted = fit(learner.estimator(classes.tolist()), rows.X, rows.y, rows.weight)
        figures = []
        if cv:
            figures = cross_validate(
                rows, lambda: learner.estimator(classes.tolist()), decision, cv, learner.seed, tick
            )
    notes = {"target": rows.target, "source": data.name, "id": ids}
    fitted.decision_, fitted.notes_ = decision, notes
    codes = np.searchsorted(classes, rows.y)
    trained = metrics(codes, fitted.predict_proba(rows.X), decision, rows.weight)
    if output is not None:
        save(fitted, output)
    if report is not None:
        from permissible.report import write_report

        write_report(fitted, rows.X, rows.y, report, sample_weight=rows.weight, folds=figures, title=data.name)
    if json:
        show.as_json(_machine(fitted, rows, trained, figures, output, report))
        return
    show.say()
    show.say(fitted.to_text())
    show.say()
    _print_figures(trained, figures, cv)
    for what, path in (("model", output), ("report", report)):
        if path is not None:
            show.say(f"The {what} is in {path}.")


def aligned(decision: Any, classes: Any) -> Any:
    """The decision for these classes, or a sentence that says why it does not fit them."""
    from permissible.cli.errors import UseError
    from permissible.decisions import CostMatrix

    if isinstance(decision, CostMatrix) and decision.classes is not None:
        names = {str(name): name for name in classes.tolist()}
        spoken = [
            names.get(str(name), name) for name in decision.classes
        ]  # a CSV file holds text, labels may be numbers
        decision = CostMatrix(decision.matrix, decision.reject_cost, tuple(spoken))
    elif not isinstance(decision, CostMatrix) and len(classes) != 2:
        raise UseError(
            f"{type(decision).__name__.lower()} decisions need two classes, got {len(classes)}; use --cost-matrix."
        )
    try:
        return decision.aligned(classes)
    except ValueError as error:
        raise UseError(f"--cost-matrix does not fit the target: {error}") from None


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


def _machine(
    fitted: Any, rows: Any, trained: list[Any], figures: list[Any], output: Any, report: Any
) -> dict[str, Any]:
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
        "model": None if output is None else str(output),
        "report": None if report is None else str(report),
    }
