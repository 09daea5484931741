"""Three pictures of decisions under boundaries, as scikit-learn displays: risk against coverage, regions, margins by group.

Each display holds plain arrays and draws them with ``plot``; matplotlib is imported only then.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from permissible.decisions import Boundaries, class_codes
from permissible.evaluation.curves import risk_coverage
from permissible.types import ArrayLike, FloatArray, IntArray, Matrix
from permissible.validation import Words, refusal, refusal_type


@dataclass(eq=False)
class RiskCoverageDisplay:
    """The error among the rows decided, when only the surest share of them is.

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
        cls, estimator: Any, X: Any, y: ArrayLike, *, ax: Any = None, name: str | None = None
    ) -> "RiskCoverageDisplay":
        """Draw the curve of a fitted classifier on (X, y)."""
        codes = class_codes(y, np.asarray(estimator.classes_))
        display = cls(*risk_coverage(codes, estimator.predict_proba(X)), name or type(estimator).__name__)
        return display.plot(ax=ax)

    @classmethod
    def from_predictions(cls, y: ArrayLike, proba: ArrayLike, *, name: str | None = None) -> "RiskCoverageDisplay":
        """Build from class codes and probabilities (of the positive class, or a column a class); `plot` draws it."""
        p = np.asarray(proba, dtype=np.float64)
        table = np.column_stack([1 - p, p]) if p.ndim == 1 else p
        return cls(*risk_coverage(np.asarray(y, dtype=np.int64), table), name)

    def plot(self, ax: Any = None, **options: Any) -> "RiskCoverageDisplay":
        """Draw into `ax`, or into a new figure."""
        self.ax_ = _axes(ax)
        self.ax_.plot(self.coverage, self.risk, label=self.name, **options)
        self.ax_.set(xlabel="coverage: share of rows decided", ylabel="risk: error among them", xlim=(0, 1.01))
        self.ax_.set_ylim(bottom=0)
        if self.name is not None:
            self.ax_.legend(frameon=False)
        return self


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
        estimator: Any,
        X: Matrix,
        y: ArrayLike | None = None,
        *,
        boundaries: Any = None,
        features: Any = "pca",
        ax: Any = None,
    ) -> "RegionDisplay":
        """Draw the regions of probability in which a fitted classifier of two classes puts the rows.

        Parameters
        ----------
        estimator : classifier with predict_proba
            The regions are those that a `BoundaryClassifier` was fitted for; of any other classifier the two sides of 1/2,
            unless `boundaries` are given.
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
        if not hasattr(estimator, "predict_proba") or len(estimator.classes_) != 2:
            came = Words(f"{type(estimator).__name__} of {len(getattr(estimator, 'classes_', ()))} classes")
            raise refusal("estimator", "a fitted classifier of two classes with predict_proba", came)
        points, labels = _plane(estimator, X, features)
        marker = None if y is None else class_codes(y, np.asarray(estimator.classes_))
        if boundaries is None and hasattr(estimator, "predict_region"):
            trained = tuple(float(pi) for pi in estimator.model_.boundaries)
            return cls(points, estimator.predict_region(X), trained, labels, marker).plot(ax=ax)
        decision = Boundaries((0.5,) if boundaries is None else boundaries)
        region = decision.decide(estimator.predict_proba(X))
        return cls(points, region, decision.boundaries, labels, marker).plot(ax=ax)

    def plot(self, ax: Any = None, **options: Any) -> "RegionDisplay":
        """Draw into `ax`, or into a new figure."""
        from matplotlib import colormaps

        self.ax_ = _axes(ax)
        edges = [0.0, *self.boundaries, 1.0]
        shapes = np.zeros(len(self.region), dtype=np.int64) if self.marker is None else self.marker
        for k in range(len(edges) - 1):
            colour = colormaps["coolwarm"](k / max(1, len(edges) - 2))
            for shape, symbol in ((0, "o"), (1, "^")):
                rows = (self.region == k) & (shapes == shape)
                if not rows.any():
                    continue
                first = shape == 0 or not ((self.region == k) & (shapes == 0)).any()
                label = f"{edges[k]:g} < p <= {edges[k + 1]:g}" if first else None
                style = {"s": 14, "color": colour, "marker": symbol, "label": label, **options}
                self.ax_.scatter(self.points[rows, 0], self.points[rows, 1], **style)
        self.ax_.set(xlabel=self.labels[0], ylabel=self.labels[1])
        self.ax_.legend(frameon=False, title="region")
        return self


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
    def from_estimator(cls, estimator: Any, X: Any, groups: ArrayLike, *, ax: Any = None) -> "MarginDensityDisplay":
        """Draw the scores of a fitted `BoundaryClassifier`; `groups` names the group of each row (labels will do)."""
        if not hasattr(estimator, "deltas_"):
            raise refusal_type("estimator", "a fitted BoundaryClassifier, which has cut-offs", estimator)
        score, names = estimator.decision_function(X), np.asarray(groups)
        if len(names) != len(score):
            raise refusal("groups", f"one value for each of the {len(score)} rows", Words(f"{len(names)} values"))
        return cls({str(name): score[names == name] for name in np.unique(names)}, estimator.deltas_).plot(ax=ax)

    def plot(self, ax: Any = None, **options: Any) -> "MarginDensityDisplay":
        """Draw into `ax`, or into a new figure."""
        self.ax_ = _axes(ax)
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

    Examples
    --------
    >>> import numpy as np
    >>> grid = np.linspace(-6, 6, 200)
    >>> round(float(np.trapezoid(density(np.array([-1.0, 0.0, 1.0]), grid), grid)), 3)
    1.0
    """
    spread = float(np.std(values))
    width = max(1.06 * spread * len(values) ** -0.2, 1e-3 * float(np.ptp(grid)))
    return np.asarray(
        np.exp(-0.5 * ((grid[:, None] - values) / width) ** 2).mean(axis=1) / (width * np.sqrt(2 * np.pi))
    )


def _plane(estimator: Any, X: Matrix, features: Any) -> tuple[FloatArray, tuple[str, str]]:
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
    names = list(getattr(estimator, "feature_names_in_", [f"x{j}" for j in range(table.shape[1])]))
    if len(features) != 2:
        raise refusal("features", "'pca' or two columns", features)
    places = [names.index(one) if isinstance(one, str) else int(one) for one in features]
    return table[:, places], (str(names[places[0]]), str(names[places[1]]))


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.subplots()[1]
