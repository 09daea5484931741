"""Curves over thresholds: net benefit, and the mean cost per row as the costs of the two mistakes change."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin

from permissible.evaluation.net_benefit import Columns, net_benefit
from permissible.evaluation.tables import expected_cost_curve
from permissible.report.displays.axes import Axes, axes_or_new, labels_of
from permissible.types import ArrayLike


@dataclass(eq=False)
class CurveDisplay:
    """A curve over thresholds; `table` computes it from labels and probabilities."""

    curve: Columns
    name: str | None = None
    ax_: Any = field(default=None, repr=False)
    table: ClassVar[Callable[..., Columns]]

    @classmethod
    def from_estimator(
        cls,
        estimator: ClassifierMixin,
        X: object,
        y: ArrayLike,
        thresholds: ArrayLike | None = None,
        *,
        ax: Axes | None = None,
        name: str | None = None,
        **options: Any,
    ) -> Self:
        """Draw the curve of a fitted classifier of two classes; `options` are those of the function in `pm.metrics`."""
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
        ax: Axes | None = None,
        name: str | None = None,
        **options: Any,
    ) -> Self:
        """Draw the curve of probabilities of the positive class."""
        at = np.arange(1, 100) / 100 if thresholds is None else thresholds
        return cls(cls.table(y, proba, at, **options), name).plot(ax=ax)

    def plot(self, ax: Axes | None = None, **options: Any) -> Self:
        """Draw into `ax`, or into a new figure."""
        raise NotImplementedError


@dataclass(eq=False)
class DecisionCurveDisplay(CurveDisplay):
    """Net benefit against the threshold, with a band, beside acting on all rows and on none.

    Parameters
    ----------
    curve : dict of arrays
        As `permissible.metrics.net_benefit` returns it.
    name : str, optional
        For the legend.

    Examples
    --------
    >>> import permissible as pm
    >>> display = pm.DecisionCurveDisplay.from_predictions([0, 1, 1, 0], [0.1, 0.9, 0.4, 0.3], [0.2, 0.5])
    >>> display.curve["net_benefit"].tolist()
    [0.4375, 0.25]
    """

    table = staticmethod(net_benefit)

    def plot(self, ax: Axes | None = None, *, alternatives: bool = True, **options: Any) -> Self:
        """Draw into `ax`, or into a new figure; `alternatives` are the curves of acting on all and on none."""
        self.ax_ = axes_or_new(ax, layout="constrained")
        curve, at = self.curve, self.curve["threshold"]
        (line,) = self.ax_.plot(at, curve["net_benefit"], label=self.name or "model", **options)
        self.ax_.fill_between(
            at, curve["net_benefit_low"], curve["net_benefit_high"], color=line.get_color(), alpha=0.15, linewidth=0
        )
        if alternatives:
            self.ax_.plot(at, curve["treat_all"], color="0.5", linestyle="--", label="act on all")
            self.ax_.axhline(0.0, color="0.2", linestyle=":", label="act on none")
        top = max(float(np.max(curve["net_benefit"])), float(curve["treat_all"][0]), 1e-6)
        self.ax_.set_ylim(-0.15 * top, 1.12 * top)
        self.ax_.set(
            xlabel="threshold: probability above which one acts", ylabel="net benefit (true positives per row)"
        )
        self.ax_.legend(frameon=False)
        return self


@dataclass(eq=False)
class CostCurveDisplay(CurveDisplay):
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

    table = staticmethod(expected_cost_curve)

    def plot(self, ax: Axes | None = None, **options: Any) -> Self:
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
