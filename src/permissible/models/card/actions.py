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
from permissible.models.model import Link
from permissible.table.schema import Category
from permissible.types import AnyArray, FloatArray, IntArray
from permissible.validation import Words, refusal, refusal_type

Label: TypeAlias = Category | None
Shape: TypeAlias = Literal["cuts", "costs", "largest", "soft", "own"]


@dataclass(frozen=True, slots=True)
class Actions:
    """How actions are chosen."""

    # "cuts": the interval that the positive class's probability falls in. "costs": the action of least expected cost,
    # the first on ties. "largest": the class of the largest score, the first on ties. "soft": the probability itself.
    # "own": a decision that has no rendering.
    shape: Shape
    labels: tuple[Label, ...]  # one for each interval, action or class
    # Increasing. A probability equal to a cut falls in the lower interval, unless `cut_goes_up`.
    cuts: tuple[float, ...] = ()
    score_cuts: tuple[float, ...] = ()  # the same cuts as scores, for a probability that has no formula
    cut_goes_up: bool = False
    by_score: bool = False  # use scores even where there are probabilities, as `predict` does
    costs: tuple[tuple[float, ...], ...] = ()  # costs[j][k]: what action k costs when the class is j
    # What `decide` returns for each label: a position in ``classes_``, a region, or -1; the positions unless given.
    codes: tuple[int, ...] = ()
    own: Decision | None = None  # the decision of the shape "own"

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

    def places_of(self, scores: FloatArray, link: Link) -> IntArray:
        """The position among the labels for each score; a decision without finitely many actions is refused."""
        if self.shape not in ("cuts", "costs", "largest"):
            raise refusal("decision", "a decision with finitely many actions", Words(f"one of shape {self.shape!r}"))
        return self.places(scores if self.by_score else link.probabilities(scores), self.by_score)

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

    `classes` are the labels in order, the last of two the positive one. A single loss turns cuts of a probability into cuts of a
    score, for a probability without formula.
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
    codes = tuple(range(len(labels)))
    if decision.reject_cost is not None:
        labels, codes = (*labels, None), (*codes, -1)
    costs = decision.action_losses(len(codes)).tolist()
    return Actions("costs", labels, costs=tuple(map(tuple, costs)), codes=codes)
