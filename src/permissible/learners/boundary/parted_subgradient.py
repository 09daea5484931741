"""The projected sub-gradient method of [K] section 5 on rows in parts: all rows in each step, b solved for after it.

As subgradient.py, with sums instead of rows: a step is one question, the best b another one that asks about many at once.
"""

from dataclasses import replace

import numpy as np

from permissible.learners.boundary.linear import LinearFit
from permissible.learners.boundary.parted import PartedProblem, RoundedSurface
from permissible.learners.boundary.segments import Segments
from permissible.types import FloatArray

TRIALS = 33
CHECK_EVERY = 10


def solve_parted_subgradient(problem: PartedProblem, segments: Segments, tol: float, max_iter: int) -> LinearFit:
    """Run until the certified gap is at most `tol`; the average slope is the dual point."""
    surface = RoundedSurface(segments, 1e-12)  # the hinges as they are, but for the kinks themselves
    radius = np.sqrt((segments.hinge * segments.width).sum(axis=1).max() / problem.alpha)
    point, best = np.zeros(len(problem.scales) + 1), None
    search = InterceptSearch(problem, surface, float(np.abs(segments.hinge).max()) + 1.0)
    for number in range(1, max_iter + 1):
        pull = problem.rows.average(point, surface, number) / problem.total
        step = (1.0 - 1.0 / number) * point + pull / (problem.alpha * number)
        norm = float(np.linalg.norm(step[:-1]))
        coef = step[:-1] if norm <= radius else step[:-1] * (radius / norm)
        intercept = step[-1] if problem.penalize_intercept and problem.fit_intercept else 0.0
        if problem.free:
            intercept = search.best(coef, float(point[-1]))
        point = np.append(coef, intercept)
        if number % CHECK_EVERY and number != max_iter:
            continue
        factors = problem.balance(problem.rows.average_masses())
        certificate = problem.certificate(point, problem.rows.certify_average(point, surface, factors))
        if best is None or certificate.gap < best.certificate.gap:
            done = certificate.relative_gap <= tol
            best = LinearFit(point[:-1].copy(), float(point[-1]), np.zeros(0), certificate, number, done, "psgd")
        if best.converged:
            break
    assert best is not None
    return replace(best, n_iter=number)


class InterceptSearch:
    """The b where the pull on it changes its sign, found among many around the last one; the reach follows what was found."""

    def __init__(self, problem: PartedProblem, surface: RoundedSurface, reach: float) -> None:
        self.problem, self.surface, self.reach = problem, surface, reach

    def best(self, coef: FloatArray, last: float) -> float:
        """One question; the pull falls with b, so the best b lies where it passes zero."""
        trials = last + self.reach * np.linspace(-1.0, 1.0, TRIALS)
        tilt = self.problem.rows.tilts(coef, trials, self.surface)
        above = int((tilt > 0).sum())
        if above in (0, TRIALS):
            self.reach *= 4.0
            return float(trials[0] if above == 0 else trials[-1])
        left, right = tilt[above - 1], tilt[above]
        share = left / (left - right)
        cell = trials[above] - trials[above - 1]
        self.reach = max(4.0 * cell, 1e-12)
        return float(trials[above - 1] + share * cell)
