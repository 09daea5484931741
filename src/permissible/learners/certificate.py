"""The fields common to all certificates; the certificate of each learner adds its own."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from permissible.learners.doubts import Doubts
from permissible.types import AnyArray


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


@dataclass(frozen=True, slots=True)
class ClassCertificates(CertificateHead):
    """The certificates of one model per class: the common fields combined, and each certificate."""

    by_class: tuple[CertificateHead, ...]


def joined_certificates(found: Sequence[CertificateHead], classes: AnyArray) -> CertificateHead:
    """The certificate of the one model of two classes, or of one model per class."""
    if len(found) == 1:
        return found[0]
    said = zip(classes.tolist(), found, strict=True)
    return ClassCertificates(
        by_class=tuple(found),
        statement=" ".join(f"Class {label}: {certificate.statement}" for label, certificate in said),
        stopped=", ".join(dict.fromkeys(certificate.stopped for certificate in found)),
        gap=max(certificate.gap for certificate in found),
        doubts=tuple(doubt for certificate in found for doubt in certificate.doubts),
    )
