"""How far a fit can be from the optimum of (18): the value at a feasible dual point bounds the optimum from below.

D(t) = (1/W) sum_i c_i g(t_i) - |sum_i c_i t_i y_i x_i|^2 / (2 alpha W^2) for 0 <= t_i <= t_K, and sum_i c_i t_i y_i = 0
with a free intercept. So objective - D(t) is a true bound on the distance to the optimum, for whatever point and whatever t.
"""

from dataclasses import dataclass

from permissible.learners.doubts import Doubts

ROUNDING = 64 * 2.0**-52
"""Allowance, relative to the objective, for what sums in double precision may lose."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """The duality gap of a fit, on the scale of (18).

    Attributes
    ----------
    objective : float
        The value of (18) at the fit (primal).
    dual_objective : float
        The value of a feasible dual point: no classifier can do better than this.
    gap : float
        objective - dual_objective, with an allowance for rounding: the optimum is no further away.
    doubts : tuple of Doubt
        What is doubtful about the fit; the estimator warned of the same.

    Examples
    --------
    >>> from permissible.learners.boundary import Certificate
    >>> certificate = Certificate.of(objective=0.5, dual_objective=0.4999)
    >>> round(certificate.gap, 6)
    0.0001
    """

    objective: float
    dual_objective: float
    gap: float
    doubts: Doubts = ()

    @classmethod
    def of(cls, objective: float, dual_objective: float) -> "Certificate":
        """Build from the two values; the gap allows for rounding."""
        return cls(objective, dual_objective, max(objective - dual_objective, 0.0) + ROUNDING * abs(objective))

    @property
    def relative_gap(self) -> float:
        """The gap as a share of the objective."""
        return self.gap / self.objective if self.objective > 0 else 0.0
