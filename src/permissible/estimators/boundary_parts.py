"""BoundaryClassifier on data in parts: what it takes there, and the fit by sums over the parts."""

from typing import Any, NamedTuple

import numpy as np

from permissible.distributed.boundary_rows import AskedLinear
from permissible.distributed.data.passes import refuse_categories
from permissible.learners.boundary import LinearFit, Target
from permissible.learners.boundary.parted import PartedProblem, SoftSurface, rounded_surfaces
from permissible.learners.boundary.parted_subgradient import solve_parted_subgradient
from permissible.learners.doubts import certain_score
from permissible.rows.source import Source
from permissible.types import FloatArray
from permissible.validation import Words, refusal


def refuse_on_parts(estimator: Any, data: Source) -> None:
    """Refuse what rows in parts cannot do, in one sentence."""
    if estimator.kernel is not None:
        raise refusal("kernel", "None on data in parts", estimator.kernel, "map the rows first, or fit them in memory")
    if estimator.solver not in ("auto", "newton", "psgd"):
        raise refusal("solver", "auto, newton or psgd on data in parts", estimator.solver)
    if estimator.warm_start:
        raise refusal("warm_start", "False on data in parts", True, "fit rows in memory")
    if len(data.classes) != 2:
        came = Words(f"{len(data.classes)} classes")
        raise refusal("y", "labels of two classes", came, "fit one class against the rest")
    refuse_categories(data.binning)


class PartedFit(NamedTuple):
    """A fit with what doubts are about: what each column moves the score by, and the share of rows that saturate."""

    fit: LinearFit
    effects: FloatArray
    saturated: float


def fit_parts(estimator: Any, data: Source, target: Target) -> PartedFit:
    """Solve (18) on the rows of all parts."""
    rows = AskedLinear(data)
    try:
        total, largest = rows.facts()
        if not np.isfinite(largest).all():
            name = data.binning.schema.names[int(np.flatnonzero(~np.isfinite(largest))[0])]
            came = Words(f"NaN or infinity in column {name!r}")
            raise refusal("X", "finite and without missing values for this classifier", came, "fill them in first")
        problem = PartedProblem(
            rows, total, largest, float(estimator.alpha), bool(estimator.fit_intercept),
            bool(estimator.penalize_intercept),
        )  # fmt: skip
        fit = _solved(estimator, problem, target)
        reach, farthest = certain_score(target.loss), np.abs(fit.coef) * largest
        # The largest values bound both, so that an ordinary fit asks nothing more.
        effects = fit.coef * rows.spread(largest) if farthest.max(initial=0.0) >= reach else np.zeros(0)
        certain = abs(fit.intercept) + float(farthest.sum()) >= reach
        return PartedFit(
            fit, effects, rows.certain(np.append(fit.coef, fit.intercept), reach) if certain else 0.0
        )  # fmt: skip
    finally:
        rows.close()


def _solved(estimator: Any, problem: PartedProblem, target: Target) -> LinearFit:
    if target.segments is None:
        return problem.solve([SoftSurface(target.loss)], estimator.tol, estimator.max_iter)
    if estimator.solver == "psgd":
        return solve_parted_subgradient(problem, target.segments, estimator.tol, estimator.max_iter)
    return problem.solve(rounded_surfaces(target.segments), estimator.tol, estimator.max_iter)
