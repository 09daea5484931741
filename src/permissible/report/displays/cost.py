"""A confusion matrix with costs: counts, fractions or costs by true and decided class."""

from dataclasses import dataclass

import numpy as np
from sklearn.base import ClassifierMixin

from permissible.decisions import CostMatrix, class_codes
from permissible.decisions.documents import costs_for
from permissible.report.displays.axes import Axes, axes_or_new
from permissible.types import FloatArray
from permissible.validation import Words, one_of, refusal

TITLES = {"count": "rows", "share": "share of the true class", "cost": "share of the total cost"}


@dataclass(frozen=True, slots=True, eq=False)
class CostDisplay:
    """A confusion matrix with its costs.

    Parameters
    ----------
    classes : tuple
        Labels, in the order of rows; the last column is "no decision" when there is one.
    counts : array (M, M) or (M, M + 1)
        Weighted number of rows by true and decided class.
    costs : array of the same shape
        What each cell costs.

    Examples
    --------
    >>> import permissible as pm
    >>> display = CostDisplay.of([0, 1, 1], [0, 1, 0], pm.CostMatrix([[0, 1], [4, 0]]), classes=[0, 1])
    >>> display.paid().tolist()
    [[0.0, 0.0], [4.0, 0.0]]
    >>> round(display.risk, 3)
    1.333
    """

    classes: tuple[object, ...]
    counts: FloatArray
    costs: FloatArray

    @classmethod
    def of(
        cls,
        y: object,
        decided: object,
        costs: CostMatrix | None = None,
        classes: object = None,
        sample_weight: object = None,
    ) -> "CostDisplay":
        """Count decisions: `decided` holds labels, or with `classes` their positions and -1 for no decision."""
        truth, chosen = np.asarray(y), np.asarray(decided)
        if truth.shape != chosen.shape:
            raise refusal("decided", f"one decision for each of the {truth.size} rows", Words(f"shape {chosen.shape}"))
        labels = np.unique(truth) if classes is None else np.asarray(classes)
        rows = class_codes(truth, labels)
        as_index = chosen.dtype.kind in "iu" and bool(np.any(chosen == -1)) and -1 not in labels.tolist()
        columns = chosen.astype(np.int64) if as_index else class_codes(chosen, labels, "decided")
        matrix = costs_for(costs, labels)
        table = matrix.action_losses(len(labels))
        if matrix.reject_cost is None and np.any(columns < 0):
            table = np.column_stack([table, np.zeros(len(labels))])
        counts = np.zeros(table.shape)
        weight = np.ones(len(rows)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        np.add.at(counts, (rows, columns), weight)  # -1 is the last column
        return cls(tuple(labels.tolist()), counts, table)

    @classmethod
    def from_estimator(cls, estimator: ClassifierMixin, X: object, y: object, decision: object = None) -> "CostDisplay":
        """Count what an estimator decides on some rows; `decision` may be another one than its own."""
        given = getattr(estimator, "cost_matrix_", None) if decision is None else decision
        costs = costs_for(given, estimator.classes_)
        decided = estimator.predict(X) if decision is None else estimator.decide(X, decision)
        if decision is not None and not np.any(decided < 0):
            decided = estimator.classes_[decided]
        return cls.of(y, decided, costs, estimator.classes_)

    @property
    def risk(self) -> float:
        """The mean cost (5)."""
        return float((self.counts * self.costs).sum() / self.counts.sum())

    def paid(self) -> FloatArray:
        """The total cost of each cell."""
        return np.asarray(self.counts * self.costs)

    def values(self, measure: str = "count") -> FloatArray:
        """The cells: "count", "share" (fraction of the true class) or "cost" (fraction of the total cost)."""
        if one_of("measure", measure, TITLES) == "count":
            return self.counts
        if measure == "share":
            return np.asarray(self.counts / np.maximum(self.counts.sum(axis=1, keepdims=True), 1e-300))
        return np.asarray(self.paid() / max(self.paid().sum(), 1e-300))

    def plot(self, measure: str = "count", ax: Axes | None = None) -> Axes:
        """Draw the cells; needs matplotlib. Returns the axes."""
        ax = axes_or_new(ax, layout="constrained")
        cells = self.values(measure)
        shown = ax.imshow(cells, cmap="Blues" if measure != "cost" else "Oranges", vmin=0.0)
        names = [str(label) for label in self.classes]
        decided = names + (["no decision"] if cells.shape[1] > len(names) else [])
        ax.set_xticks(range(len(decided)), decided, rotation=45, ha="right")
        ax.set_yticks(range(len(names)), names)
        ax.set(xlabel="decided", ylabel="true", title=f"{TITLES[measure]}; mean cost {self.risk:.3f}")
        middle = cells.max() / 2
        for i, j in np.argwhere(cells):
            text = f"{cells[i, j]:.0f}" if measure == "count" else f"{cells[i, j]:.2f}"
            ax.text(j, i, text, ha="center", va="center", color="white" if cells[i, j] > middle else "black")
        ax.figure.colorbar(shown, ax=ax)
        return ax
