"""Model and rows -> `Summary`: plain data that the text, the charts and the page read. Nothing is drawn here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

import numpy as np

from permissible.decisions import Boundaries, Decision, Hard, Weighted, class_codes
from permissible.decisions.proba import by_class
from permissible.estimators.classifier import Classifier, card_of, judged_by, table_of
from permissible.evaluation.cells import weights_of
from permissible.evaluation.curves import (
    Importance,
    ReliabilityBin,
    column_importance,
    cumulative,
    reliability,
    risk_coverage,
    term_importance,
)
from permissible.evaluation.intervals import Resampling
from permissible.evaluation.labels import positive_last, reordered
from permissible.evaluation.metrics import Metric, metrics
from permissible.evaluation.net_benefit import Columns
from permissible.evaluation.validated.judgement import Judgement, judge
from permissible.evaluation.validated.validate import subgroup_columns
from permissible.models.card.scorecard import (
    PointsTerm,
    RuleTerm,
    Scorecard,
    SlopeTerm,
    TreeTerm,
    adds,
    holds,
    reach,
    words,
)
from permissible.models.model import lead
from permissible.models.points.sheet import PointSheet
from permissible.report.answer import Answer, answer
from permissible.report.comparison import Rival, names_of, rival
from permissible.report.explorer import explorer_data, whatif_data
from permissible.table.schema import Column
from permissible.table.table import Table
from permissible.types import AnyArray, ArrayLike, FloatArray, IntArray
from permissible.validation import Words, refusal

RESAMPLES = 500


@dataclass(frozen=True, slots=True)
class ColumnDescription:
    """A column: its kind, whether the model uses it, the rows where it is missing, and its typical values in words."""

    name: str
    kind: str
    used: bool
    missing: int
    usual: str


@dataclass(frozen=True, slots=True)
class RuleRow:
    """A term of the model: its text, what it adds, how often it holds and the class there."""

    words: str
    adds: tuple[float, ...]
    weight: float
    support: float | None
    shares: tuple[float, ...] | None


@dataclass(frozen=True, slots=True, eq=False)
class Summary:
    """The content of a report."""

    title: str
    name: str
    estimator: str
    classes: tuple[str, ...]
    model_classes: tuple[str, ...]
    n_rows: int
    n_columns: int
    class_counts: tuple[float, ...]
    answer: Answer
    tables: dict[str, Columns]
    rivals: tuple[Rival, ...]
    described: tuple[ColumnDescription, ...]
    text: str
    rules: tuple[RuleRow, ...]
    intercept: tuple[float, ...]
    tree: TreeTerm | None
    sheets: tuple[PointSheet, ...]
    card: Scorecard
    metrics: tuple[Metric, ...]
    folds: tuple[object, ...]
    reliability: tuple[ReliabilityBin, ...]
    margins: tuple[list[float], list[float]]
    coverage: tuple[list[float], list[float]]
    columns: tuple[Importance, ...]
    terms: tuple[Importance, ...]
    parameters: tuple[tuple[str, str], ...]
    certificate: tuple[tuple[str, str], ...]
    history: dict[str, list[float]]
    explorer: dict[str, object]
    whatif: dict[str, object] = field(default_factory=dict)

    @property
    def held_out(self) -> str:
        """How the rows relate to the training rows, as far as it is known."""
        if not self.folds:
            return ""
        n_folds = len(getattr(self.folds[0], "values", ()))
        return f"Figures over {n_folds} folds are given, each on rows that were not used for training."


def summarise(
    estimator: object,
    X: object,
    y: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    title: str | None = None,
    decision: object = None,
    folds: Sequence[object] = (),
    proba: ArrayLike | None = None,
    subgroups: object = None,
    pos_label: object = None,
) -> Summary:
    """Summarise a fitted estimator, or several, on rows whose classes are known; the arguments are those of `report`.

    With `pos_label` that class comes last in ``classes``; ``model_classes`` are in the order of the model.
    """
    models = list(estimator) if isinstance(estimator, list | tuple) else [estimator]
    first, *others = _checked(models)
    card, table = card_of(first), table_of(first, X)
    known = np.asarray(first.classes_)
    order = positive_last(known, pos_label)
    judged_classes = known[order]
    model_codes = class_codes(y, known)
    codes = class_codes(y, judged_classes)
    own = np.asarray(first.predict_proba(X), dtype=np.float64)
    proba = (own if proba is None else _given(proba, own.shape))[:, order]
    weight = None if sample_weight is None else weights_of(sample_weight, len(codes))
    chosen = _decision(first, decision, known, order)
    deciding = Hard() if chosen is None else chosen
    classes, model_classes = (tuple(str(label) for label in names.tolist()) for names in (judged_classes, known))
    importance = column_importance(card, table, model_codes)
    groups: dict[str, AnyArray] = {}
    if len(classes) == 2:
        groups = _group_columns(card, table, importance) if subgroups is None else subgroup_columns(subgroups, X)
    how = Resampling(n_bootstrap=RESAMPLES)
    tables = judge(codes, proba, judged_classes, weight, Judgement(deciding, None, how, groups))
    names, compared = names_of(models), Judgement(deciding, None, how)
    probas = {name: np.asarray(model.predict_proba(X)) for name, model in zip(names[1:], others, strict=True)}
    weights = weights_of(weight, len(codes))
    return Summary(
        title=title or f"Model report: {classes_in_words(classes)}",
        name=names[0],
        estimator=type(first).__name__,
        classes=classes,
        model_classes=model_classes,
        n_rows=len(codes),
        class_counts=tuple(np.bincount(codes, weights, minlength=len(classes)).tolist()),
        answer=answer(tables["decision"], deciding, classes),
        tables=tables,
        rivals=tuple(
            rival(model, name, probas[name][:, order], proba, codes, weights, compared, judged_classes)
            for model, name in zip(others, names[1:], strict=True)
        ),
        metrics=tuple(metrics(codes, proba, chosen, weight)),
        folds=tuple(folds),
        reliability=tuple(_reliability(codes, proba, weight)),
        margins=cumulative(lead(proba, codes), weight=weight),
        coverage=risk_coverage(codes, proba, weight=weight),
        columns=importance,
        explorer=explorer_data(codes, proba, classes, chosen, weight, tables.get("net_benefit")),
        whatif=whatif_data(first, card, table, model_codes, own, model_classes),
        **_of_model(first, card, table, model_codes, weights, decision),
    )


def _of_model(
    first: Any, card: Scorecard, table: Table, codes: IntArray, weight: FloatArray, decision: object
) -> dict[str, Any]:
    """What the report says of the model itself."""
    contributions = [adds(term, card, table) for term in card.terms]
    only = card.terms[0] if len(card.terms) == 1 else None
    has_card = any(isinstance(term, PointsTerm) for term in card.terms)
    sheets = first.card(decision=decision if len(first.classes_) == 2 else None) if has_card else []
    return {
        "n_columns": len(card.schema.columns),
        "described": _describe_columns(card, table),
        "text": first.to_text(),
        "rules": _rule_rows(card, table, codes, contributions, len(first.classes_), weight),
        "intercept": card.intercept,
        "tree": only if isinstance(only, TreeTerm) and card.link.kind == "probabilities" else None,
        "sheets": tuple(sheets) if isinstance(sheets, list) else (sheets,),
        "card": card,
        "terms": term_importance([words(term, card) for term in card.terms], contributions),
        "parameters": tuple((name, str(value)) for name, value in sorted(first.get_params(deep=False).items())),
        "certificate": tuple(flat(getattr(first, "certificate_", None))),
        "history": _history(getattr(first, "history_", {})),
    }


def _checked(models: Sequence[Any]) -> Sequence[Classifier]:
    if not models:
        raise refusal("estimator", "a fitted estimator, or several", Words("none"))
    classes = [np.asarray(model.classes_).tolist() for model in models if hasattr(model, "classes_")]
    if len(classes) == len(models) and any(other != classes[0] for other in classes):
        raise refusal("estimator", "models of the same classes", Words(" and ".join(map(str, classes))))
    return models


def _given(proba: ArrayLike, shape: tuple[int, ...]) -> FloatArray:
    found = by_class(proba)
    if found.shape != shape:
        raise refusal("proba", f"of shape {shape}, as the estimator's own", Words(f"shape {found.shape}"))
    return found


def _decision(first: Classifier, given: object, classes: AnyArray, order: list[int]) -> Decision | None:
    """The decision for the classes as they are judged; thresholds of the estimator's own are about its last class."""
    found = judged_by(first, given)
    if found is None or order == sorted(order):
        return found
    if given is None and isinstance(found, Weighted):
        return Weighted(1 - found.pi)
    if given is None and isinstance(found, Boundaries):
        return Boundaries(tuple(1 - cut for cut in found.boundaries[::-1]))
    return reordered(found, classes, order)


def classes_in_words(classes: Sequence[str]) -> str:
    """The classes as text: "sick versus well", "a, b and c", "12 classes"."""
    if len(classes) == 2:
        return f"{classes[1]} versus {classes[0]}"
    return f"{', '.join(classes[:-1])} and {classes[-1]}" if len(classes) <= 8 else f"{len(classes)} classes"


def _rule_rows(
    card: Scorecard, table: Table, codes: IntArray, contributions: list[FloatArray], n_classes: int, weight: FloatArray
) -> tuple[RuleRow, ...]:
    found = []
    for term, added in zip(card.terms, contributions, strict=True):
        for piece in term.leaves() if isinstance(term, TreeTerm | PointsTerm) else [term]:
            if isinstance(piece, RuleTerm):
                covered = holds(piece.rule, card, table)
                counts = np.bincount(codes[covered], weight[covered], minlength=n_classes)
                shares = tuple((counts / counts.sum()).tolist()) if counts.any() else None
                support = float(counts.sum() / weight.sum())
                found.append(RuleRow(words(piece, card), piece.holds, reach(piece), support, shares))
                continue
            spread, text = float(np.nanmax(np.nanstd(added, axis=0))), words(piece, card)
            if isinstance(piece, SlopeTerm):
                found.append(RuleRow(f"each unit of {text}", piece.slope, spread, None, None))
            else:
                found.append(RuleRow(text, (), spread, None, None))
    return tuple(sorted(found, key=lambda row: -row.weight))


def _reliability(codes: IntArray, proba: FloatArray, weight: FloatArray | None) -> list[ReliabilityBin]:
    if proba.shape[1] == 2:
        return reliability(codes, proba[:, 1], weight=weight)
    likeliest = (proba.argmax(axis=1) == codes).astype(np.int64)
    return reliability(likeliest, np.minimum(proba.max(axis=1), 1.0), weight=weight)


def flat(value: object, prefix: str = "") -> list[tuple[str, str]]:
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


def _words_of(value: object) -> str:
    if isinstance(value, float | np.floating):
        return f"{value:.6g}"
    if isinstance(value, np.ndarray | list | tuple) and len(value) > 8:
        return f"{len(value)} values, the last {_words_of(value[-1])}"
    if isinstance(value, np.ndarray | list | tuple):
        return ", ".join(_words_of(item) for item in value)
    return {True: "yes", False: "no", None: "unknown"}[value] if value in (True, False, None) else str(value)


def _history(history: Mapping[str, AnyArray]) -> dict[str, list[float]]:
    found = {}
    for name in ("surrogate", "train_error", "validation", "cost"):
        values = history.get(name) if isinstance(history, Mapping) else None
        if values is not None and np.asarray(values).dtype.kind in "fiu" and np.ndim(values) == 1:
            found[name] = [float(v) for v in values]
    return found


def _describe_columns(card: Scorecard, table: Table) -> tuple[ColumnDescription, ...]:
    """Describe every column that the model was given."""
    used = set(card.used_columns())
    return tuple(
        _described(column, np.asarray(values), place in used)
        for place, (column, values) in enumerate(zip(card.schema.columns, table.columns, strict=True))
    )


def _described(column: Column, values: AnyArray, used: bool) -> ColumnDescription:
    missing = values < 0 if column.kind == "categorical" else np.isnan(np.asarray(values, dtype=np.float64))
    known = values[~missing]
    if not len(known):
        usual = "no value is known"
    elif column.kind == "numeric":
        least, lower, middle, upper, most = np.quantile(np.asarray(known, dtype=np.float64), [0, 0.25, 0.5, 0.75, 1])
        usual = f"median {middle:.4g}, half of the rows {lower:.4g} to {upper:.4g}, all {least:.4g} to {most:.4g}"
    else:
        usual = _shares(column, known)
    return ColumnDescription(column.name, column.kind, used, int(missing.sum()), usual)


def _shares(column: Column, known: AnyArray) -> str:
    names = column.categories if column.kind == "categorical" else ("false", "true")
    counts = np.bincount(known.astype(np.int64), minlength=len(names))
    order = np.argsort(-counts, kind="stable")[:5]
    listed = [f"{names[k]} {100 * counts[k] / counts.sum():.0f} %" for k in order if counts[k]]
    more = int((counts > 0).sum()) - len(listed)
    return ", ".join(listed) + (f", and {more} others" if more else "")


def _group_columns(card: Scorecard, table: Table, important: Sequence[Importance]) -> dict[str, AnyArray]:
    """The columns by whose values a report looks at groups where none are named: truth values and few categories.

    Where there are none, the two most important columns of numbers, which are cut at their quartiles.
    """
    found: dict[str, AnyArray] = {}
    for column, values in zip(card.schema.columns, table.columns, strict=True):
        if column.kind == "numeric" or len(column.categories) > 10 or len(found) == 4:
            continue
        names = column.categories if column.kind == "categorical" else (False, True)
        texts = np.empty(len(values), dtype=object)
        texts[:] = [
            None if value != value or value < 0 else str(names[int(value)]) for value in np.asarray(values).tolist()
        ]
        if len({text for text in texts.tolist() if text is not None}) > 1:
            found[column.name] = texts
    return found or {
        name: np.asarray(table.columns[card.schema.names.index(name)]) for name in (item.name for item in important[:2])
    }
