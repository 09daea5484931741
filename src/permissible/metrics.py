"""How good probabilities are for a decision: pure functions of arrays. They live in `permissible.evaluation`."""

from permissible.evaluation.net_benefit import decision_benefit, net_benefit, net_benefit_difference
from permissible.evaluation.subgroups import subgroup_table
from permissible.evaluation.tables import calibration_summary, expected_cost_curve, threshold_table

__all__ = [
    "calibration_summary",
    "decision_benefit",
    "expected_cost_curve",
    "net_benefit",
    "net_benefit_difference",
    "subgroup_table",
    "threshold_table",
]
