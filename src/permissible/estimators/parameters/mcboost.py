"""Arguments of `MCBoostClassifier`, checked before anything is computed."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from permissible.decisions import CostMatrix
from permissible.decisions.builders import frame_labels
from permissible.decisions.documents import costs_for
from permissible.estimators.input.training import TrainingRows
from permissible.estimators.parameters.constraints import interaction_groups, monotone_directions
from permissible.learners.mcboost.fit import LEARNERS, Settings
from permissible.learners.mcboost.problem import LOSSES, CostTask
from permissible.learners.mcboost.trees import MOST_LEAVES, Growth
from permissible.losses.multiclass.gamma_phi import GammaPhi
from permissible.losses.multiclass.losses import MULTICLASS
from permissible.rows.source import Source
from permissible.types import AnyArray, FloatArray
from permissible.validation import Words, one_of, real_numbers, refusal
from permissible.validation.numbers import count, flag, fraction, is_auto, positive_number, real_number

if TYPE_CHECKING:
    from permissible.estimators.mcboost import MCBoostClassifier


def _share(estimator: "MCBoostClassifier", name: str, automatic: float) -> float:
    """A fraction in (0, 1]; "auto" is 1 for affine terms and `automatic` for trees and rules."""
    value = getattr(estimator, name)
    if is_auto(name, value, "a fraction in (0, 1]"):
        return 1.0 if estimator._learner in ("linear", "linear-full") else automatic
    return fraction(name, value, also=", or 'auto'")


def _growth(estimator: "MCBoostClassifier") -> Growth:
    leaves, depth, least = estimator.max_leaf_nodes, estimator.max_depth, estimator.min_samples_leaf
    if is_auto("min_samples_leaf", least, "a positive number"):  # a leaf along the gradient has a value for each class
        least = 10 if (estimator._learner, estimator.descent) == ("tree", "gradient") else 1
    return Growth(
        max_leaf_nodes=MOST_LEAVES if leaves is None else count("max_leaf_nodes", leaves, 2, MOST_LEAVES),
        max_depth=None if depth is None else count("max_depth", depth),
        max_literals=count("max_literals", estimator.max_literals) if estimator._learner == "rule" else 0,
        min_leaf_weight=positive_number("min_samples_leaf", least),
        l2=real_number("l2_regularization", estimator.l2_regularization),
        exact=one_of("line_search", estimator.line_search, ("auto", "exact", "newton")) == "exact",
    )


def loss_name(loss: object) -> str:
    """The name of a loss given by name or as an object of `permissible.losses`.

    The compiled core has these losses only, so an object of another class is refused, even a subclass; a `GammaPhi` of
    one's own runs in NumPy.
    """
    if isinstance(loss, GammaPhi):
        return loss.name
    name = loss.lower() if isinstance(loss, str) else getattr(loss, "name", None)
    if name not in LOSSES or not (isinstance(loss, str) or type(loss) is MULTICLASS[name]):
        expected = "one of " + ", ".join(repr(known) for known in LOSSES) + ", its object, or a losses.GammaPhi"
        raise refusal("loss", expected, loss)
    return str(name)


def own_loss(estimator: "MCBoostClassifier", parts: bool) -> GammaPhi | None:
    """The loss of one's own, if it is one; refused where only the compiled losses run."""
    if not isinstance(estimator.loss, GammaPhi):
        return None
    if estimator._learner not in ("linear", "linear-full"):
        remedy = 'use "linear" or "linear-full", or a built-in loss'
        raise refusal("learner", '"linear" or "linear-full" with a loss of your own', estimator._learner, remedy)
    if parts:
        raise refusal("loss", "a built-in one on data in parts", Words(f"the GammaPhi {estimator.loss.name!r}"))
    return estimator.loss


def checked_settings(estimator: "MCBoostClassifier", seed: int, n_threads: int) -> Settings:
    """The settings of a fit, checked."""
    one_of("decision", estimator.decision, ("argmax", "bayes"))
    scoring = one_of("scoring", estimator.scoring, ("surrogate", "cost"))
    return Settings(
        learner=one_of("learner", estimator._learner, LEARNERS),
        descent=one_of("descent", estimator.descent, ("coordinate", "gradient")),
        n_rounds=count("n_rounds", estimator.n_rounds),
        learning_rate=_share(estimator, "learning_rate", 0.1),
        growth=_growth(estimator),
        n_bags=count("n_bags", estimator.n_bags),
        max_bins=count("max_bins", estimator.max_bins, 2, 255),
        row_share=_share(estimator, "subsample", 0.0),  # 0: the automatic sample
        column_share=fraction("max_features", estimator.max_features),
        early_stopping=scoring if flag("early_stopping", estimator.early_stopping) else None,
        patience=count("patience", estimator.patience),
        validation_fraction=fraction("validation_fraction", estimator.validation_fraction, 0.9),
        calibrate=one_of("calibration", estimator.calibration, ("auto", None)) is not None,
        tol=real_number("tol", estimator.tol),
        seed=seed,
        bin_seed=seed,
        n_threads=n_threads,
    )


def constrained(estimator: "MCBoostClassifier", settings: Settings, source: Source) -> Settings:
    """The settings with the monotonic and interaction constraints; directions are those of the first of two classes."""
    schema = source.binning.schema
    directions = monotone_directions(estimator.monotonic_cst, schema, len(source.classes))
    groups = interaction_groups(estimator.interaction_cst, schema)
    first = () if directions is None else tuple(-int(way) for way in directions)
    return replace(settings, growth=replace(settings.growth, directions=first, groups=groups or ()))


def refuse_on_parts(estimator: "MCBoostClassifier", settings: Settings, cost: object) -> None:
    """Refuse what rows in parts cannot do, in one sentence."""
    if settings.learner not in ("linear", "rule", "tree"):
        remedy = 'set learner="linear", "rule" or "tree", or fit rows in memory'
        raise refusal("learner", '"linear", "rule" or "tree" on data in parts', settings.learner, remedy)
    if cost is not None:
        raise refusal("cost", "None on data in parts", Words("costs by row"), "use `cost_matrix`")
    if estimator.warm_start:
        raise refusal("warm_start", "False on data in parts", True, "keep a checkpoint, or fit rows in memory")


def refuse_light(rows: TrainingRows, settings: Settings) -> None:
    """Refuse weights so small that no leaf could reach its least weight, so that nothing would be learned."""
    least = 2.0 if settings.learner == "auto" else settings.growth.min_leaf_weight
    total = float(rows.weight.sum())
    if rows.weighted and settings.learner in ("rule", "tree", "auto") and total < 2 * least * (1 - 1e-9):
        expected = f"of a sum of at least {2 * least:g}, twice the least weight of a leaf, which is in their unit"
        raise refusal("sample_weight", expected, Words(f"a sum of {total:g}"), "scale them to a mean of 1")


def task_of(
    estimator: "MCBoostClassifier", rows: TrainingRows, loss: str, y: object, sample_weight: object, cost: object
) -> tuple[CostTask, CostMatrix]:
    """What is to be learned from the training rows, and the cost matrix in the order of the classes."""
    loss_object = own_loss(estimator, parts=False) if loss not in MULTICLASS else None
    if cost is None:
        costs = costs_for(estimator.cost_matrix, rows.classes, "cost_matrix")
        return CostTask(loss, costs.matrix, own=loss_object), costs
    if estimator.cost_matrix is not None:
        raise refusal("cost", "None when `cost_matrix` is given", Words("both"), "keep one of them")
    by_row = _kept(
        checked_cost_rows(cost, len(np.asarray(y)), rows.classes), rows, y, sample_weight, estimator.class_weight
    )
    own = by_row[np.arange(len(by_row)), rows.target]
    if own.any():
        row = int(np.flatnonzero(own)[0])
        raise refusal("cost", "zero for the row's own class", Words(f"{own[row]:g} in row {row}"))
    task = CostTask(loss, by_row, by_row=True, own=loss_object)
    return task, CostMatrix(task.mean_costs(rows.target, rows.weight))


def checked_cost_rows(cost: object, n_rows: int, classes: AnyArray) -> FloatArray:
    """Costs by row as a float64 array (n, M), finite and not negative; columns of a data frame by name."""
    names, n_classes = frame_labels(cost), len(classes)
    if names is not None:
        wanted = np.asarray(classes).tolist()
        if set(names) != set(wanted) or len(names) != n_classes:
            raise refusal("cost", f"a data frame with a column for each class, {wanted}", Words(f"columns {names}"))
        cost = np.asarray(cost)[:, [names.index(name) for name in wanted]]
    array = real_numbers("cost", cost, "an array of costs, one row per sample and one column per class")
    expected = (n_rows, n_classes)
    if array.shape != expected:
        raise refusal("cost", f"of shape {expected}, a cost for each row and class", Words(f"shape {array.shape}"))
    bad = ~(np.isfinite(array) & (array >= 0))
    if bad.any():
        row, column = (int(i[0]) for i in np.nonzero(bad))
        raise refusal("cost", "finite and not negative", Words(f"{array[row, column]:g} at row {row}, column {column}"))
    return array


def _kept(costs: FloatArray, rows: TrainingRows, y: object, sample_weight: object, class_weight: object) -> FloatArray:
    """The cost rows that go with the training rows: rows of weight 0 were dropped before."""
    if len(costs) == rows.table.n_rows:
        return costs
    counts = np.ones(len(costs), dtype=bool) if sample_weight is None else np.asarray(sample_weight) > 0
    if hasattr(class_weight, "items"):
        zero = [label for label, value in class_weight.items() if value == 0]
        counts &= ~np.isin(np.asarray(y), zero)
    return costs[counts]
