"""The cost curve: the mean cost per row as the costs of the two mistakes change."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from permissible.evaluation.net_benefit import Columns
from permissible.evaluation.tables import expected_cost_curve
from permissible.report.displays.axes import axes_or_new, labels_of
from permissible.types import ArrayLike


@dataclass(eq=False)
class CostCurveDisplay:
    """Expected cost against the share of a false alarm in the costs of both mistakes, beside acting on all and on none.

    Parameters
    ----------
    curve : dict of arrays
        As `permissible.metrics.expected_cost_curve` returns it.
    name : str, optional

    Examples
    --------
    >>> import permissible as pm
    >>> display = pm.CostCurveDisplay.from_predictions([0, 1, 1, 0], [0.1, 0.9, 0.4, 0.3], [0.5])
    >>> display.curve["cost"].tolist()
    [0.25]
    """

    curve: Columns
    name: str | None = None
    ax_: Any = field(default=None, repr=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        thresholds: ArrayLike | None = None,
        *,
        ax: Any = None,
        name: str | None = None,
        **options: Any,
    ) -> "CostCurveDisplay":
        """Draw the curve of a fitted classifier of two classes; `options` are those of `metrics.expected_cost_curve`."""
        labels = labels_of(estimator, y, options.get("pos_label"))
        named = type(estimator).__name__ if name is None else name
        return cls.from_predictions(labels, estimator.predict_proba(X), thresholds, ax=ax, name=named, **options)

    @classmethod
    def from_predictions(
        cls,
        y: ArrayLike,
        proba: ArrayLike,
        thresholds: ArrayLike | None = None,
        *,
        ax: Any = None,
        name: str | None = None,
        **options: Any,
    ) -> "CostCurveDisplay":
        """Draw the curve of probabilities of the positive class."""
        at = np.arange(1, 100) / 100 if thresholds is None else thresholds
        return cls(expected_cost_curve(y, proba, at, **options), name).plot(ax=ax)

    def plot(self, ax: Any = None, **options: Any) -> "CostCurveDisplay":
        """Draw into `ax`, or into a new figure."""
        self.ax_ = axes_or_new(ax, layout="constrained")
        curve, at = self.curve, self.curve["threshold"]
        (line,) = self.ax_.plot(at, curve["cost"], label=self.name or "model", **options)
        colour = line.get_color()
        self.ax_.fill_between(at, curve["cost_low"], curve["cost_high"], color=colour, alpha=0.15, linewidth=0)
        self.ax_.plot(at, curve["best"], color=colour, linewidth=0.8, alpha=0.7, label="after recalibration")
        self.ax_.plot(at, curve["act_on_all"], color="0.5", linestyle="--", label="act on all")
        self.ax_.plot(at, curve["act_on_none"], color="0.2", linestyle=":", label="act on none")
        lower = np.minimum(curve["act_on_all"], curve["act_on_none"])
        self.ax_.set_ylim(0, 1.25 * float(max(lower.max(), np.max(curve["cost"]))))
        self.ax_.set(
            xlabel="cost of a false alarm / (false alarm + miss)", ylabel="mean cost per row (the two costs sum to 2)"
        )
        self.ax_.legend(frameon=False)
        return self
