"""Regions of probability: rows as points of a plane, coloured by the region that their probability lies in."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from permissible.decisions import Boundaries, class_codes
from permissible.decisions.words import group_names
from permissible.report.displays.axes import Axes, axes_or_new, two_classes
from permissible.table.reading import chosen
from permissible.types import ArrayLike, FloatArray, IntArray, Matrix
from permissible.validation import Words, refusal


@dataclass(eq=False)
class RegionDisplay:
    """Rows over two features or the first two principal components, coloured by their region of probability.

    Parameters
    ----------
    points : array of shape (n, 2)
    region : array of int
    boundaries : sequence of float
        The probabilities that bound the regions.
    labels : pair of str
        Of the axes.
    marker : array of int, optional
        The true class, shown by the shape.

    Examples
    --------
    >>> import numpy as np, permissible as pm
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> model = pm.BoundaryClassifier([0.25, 0.75]).fit(X, X[:, 0] > 0)
    >>> display = pm.RegionDisplay.from_estimator(model, X)
    >>> display.points.shape, len(display.boundaries)
    ((60, 2), 2)
    """

    points: FloatArray
    region: IntArray
    boundaries: Sequence[float]
    labels: tuple[str, str]
    marker: IntArray | None = None
    ax_: Any = field(default=None, repr=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: ClassifierMixin,
        X: Matrix,
        y: ArrayLike | None = None,
        *,
        boundaries: tuple[float, ...] | None = None,
        features: object = "pca",
        ax: Axes | None = None,
    ) -> "RegionDisplay":
        """Draw the regions of probability in which a fitted classifier of two classes puts the rows.

        Parameters
        ----------
        estimator : classifier with predict_proba
            The regions are `boundaries` where given, else those of a `BoundaryClassifier`, else the sides of 1/2.
        X : rows
            Of numbers: they are points of a plane.
        y : labels, optional
            Shown by the marker.
        boundaries : sequence of float, optional
            Increasing probabilities between which the regions lie.
        features : "pca" or two columns (positions or names)
            What to put on the axes; [K] Figure 8A has principal components.
        ax : matplotlib axes, optional
        """
        classes = two_classes(estimator)
        points, labels = _plane(estimator, X, features)
        marker = None if y is None else class_codes(y, classes)
        if boundaries is None and hasattr(estimator, "predict_region"):
            trained = tuple(float(pi) for pi in estimator.model_.boundaries)
            return cls(points, estimator.predict_region(X), trained, labels, marker).plot(ax=ax)
        decision = Boundaries((0.5,) if boundaries is None else boundaries)
        region = decision.decide(estimator.predict_proba(X))
        return cls(points, region, decision.boundaries, labels, marker).plot(ax=ax)

    def plot(self, ax: Axes | None = None, **options: Any) -> "RegionDisplay":
        """Draw into `ax`, or into a new figure."""
        from matplotlib import colormaps

        self.ax_ = axes_or_new(ax)
        names = group_names(self.boundaries)
        shapes = np.zeros(len(self.region), dtype=np.int64) if self.marker is None else self.marker
        for k in range(len(names)):
            colour = colormaps["coolwarm"](k / max(1, len(names) - 1))
            for shape, symbol in ((0, "o"), (1, "^")):
                rows = (self.region == k) & (shapes == shape)
                if not rows.any():
                    continue
                first = shape == 0 or not ((self.region == k) & (shapes == 0)).any()
                label = names[k] if first else None
                style = {"s": 14, "color": colour, "marker": symbol, "label": label, **options}
                self.ax_.scatter(self.points[rows, 0], self.points[rows, 1], **style)
        self.ax_.set(xlabel=self.labels[0], ylabel=self.labels[1])
        self.ax_.legend(frameon=False, title="region")
        return self


def _plane(estimator: object, X: Matrix, features: Any) -> tuple[FloatArray, tuple[str, str]]:
    try:
        table = np.asarray(X.todense() if hasattr(X, "todense") else X, dtype=np.float64)
    except (TypeError, ValueError):
        table = np.empty((0, 0))
    if table.ndim != 2 or not table.size:
        remedy = "leave text and categories out, or choose two columns of numbers by `features` from a table that has only these"
        raise refusal("X", "a table of numbers, to be points of a plane", Words(type(X).__name__), remedy)
    if np.isnan(table).any():
        raise refusal("X", "without missing values, to be points of a plane", Words("NaN"), "leave those rows out")
    if isinstance(features, str) and features == "pca":
        if table.shape[1] < 2:
            raise refusal("X", "at least two columns for principal components", Words(f"{table.shape[1]}"))
        centred = table - table.mean(axis=0)
        _, _, axes = np.linalg.svd(centred, full_matrices=False)
        return centred @ axes[:2].T, ("first principal component", "second principal component")
    names = tuple(map(str, getattr(estimator, "feature_names_in_", [f"x{j}" for j in range(table.shape[1])])))
    places = chosen(names, features, "features")
    if len(places) != 2:
        raise refusal("features", "'pca' or two columns", features)
    return table[:, places], (names[places[0]], names[places[1]])
