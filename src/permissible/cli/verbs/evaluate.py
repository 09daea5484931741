"""`permissible evaluate`: how good a model is on rows whose class is known."""

from pathlib import Path
from typing import Any

from permissible.cli import options


def command(
    model: options.Model,
    data: options.Data,
    *,
    target: options.MaybeTarget = None,
    deciding: options.DecisionOptions,
    file: options.FileOptions,
    json: options.Json = False,
) -> None:
    """Print error, log-loss, Brier score and cost with 95 % intervals, and the confusion matrix.

    Another decision than the model's own can be tried without fitting again.

    Example: permissible evaluate model.json test.csv --reject-cost 0.2
    """
    from permissible.cli import show
    from permissible.cli.io.loading import load_model, target_of
    from permissible.cli.io.model_options import decision_of

    fitted = load_model(model)
    asked = decision_of(deciding, fitted.classes_)
    decision = getattr(fitted, "decision_", None) if asked is None else asked
    codes, proba = judged(fitted, data, target_of(fitted, target), file)
    found = _found(fitted, codes, proba, decision)
    if json:
        show.as_json(found)
        return
    show.say(f"{show.many(len(codes), 'row')} of {data.name}")
    rows = [
        [m["name"], f"{m['value']:.4f}", f"{m['low']:.4f} to {m['high']:.4f}", m["meaning"]]
        for m in found["metrics"].values()
    ]
    show.table("", ["", "mean", "95 % interval", ""], rows, right=(1,))
    header = ["truly \\ said", *found["actions"]]
    counts = [
        [label, *(f"{count:g}" for count in row)]
        for label, row in zip(found["classes"], found["confusion"], strict=True)
    ]
    show.table("What was said of each class", header, counts, right=range(1, len(header)))


def judged(fitted: Any, data: Path, target: str, file_options: options.FileOptions) -> tuple[Any, Any]:
    """The true classes and the probabilities of every row of a file."""
    import numpy as np

    from permissible.cli.errors import UseError
    from permissible.cli.io.loading import schema_of
    from permissible.cli.io.rows import chunks_of, codes_of

    parts = []
    for asked, extra in chunks_of(data, file_options, schema_of(fitted), {target: "text"}):
        parts.append((codes_of(extra[target], fitted.classes_, target, data), fitted.predict_proba(asked)))
    if not parts:
        raise UseError(f"{data} must have at least one row, got none.")
    return np.concatenate([codes for codes, _ in parts]), np.concatenate([proba for _, proba in parts])


def _found(fitted: Any, codes: Any, proba: Any, decision: Any) -> dict[str, Any]:
    import numpy as np

    from permissible.decisions import Boundaries, Hard, Soft
    from permissible.evaluation.metrics import confusion, metrics

    deciding = Hard() if decision is None or isinstance(decision, Soft) else decision
    actions = deciding.decide(proba)
    labels = [str(label) for label in fitted.classes_.tolist()]
    names = (
        [f"group {k}" for k in range(len(deciding.boundaries) + 1)]
        if isinstance(deciding, Boundaries)
        else list(labels)
    )
    if (np.asarray(actions) < 0).any():
        names.append("reject")
    table = confusion(codes, np.asarray(actions), len(names), len(labels))
    return {
        "rows": len(codes),
        "metrics": {
            m.key: {"name": m.name, "value": m.value, "low": m.low, "high": m.high, "meaning": m.meaning}
            for m in metrics(codes, proba, decision)
        },
        "decision": repr(deciding),
        "classes": labels,
        "actions": names,
        "confusion": table.tolist(),
    }
