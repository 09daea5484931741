"""The certificate of a multiclass boosting fit."""

from dataclasses import dataclass

import numpy as np

from permissible.learners.certificate import CertificateHead
from permissible.learners.doubts import of_rounds
from permissible.learners.mcboost.loop import CostTrace

_REASONS = {
    "rounds": "it reached the maximum number of rounds",
    "no edge": "no step lowers the surrogate further",
    "separable": "every row is on the right side, so the surrogate has no finite minimiser",
    "validation": "the held-out rows did not improve any more",
    "converged": "a round lowered the surrogate by less than tol",
}


@dataclass(frozen=True, slots=True)
class BoostCertificate(CertificateHead):
    """How far a fit is from the optimum, and whether a finite optimum exists.

    Attributes
    ----------
    largest_edge : float
        The edge that the last round found.
    capped_steps : int
        Steps that were cut at the step limit.
    separable : bool
        Whether every training row has a positive margin, so that no finite minimiser exists.
    smallest_margin : float
        The least margin (9) of the training rows.
    decrease_of_last_round : float
    saturated : float or None
        Fraction of the rows whose posterior is 0 or 1; None for rules and trees.
    chosen : str or None
        With ``learner="auto"`` what was chosen, with its cross-validated cost and log-loss in `cv_cost` and
        `cv_log_loss`.
    """

    largest_edge: float
    capped_steps: int
    separable: bool
    smallest_margin: float
    decrease_of_last_round: float
    saturated: float | None = None
    chosen: str | None = None
    cv_cost: float | None = None
    cv_log_loss: float | None = None


def certificate_of(
    smallest: float, trace: CostTrace, exact: bool = False, share: float | None = None
) -> BoostCertificate:
    """State what is known at the end of a fit.

    `exact` says that every round had to lower the surrogate; `share` is the fraction of the rows whose posterior is 0
    or 1, None for rules and trees.
    """
    cut = int(np.sum(trace.capped))
    values = [trace.start, *trace.surrogate]
    reason = _REASONS.get(trace.stopped, trace.stopped)
    return BoostCertificate(
        largest_edge=trace.edge[-1] if trace.edge else 0.0,
        capped_steps=cut,
        separable=smallest > 0,
        smallest_margin=smallest,
        decrease_of_last_round=values[-2] - values[-1] if len(values) > 1 else 0.0,
        saturated=share,
        stopped=trace.stopped,
        statement=f"The fit stopped after {len(trace.surrogate)} rounds because {reason}: mean surrogate {values[-1]:.4g}.",
        doubts=of_rounds(trace.start, trace.surrogate, exact, cut if smallest > 0 else 0, share or 0.0),
    )
