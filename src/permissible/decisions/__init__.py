"""Scores become actions: hard, weighted, reject, boundaries, soft, cost matrix; each with its theoretical loss."""

from permissible.decisions.binary import Boundaries, Hard, Reject, Soft, Weighted, checked_boundaries
from permissible.decisions.cost import CostMatrix, checked_costs
from permissible.decisions.documents import from_document
from permissible.decisions.scoring import Decision, Scorer, class_codes

__all__ = [
    "Boundaries",
    "CostMatrix",
    "Decision",
    "Hard",
    "Reject",
    "Scorer",
    "Soft",
    "Weighted",
    "checked_boundaries",
    "checked_costs",
    "class_codes",
    "from_document",
]
