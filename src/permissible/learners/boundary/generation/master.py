"""The restricted problem of a round: all coefficients at once, a linear program solved by an interior-point method.

    min_{b, l}  sum_i c_i phi_i(z_i) + alpha sum_j |l_j|,    z_i = y_i (b + sum_j l_j h_j(x_i)),    sum_i c_i = 1

with phi_i(z) = sum_k D_k (h_k - z)_+ of the class of row i (`segments`). Its dual has a value t_i in [0, t_K] a row:

    max_t  sum_i c_i g_i(t_i)    where |sum_i c_i t_i y_i h_j(x_i)| <= alpha for every term j, and sum_i c_i t_i y_i = 0.

The constraint of a term involves only its *edge*. So a term outside of the problem whose edge is at most alpha does not
change the optimum, and dividing t by (largest edge / alpha), where that exceeds 1, makes t feasible for any set of terms:
g is concave with g(0) = 0, so this is a lower bound on the optimum over the whole set (`dual_value`).

Mehrotra's predictor-corrector method works on v_ik in [0, c_i D_k], the parts of c_i t_i, and the edges s_j in
[-alpha, alpha]; one step is a Cholesky factorisation of a matrix of one row per term. Its points are interior, so the edges by
which the next terms are chosen are those of a central dual point and not of one of many optimal corners.
"""

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from permissible.learners.boundary.segments import Segments
from permissible.types import BoolArray, FloatArray

Move: TypeAlias = tuple[FloatArray, FloatArray, FloatArray]
"""A change of the variables of a box, and of the multipliers of its lower and upper bounds."""
TO_BORDER = 0.995
"""The fraction of the way to the border of the feasible set that a step may go."""
MOST_STEPS = 100
"""Steps of the interior-point method; it needs 10 to 30, and ends earlier where rounding hides any further decrease."""
STALLED = 8
"""Steps without a smaller gap after which rounding has won."""


@dataclass(frozen=True, slots=True, eq=False)
class Master:
    """Groups of equal rows under the terms found: class, share of the weight, and values (terms, groups)."""

    segments: Segments
    positive: BoolArray
    share: FloatArray
    terms: FloatArray
    alpha: float
    fit_intercept: bool

    def score(self, coef: FloatArray, intercept: float) -> FloatArray:
        """The score f of each group."""
        return intercept + coef @ self.terms

    def objective(self, coef: FloatArray, intercept: float) -> float:
        """The value of the problem."""
        score = self.score(coef, intercept)
        loss = self.segments.loss(self.positive, np.where(self.positive, score, -score))
        return float(self.share @ loss + self.alpha * np.abs(coef).sum())

    def balanced(self, dual: FloatArray) -> FloatArray:
        """The dual point within its bounds, the heavier class scaled down so that sum c t y = 0 for a free intercept."""
        dual = np.clip(dual, 0.0, self.segments.width.sum(axis=1)[self.positive.astype(np.intp)])
        if not self.fit_intercept:
            return dual
        mass = self.share * dual
        sums = float(mass[~self.positive].sum()), float(mass[self.positive].sum())
        least = min(sums)
        factor = [least / mass if mass > 0 else 0.0 for mass in sums]
        return dual * np.where(self.positive, factor[1], factor[0])

    def signed(self, dual: FloatArray) -> FloatArray:
        """C t y of each group."""
        return self.share * np.where(self.positive, dual, -dual)

    def dual_value(self, dual: FloatArray, largest_edge: float) -> float:
        """The value of a balanced dual point, scaled down where an edge exceeds alpha."""
        feasible = dual * min(1.0, self.alpha / largest_edge) if largest_edge > 0 else dual
        return float(self.share @ self.segments.gain(self.positive, feasible))

    def largest_edge(self, dual: FloatArray) -> float:
        """The largest edge of a term of the problem."""
        return float(np.abs(self.terms @ self.signed(dual)).max(initial=0.0))


class MasterSolution(NamedTuple):
    """Coefficients, intercept, a balanced dual point of each group, the two values, and the steps taken."""

    coef: FloatArray
    intercept: float
    dual: FloatArray
    objective: float
    dual_objective: float
    steps: int

    @property
    def relative_gap(self) -> float:
        """The gap as a fraction of the objective."""
        return (self.objective - self.dual_objective) / self.objective if self.objective > 0 else 0.0


def solve_master(problem: Master, tol: float) -> MasterSolution:
    """Solve to a relative gap of `tol`, or as far as double precision goes."""
    point = _Point.start(problem)
    best, best_at = point.solution(0), 0
    for step in range(1, MOST_STEPS + 1):
        if best.relative_gap <= tol or step - best_at > STALLED or not point.advance():
            break
        now = point.solution(step)
        if now.relative_gap < best.relative_gap:
            best, best_at = now, step
    return best


class _Box:
    """Variables between two bounds: distances to them and their multipliers; the predictor's second-order term."""

    def __init__(self, width: FloatArray, multiplier: tuple[FloatArray, FloatArray]) -> None:
        self.low, self.high = 0.5 * width, 0.5 * width
        self.p, self.q = multiplier
        self.size = 2 * width.size

    @property
    def scale(self) -> FloatArray:
        """Theta, the inverse of the barrier's curvature."""
        return 1.0 / (self.p / self.low + self.q / self.high)

    @property
    def complementarity(self) -> float:
        """The sum of distance times multiplier."""
        return float((self.low * self.p).sum() + (self.high * self.q).sum())

    def residuals(self, mu: float, affine: Move | None) -> None:
        """What the products must gain: towards mu, less the second-order term of the `affine` step."""
        self.r_low, self.r_high = mu - self.low * self.p, mu - self.high * self.q
        if affine is not None:
            dv, dp, dq = affine
            self.r_low, self.r_high = self.r_low - dv * dp, self.r_high + dv * dq
        self.pull = self.r_low / self.low - self.r_high / self.high

    def direction(self, slope: FloatArray) -> Move:
        """The change of the variables and of both multipliers, where their reduced costs change by `slope`."""
        dv = self.scale * (self.pull - slope)
        return dv, (self.r_low - self.p * dv) / self.low, (self.r_high + self.q * dv) / self.high

    def reach(self, move: Move) -> tuple[float, float]:
        """How far the variables, and the multipliers, can go."""
        dv, dp, dq = move
        return min(_reach(self.low, dv), _reach(self.high, -dv)), min(_reach(self.p, dp), _reach(self.q, dq))

    def after(self, move: Move, reach: tuple[float, float]) -> float:
        """The complementarity after a step."""
        (dv, dp, dq), (a, b) = move, reach
        low, high = (self.low + a * dv) * (self.p + b * dp), (self.high - a * dv) * (self.q + b * dq)
        return float(low.sum() + high.sum())

    def step(self, move: Move, reach: tuple[float, float]) -> None:
        """Take a step."""
        (dv, dp, dq), (a, b) = move, reach
        self.low, self.high = self.low + a * dv, self.high - a * dv
        self.p, self.q = self.p + b * dp, self.q + b * dq


def _reach(value: FloatArray, change: FloatArray) -> float:
    """The largest step of at most 1 / TO_BORDER that keeps all values positive."""
    falls = change < 0
    return float(np.min(-value[falls] / change[falls], initial=1.0 / TO_BORDER))


class _Point:
    """A point of the interior-point method: v and s in their boxes, and x = (b, l)."""

    def __init__(self, problem: Master, design: FloatArray, rows: _Box, edges: _Box) -> None:
        self.problem, self.design, self.rows, self.edges = problem, design, rows, edges
        self.x = np.zeros(len(design))
        self.first = int(problem.fit_intercept)

    @classmethod
    def start(cls, problem: Master) -> "_Point":
        """All coefficients 0, every variable in the middle of its box."""
        segments, side = problem.segments, problem.positive.astype(np.intp)
        hinge, width = segments.hinge[side], segments.width[side] * problem.share[:, None]
        sign = np.where(problem.positive, 1.0, -1.0)
        design = np.vstack([sign[None, :]] * problem.fit_intercept + [problem.terms * sign])
        room = float(np.abs(segments.hinge).max())
        rows = _Box(width, (np.maximum(-hinge, 0.0) + room, np.maximum(hinge, 0.0) + room))
        n_terms = len(problem.terms)
        edges = _Box(np.full(n_terms, 2 * problem.alpha), (np.full(n_terms, room), np.full(n_terms, room)))
        return cls(problem, design, rows, edges)

    def solution(self, steps: int) -> MasterSolution:
        """The point as a solution, with its certificate over the terms of the problem."""
        problem = self.problem
        intercept, coef = float(self.x[0]) if self.first else 0.0, self.x[self.first :].copy()
        dual = problem.balanced(self.rows.low.sum(axis=1) / problem.share)
        lower = problem.dual_value(dual, problem.largest_edge(dual))
        return MasterSolution(coef, intercept, dual, problem.objective(coef, intercept), lower, steps)

    def advance(self) -> bool:
        """Take one predictor-corrector step; False where rounding spoils the factorisation or the step."""
        rows, edges, design = self.rows, self.edges, self.design
        theta, theta_edges = rows.scale, edges.scale
        rooted = design * np.sqrt(theta.sum(axis=1))
        matrix = rooted @ rooted.T
        matrix[np.diag_indices(len(matrix))] += np.append(np.zeros(self.first), theta_edges)
        try:
            factor = cho_factor(matrix, check_finite=False)
        except LinAlgError:
            return False
        mu = (rows.complementarity + edges.complementarity) / (rows.size + edges.size)
        affine = self._direction(factor, theta, theta_edges, 0.0, None)
        reach = self._reach(affine)
        left = (rows.after(affine[0], reach) + edges.after(affine[1], reach)) / (rows.size + edges.size)
        centred = self._direction(factor, theta, theta_edges, mu * (left / mu) ** 3, (affine[0], affine[1]))
        far = self._reach(centred)
        reach = min(1.0, TO_BORDER * far[0]), min(1.0, TO_BORDER * far[1])
        if not (np.isfinite(centred[2]).all() and max(reach) > 0):
            return False
        rows.step(centred[0], reach)
        edges.step(centred[1], reach)
        self.x = self.x + reach[1] * centred[2]
        return True

    def _direction(
        self,
        factor: tuple[FloatArray, bool],
        theta: FloatArray,
        theta_edges: FloatArray,
        mu: float,
        affine: tuple[Move, Move] | None,
    ) -> tuple[Move, Move, FloatArray]:
        """The Newton direction towards complementarity mu, of rows, of edges and of x."""
        rows, edges = self.rows, self.edges
        rows.residuals(mu, None if affine is None else affine[0])
        edges.residuals(mu, None if affine is None else affine[1])
        missing = self.design @ rows.low.sum(axis=1)
        missing[self.first :] -= edges.low - self.problem.alpha
        right = missing + self.design @ (theta * rows.pull).sum(axis=1)
        right[self.first :] -= theta_edges * edges.pull
        x = cho_solve(factor, right, check_finite=False)
        return rows.direction((x @ self.design)[:, None]), edges.direction(-x[self.first :]), x

    def _reach(self, move: tuple[Move, Move, FloatArray]) -> tuple[float, float]:
        """How far both boxes allow to go."""
        both = self.rows.reach(move[0]), self.edges.reach(move[1])
        return min(both[0][0], both[1][0]), min(both[0][1], both[1][1])
