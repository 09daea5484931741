"""A second model on the same rows: what it costs, and where the two differ by more than chance."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from permissible.estimators.classifier import Classifier
from permissible.evaluation.net_benefit import Columns, net_benefit_difference, paired_means
from permissible.evaluation.validated.judgement import USUAL, Judgement, judge
from permissible.report.explorer import MAX_ROWS, probability_data, sample
from permissible.types import AnyArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Rival:
    """A model beside the first: its words, its tables, and the first minus it."""

    name: str
    text: str
    tables: dict[str, Columns]
    cost: float
    saving: tuple[float, float, float]
    difference: Columns | None
    data: dict[str, object]


def rival(
    estimator: Classifier,
    name: str,
    proba: FloatArray,
    first: FloatArray,
    codes: IntArray,
    weight: FloatArray,
    judgement: Judgement,
    classes: AnyArray,
) -> Rival:
    """Judge a model and compare it with the first one on the same rows."""
    how, tables = judgement.how, judge(codes, proba, classes, weight, judgement)
    losses = np.stack([judgement.decision.loss(codes, one) for one in (first, proba)], axis=1)
    means = paired_means(losses, weight, how)
    saving = tuple(float(means[f"above_first{end}"][1]) for end in ("", "_low", "_high"))
    difference = None
    if proba.shape[1] == 2:
        options: dict[str, Any] = {"sample_weight": weight, "n_bootstrap": how.n_bootstrap, "level": how.level}
        difference = net_benefit_difference(codes, first, proba, USUAL, **options)
    kept = sample(len(codes), MAX_ROWS)
    data = {"name": name, **probability_data(codes[kept], proba[kept], weight[kept])}
    cost = float(means["mean"][1])
    return Rival(name, estimator.to_text(), tables, cost, saving, difference, data)  # type: ignore[arg-type]


def verdict(first: str, second: Rival, unit: int) -> str:
    """Which of two models costs less, in one sentence."""
    saved, low, high = (unit * value for value in second.saving)
    ends = f"95 % interval {low:,.1f} to {high:,.1f}"
    if low > 0:
        return f"In {unit:,} rows {first} costs {saved:,.1f} less than {second.name} ({ends})."
    if high < 0:
        return f"In {unit:,} rows {first} costs {-saved:,.1f} more than {second.name} ({ends})."
    return f"In {unit:,} rows {first} and {second.name} differ by {abs(saved):,.1f}, which may be chance ({ends})."


def names_of(estimators: Sequence[object]) -> list[str]:
    """Distinct names for the models: model A (ULSClassifier), model B (UDTClassifier)."""
    return [f"model {chr(ord('A') + k)} ({type(one).__name__})" for k, one in enumerate(estimators)]
