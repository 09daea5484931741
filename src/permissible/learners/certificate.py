"""What every certificate of a fit says, whatever the learner; each learner's own certificate adds fields to these."""

import math
from dataclasses import dataclass

from permissible.learners.doubts import Doubts


@dataclass(frozen=True, slots=True, kw_only=True)
class CertificateHead:
    """The common part of a certificate.

    Attributes
    ----------
    statement : str
        What is known of the fit, in a sentence.
    stopped : str
        Why the fit ended.
    gap : float
        A bound on how far what was minimised is above its least value; infinite where no bound is known.
    doubts : tuple of Doubt
        What is doubtful about the fit; the estimator warned of the same.
    """

    statement: str = ""
    stopped: str = ""
    gap: float = math.inf
    doubts: Doubts = ()
