"""What is known of a fit of multiclass boosting when it ends."""

from typing import Any

import numpy as np

from permissible.learners.doubts import of_rounds
from permissible.learners.mcboost.loop import Trace


def certificate_of(smallest: float, trace: Trace, exact: bool = False, share: float | None = None) -> dict[str, Any]:
    """How far the fit is from the optimum: what a next step could still explain, whether an optimum exists, what is doubtful.

    `exact` says that every round had to lower the surrogate; `share` is the fraction of the rows whose posterior is 0 or 1,
    None for rules and trees.
    """
    cut = int(np.sum(trace.capped))
    return {
        "largest_edge": trace.edge[-1] if trace.edge else 0.0,
        "capped_steps": cut,
        "separable": smallest > 0,
        "smallest_margin": smallest,
        "decrease_of_last_round": _last_decrease(trace),
        "stopped_by": trace.stopped,
        **({} if share is None else {"saturated": share}),
        "doubts": of_rounds(trace.start, trace.surrogate, exact, cut if smallest > 0 else 0, share or 0.0),
    }


def _last_decrease(trace: Trace) -> float:
    values = [trace.start, *trace.surrogate]
    return values[-2] - values[-1] if len(values) > 1 else 0.0
