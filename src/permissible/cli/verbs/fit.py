"""`permissible fit`: learn a model from a file."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from permissible.cli import options
from permissible.cli.errors import UseError

if TYPE_CHECKING:
    from permissible.cli.io.model_options import ModelOptions
    from permissible.cli.io.rows import TrainingFile
    from permissible.estimators.classifier import Classifier
    from permissible.evaluation.cross_validation import Figure
    from permissible.evaluation.metrics import Metric


def command(
    data: options.Data,
    target: options.Target,
    *,
    model: Annotated[
        str, typer.Option("--model", "-m", help="uls (rules), trees, udt (one tree), boundary or mcboost.")
    ] = "uls",
    loss: Annotated[str | None, options.optional("--loss", "logistic, matsushita, ...; auto.")] = None,
    given: options.EstimatorOptions,
    deciding: options.DecisionOptions,
    cv: options.Folds = None,
    output: Annotated[Path | None, options.optional("--output", "Write the model here.", "-o")] = None,
    report: Annotated[Path | None, options.optional("--report", "Write an HTML report here.")] = None,
    columns: options.ColumnOptions,
    file: options.FileOptions,
    out_of_core: Annotated[
        Path | None,
        options.optional("--out-of-core", "Bin the file into this folder and learn from there, block by block."),
    ] = None,
    json: options.Json = False,
) -> None:
    """Learn a model from a file, print it in words, and write it to a file.

    Example: permissible fit patients.csv --target outcome --compact --cv 10 -o model.json --report report.html
    """
    from permissible.cli.io.model_options import ModelOptions, decision_of
    from permissible.cli.io.rows import training_file
    from permissible.cli.io.writing import needs_report

    needs_report(report)
    asked = ModelOptions(model, loss, given, deciding, tuple(options.listed(columns.categorical)))
    decision_of(deciding)  # errors in these options are reported before the file is read
    places = Places(data, target, output, report, json)
    if out_of_core is not None:
        in_memory = {"--cv": cv, "--report": report, "--delimiter": file.delimiter, "--no-header": file.no_header}
        in_memory |= {"--missing": file.missing, "--decimal": file.decimal, "--encoding": file.encoding}
        in_memory |= {"--dates": file.dates != "auto", "--positive": columns.positive}
        refused = [name for name, value in in_memory.items() if value]
        if refused:
            raise UseError(
                f"--out-of-core reads the file block by block and takes no {', '.join(refused)}; leave it out."
            )
        _learn_from_folder(asked, places, out_of_core, columns)
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


def _learn(asked: "ModelOptions", places: Places, rows: "TrainingFile", cv: int | None, ids: list[str]) -> None:
    from permissible.cli import show
    from permissible.cli.io.columns import ranges
    from permissible.cli.io.judging import base_rates, baseline, rates
    from permissible.cli.io.model_options import decision_of, positional
    from permissible.cli.io.rows import check_folds
    from permissible.estimators.files.save_load import save
    from permissible.evaluation.cross_validation import fit, fold_figures, out_of_fold
    from permissible.evaluation.metrics import metrics

    classes = rows.classes
    decision = decision_of(asked.deciding, classes)
    if cv:
        check_folds(rows, cv)
    if not places.json:
        show.say(show.size_of(places.data.name, len(rows.y), len(rows.X), rows.target, len(classes)))
        show.say("  " + base_rates(classes.tolist(), rows.codes, rows.weight))
        show.columns(rows.reading.shown)
    make = partial(asked.estimator, classes)
    with show.progress("learning", places.json) as tick:
        fitted = rows.named(fit(make(), rows.X, rows.y, rows.weight))
        held_out = out_of_fold(rows, make, cv, asked.given.seed, tick) if cv else None
    acting = positional(decision) if rows.coded else decision
    figures = fold_figures(rows, acting, *held_out) if held_out else []
    fitted.decision_ = decision
    fitted.notes_ = {"target": rows.target, "source": places.data.name, "id": [*ids, *rows.reading.names]}
    fitted.notes_ |= {"notations": rows.reading.notations, "ranges": ranges([rows.X], asked.categorical)}
    proba = fitted.predict_proba(rows.X)
    unseen = held_out[0] if held_out else proba
    judged = FitFigures(
        metrics(rows.codes, proba, acting, rows.weight),
        baseline(rows.codes, len(classes), acting, rows.weight),
        figures,
        rates(rows.codes, unseen, acting, rows.weight),
    )
    if places.output is not None:
        save(fitted, places.output)
    if places.report is not None:
        from permissible.report import write_report

        how = f": {cv}-fold cross-validation, each row by a model that has not seen it" if cv else ""
        title = f"{places.data.name}{how}"
        write_report(
            fitted,
            rows.X,
            rows.labels,
            places.report,
            sample_weight=rows.weight,
            title=title,
            folds=figures,
            proba=unseen,
        )
    if places.json:
        show.as_json(_machine(fitted, rows, judged, places))
        return
    judged.show(fitted, cv)
    for what, path in (("model", places.output), ("report", places.report)):
        if path is not None:
            show.say(f"The {what} is in {path}.")


def _learn_from_folder(asked: "ModelOptions", places: Places, folder: Path, columns: options.ColumnOptions) -> None:
    """Bin, learn, print in words, write to a file.

    Columns, kinds and classes are those of a fit in memory, so the model file is identical.
    """
    from permissible.cli import show
    from permissible.cli.io.columns import identifiers, kinds_shown, may_identify, ranges, refuse_notations
    from permissible.cli.io.model_options import decision_of
    from permissible.cli.io.rows import features_of, open_file
    from permissible.distributed.data.dataset import BinnedDataset
    from permissible.estimators.files.save_load import save

    data, target, categorical = places.data, places.target, asked.categorical
    linear = asked.model == "boundary" or getattr(asked.estimator(), "learner", None) == "linear"
    source = open_file(data, options.FileOptions())
    features = features_of(source, data, target, columns)
    kinds = source.kinds()
    with show.progress("binning", places.json):
        texts = {name: kinds[name] for name in features if may_identify(name, kinds[name])}
        refuse_notations(source, features, kinds, categorical)
        names = identifiers(
            source.chunks(texts) if texts else [], features, kinds, (*categorical, *options.listed(columns.numeric))
        )
        dataset = BinnedDataset.from_parquet(
            data,
            target=target,
            weight=columns.weight,
            drop=[*columns.left_out, *names],
            categorical_features=categorical,
            directory=folder,
            seed=asked.given.seed,
            keep_values=linear,
        )
    classes = dataset.classes
    numeric = {name: kinds[name] for name in features if kinds[name] in ("number", "integer") and name not in names}
    if not places.json:
        show.say(show.size_of(data.name, dataset.n_rows, len(dataset.schema.columns), target, len(classes)))
        show.columns(kinds_shown(features, kinds, categorical, names))
    with show.progress("learning", places.json):
        estimator = asked.estimator(classes)
        if categorical:
            # The data set has its categories, so `fit` gets none; the model file keeps the option.
            fitted = (
                estimator.set_params(categorical_features=None)
                .fit(dataset)
                .set_params(categorical_features=[*categorical])
            )
        else:
            fitted = estimator.fit(dataset)
    fitted.decision_ = decision_of(asked.deciding, classes)
    fitted.notes_ = {"target": target, "source": data.name, "id": [*options.listed(columns.id_columns), *names]}
    fitted.notes_ |= {"notations": {}, "ranges": ranges(source.chunks(numeric), categorical)}
    if places.output is not None:
        save(fitted, places.output)
    text, output = fitted.to_text(), None if places.output is None else str(places.output)
    if places.json:
        found = {"estimator": type(fitted).__name__, "classes": classes, "rows": dataset.n_rows, "text": text}
        show.as_json({**found, "model": output, "folder": str(folder)})
        return
    show.say(f"\n{text}\n\nThe binned rows are in {folder}.")
    if output is not None:
        show.say(f"The model is in {output}.")


@dataclass(frozen=True, slots=True)
class FitFigures:
    """How good the fit is: on the training rows, over the folds where there are some, and without a model.

    The rates are those of the held-out probabilities where there are some.
    """

    trained: "list[Metric]"
    baseline: "list[Metric]"
    figures: "list[Figure]"
    rates: dict[str, float]

    def show(self, fitted: "Classifier", cv: int | None) -> None:
        """Print the model, the table and the rates."""
        from permissible.cli import show
        from permissible.cli.io.judging import BASELINE

        show.say()
        for sentence in _chosen_loss(fitted):
            show.say(sentence)
        show.say(f"{fitted.to_text()}\n")
        constant = [f"{metric.value:.4f}" for metric in self.baseline]
        if self.figures:
            lines = [
                [figure.name, f"{figure.mean:.4f}", f"{figure.spread:.4f}", f"{metric.value:.4f}", without]
                for figure, metric, without in zip(self.figures, self.trained, constant, strict=True)
            ]
            head = ["", "mean", "s.d.", "on the training rows", "without a model"]
            show.table(f"{cv}-fold cross-validation", head, lines, right=(1, 2, 3, 4))
        else:
            lines = [[m.name, f"{m.value:.4f}", without] for m, without in zip(self.trained, constant, strict=True)]
            head = ["", "mean", "without a model"]
            show.table("On the training rows (--cv 10 gives an honest estimate)", head, lines, right=(1, 2))
        if self.rates:
            told = ", ".join(f"{name} {value:.3f}" for name, value in self.rates.items())
            show.say(f"{told} ({'over the folds' if self.figures else 'on the training rows'})")
        show.say(f"({BASELINE})")


def _chosen_loss(fitted: "Classifier") -> list[str]:
    """Which loss `auto` chose and why, one sentence a choice."""
    from permissible.learners.uls.flavours import LossEvidence

    found = getattr(fitted, "loss_evidence_", None)
    if isinstance(found, LossEvidence):
        each = {"": found}
    else:
        each = {f" of {label}": one for label, one in zip(fitted.classes_, found or (), strict=bool(found))}
    said = []
    for whose, evidence in each.items():
        table = evidence.table()
        means = ", ".join(f"{name} {mean:.4f}" for name, mean in zip(table["loss"], table["log_loss"], strict=True))
        said.append(f"auto chose the loss {evidence.chosen}{whose} by its log-loss on held-out folds: {means}.")
    return said


def _machine(fitted: "Classifier", rows: "TrainingFile", judged: FitFigures, places: Places) -> dict[str, object]:
    return {
        "estimator": type(fitted).__name__,
        "classes": fitted.classes_,
        "rows": len(rows.y),
        "columns": rows.reading.shown,
        "loss": _chosen_loss(fitted) or None,
        "training": {metric.key: metric.value for metric in judged.trained},
        "baseline": {metric.key: metric.value for metric in judged.baseline},
        "rates": judged.rates,
        "cross_validation": {
            figure.key: {"mean": figure.mean, "sd": figure.spread, "folds": list(figure.values)}
            for figure in judged.figures
        },
        "text": fitted.to_text(),
        "model": None if places.output is None else str(places.output),
        "report": None if places.report is None else str(places.report),
    }
