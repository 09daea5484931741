"""`pm.validate`: performance measures of estimators on rows that they were not fitted on.

Cross-validation predicts each row by a model that has not seen it, and evaluates all of these predictions together. The
bootstrap (`cv="bootstrap"`) evaluates the model of all rows on the same rows, and subtracts the optimism of doing so:
how much better models of resampled rows do on their own rows than on the original ones (Harrell 2015, section 5.3.4);
intervals are shifted by the same amount (Noma et al. 2021).
"""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, clone

from permissible.decisions import Hard, class_codes
from permissible.evaluation.cells import row_count, weights_of
from permissible.evaluation.cross_validation import fit, folds
from permissible.evaluation.intervals import Resampling
from permissible.evaluation.labels import positive_last, reordered
from permissible.evaluation.net_benefit import Columns, net_benefit_difference, paired_means
from permissible.evaluation.validated.judgement import Judgement, judge, shown, stacked
from permissible.evaluation.validated.result import Validation
from permissible.table.match import UnseenCategoryWarning
from permissible.types import AnyArray, ArrayLike, FloatArray, IntArray
from permissible.validation import Words, refusal, refusal_type
from permissible.validation.numbers import count

REFITS = 100


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """What is evaluated: rows, codes of their classes, weights, the decision, thresholds and subgroups."""

    X: object
    y: AnyArray
    codes: IntArray
    classes: AnyArray
    order: list[int]
    weight: FloatArray | None
    judgement: Judgement


def validate(
    estimator: object,
    X: object,
    y: ArrayLike,
    *,
    cv: object = 5,
    decision: Any = None,
    thresholds: ArrayLike | None = None,
    subgroups: Mapping[str, ArrayLike] | Sequence[str] | None = None,
    pos_label: object = None,
    sample_weight: ArrayLike | None = None,
    n_refits: int | None = None,
    level: float = 0.95,
    n_bootstrap: int = 1000,
    random_state: int = 0,
) -> Validation:
    """Evaluate one or several estimators for a decision on rows that they were not fitted on.

    Parameters
    ----------
    estimator : classifier, sequence of classifiers or mapping from name to classifier
        Cloned before each fit; any scikit-learn classifier with ``predict_proba``. Several are evaluated on the same rows,
        and the first is compared with each of the others.
    X, y : rows and labels
    cv : int, splitter, iterable of splits, or "bootstrap"
        Stratified folds, a scikit-learn splitter that holds out each row once, or the bootstrap, corrected for optimism.
    decision : Decision or array of costs, optional
        What the probabilities are for; by default the most probable class.
    thresholds : array, optional
        Of the threshold table (two classes); that of the decision is added.
    subgroups : mapping from name to column, or names of columns of X, optional
        Figures in each group of rows (two classes; not with the bootstrap).
    pos_label : label, optional
        The class that is flagged, of two: thresholds, sensitivity and net benefit are about it; by default the second in
        sorted order. Costs without names stay in sorted order.
    sample_weight : array of shape (n,), optional
        Used for fitting and for evaluation.
    n_refits : int, optional
        Models of the bootstrap, by default 100.
    level, n_bootstrap, random_state
        Of the intervals, as in `metrics.net_benefit`; folds and refits are drawn with the same seed.

    Returns
    -------
    Validation
        With ``tables``, ``to_frame()``, ``to_text()`` and ``to_html()``.

    Examples
    --------
    >>> import permissible as pm
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> models = {"tree": pm.UDTClassifier(max_leaf_nodes=4), "rules": pm.ULSClassifier(n_rounds=5)}
    >>> found = pm.validate(models, X, y, decision=pm.Weighted(0.2), n_bootstrap=50)
    >>> sorted(found.tables)
    ['calibration', 'decision', 'difference', 'net_benefit', 'thresholds']
    """
    how = Resampling(level, n_bootstrap, random_state)
    models = named_models(estimator)
    rows = _rows(
        X, y, sample_weight, Judgement(Hard() if decision is None else decision, thresholds, how), subgroups, pos_label
    )
    if isinstance(cv, str):
        method, probas, judged = _bootstrapped(models, rows, cv, n_refits)
    else:
        if n_refits is not None:
            raise refusal("n_refits", 'None without cv="bootstrap"', n_refits)
        method, probas = _cross_validated(models, rows, cv)
        judged = {
            name: judge(rows.codes, proba, rows.classes, rows.weight, rows.judgement) for name, proba in probas.items()
        }
    tables = {
        key: stacked({name: judged[name][key] for name in judged}, "model") for key in next(iter(judged.values()))
    }
    if len(models) > 1:
        tables["difference"] = _differences(probas, rows)
    names = tuple(str(label) for label in rows.classes.tolist())
    about = f"{len(rows.codes):,} rows, {method}"
    return Validation(about, names, repr(rows.judgement.decision), tuple(models), how, tables, probas)


def named_models(given: object) -> dict[str, object]:
    """Return estimators by name; those of one type are numbered."""
    if isinstance(given, Mapping):
        models = {str(name): model for name, model in given.items()}
        if len(models) < len(given):
            raise refusal("estimator", "classifiers by names that differ as text", Words(f"{list(given)}"))
    elif isinstance(given, list | tuple):
        types = [type(model).__name__ for model in given]
        models = {
            name if types.count(name) == 1 else f"{name} {types[: k + 1].count(name)}": model
            for k, (name, model) in enumerate(zip(types, given, strict=True))
        }
    else:
        models = {type(given).__name__: given}
    for model in models.values():
        if not hasattr(model, "predict_proba") or isinstance(model, type):
            raise refusal_type("estimator", "a classifier with predict_proba, or several", model)
    if not models:
        raise refusal("estimator", "at least one classifier", Words("none"))
    return models


def _rows(
    X: object, y: ArrayLike, weight: ArrayLike | None, judgement: Judgement, subgroups: object, pos_label: object
) -> Rows:
    labels = np.asarray(y)
    n_rows = n_rows_of(X)
    if labels.shape != (n_rows,):
        raise refusal("y", f"1-D with {n_rows} labels, one for each row of X", Words(f"shape {labels.shape}"))
    if any(label is None or label != label for label in labels.tolist()):
        raise refusal("y", "labels without missing values", Words("a missing value"))
    found = np.unique(labels)
    if len(found) < 2:
        raise refusal("y", "labels of at least two classes", Words(f"{len(found)}"))
    order = positive_last(found, pos_label)
    classes = found[order]
    weights = None if weight is None else weights_of(weight, len(labels))
    chosen = reordered(judgement.decision, found, order)
    if subgroups is not None and len(classes) > 2:
        raise refusal("subgroups", "None for more than two classes", Words("columns"))
    columns = {} if subgroups is None else subgroup_columns(subgroups, X)
    told = replace(judgement, decision=chosen, subgroups=columns)
    return Rows(X, labels, class_codes(labels, classes), classes, order, weights, told)


def n_rows_of(X: Any) -> int:
    """Return the number of rows of an array, a data frame, or columns by name."""
    lengths = {len(column) for column in X.values()} if isinstance(X, Mapping) else set()
    if len(lengths) > 1:
        raise refusal("X", "columns of one length", Words(f"lengths {sorted(lengths)}"))
    if lengths:
        return lengths.pop()
    if isinstance(X, Mapping) or not (hasattr(X, "shape") or isinstance(X, Sequence)):
        raise refusal_type("X", "a table: an array, a data frame, or columns by name", X)
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def subgroup_columns(subgroups: Any, X: Any) -> dict[str, AnyArray]:
    """Return columns by name: those given, or those of X that are named."""
    if isinstance(subgroups, Mapping):
        return {str(name): np.asarray(values) for name, values in subgroups.items()}
    try:
        return {str(name): np.asarray(X[name]) for name in ([subgroups] if isinstance(subgroups, str) else subgroups)}
    except (KeyError, IndexError, TypeError, ValueError):
        remedy = "pass a mapping from name to column where X has no names"
        raise refusal("subgroups", "names of columns of X", subgroups, remedy) from None


# -- cross-validation -------------------------------------------------------------------------------------------------


def _cross_validated(models: dict[str, object], rows: Rows, cv: object) -> tuple[str, dict[str, FloatArray]]:
    splits, method = _splits(cv, rows)
    probas = {name: np.zeros((len(rows.codes), len(rows.classes))) for name in models}
    for training, held_out in splits:
        for name, model in models.items():
            probas[name][held_out] = _predicted(_fitted(model, rows, training), rows, held_out)
    return method, probas


def _splits(cv: Any, rows: Rows) -> tuple[list[tuple[IntArray, IntArray]], str]:
    if isinstance(cv, bool) or (
        not isinstance(cv, Integral) and not hasattr(cv, "split") and not isinstance(cv, Iterable)
    ):
        raise refusal_type("cv", 'a number of folds, a splitter, splits, or "bootstrap"', cv)
    if isinstance(cv, Integral):
        return folds(rows.codes, count("cv", cv, low=2), rows.judgement.how.random_state), f"{cv}-fold cross-validation"
    pairs = list(cv.split(rows.X, rows.y) if hasattr(cv, "split") else cv)
    if not pairs or not all(isinstance(pair, tuple | list) and len(pair) == 2 for pair in pairs):
        raise refusal("cv", "pairs of training rows and held-out rows", Words("none" if not pairs else "others"))
    found = [(_places(training), _places(held_out)) for training, held_out in pairs]
    if any(part.size and (part.min() < 0 or part.max() >= len(rows.codes)) for pair in found for part in pair):
        raise refusal("cv", f"splits of rows 0 to {len(rows.codes) - 1}", Words("others"))
    times = np.bincount(np.concatenate([held for _, held in found]), minlength=len(rows.codes))
    if not (times == 1).all():
        came = Words(f"{int((times != 1).sum())} rows held out never or more than once")
        raise refusal("cv", "splits that hold each row out once", came)
    seen = sum(len(np.intersect1d(training, held_out)) for training, held_out in found)
    if seen:
        came = Words(f"{seen} rows in both parts")
        raise refusal("cv", "splits whose held-out rows are not in their training rows", came)
    return found, f"cross-validation in {len(found)} splits"


def _places(rows: object) -> IntArray:
    """Rows of a split as places, also where they are given as truth values."""
    given = np.asarray(rows)
    return np.flatnonzero(given) if given.dtype == bool else given.astype(np.int64)


def _fitted(model: object, rows: Rows, training: IntArray) -> object:
    weight = None if rows.weight is None else rows.weight[training]
    return fit(clone(model), taken(rows.X, training), rows.y[training], weight)


def _predicted(model: ClassifierMixin, rows: Rows, held_out: IntArray) -> FloatArray:
    known = np.asarray(model.classes_)
    if not np.array_equal(known, rows.classes[rows.order]):  # the order is its own inverse
        came = Words(f"only {known.tolist()} in the training rows of a split")
        raise refusal("cv", f"splits whose training rows have every class of {rows.classes.tolist()}", came)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenCategoryWarning)  # a rare category may be held out altogether
        return np.asarray(model.predict_proba(taken(rows.X, held_out)), dtype=np.float64)[:, rows.order]


def taken(X: object, rows: IntArray) -> Any:
    """Return some rows of what scikit-learn takes, or of columns by name."""
    if isinstance(X, Mapping):
        return {name: np.asarray(values)[rows] for name, values in X.items()}
    from sklearn.utils import _safe_indexing

    return _safe_indexing(X, rows)


# -- bootstrap --------------------------------------------------------------------------------------------------------


def _bootstrapped(
    models: dict[str, object], rows: Rows, cv: str, n_refits: int | None
) -> tuple[str, dict[str, FloatArray], dict[str, dict[str, Columns]]]:
    if cv != "bootstrap":
        raise refusal("cv", 'a number of folds, a splitter, splits, or "bootstrap"', cv)
    if rows.judgement.subgroups:
        raise refusal("subgroups", "None with the bootstrap", Words("columns"), "use cross-validation")
    refits = REFITS if n_refits is None else count("n_refits", n_refits)
    everything, how = np.arange(len(rows.codes)), rows.judgement.how
    plain = replace(rows.judgement, how=replace(how, n_bootstrap=0))
    weight = np.ones(len(everything)) if rows.weight is None else rows.weight
    probas, judged = {}, {}
    for name, model in models.items():
        probas[name] = _predicted(_fitted(model, rows, everything), rows, everything)
        apparent = judge(rows.codes, probas[name], rows.classes, rows.weight, rows.judgement)
        generator = np.random.default_rng(how.random_state)  # the same resamples for every model
        optimism: list[dict[str, Columns]] = []
        for _ in range(refits):
            drawn = _drawn(generator, weight, rows.codes)
            refitted = fit(clone(model), taken(rows.X, drawn), rows.y[drawn], None)
            proba = _predicted(refitted, rows, everything)
            own = judge(rows.codes[drawn], proba[drawn], rows.classes, None, plain)
            optimism.append(_minus(own, judge(rows.codes, proba, rows.classes, rows.weight, plain)))
        judged[name] = {key: _corrected(table, [one[key] for one in optimism]) for key, table in apparent.items()}
    return f"bootstrap of {refits} refits, optimism taken off", probas, judged


def _drawn(generator: np.random.Generator, weight: FloatArray, codes: IntArray) -> IntArray:
    """Rows drawn with replacement by weight; drawn again where a class is left out."""
    size, n_classes = max(1, round(row_count(weight))), len(np.unique(codes))
    for _ in range(1000):
        drawn = generator.choice(len(weight), size, p=weight / weight.sum())
        if len(np.unique(codes[drawn])) == n_classes:
            return np.sort(drawn)
    raise refusal("y", "classes that occur in bootstrap resamples", Words("one that 1,000 resamples missed"))


def _minus(first: dict[str, Columns], second: dict[str, Columns]) -> dict[str, Columns]:
    """The difference of every figure, the tables of strategies in the order of their names."""
    found: dict[str, Columns] = {}
    for key, table in first.items():
        order, other = _order(table), _order(second[key])
        found[key] = {name: table[name][order] - second[key][name][other] for name in _figures(table)}
    return found


def _order(table: Columns) -> IntArray:
    n_rows = len(next(iter(table.values())))
    return np.argsort(table["strategy"], kind="stable") if "strategy" in table else np.arange(n_rows)


def _figures(table: Columns) -> list[str]:
    """The columns that are estimates: those with an interval."""
    return [name for name in table if f"{name}_low" in table or (name == "value" and "low" in table)]


def _corrected(table: Columns, optimism: list[Columns]) -> Columns:
    """The table less the mean optimism; counts, which no row of the bootstrap has, are left out."""
    found = {name: column for name, column in table.items() if name not in ("tp", "fp", "fn", "tn")}
    back = np.argsort(_order(table), kind="stable")
    for name in _figures(table):
        seen = np.array([one[name] for one in optimism])
        known = np.where(np.isfinite(seen), seen, np.nan)
        empty = np.isnan(known).all(axis=0)
        shift = np.where(empty, np.nan, np.nanmean(np.where(empty, 0.0, known), axis=0))[back]
        ends = ("low", "high") if name == "value" else (f"{name}_low", f"{name}_high")
        for column in (name, *ends):
            found[column] = np.asarray(table[column]) - shift
    return found


# -- several estimators -----------------------------------------------------------------------------------------------


def _differences(probas: dict[str, FloatArray], rows: Rows) -> Columns:
    """The first model minus each other: net benefit at the thresholds of two classes, and the saving of cost."""
    how, (first, *others) = rows.judgement.how, probas
    weight, lines = weights_of(rows.weight, len(rows.codes)), list[tuple[object, ...]]()
    for other in others:
        name = f"{first} minus {other}"
        if len(rows.classes) == 2:
            table = net_benefit_difference(
                rows.codes, probas[first], probas[other], rows.judgement.table_thresholds(), sample_weight=rows.weight,
                level=how.level, n_bootstrap=how.n_bootstrap, random_state=how.random_state,
            )  # fmt: skip
            table["threshold"] = shown(table["threshold"])
            lines += [(name, "net_benefit", *line) for line in zip(*table.values(), strict=True)]
        losses = [rows.judgement.decision.loss(rows.codes, probas[one]) for one in (other, first)]
        means = paired_means(np.stack(losses, axis=1), weight, how)
        lines.append((name, "cost", np.nan, *(means[f"above_first{end}"][1] for end in ("", "_low", "_high"))))
    model, measure, *figures = zip(*lines, strict=True)
    named = zip(("threshold", "difference", "low", "high"), figures, strict=True)
    return {"model": list(model), "measure": list(measure), **{key: np.array(of, float) for key, of in named}}
