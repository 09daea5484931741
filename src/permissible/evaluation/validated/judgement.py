"""All tables of one set of predictions for one decision, as `pm.validate` and the report show them."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from permissible.decisions import CostMatrix, Decision, Hard, Weighted
from permissible.evaluation.cells import weights_of
from permissible.evaluation.intervals import Resampling
from permissible.evaluation.net_benefit import Columns, checked_thresholds, net_benefit, strategy_table
from permissible.evaluation.subgroups import MEASURES, GroupedRows
from permissible.evaluation.tables import calibration_summary, threshold_table
from permissible.types import AnyArray, ArrayLike, FloatArray, IntArray

CURVE = np.arange(1, 100) / 100
HALF = float(np.nextafter(0.5, 0))
"""The threshold of `pm.Hard`, which predicts the positive class also at 1/2 exactly; tables call it 0.5."""
USUAL = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


@dataclass(frozen=True, slots=True, eq=False)
class Judgement:
    """How predictions are judged: the decision, thresholds, intervals and subgroups."""

    decision: Decision
    thresholds: ArrayLike | None = None
    how: Resampling = field(default_factory=Resampling)
    subgroups: dict[str, AnyArray] = field(default_factory=dict)

    def table_thresholds(self) -> FloatArray:
        """Return the thresholds of the table, that of the decision among them."""
        given = checked_thresholds(USUAL if self.thresholds is None else self.thresholds)
        own = threshold_of(self.decision)
        if own == HALF:
            given = given[given != 0.5]
        return np.unique(given if own is None else np.append(given, own))


def threshold_of(decision: Decision) -> float | None:
    """Return the probability above which a decision of two classes acts; None where it is not one threshold.

    >>> import permissible as pm
    >>> threshold_of(pm.CostMatrix([[0, 1], [4, 0]])), threshold_of(pm.Reject(0.2))
    (0.2, None)
    """
    if isinstance(decision, Hard):
        return HALF
    if isinstance(decision, Weighted):
        return decision.pi
    if isinstance(decision, CostMatrix) and decision.n_classes == 2 and decision.reject_cost is None:
        false_alarm, miss = float(decision.matrix[0, 1]), float(decision.matrix[1, 0])
        return false_alarm / (false_alarm + miss)
    return None


def shown(thresholds: FloatArray) -> FloatArray:
    """Return thresholds as tables show them."""
    return np.where(thresholds == HALF, 0.5, thresholds)


def judge(
    codes: IntArray, proba: FloatArray, classes: AnyArray, weight: FloatArray | None, judgement: Judgement
) -> dict[str, Columns]:
    """Return the tables by name."""
    how = judgement.how
    options = {"level": how.level, "n_bootstrap": how.n_bootstrap, "random_state": how.random_state}
    weighted: dict[str, Any] = {"sample_weight": weight, **options}
    told = weights_of(weight, len(codes))
    found = {"decision": strategy_table(codes, proba, told, judgement.decision, classes.tolist(), how)}
    if len(classes) > 2:
        return {**found, "calibration": _by_class(codes, proba, classes, weighted)}
    found["net_benefit"] = net_benefit(codes, proba, CURVE, **weighted)
    found["calibration"] = calibration_summary(codes, proba, **weighted)
    at, decision = threshold_of(judgement.decision), judgement.decision
    prices = decision.matrix if isinstance(decision, CostMatrix) and at is not None else None
    found["thresholds"] = threshold_table(codes, proba, judgement.table_thresholds(), costs=prices, **weighted)
    found["thresholds"]["threshold"] = shown(found["thresholds"]["threshold"])
    if judgement.subgroups:
        rows = GroupedRows(codes, proba[:, 1], told, 0.5 if at is None else at, how)
        found["subgroups"] = stacked(rows.tables(judgement.subgroups, MEASURES), "column")
    return found


def _by_class(codes: IntArray, proba: FloatArray, classes: AnyArray, options: dict[str, Any]) -> Columns:
    """The calibration of each class against the rest."""
    tables = {
        str(label): calibration_summary((codes == k).astype(np.int64), proba[:, k], **options)
        for k, label in enumerate(classes.tolist())
    }
    return stacked(tables, "class")


def stacked(tables: dict[str, Columns], by: str) -> Columns:
    """Return tables below each other, with their names as first column."""
    first = next(iter(tables.values()))
    found: Columns = {by: [name for name, table in tables.items() for _ in next(iter(table.values()))]}
    for column, values in first.items():
        parts = [table[column] for table in tables.values()]
        found[column] = np.concatenate(parts) if isinstance(values, np.ndarray) else [v for part in parts for v in part]
    return found
