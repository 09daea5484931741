"""The certificate of a point card: what its whole numbers cost.

On the same rules no points can be better than the best real coefficients, so the loss of those is a lower bound. Branch and
bound (branch.py) raises that bound to the optimum over all points where its time suffices.
"""

from dataclasses import dataclass

from permissible.learners.certificate import CertificateHead
from permissible.learners.doubts import Doubts
from permissible.learners.points.branch import MAX_POINTS, MAX_RULES
from permissible.learners.points.fit import FittedCard


@dataclass(frozen=True, slots=True)
class PointsCertificate(CertificateHead):
    """How far the points are from the best ones.

    Attributes
    ----------
    loss : float
        Mean loss of the card on the training rows (1 at score 0), with the penalty of its coefficients.
    real_loss : float
        That of the best real coefficients on the same rules: a lower bound for any points.
    gap_percent : float
        The difference, in per cent of the latter.
    bound : float
        The best lower bound known for points of this size on these rules; `real_loss` unless branch and bound ran.
    optimal : bool
        Whether no points of this size on these rules have a smaller loss.

    `gap` is the difference between `loss` and `bound`.

    Examples
    --------
    >>> import numpy as np, permissible as pm
    >>> card = pm.ULSClassifier.points(n_rules=1, max_time=5).fit({"age": np.arange(20.0, 60.0)}, np.arange(40) > 25)
    >>> card.certificate_.optimal
    True
    """

    loss: float
    real_loss: float
    gap_percent: float
    bound: float
    optimal: bool


def certify(found: FittedCard, doubts: Doubts = ()) -> PointsCertificate:
    """What is known of one card; `doubts` are about the fit that was rounded."""
    loss, real = found.loss, found.real_loss
    percent = 100.0 * (loss - real) / real if real > 0 else 0.0
    said = f"The card has a mean loss of {loss:.4g}, the best real coefficients on its rules {real:.4g}: "
    said += f"rounding to whole numbers costs {percent:.2g}%."
    if found.optimal:
        said += " No other points of this size on these rules have a smaller loss."
    elif found.searched:
        left = 100.0 * (loss - found.bound) / loss if loss > 0 else 0.0
        said += " The time limit was reached before these points were proved optimal: "
        said += f"the loss of others is at most {left:.2g}% smaller."
    elif found.too_large:
        said += f" The best points are searched for up to {MAX_RULES} rules of at most {MAX_POINTS} points only."
    return PointsCertificate(
        statement=said,
        stopped=found.stopped,
        gap=max(loss - found.bound, 0.0),
        doubts=doubts,
        loss=loss,
        real_loss=real,
        gap_percent=percent,
        bound=found.bound,
        optimal=found.optimal,
    )
