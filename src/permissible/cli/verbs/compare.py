"""`permissible compare`: several losses or models on the same folds of one file, with paired tests and ranks."""

from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from permissible.cli import options

if TYPE_CHECKING:
    from permissible.cli.io.model_options import ModelOptions
    from permissible.cli.io.rows import TrainingFile


def command(
    data: options.Data,
    target: options.Target,
    *,
    models: Annotated[str, typer.Option("--models", "-m", help="uls, trees, udt, boundary, mcboost: a,b.")] = "uls",
    losses: Annotated[str, options.optional("--losses", "Losses to try with each model: a,b.")] = "",
    given: options.EstimatorOptions,
    deciding: options.DecisionOptions,
    cv: Annotated[int, typer.Option("--cv", help="Stratified folds.", min=2)] = 10,
    columns: options.ColumnOptions,
    file: options.FileOptions,
    json: options.Json = False,
) -> None:
    """Compare losses and models on the same folds: errors, log-losses, costs, margins, ranks and paired tests.

    Example: permissible compare patients.csv --target outcome --losses logistic,matsushita,squared --cv 10
    """
    from permissible.cli import show
    from permissible.cli.io.model_options import ModelOptions
    from permissible.cli.io.rows import check_folds, training_file

    rows = training_file(data, file, target, columns)
    check_folds(rows, cv)
    categorical = tuple(options.listed(columns.categorical))
    contenders = {
        f"{model} {loss or ''}".strip(): ModelOptions(model, loss, given, deciding, categorical)
        for model in options.listed(models)
        for loss in cast("list[str | None]", options.listed(losses) or [None])
    }
    found = _compared(rows, contenders, cv, given.seed, json)
    if json:
        show.as_json(found)
    else:
        _print(found, data.name, cv)


def _compared(
    rows: "TrainingFile", contenders: "dict[str, ModelOptions]", cv: int, seed: int, quiet: bool
) -> dict[str, Any]:
    from functools import partial

    import numpy as np

    from permissible.cli import show
    from permissible.cli.errors import UseError
    from permissible.cli.io.judging import baseline
    from permissible.cli.io.model_options import decision_of, positional
    from permissible.evaluation.cross_validation import Figure, fold_figures, out_of_fold
    from permissible.evaluation.paired import average_ranks, paired_t

    classes = rows.classes
    figures: dict[str, list[Figure]] = {}
    left_out: dict[str, str] = {}
    with show.progress("comparing", quiet) as tick:
        for done, (name, contender) in enumerate(contenders.items()):
            tick(done, len(contenders))
            decision = decision_of(contender.deciding, classes)
            acting = positional(decision) if rows.coded else decision
            make = partial(contender.estimator, classes)
            make()  # a wrong option concerns all of them, and is refused
            try:
                figures[name] = fold_figures(rows, acting, *out_of_fold(rows, make, cv, seed))
            except (ValueError, TypeError) as error:
                left_out[name] = " ".join(str(error).split())
    if not figures:
        raise UseError(f"no model can take these rows: {'; '.join(f'{who}: {why}' for who, why in left_out.items())}")
    decision = decision_of(next(iter(contenders.values())).deciding, classes)
    constant = baseline(rows.codes, len(classes), positional(decision) if rows.coded else decision, rows.weight)
    table = np.array([next(f.values for f in found if f.key == "error") for found in figures.values()]).T
    ranks = average_ranks(table) if len(figures) > 1 else [1.0]
    best = int(np.argmin(table.mean(axis=0)))
    return {
        "folds": cv,
        "best": list(figures)[best],
        "left_out": left_out,
        "without_a_model": {metric.key: metric.value for metric in constant},
        "contenders": {
            name: {
                **{figure.key: {"mean": figure.mean, "sd": figure.spread, "folds": figure.values} for figure in found},
                "rank": float(ranks[place]),
                "p_value_against_best": None if place == best else paired_t(table[:, place], table[:, best]).p_value,
            }
            for place, (name, found) in enumerate(figures.items())
        },
    }


def _print(found: dict[str, Any], name: str, cv: int) -> None:
    from permissible.cli import show

    first = next(iter(found["contenders"].values()))
    keys = [key for key, value in first.items() if isinstance(value, dict)]
    titles = {"error": "error", "log_loss": "log-loss", "brier": "Brier score", "cost": "cost", "margin": "mean margin"}
    lines = []
    for who, values in found["contenders"].items():
        p_value = values["p_value_against_best"]
        shown = [f"{values[key]['mean']:.4f} ± {values[key]['sd']:.4f}" for key in keys]
        lines.append([who, *shown, f"{values['rank']:.2f}", "best" if p_value is None else f"{p_value:.3f}"])
    lines.append(["without a model", *(f"{found['without_a_model'][key]:.4f}" for key in keys), "", ""])
    header = ["", *(titles[key] for key in keys), "rank", "P (error, paired t)"]
    show.table(f"{name}: {cv} stratified folds, mean ± s.d.", header, lines, right=range(1, len(header)))
    for who, why in found["left_out"].items():
        show.say(f"{who} is left out: {why}")
