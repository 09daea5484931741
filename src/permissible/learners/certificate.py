"""The fields common to all certificates; the certificate of each learner adds its own."""

import math
from dataclasses import dataclass

from permissible.learners.doubts import Doubts


@dataclass(frozen=True, slots=True, kw_only=True)
class CertificateHead:
    """The common part of a certificate.

    Attributes
    ----------
    statement : str
        What is known about the fit, in one sentence.
    stopped : str
        Why the fit ended.
    gap : float
        A bound on the distance of the objective to its minimum; infinite if no bound is known.
    doubts : tuple of Doubt
        What is doubtful about the fit; the estimator warned of the same.
    """

    statement: str = ""
    stopped: str = ""
    gap: float = math.inf
    doubts: Doubts = ()
