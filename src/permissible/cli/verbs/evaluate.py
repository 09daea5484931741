"""`permissible evaluate`: how good a model is on rows whose class is known."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from permissible.cli import options

if TYPE_CHECKING:
    from permissible.decisions import Decision
    from permissible.estimators.classifier import Classifier
    from permissible.types import FloatArray, IntArray


def command(
    model: options.Model,
    data: options.Data,
    *,
    target: options.MaybeTarget = None,
    deciding: options.DecisionOptions,
    file: options.FileOptions,
    json: options.Json = False,
) -> None:
    """Print metrics, cost and calibration with 95 % intervals, the confusion matrix and the table of thresholds.

    Another decision than the model's own can be tried without fitting again.

    Example: permissible evaluate model.json test.csv --reject-cost 0.2
    """
    from permissible.cli import show
    from permissible.cli.io.judging import BASELINE
    from permissible.cli.io.model_options import decision_of
    from permissible.cli.io.rows import load_model, target_of
    from permissible.estimators.classifier import judged_by
    from permissible.models.model import counted

    fitted = load_model(model)
    asked = decision_of(deciding, fitted.classes_)
    decision = judged_by(fitted, asked)
    codes, proba = judged(fitted, data, target_of(fitted, target), file)
    found = _found(fitted, codes, proba, decision)
    if json:
        show.as_json({key: value for key, value in found.items() if key != "sections"})
        return
    show.say(f"{counted(len(codes), 'row')} of {data.name}")
    rows = [
        [m["name"], f"{m['value']:.4f}", f"{m['low']:.4f} to {m['high']:.4f}", f"{m['baseline']:.4f}", m["meaning"]]
        for m in found["metrics"].values()
    ]
    show.table("", ["", "mean", "95 % interval", "without a model", ""], rows, right=(1, 3))
    if found["rates"]:
        show.say(", ".join(f"{name} {value:.3f}" for name, value in found["rates"].items()))
    show.say(f"({BASELINE})")
    header = ["actual \\ predicted", *found["actions"]]
    counts = [
        [label, *(f"{count:g}" for count in row)]
        for label, row in zip(found["classes"], found["confusion"], strict=True)
    ]
    show.table("Predictions for the rows of each class", header, counts, right=range(1, len(header)))
    for section in found["sections"]:
        show.table(section.title, section.header[1:], [row[1:] for row in section.rows])
    if "thresholds" in found["tables"]:
        show.table("What happens at each threshold (intervals: --json)", *_thresholds(found["tables"]["thresholds"]))


def judged(
    fitted: "Classifier", data: Path, target: str, file_options: options.FileOptions
) -> "tuple[IntArray, FloatArray]":
    """The true classes and the probabilities of every row of a file."""
    import numpy as np

    from permissible.cli.errors import UseError
    from permissible.cli.io.notices import Notices
    from permissible.cli.io.rows import chunks_of, codes_of, notes_of
    from permissible.estimators.classifier import schema_of

    parts, notices = [], Notices(schema_of(fitted), notes_of(fitted).get("ranges"))
    for asked, extra in chunks_of(data, file_options, fitted, {target: "text"}):
        with notices.chunk(asked):
            parts.append((codes_of(extra[target], fitted.classes_, target, data), fitted.predict_proba(asked)))
    notices.tell()
    if not parts:
        raise UseError(f"{data} must have at least one row, got none.")
    return np.concatenate([codes for codes, _ in parts]), np.concatenate([proba for _, proba in parts])


def _found(fitted: "Classifier", codes: "IntArray", proba: "FloatArray", decision: "Decision | None") -> dict[str, Any]:
    from dataclasses import asdict

    import numpy as np

    from permissible.cli.io.judging import baseline, rates
    from permissible.decisions import Boundaries, Hard, LogLoss, Soft
    from permissible.decisions.words import group_names
    from permissible.evaluation.metrics import confusion, metrics

    deciding = Hard() if decision is None or isinstance(decision, Soft | LogLoss) else decision
    actions = deciding.decide(proba)
    labels = [str(label) for label in fitted.classes_.tolist()]
    names = group_names(deciding.boundaries) if isinstance(deciding, Boundaries) else list(labels)
    if (np.asarray(actions) < 0).any():
        names.append("refer")
    table = confusion(codes, np.asarray(actions), len(names), len(labels))
    constant = baseline(codes, len(labels), decision)
    return {
        "rows": len(codes),
        "metrics": {
            m.key: {**asdict(m), "baseline": without.value}
            for m, without in zip(metrics(codes, proba, decision), constant, strict=True)
        },
        "rates": rates(codes, proba, decision),
        "decision": repr(deciding),
        "classes": labels,
        "actions": names,
        "confusion": table.tolist(),
        **_tables(fitted, codes, proba, deciding if decision is None else decision),
    }


def _thresholds(table: dict[str, Any]) -> tuple[list[str], list[list[str]], range]:
    from permissible.evaluation.subgroups import AT_THRESHOLD

    lines = zip(table["threshold"], *(table[name] for name in AT_THRESHOLD), strict=True)
    rows = [[f"{t:g}", *("-" if value != value else f"{value:.3f}" for value in values)] for t, *values in lines]
    header = ["threshold", *(name.replace("_", " ") for name in AT_THRESHOLD)]
    return header, rows, range(len(header))


def _tables(fitted: "Classifier", codes: "IntArray", proba: "FloatArray", decision: "Decision") -> dict[str, Any]:
    """Costs beside constant actions, calibration and thresholds: as columns, and in words."""
    import numpy as np

    from permissible.evaluation.validated.judgement import Judgement, judge
    from permissible.evaluation.validated.result import sections_of

    tables = judge(codes, proba, np.asarray(fitted.classes_), None, Judgement(decision))
    named = {
        key: {"model": ["model"] * len(next(iter(table.values()))), **table}
        for key, table in tables.items()
        if key != "thresholds"
    }
    plain = {
        key: {name: np.asarray(column).tolist() for name, column in table.items()} for key, table in tables.items()
    }
    return {"tables": plain, "sections": sections_of(named)}
