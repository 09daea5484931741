"""How far a fit over generated terms can be from the optimum, over the terms found and over the whole class of terms.

Both bounds are the value of one dual point (`master`), scaled down by alpha / largest edge: of the terms found for the
first, of every term of the class for the second. The second is known where the search looks at every term, which it does
for rules of one test.
"""

import math
from dataclasses import dataclass

from permissible.learners.boundary.certificate import ROUNDING
from permissible.learners.boundary.generation.rules import FittedTerms, TermOptions
from permissible.learners.certificate import CertificateHead
from permissible.learners.doubts import of_boundary, saturated
from permissible.losses import Loss

_REASONS = {
    "optimal": "no rule that the search found has an edge above alpha",
    "rounds": "it reached the maximum number of rules",
    "rounding": "rounding hides any further decrease",
}


@dataclass(frozen=True, slots=True)
class TermCertificate(CertificateHead):
    """The distance to the optimum of the problem with an l1 penalty.

    Attributes
    ----------
    objective : float
        Mean surrogate + alpha * sum of |coefficients| at the fit.
    dual_objective : float
        No coefficients of the terms found give less than this.
    class_dual_objective : float
        No coefficients of any terms of the class give less than this; -infinity unless `exhaustive`.
    class_gap : float
        objective - class_dual_objective, with an allowance for rounding.
    largest_edge : float
        The largest edge of a term that the search found at the end; at most alpha at the optimum over the class.
    alpha : float
    exhaustive : bool
        Whether the search looks at every term of the class: rules of one test.
    n_terms : int
        Terms found, with and without a coefficient.

    `gap` is that over the terms found. `stopped` is "optimal", "rounds" or "rounding".
    """

    objective: float
    dual_objective: float
    class_dual_objective: float
    class_gap: float
    largest_edge: float
    alpha: float
    exhaustive: bool
    n_terms: int

    @property
    def relative_gap(self) -> float:
        """The gap as a fraction of the objective."""
        return self.gap / self.objective if self.objective > 0 else 0.0


def certify(found: FittedTerms, loss: Loss, options: TermOptions, exhaustive: bool) -> TermCertificate:
    """What is known of a fit; `exhaustive` says that the search looked at every term of the class."""
    objective, last = found.objective, found.rounds[-1]
    slack = ROUNDING * abs(objective)
    gap = max(objective - last.dual_objective, 0.0) + slack
    over = f"no coefficients of the {found.n_terms} rules found give less than {last.dual_objective:.6g}"
    if exhaustive:
        over += f", and none of any rules of one test less than {found.class_lower:.6g}"
    statement = (
        f"The fit ended with {found.n_terms} rules because {_REASONS[found.stopped]}: the objective is {objective:.6g}, "
        f"{over}; the largest edge found is {last.largest_edge:.3g}, alpha is {options.alpha:.3g}."
    )
    short = "rounding hides any further decrease; raise tol, or alpha" if found.stopped == "rounding" else None
    relative = (objective - last.dual_objective) / objective if objective > 0 else 0.0
    return TermCertificate(
        objective,
        last.dual_objective,
        found.class_lower if exhaustive else -math.inf,
        max(objective - found.class_lower, 0.0) + slack if exhaustive else math.inf,
        last.largest_edge,
        options.alpha,
        exhaustive,
        found.n_terms,
        statement=statement,
        stopped=found.stopped,
        gap=gap,
        doubts=of_boundary(loss, found.coef, saturated(loss, found.score), relative, options.tol, short),
    )
