"""The decision curve: net benefit of acting by the model, on all rows and on none, at each threshold."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from permissible.evaluation.net_benefit import net_benefit
from permissible.report.displays.axes import Axes, CurveDisplay, axes_or_new


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
