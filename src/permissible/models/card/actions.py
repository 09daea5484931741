"""What to do with a row, as data: cuts of one probability, least expected cost, or the largest score. Renderings read this.

Every decision of `permissible.decisions` becomes one of these three shapes, with a label for each action; None is the label of
"no decision" (the reject option), which SQL writes as NULL and Python as None.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from permissible.decisions import Boundaries, CostMatrix, Decision, Hard, Reject, Soft, Weighted
from permissible.models.render.dialects import Dialect
from permissible.table.schema import Category
from permissible.validation import refusal, refusal_type

Label: TypeAlias = Category | None
Shape: TypeAlias = Literal["cuts", "costs", "largest", "soft"]


@dataclass(frozen=True, slots=True)
class Actions:
    """How labels are chosen.

    Parameters
    ----------
    shape : {"cuts", "costs", "largest", "soft"}
        "cuts": the label of the interval that the positive class's probability falls in. "costs": the action of least expected
        cost, the first on ties. "largest": the class of the largest score, the first on ties. "soft": the probability itself.
    labels : tuple
        One for each interval, action or class.
    cuts : tuple of float
        Increasing. A probability equal to a cut falls in the lower interval, unless `cut_goes_up`.
    score_cuts : tuple of float
        The same cuts as scores, for a probability that has no formula.
    by_score : bool
        Use the score cuts even where there are probabilities, as `predict` does.
    costs : tuple of tuple of float
        costs[j][k]: what action k costs when the class is j.
    """

    shape: Shape
    labels: tuple[Label, ...]
    cuts: tuple[float, ...] = ()
    score_cuts: tuple[float, ...] = ()
    cut_goes_up: bool = False
    by_score: bool = False
    costs: tuple[tuple[float, ...], ...] = ()

    def sql(self, scores: Sequence[str], probabilities: Sequence[str], target: Dialect, nullable: bool = False) -> str:
        """The decision as an SQL expression of the columns named in `scores` and `probabilities`; NULL where a score is NULL."""
        chosen = self._chosen(scores, probabilities, target)
        return f"CASE WHEN {scores[0]} IS NULL THEN NULL ELSE {chosen} END" if nullable else chosen

    def _chosen(self, scores: Sequence[str], probabilities: Sequence[str], target: Dialect) -> str:
        labels = ["NULL" if label is None else target.value(label) for label in self.labels]
        if self.shape == "cuts":
            x, cuts = (
                (scores[0], self.score_cuts) if self.by_score or not probabilities else (probabilities[-1], self.cuts)
            )
            compare = "<" if self.cut_goes_up else "<="
            whens = [
                f"WHEN {x} {compare} {target.double(cut)} THEN {label}"
                for cut, label in zip(cuts, labels, strict=False)
            ]
            return f"CASE {' '.join(whens)} ELSE {labels[-1]} END"
        if self.shape == "largest":
            return _first_best(list(scores if self.by_score else probabilities or scores), labels, ">=")
        if self.shape == "soft":
            return probabilities[-1]
        if len(probabilities) == 1:
            probabilities = [f"(1.0 - {probabilities[0]})", probabilities[0]]
        expected = [
            "("
            + " + ".join(f"{target.double(row[k])} * {p}" for row, p in zip(self.costs, probabilities, strict=True))
            + ")"
            for k in range(len(labels))
        ]
        return _first_best(expected, labels, "<=")

    def check(self, has_probabilities: bool, alike: bool) -> None:
        """Refuse a decision that needs probabilities where there is no formula for them.

        The largest score can stand for the largest probability only where all scores go through one loss (`alike`).
        """
        needed = self.shape in ("costs", "soft") or (self.shape == "largest" and not alike)
        if needed and not has_probabilities:
            remedy = "decide by Weighted, Reject or Boundaries, or fit with another loss"
            raise refusal(
                "decision", "one that scores can make, or a loss whose probability has a formula", self.shape, remedy
            )

    def choose(self, scores: Sequence[float], probabilities: Sequence[float]) -> Label:
        """The label for one row: the reference for the renderings."""
        if self.shape == "cuts":
            by_score = self.by_score or not len(probabilities)
            x, cuts = (scores[0], self.score_cuts) if by_score else (probabilities[-1], self.cuts)
            above: Callable[[float], bool] = (lambda cut: x >= cut) if self.cut_goes_up else (lambda cut: x > cut)
            return self.labels[sum(above(cut) for cut in cuts)]
        if self.shape == "largest":
            values = list(scores if self.by_score or not len(probabilities) else probabilities)
            return self.labels[max(range(len(values)), key=lambda k: (values[k], -k))]
        if self.shape == "soft":
            return probabilities[-1]
        both = list(probabilities) if len(probabilities) > 1 else [1.0 - probabilities[0], probabilities[0]]
        expected = [sum(row[k] * p for row, p in zip(self.costs, both, strict=True)) for k in range(len(self.labels))]
        return self.labels[min(range(len(expected)), key=lambda k: (expected[k], k))]


def actions_of(
    decision: Decision | None,
    classes: Sequence[Category],
    losses: Sequence[Any] = (),
    cutoff: float = 0.0,
    cut_goes_up: bool = True,
    by_score: bool = True,
) -> Actions:
    """The actions of a decision over the given classes.

    Parameters
    ----------
    decision : Decision or None
        None is what `predict` does: the sign of a score, or the class of the largest one.
    classes : sequence
        The labels in order; the last of two is the positive one.
    losses : sequence of losses, optional
        Where there is one, it turns the cuts of a probability into cuts of a score, for a probability that has no formula.
    cutoff, cut_goes_up : float, bool
        The score above which `predict` says positive, and whether it does so at that score itself.
    by_score : bool
        Whether `predict` looks at scores rather than at probabilities.
    """
    labels = tuple(classes)
    binary = len(labels) == 2
    loss = losses[0] if len(losses) == 1 else None
    match decision:
        case None if binary:
            return Actions("cuts", labels, (0.5,), (cutoff,), cut_goes_up, by_score)
        case None:
            return Actions("largest", labels, by_score=by_score)
        case Hard() if binary:
            return Actions("cuts", labels, (0.5,), (0.0,), cut_goes_up=True)
        case Hard():
            return Actions("largest", labels)
        case Weighted():
            return _cut(labels, (decision.pi,), loss)
        case Reject():
            return _cut((labels[0], None, labels[1]), (decision.cost, 1 - decision.cost), loss)
        case Boundaries():
            return _cut(tuple(range(len(decision.boundaries) + 1)), decision.boundaries, loss)
        case Soft() if binary:
            return Actions("soft", labels)
        case CostMatrix():
            return _costs(decision.aligned(np.asarray(labels)), labels)
    raise refusal_type("decision", "a decision that can be written out", decision)


def _cut(labels: tuple[Label, ...], cuts: tuple[float, ...], loss: Any) -> Actions:
    score_cuts = () if loss is None else tuple(float(loss.score(cut)) for cut in cuts)
    return Actions("cuts", labels, tuple(cuts), score_cuts)


def _costs(decision: CostMatrix, labels: tuple[Label, ...]) -> Actions:
    columns = np.asarray(decision.matrix)
    if decision.reject_cost is not None:
        price = np.broadcast_to(np.asarray(decision.reject_cost, dtype=np.float64), (len(columns),))
        columns, labels = np.column_stack([columns, price]), (*labels, None)
    return Actions("costs", labels, costs=tuple(tuple(row) for row in columns.tolist()))


def _first_best(values: Sequence[str], labels: Sequence[str], compare: str) -> str:
    whens = []
    for k in range(len(values) - 1):
        rivals = " AND ".join(f"{values[k]} {compare} {values[j]}" for j in range(len(values)) if j != k)
        whens.append(f"WHEN {rivals} THEN {labels[k]}")
    return f"CASE {' '.join(whens)} ELSE {labels[-1]} END"
