"""Subgroups: one metric in each group of rows, with intervals, beside that of all rows."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from permissible.evaluation.net_benefit import Columns
from permissible.evaluation.subgroups import subgroup_table
from permissible.evaluation.validated.result import WORDS
from permissible.report.displays.axes import Axes, axes_or_new, labels_of
from permissible.types import ArrayLike


@dataclass(eq=False)
class SubgroupDisplay:
    """A metric by group of rows: a dot and an interval for each, hollow where the group is small.

    Parameters
    ----------
    table : dict of columns
        As `permissible.metrics.subgroup_table` returns it, of one measure.
    overall : float
        The figure of all rows.

    Examples
    --------
    >>> import permissible as pm
    >>> display = pm.SubgroupDisplay.from_predictions([0, 1, 1, 0], [0.1, 0.9, 0.4, 0.3], ["a", "a", "b", "b"], "sensitivity")
    >>> display.table["value"].tolist(), display.overall
    ([1.0, 0.0], 0.5)
    """

    table: Columns
    overall: float
    ax_: Any = field(default=None, repr=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: ClassifierMixin,
        X: object,
        y: ArrayLike,
        groups: ArrayLike,
        measure: str = "o_e",
        *,
        ax: Axes | None = None,
        **options: Any,
    ) -> "SubgroupDisplay":
        """Draw a figure of a fitted classifier of two classes by group; `options` are those of `metrics.subgroup_table`."""
        labels = labels_of(estimator, y, options.get("pos_label"))
        return cls.from_predictions(labels, estimator.predict_proba(X), groups, measure, ax=ax, **options)

    @classmethod
    def from_predictions(
        cls,
        y: ArrayLike,
        proba: ArrayLike,
        groups: ArrayLike,
        measure: str = "o_e",
        *,
        ax: Axes | None = None,
        **options: Any,
    ) -> "SubgroupDisplay":
        """Draw a figure of probabilities of the positive class by group."""
        table = subgroup_table(y, proba, groups, [measure], **options)
        together = np.zeros(len(np.asarray(groups)), dtype=np.int64)
        overall = subgroup_table(y, proba, together, [measure], **{**options, "n_bootstrap": 0})
        return cls(table, float(overall["value"][0])).plot(ax=ax)

    def plot(self, ax: Axes | None = None, **options: Any) -> "SubgroupDisplay":
        """Draw into `ax`, or into a new figure."""
        self.ax_ = axes_or_new(ax, layout="constrained")
        table = self.table
        for place, (value, low, high, small) in enumerate(
            zip(table["value"], table["low"], table["high"], table["small"], strict=True)
        ):
            style = {"color": "C0", "marker": "o", "markerfacecolor": "white" if small else "C0", **options}
            self.ax_.plot([low, high], [place, place], color=style["color"], linewidth=1.2)
            self.ax_.plot([value], [place], **style)
        self.ax_.axvline(self.overall, color="0.5", linestyle=":", label="all rows")
        names = [
            f"{name} ({events:g} of {rows:g})"
            for name, events, rows in zip(table["group"], table["events"], table["rows"], strict=True)
        ]
        self.ax_.set_yticks(range(len(names)), names)
        self.ax_.invert_yaxis()
        self.ax_.set(xlabel=WORDS.get(table["measure"][0], table["measure"][0]), ylabel="group (positive rows of rows)")
        self.ax_.legend(frameon=False)
        return self
