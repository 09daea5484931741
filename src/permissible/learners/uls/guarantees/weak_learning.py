"""The weak learning assumption as it holds, round by round ([N] (22), [T] (42)), and Theorem 2's bound as it falls.

A round asks that the features of T_j have together an edge, gamma_j = |(1/|T_j|) sum_{t in T_j} sum_i M_it w_ji| / Z_j > 0.
Where coefficients were refitted, all features of T_j but the newest have edge 0 (35), so gamma_j is the edge of the newest
over |T_j|. After J rounds Theorem 2 says J <= 2 m b a_m^2 / (a_v a_Z^2 a_gamma^2), with the least sum of weights and the
mean edge so far. It is proved of exact steps without penalty.
"""

from collections.abc import Mapping

import numpy as np

from permissible.learners.uls.trace import Trace
from permissible.types import AnyArray, FloatArray


def features_together(trace: Trace, scheme: int) -> FloatArray:
    """|T_j| of each round: 1, all rules so far (scheme 0), or those of a block."""
    rules, known = dict[object, None](), list[int]()
    for step in trace.rounds:
        rules[step.rule] = None
        known.append(len(rules))
    given: tuple[int, ...] = trace.evidence.get("known", ())  # of columns, which have no rules
    if given:
        known[len(known) - len(given) :] = given
    return np.array(known if scheme == 0 else np.minimum(known, scheme), dtype=np.float64)


def weak_learning(trace: Trace, scheme: int, ingredients: Mapping[str, float]) -> dict[str, AnyArray]:
    """`weak_edge` (gamma_j), `mean_edge` (its mean so far) and `rounds_bound` (Theorem 2's bound so far), one per round."""
    edge = np.array([step.edge for step in trace.rounds]) / features_together(trace, scheme)
    rounds = np.arange(1, len(edge) + 1)
    mean = np.cumsum(edge) / rounds
    least = np.minimum.accumulate([step.weight for step in trace.rounds]) if trace.rounds else np.zeros(0)
    curved = ingredients["a_v"] * least**2 * mean**2
    top = 2.0 * ingredients["examples"] * ingredients["b"] * ingredients["a_m"] ** 2
    bound = np.where(curved > 0, top / np.where(curved > 0, curved, 1.0), np.inf)
    if len({step.loss for step in trace.rounds}) > 1:  # the theorem is about one loss
        bound = np.full(len(bound), np.nan)
    return {"weak_edge": edge, "mean_edge": mean, "rounds_bound": bound}
