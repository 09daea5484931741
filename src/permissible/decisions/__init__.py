"""Scores become actions: hard, weighted, reject, boundaries, soft, log loss, cost matrix; each with its theoretical loss."""

from permissible.decisions.binary import Boundaries, Hard, LogLoss, Reject, Soft, Weighted
from permissible.decisions.cost import CostMatrix
from permissible.decisions.documents import decision_for, from_document
from permissible.decisions.scoring import Decision, Scorer, class_codes

__all__ = [
    "Boundaries",
    "CostMatrix",
    "Decision",
    "Hard",
    "LogLoss",
    "Reject",
    "Scorer",
    "Soft",
    "Weighted",
    "class_codes",
    "decision_for",
    "from_document",
]
