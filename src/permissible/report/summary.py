"""Model and rows -> `Summary`: plain data that the text, the charts and the page read. Nothing is drawn here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

import numpy as np

from permissible.decisions import Decision, class_codes
from permissible.estimators.classifier import actions_for, card_of, decision_asked, table_of
from permissible.evaluation.curves import ReliabilityBin, cumulative, probability_margins, reliability, risk_coverage
from permissible.evaluation.importance import Importance, column_importance, term_importance
from permissible.evaluation.metrics import Metric, metrics
from permissible.models.card.evaluate import adds, holds, words
from permissible.models.card.scorecard import RuleTerm, Scorecard, SlopeTerm, Term, TreeTerm
from permissible.models.render.browser import plain_actions, plain_card
from permissible.table.table import Table
from permissible.types import FloatArray, IntArray

MAX_ROWS = 5000
EXAMPLES = 50


@dataclass(frozen=True, slots=True)
class RuleRow:
    """A term of the model: its text, what it adds, how often it holds and the class there."""

    words: str
    adds: tuple[float, ...]
    weight: float
    support: float | None
    shares: tuple[float, ...] | None


@dataclass(frozen=True, slots=True)
class Summary:
    """The content of a report."""

    title: str
    estimator: str
    classes: tuple[str, ...]
    n_rows: int
    n_columns: int
    text: str
    rules: tuple[RuleRow, ...]
    intercept: tuple[float, ...]
    tree: TreeTerm | None
    card: Scorecard
    metrics: tuple[Metric, ...]
    folds: tuple[Any, ...]
    reliability: tuple[ReliabilityBin, ...]
    margins: tuple[list[float], list[float]]
    coverage: tuple[list[float], list[float]]
    columns: tuple[Importance, ...]
    terms: tuple[Importance, ...]
    parameters: tuple[tuple[str, str], ...]
    certificate: tuple[tuple[str, str], ...]
    history: dict[str, list[float]]
    explorer: dict[str, Any]
    whatif: dict[str, Any] = field(default_factory=dict)


def summarise(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    title: str | None = None,
    decision: Decision | None = None,
    folds: Sequence[Any] = (),
) -> Summary:
    """Summarise a fitted estimator on rows whose classes are known.

    Parameters
    ----------
    estimator : fitted estimator of permissible
    X, y : rows and labels
    sample_weight : array, optional
    title : str, optional
    decision : Decision, optional
        Adds its cost to the figures; the estimator's own unless given.
    folds : sequence, optional
        Cross-validated figures (name, mean, spread), shown next to those on the rows.
    """
    card, table = card_of(estimator), table_of(estimator, X)
    codes = class_codes(y, np.asarray(estimator.classes_))
    proba = np.asarray(estimator.predict_proba(X), dtype=np.float64)
    weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    chosen = decision_asked(estimator, decision)
    classes = tuple(str(label) for label in np.asarray(estimator.classes_).tolist())
    contributions = [adds(term, card, table) for term in card.terms]
    only = card.terms[0] if len(card.terms) == 1 else None
    return Summary(
        title=title or f"Telling {classes_in_words(classes)}",
        estimator=type(estimator).__name__,
        classes=classes,
        n_rows=len(codes),
        n_columns=len(card.schema.columns),
        text=estimator.to_text(),
        rules=_rule_rows(card, table, codes, contributions, len(classes)),
        intercept=card.intercept,
        tree=only if isinstance(only, TreeTerm) and card.link.kind == "probabilities" else None,
        card=card,
        metrics=tuple(metrics(codes, proba, chosen, weight)),
        folds=tuple(folds),
        reliability=tuple(_reliability(codes, proba)),
        margins=cumulative(probability_margins(codes, proba)),
        coverage=risk_coverage(codes, proba),
        columns=column_importance(card, table, codes),
        terms=term_importance([words(term, card) for term in card.terms], contributions),
        parameters=tuple((name, str(value)) for name, value in sorted(estimator.get_params(deep=False).items())),
        certificate=tuple(flat(getattr(estimator, "certificate_", None))),
        history=_history(getattr(estimator, "history_", {})),
        explorer=_explorer(codes, proba, classes, chosen, weight),
        whatif=_whatif(estimator, card, table, codes, proba, classes),
    )


def classes_in_words(classes: Sequence[str]) -> str:
    """The classes in words: "sick from well", "a, b and c apart"."""
    if len(classes) == 2:
        return f"{classes[1]} from {classes[0]}"
    listed = f"{', '.join(classes[:-1])} and {classes[-1]}" if len(classes) <= 8 else f"{len(classes)} classes"
    return f"{listed} apart"


def _rule_rows(
    card: Scorecard, table: Table, codes: IntArray, contributions: list[FloatArray], n_classes: int
) -> tuple[RuleRow, ...]:
    found = []
    for term, added in zip(card.terms, contributions, strict=True):
        pieces: list[Term] = [term]
        if isinstance(term, TreeTerm):
            pieces = list(term.leaves())
        for piece in pieces:
            if isinstance(piece, RuleTerm):
                covered = holds(piece.rule, card, table)
                counts = np.bincount(codes[covered], minlength=n_classes)
                shares = tuple((counts / max(counts.sum(), 1)).tolist()) if covered.any() else None
                size = max(abs(a - b) for a, b in zip(piece.holds, piece.fails, strict=True)) / 2
                found.append(RuleRow(words(piece, card), piece.holds, size, float(covered.mean()), shares))
            elif isinstance(piece, SlopeTerm):
                spread = float(np.nanmax(np.nanstd(added, axis=0)))
                found.append(RuleRow(f"each unit of {words(piece, card)}", piece.slope, spread, None, None))
            else:
                spread = float(np.nanmax(np.nanstd(added, axis=0)))
                found.append(RuleRow(words(piece, card), (), spread, None, None))
    return tuple(sorted(found, key=lambda row: -row.weight))


def _reliability(codes: IntArray, proba: FloatArray) -> list[ReliabilityBin]:
    if proba.shape[1] == 2:
        return reliability(codes, proba[:, 1])
    return reliability((proba.argmax(axis=1) == codes).astype(np.int64), proba.max(axis=1))


def _sample(n_rows: int, size: int = MAX_ROWS) -> IntArray:
    """Some rows, always the same ones, in order."""
    return np.sort(np.random.default_rng(0).choice(n_rows, size, replace=False))


def _explorer(
    codes: IntArray, proba: FloatArray, classes: Sequence[str], decision: Decision | None, weight: FloatArray | None
) -> dict[str, Any]:
    """The data of the decision explorer: for two classes distinct probabilities with counts; else rows."""
    weight = np.ones(len(codes)) if weight is None else weight
    shown = None if decision is None else decision.to_document()
    base = {"classes": list(classes), "total": float(weight.sum()), "decision": _plain(shown), "sampled": False}
    if proba.shape[1] == 2:
        values, place = np.unique(proba[:, 1], return_inverse=True)
        counts = np.zeros((len(values), 2))
        np.add.at(counts, (place.ravel(), codes), weight)
        negative, positive = counts.T.tolist()
        return {**base, "probability": values.tolist(), "negative": negative, "positive": positive}
    kept = np.arange(len(codes)) if len(codes) <= MAX_ROWS else _sample(len(codes))
    return {
        **base,
        "sampled": len(kept) < len(codes),
        "total": float(weight[kept].sum()),
        "rows": proba[kept].tolist(),
        "codes": codes[kept].tolist(),
        "weight": weight[kept].tolist(),
    }


def _whatif(
    estimator: Any, card: Scorecard, table: Table, codes: IntArray, proba: FloatArray, classes: Sequence[str]
) -> dict[str, Any]:
    """The model for the browser, ranges for its fields, and a few rows to start from."""
    fields_of: list[dict[str, Any]] = []
    for column, values in zip(card.schema.columns, table.columns, strict=True):
        entry: dict[str, Any] = {"name": column.name, "kind": column.kind}
        if column.kind == "numeric":
            known = np.asarray(values, dtype=np.float64)
            known = known[~np.isnan(known)]
            entry["low"], entry["middle"], entry["high"] = (
                [float(np.quantile(known, q)) for q in (0.0, 0.5, 1.0)] if len(known) else (0.0, 0.0, 1.0)
            )
            entry["whole"] = bool(len(known)) and bool(np.all(known == np.round(known)))
        fields_of.append(entry)
    kept = np.arange(len(codes)) if len(codes) <= EXAMPLES else _sample(len(codes), EXAMPLES)
    examples = []
    for row in kept:
        cells = [_cell(column, values[row]) for column, values in zip(card.schema.columns, table.columns, strict=True)]
        about = {"number": int(row) + 1, "truth": classes[codes[row]], "values": cells}
        examples.append({**about, "probability": proba[row].tolist()})
    return {
        "card": plain_card(card),
        "actions": plain_actions(actions_for(estimator, None)),
        "fields": fields_of,
        "examples": examples,
        "classes": list(classes),
    }


def _cell(column: Any, value: Any) -> Any:
    """A value as the page's form has it: a number, the text of a category, or null where it is missing."""
    if column.kind == "categorical":
        if value < 0:
            return None
        category = column.categories[int(value)]
        return ("true" if category else "false") if isinstance(category, bool) else str(category)
    if value != value:
        return None
    return ("true" if value else "false") if column.kind == "boolean" else float(value)


def flat(value: Any, prefix: str = "") -> list[tuple[str, str]]:
    """A record as names and words, inner records with their names joined."""
    if value is None:
        return []
    if is_dataclass(value) and not isinstance(value, type):
        value = {item.name: getattr(value, item.name) for item in fields(value)}
    if not isinstance(value, Mapping):
        return [(prefix or "value", _words_of(value))]
    found: list[tuple[str, str]] = []
    for name, item in value.items():
        label = f"{prefix} {name}".strip().replace("_", " ")
        if isinstance(item, Mapping) or (is_dataclass(item) and not isinstance(item, type)):
            found += flat(item, label)
        else:
            found.append((label, _words_of(item)))
    return found


def _words_of(value: Any) -> str:
    if isinstance(value, float | np.floating):
        return f"{value:.6g}"
    if isinstance(value, np.ndarray | list | tuple) and len(value) > 8:
        return f"{len(value)} values, the last {_words_of(value[-1])}"
    if isinstance(value, np.ndarray | list | tuple):
        return ", ".join(_words_of(item) for item in value)
    return {True: "yes", False: "no", None: "unknown"}[value] if value in (True, False, None) else str(value)


def _history(history: Mapping[str, Any]) -> dict[str, list[float]]:
    found = {}
    for name in ("surrogate", "train_error", "validation", "cost"):
        values = history.get(name) if isinstance(history, Mapping) else None
        if values is not None and np.asarray(values).dtype.kind in "fiu" and np.ndim(values) == 1:
            found[name] = [float(v) for v in values]
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return value.tolist()
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value
