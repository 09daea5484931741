"""What to do with a row, as data: cuts of one probability, least expected cost, or the largest score. Renderings read this.

Every decision of `permissible.decisions` becomes one of these three shapes, with a label for each action; None is the label of
"no decision" (the reject option), which SQL writes as NULL and Python as None.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from permissible.models.dialects import Dialect
from permissible.table.schema import Category

Label: TypeAlias = Category | None
Shape: TypeAlias = Literal["cuts", "costs", "largest"]


@dataclass(frozen=True, slots=True)
class Actions:
    """How labels are chosen.

    Parameters
    ----------
    shape : {"cuts", "costs", "largest"}
        "cuts": the label of the interval that the positive class's probability falls in. "costs": the action of least expected
        cost, the first on ties. "largest": the class of the largest score, the first on ties.
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

    def sql(self, scores: Sequence[str], probabilities: Sequence[str], target: Dialect) -> str:
        """The decision as an SQL expression of the columns named in `scores` and `probabilities`."""
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
            return _first_best(list(probabilities or scores), labels, ">=")
        if len(probabilities) == 1:
            probabilities = [f"(1.0 - {probabilities[0]})", probabilities[0]]
        expected = [
            "("
            + " + ".join(f"{target.double(row[k])} * {p}" for row, p in zip(self.costs, probabilities, strict=True))
            + ")"
            for k in range(len(labels))
        ]
        return _first_best(expected, labels, "<=")

    def choose(self, scores: Sequence[float], probabilities: Sequence[float]) -> Label:
        """The label for one row: the reference for the renderings."""
        if self.shape == "cuts":
            by_score = self.by_score or not len(probabilities)
            x, cuts = (scores[0], self.score_cuts) if by_score else (probabilities[-1], self.cuts)
            above: Callable[[float], bool] = (lambda cut: x >= cut) if self.cut_goes_up else (lambda cut: x > cut)
            return self.labels[sum(above(cut) for cut in cuts)]
        if self.shape == "largest":
            values = list(probabilities) if len(probabilities) else list(scores)
            return self.labels[max(range(len(values)), key=lambda k: (values[k], -k))]
        both = list(probabilities) if len(probabilities) > 1 else [1.0 - probabilities[0], probabilities[0]]
        expected = [sum(row[k] * p for row, p in zip(self.costs, both, strict=True)) for k in range(len(self.labels))]
        return self.labels[min(range(len(expected)), key=lambda k: (expected[k], k))]


def _first_best(values: Sequence[str], labels: Sequence[str], compare: str) -> str:
    whens = []
    for k in range(len(values) - 1):
        rivals = " AND ".join(f"{values[k]} {compare} {values[j]}" for j in range(len(values)) if j != k)
        whens.append(f"WHEN {rivals} THEN {labels[k]}")
    return f"CASE {' '.join(whens)} ELSE {labels[-1]} END"
