"""The data that the page computes with: probabilities and outcomes, and the model with example rows."""

from collections.abc import Sequence

import numpy as np

from permissible.decisions import Decision
from permissible.estimators.classifier import Classifier, actions_for
from permissible.evaluation.cells import row_count
from permissible.evaluation.net_benefit import Columns
from permissible.models.card.scorecard import Scorecard
from permissible.models.render.browser import plain_actions, plain_card
from permissible.table.schema import Column
from permissible.table.table import Table
from permissible.types import FloatArray, IntArray

MAX_ROWS = 10_000
"""The page holds the probabilities of at most this many rows; beyond that it holds a sample, and says so."""

EXAMPLES = 50


def sample(n_rows: int, size: int) -> IntArray:
    """A fixed sample of the rows, in their order; all rows where there are few."""
    if n_rows <= size:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(0).choice(n_rows, size, replace=False))


def explorer_data(
    codes: IntArray,
    proba: FloatArray,
    classes: Sequence[str],
    decision: Decision | None,
    weight: FloatArray | None,
    curve: Columns | None = None,
) -> dict[str, object]:
    """For two classes distinct probabilities with counts, and the interval of the decision curve; for more classes rows."""
    kept = sample(len(codes), MAX_ROWS)
    weights = np.ones(len(kept)) if weight is None else weight[kept]
    base = {
        "classes": list(classes),
        "total": float(weights.sum()),
        "decision": None if decision is None else decision.to_document(),
        "sampled": len(kept) < len(codes),
        "unit": row_count(weights) / float(weights.sum()),
    }
    if curve is not None:
        base["band"] = {end: curve[f"net_benefit_{end}"].round(6).tolist() for end in ("low", "high")}
    return {**base, "rows_shown": len(kept), **probability_data(codes[kept], proba[kept], weights)}


def probability_data(codes: IntArray, proba: FloatArray, weight: FloatArray) -> dict[str, object]:
    """Probabilities and outcomes, as counts."""
    if proba.shape[1] > 2:
        return {"rows": proba.tolist(), "codes": codes.tolist(), "weight": _short(weight)}
    values, place = np.unique(proba[:, 1], return_inverse=True)
    counts = np.zeros((2, len(values)))
    np.add.at(counts, (codes, place.ravel()), weight)
    return {"probability": values.tolist(), "negative": _short(counts[0]), "positive": _short(counts[1])}


def _short(counts: FloatArray) -> list[object]:
    """Whole numbers without a point: half of a page is zeros and ones."""
    return [int(value) if value == int(value) else value for value in counts.tolist()]


def whatif_data(
    estimator: Classifier, card: Scorecard, table: Table, codes: IntArray, proba: FloatArray, classes: Sequence[str]
) -> dict[str, object]:
    """The model for the browser, ranges for its fields, and a few rows to start from."""
    fields: list[dict[str, object]] = []
    for column, values in zip(card.schema.columns, table.columns, strict=True):
        entry: dict[str, object] = {"name": column.name, "kind": column.kind}
        if column.kind == "numeric":
            known = np.asarray(values, dtype=np.float64)
            known = known[~np.isnan(known)]
            entry["low"], entry["high"] = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
            entry["whole"] = bool(len(known)) and bool(np.all(known == np.round(known)))
        fields.append(entry)
    examples = []
    for row in sample(len(codes), EXAMPLES):
        cells = [_cell(column, values[row]) for column, values in zip(card.schema.columns, table.columns, strict=True)]
        about = {"number": int(row) + 1, "truth": classes[codes[row]], "values": cells}
        examples.append({**about, "probability": proba[row].tolist()})
    return {
        "card": plain_card(card),
        "actions": plain_actions(actions_for(estimator, None)),
        "fields": fields,
        "examples": examples,
        "classes": list(classes),
    }


def _cell(column: Column, value: float) -> object:
    """A value as the page's form has it: a number, the text of a category, or null where it is missing."""
    if column.kind == "categorical":
        if value < 0:
            return None
        category = column.categories[int(value)]
        return ("true" if category else "false") if isinstance(category, bool) else str(category)
    if value != value:
        return None
    return ("true" if value else "false") if column.kind == "boolean" else float(value)
