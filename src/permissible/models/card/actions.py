"""How decisions are taken, as data: cuts of one probability, least expected cost, or the largest score.

Every decision of `permissible.decisions` becomes one of these shapes, with a label for each action; None is the label
of "no decision" (the reject option), which SQL writes as NULL and Python as None. `predict`, `decide` and the
renderings all read this, so that they cannot disagree.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from permissible.decisions import Boundaries, CostMatrix, Decision, Hard, LogLoss, Reject, Soft, Weighted
from permissible.losses import Loss
from permissible.table.schema import Category
from permissible.types import AnyArray, FloatArray, IntArray
from permissible.validation import refusal, refusal_type

Label: TypeAlias = Category | None
Shape: TypeAlias = Literal["cuts", "costs", "largest", "soft", "own"]


@dataclass(frozen=True, slots=True)
class Actions:
    """How actions are chosen.

    Parameters
    ----------
    shape : {"cuts", "costs", "largest", "soft", "own"}
        "cuts": the interval that the positive class's probability falls in. "costs": the action of least expected cost,
        the first on ties. "largest": the class of the largest score, the first on ties. "soft": the probability itself.
        "own": a decision that has no rendering.
    labels : tuple
        One for each interval, action or class.
    cuts : tuple of float
        Increasing. A probability equal to a cut falls in the lower interval, unless `cut_goes_up`.
    score_cuts : tuple of float
        The same cuts as scores, for a probability that has no formula.
    by_score : bool
        Use scores even where there are probabilities, as `predict` does.
    costs : tuple of tuple of float
        costs[j][k]: what action k costs when the class is j.
    codes : tuple of int
        What `decide` returns for each label: a position in ``classes_``, a region, or -1; the positions unless given.
    own : Decision, optional
        The decision of the shape "own".
    """

    shape: Shape
    labels: tuple[Label, ...]
    cuts: tuple[float, ...] = ()
    score_cuts: tuple[float, ...] = ()
    cut_goes_up: bool = False
    by_score: bool = False
    costs: tuple[tuple[float, ...], ...] = ()
    codes: tuple[int, ...] = ()
    own: Decision | None = None

    def decide(self, values: FloatArray) -> AnyArray:
        """The code of each row's action (of "soft" its probability), from scores if `by_score`, else probabilities."""
        if self.own is not None:
            return np.asarray(self.own.decide(values))
        if self.shape == "soft":
            return np.asarray(values[:, -1])
        places = self.places(values, self.by_score)
        return np.array(self.codes)[places] if self.codes else places

    def places(self, values: FloatArray, by_score: bool) -> IntArray:
        """The position among the labels of each row's action, from scores or from probabilities of all classes."""
        if self.shape == "cuts":
            x, cuts = values if values.ndim == 1 else values[:, -1], self.score_cuts if by_score else self.cuts
            places = np.zeros(len(x), dtype=np.int64)
            for cut in cuts:
                places += x >= cut if self.cut_goes_up else x > cut
            return places
        if self.shape == "largest":
            return np.asarray(values.argmax(axis=1))
        costs, n_classes = np.array(self.costs), values.shape[1]
        expected = values @ np.ascontiguousarray(costs[:, :n_classes])
        if costs.shape[1] > n_classes:  # a rejection comes last, so it must be strictly cheaper
            expected = np.column_stack([expected, values @ costs[:, -1]])
        return np.asarray(expected.argmin(axis=1))

    def check(self, has_probabilities: bool, alike: bool) -> None:
        """Refuse a decision that has no rendering, or needs a formula for the probabilities where there is none.

        The largest score is the largest probability only where all scores use the same loss (`alike`).
        """
        if self.own is not None:
            raise refusal_type("decision", "a decision that can be written out", self.own)
        needed = self.shape in ("costs", "soft") or (self.shape == "largest" and not alike)
        if needed and not has_probabilities:
            expected = "one that scores can make, or a loss whose probability has a formula"
            remedy = "decide by Weighted, Reject or Boundaries, or fit with another loss"
            raise refusal("decision", expected, self.shape, remedy)


def predicting(classes: Sequence[Category], by_score: bool, cutoff: float = 0.0, cut_goes_up: bool = True) -> Actions:
    """What `predict` does: threshold one score (or probability 1/2), or take the class of the largest one.

    `cutoff` is the score above which it predicts positive, and `cut_goes_up` whether also at that score itself.
    """
    if len(classes) == 2:
        return Actions("cuts", tuple(classes), (0.5,), (cutoff,), cut_goes_up, by_score)
    return Actions("largest", tuple(classes), by_score=by_score)


def actions_of(decision: Decision, classes: Sequence[Category], losses: Sequence[Loss] = ()) -> Actions:
    """The actions of a decision over the given classes.

    Parameters
    ----------
    decision : Decision
    classes : sequence
        The labels in order; the last of two is the positive one.
    losses : sequence of losses, optional
        A single loss turns cuts of a probability into cuts of a score, for a probability without formula.
    """
    labels = tuple(classes)
    binary = len(labels) == 2
    loss = losses[0] if len(losses) == 1 else None
    match decision:
        case Hard() if binary:
            return Actions("cuts", labels, (0.5,), (0.0,), cut_goes_up=True)
        case Hard():
            return Actions("largest", labels)
        case Weighted() if binary:
            return _cut(labels, (decision.pi,), loss)
        case Reject() if binary:
            return _cut((labels[0], None, labels[1]), (decision.cost, 1 - decision.cost), loss, (0, -1, 1))
        case Boundaries() if binary:
            return _cut(tuple(range(len(decision.boundaries) + 1)), decision.boundaries, loss)
        case Soft() | LogLoss() if binary:
            return Actions("soft", labels)
        case CostMatrix():
            return _costs(decision.aligned(np.asarray(labels)), labels)
    return Actions("own", labels, own=decision)


def _cut(labels: tuple[Label, ...], cuts: tuple[float, ...], loss: Loss | None, codes: tuple[int, ...] = ()) -> Actions:
    score_cuts = () if loss is None else tuple(float(loss.score(cut)) for cut in cuts)
    return Actions("cuts", labels, tuple(cuts), score_cuts, codes=codes)


def _costs(decision: CostMatrix, labels: tuple[Label, ...]) -> Actions:
    columns, codes = np.asarray(decision.matrix), tuple(range(len(labels)))
    if decision.reject_cost is not None:
        price = np.broadcast_to(np.asarray(decision.reject_cost, dtype=np.float64), (len(columns),))
        columns, labels, codes = np.column_stack([columns, price]), (*labels, None), (*codes, -1)
    return Actions("costs", labels, costs=tuple(tuple(row) for row in columns.tolist()), codes=codes)
