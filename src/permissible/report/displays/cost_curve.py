"""The cost curve: the mean cost per row as the costs of the two mistakes change."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from permissible.evaluation.tables import expected_cost_curve
from permissible.report.displays.axes import Axes, CurveDisplay, axes_or_new


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
