"""Margins by group: the density of the scores in each group of rows, with the cut-offs ([K] Figure 8B)."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from permissible.report.displays.axes import Axes, axes_or_new
from permissible.types import ArrayLike, FloatArray
from permissible.validation import Words, refusal, refusal_type


@dataclass(eq=False)
class MarginDensityDisplay:
    """The density of f(x) in each group of rows, with the cut-offs between the regions ([K] Figure 8B).

    Parameters
    ----------
    scores : mapping from group to array
    deltas : array
        The cut-offs.

    Examples
    --------
    >>> import numpy as np, permissible as pm
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> model = pm.BoundaryClassifier([0.25, 0.75]).fit(X, X[:, 0] > 0)
    >>> display = pm.MarginDensityDisplay.from_estimator(model, X, np.where(X[:, 0] > 0, "ill", "well"))
    >>> sorted(display.scores)
    ['ill', 'well']
    """

    scores: dict[str, FloatArray]
    deltas: FloatArray
    ax_: Any = field(default=None, repr=False)

    @classmethod
    def from_estimator(
        cls, estimator: object, X: object, groups: ArrayLike, *, ax: Axes | None = None
    ) -> "MarginDensityDisplay":
        """Draw the scores of a fitted classifier of two classes; `groups` has the group of each row, such as its label.

        The cut-offs are those of a `BoundaryClassifier`; of another classifier the score 0, where `predict` changes.
        """
        if not hasattr(estimator, "decision_function"):
            raise refusal_type("estimator", "a fitted classifier with decision_function", estimator)
        score, names = estimator.decision_function(X), np.asarray(groups)
        if score.ndim != 1:
            came = Words(f"{type(estimator).__name__} of {score.shape[1]} classes")
            raise refusal("estimator", "a classifier of two classes, which has one score", came)
        if len(names) != len(score):
            raise refusal("groups", f"one value for each of the {len(score)} rows", Words(f"{len(names)} values"))
        deltas = getattr(estimator, "deltas_", np.zeros(1))
        return cls({str(name): score[names == name] for name in np.unique(names)}, deltas).plot(ax=ax)

    def plot(self, ax: Axes | None = None, **options: Any) -> "MarginDensityDisplay":
        """Draw into `ax`, or into a new figure."""
        self.ax_ = axes_or_new(ax)
        everything = np.concatenate(list(self.scores.values()))
        room = 0.1 * float(np.ptp(everything)) + 1e-9
        grid = np.linspace(everything.min() - room, everything.max() + room, 200)
        for name, score in self.scores.items():
            self.ax_.plot(grid, density(score, grid), label=name, **options)
        for delta in self.deltas:
            self.ax_.axvline(float(delta), color="black", linewidth=0.8, linestyle="--")
        self.ax_.set(xlabel="f(x)", ylabel="density")
        self.ax_.legend(frameon=False)
        return self


def density(values: FloatArray, grid: FloatArray) -> FloatArray:
    """A Gaussian kernel estimate with Silverman's width; a narrow peak where all values agree.

    >>> grid = np.linspace(-6, 6, 200)
    >>> round(float(np.trapezoid(density(np.array([-1.0, 0.0, 1.0]), grid), grid)), 3)
    1.0
    """
    spread = float(np.std(values))
    width = max(1.06 * spread * len(values) ** -0.2, 1e-3 * float(np.ptp(grid)))
    return np.asarray(
        np.exp(-0.5 * ((grid[:, None] - values) / width) ** 2).mean(axis=1) / (width * np.sqrt(2 * np.pi))
    )
