"""Risk against coverage: the error among the rows decided, when only those with the highest confidence are."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from permissible.decisions import class_codes
from permissible.evaluation.cells import rows_of
from permissible.evaluation.curves import risk_coverage
from permissible.report.displays.axes import Axes, axes_or_new
from permissible.types import ArrayLike


@dataclass(eq=False)
class RiskCoverageDisplay:
    """The error among the rows decided, when only the fraction with the highest confidence is.

    Parameters
    ----------
    coverage, risk : arrays
    name : str, optional
        For the legend.

    Examples
    --------
    >>> import permissible as pm
    >>> display = pm.RiskCoverageDisplay.from_predictions([0, 1, 1, 0], [0.1, 0.9, 0.4, 0.3])
    >>> display.coverage[-1], display.risk[-1]
    (1.0, 0.25)
    """

    coverage: Sequence[float]
    risk: Sequence[float]
    name: str | None = None
    ax_: Any = field(default=None, repr=False)

    @classmethod
    def from_estimator(
        cls, estimator: ClassifierMixin, X: object, y: ArrayLike, *, ax: Axes | None = None, name: str | None = None
    ) -> "RiskCoverageDisplay":
        """Draw the curve of a fitted classifier on (X, y)."""
        codes = class_codes(y, np.asarray(estimator.classes_))
        display = cls(*risk_coverage(codes, estimator.predict_proba(X)), name or type(estimator).__name__)
        return display.plot(ax=ax)

    @classmethod
    def from_predictions(cls, y: ArrayLike, proba: ArrayLike, *, name: str | None = None) -> "RiskCoverageDisplay":
        """Build from labels and probabilities (of the positive class, or a column per class); `plot` draws it.

        Labels are class codes, or texts in sorted order.
        """
        codes, table, _ = rows_of(y, proba, None)
        return cls(*risk_coverage(codes, table), name)

    def plot(self, ax: Axes | None = None, **options: Any) -> "RiskCoverageDisplay":
        """Draw into `ax`, or into a new figure."""
        self.ax_ = axes_or_new(ax)
        self.ax_.plot(self.coverage, self.risk, label=self.name, **options)
        self.ax_.set(xlabel="coverage: share of rows decided", ylabel="risk: error among them", xlim=(0, 1.01))
        self.ax_.set_ylim(bottom=0)
        if self.name is not None:
            self.ax_.legend(frameon=False)
        return self
