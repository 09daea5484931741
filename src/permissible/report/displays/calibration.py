"""Calibration: how often it happened against what was predicted, with an interval band and a histogram."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from permissible.evaluation.cells import Cells, judged
from permissible.evaluation.curves import ReliabilityBin, reliability
from permissible.evaluation.intervals import Resampling
from permissible.evaluation.labels import as_positive
from permissible.evaluation.recalibration import isotonic
from permissible.report.displays.axes import Axes, axes_or_new, labels_of
from permissible.types import ArrayLike, FloatArray


@dataclass(eq=False)
class CalibrationDisplay:
    """Observed rates in bins of predicted probability with a band of intervals, the recalibration, and a histogram.

    Parameters
    ----------
    bins : list of ReliabilityBin
        Mean prediction, observed rate, Wilson's interval and rows of each bin.
    recalibrated : pair of arrays
        Probabilities, and what isotonic regression makes of them.
    cells : Cells
        The rows, for the histogram.
    name : str, optional

    Examples
    --------
    >>> import permissible as pm
    >>> display = pm.CalibrationDisplay.from_predictions([0, 1, 1, 0], [0.1, 0.9, 0.4, 0.3], n_bins=2)
    >>> [(bin.predicted, bin.happened) for bin in display.bins]
    [(0.2, 0.0), (0.65, 1.0)]
    """

    bins: list[ReliabilityBin]
    recalibrated: tuple[FloatArray, FloatArray]
    cells: Cells
    name: str | None = None
    ax_: Any = field(default=None, repr=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: ClassifierMixin,
        X: object,
        y: ArrayLike,
        *,
        ax: Axes | None = None,
        name: str | None = None,
        **options: Any,
    ) -> "CalibrationDisplay":
        """Draw the calibration of a fitted classifier of two classes; `options` as in `from_predictions`."""
        labels = labels_of(estimator, y, options.get("pos_label"))
        named = type(estimator).__name__ if name is None else name
        return cls.from_predictions(labels, estimator.predict_proba(X), ax=ax, name=named, **options)

    @classmethod
    def from_predictions(
        cls,
        y: ArrayLike,
        proba: ArrayLike,
        *,
        n_bins: int = 10,
        pos_label: object = None,
        sample_weight: ArrayLike | None = None,
        level: float = 0.95,
        ax: Axes | None = None,
        name: str | None = None,
    ) -> "CalibrationDisplay":
        """Draw the calibration of probabilities of the positive class, in bins of about equally many rows."""
        truth, p = as_positive(y, proba, pos_label)
        cells = judged(truth, p, sample_weight).cells
        bins = reliability(truth, p, n_bins, sample_weight, Resampling(level).z)
        return cls(bins, (cells.probability, isotonic(cells)[0]), cells, name).plot(ax=ax)

    def plot(self, ax: Axes | None = None, *, histogram: bool = True, **options: Any) -> "CalibrationDisplay":
        """Draw into `ax`, or into a new figure."""
        self.ax_ = axes_or_new(ax, layout="constrained")
        predicted, happened = [b.predicted for b in self.bins], [b.happened for b in self.bins]
        self.ax_.plot([0, 1], [0, 1], color="0.6", linestyle=":", label="as predicted")
        (line,) = self.ax_.plot(predicted, happened, marker="o", label=self.name or "model", **options)
        ends = [b.low for b in self.bins], [b.high for b in self.bins]
        self.ax_.fill_between(predicted, *ends, color=line.get_color(), alpha=0.15, linewidth=0)
        self.ax_.step(*self.recalibrated, where="mid", color=line.get_color(), linewidth=0.8, alpha=0.6)
        if histogram:
            rows, edges = np.histogram(
                self.cells.probability, np.linspace(0, 1, 41), weights=self.cells.counts[0].sum(axis=0)
            )
            self.ax_.bar(edges[:-1], 0.12 * rows / rows.max(), width=1 / 40, align="edge", color="0.8", zorder=0)
        self.ax_.set(xlabel="predicted probability", ylabel="observed rate", xlim=(0, 1), ylim=(0, 1))
        self.ax_.legend(frameon=False, loc="upper left")
        return self
