"""How far a fit can be from the optimum of (18): the value at a feasible dual point bounds the optimum from below.

D(t) = (1/W) sum_i c_i g(t_i) - |sum_i c_i t_i y_i x_i|^2 / (2 alpha W^2) for 0 <= t_i <= t_K, and sum_i c_i t_i y_i = 0
with a free intercept. So objective - D(t) bounds the distance to the optimum, for any point and any feasible t.
"""

from dataclasses import dataclass, replace

from permissible.learners.certificate import CertificateHead
from permissible.learners.doubts import Doubts

ROUNDING = 64 * 2.0**-52
"""Allowance for rounding in double precision, relative to the objective."""

_REASONS = {
    "converged": "it reached its tolerance",
    "max_iter": "it used up its iterations",
    "rounding": "rounding hides any further decrease",
}


@dataclass(frozen=True, slots=True)
class Certificate(CertificateHead):
    """The duality gap of a fit, on the scale of (18).

    Attributes
    ----------
    objective : float
        The value of (18) at the fit (primal).
    dual_objective : float
        The value of a feasible dual point, a lower bound on the optimum.

    `gap` is objective - dual_objective plus an allowance for rounding. `stopped` is
    "converged", "max_iter" or "rounding".

    Examples
    --------
    >>> from permissible.learners.boundary.certificate import Certificate
    >>> certificate = Certificate.of(objective=0.5, dual_objective=0.4999)
    >>> round(certificate.gap, 6)
    0.0001
    """

    objective: float
    dual_objective: float

    @classmethod
    def of(cls, objective: float, dual_objective: float) -> "Certificate":
        """Build from the two values."""
        gap = max(objective - dual_objective, 0.0) + ROUNDING * abs(objective)
        return cls(objective, dual_objective, gap=gap)

    def ended(self, converged: bool, n_iter: int, max_iter: int, doubts: Doubts) -> "Certificate":
        """The certificate at the end of a fit: with why it stopped, a statement, and the doubts."""
        stopped = "converged" if converged else "max_iter" if n_iter >= max_iter else "rounding"
        known = f"the objective is {self.objective:.6g}, and no classifier of this kind has one below {self.dual_objective:.6g}"
        statement = f"The fit ended after {n_iter} iterations ({_REASONS[stopped]}): {known}."
        return replace(self, statement=statement, stopped=stopped, doubts=doubts)

    @property
    def relative_gap(self) -> float:
        """The gap as a fraction of the objective."""
        return self.gap / self.objective if self.objective > 0 else 0.0
