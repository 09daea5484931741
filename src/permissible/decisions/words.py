"""Actions in words: the labels of classes, "refer", and the names of risk groups, beside the codes of `decide`."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from permissible.decisions.binary import Boundaries, LogLoss, Soft
from permissible.types import AnyArray
from permissible.validation import Words, refusal


def group_names(boundaries: Sequence[float]) -> list[str]:
    """The risk groups between boundaries, by their probabilities P; a boundary belongs to the group below it.

    >>> group_names([0.25, 0.5])
    ['P <= 0.25', '0.25 < P <= 0.5', 'P > 0.5']
    """
    inner = [f"{low:g} < P <= {high:g}" for low, high in pairwise(boundaries)]
    return [f"P <= {boundaries[0]:g}", *inner, f"P > {boundaries[-1]:g}"]


def worded(
    decision: object, actions: AnyArray, classes: AnyArray, refer: str = "refer", names: Sequence[str] | None = None
) -> AnyArray:
    """The codes of actions as labels of classes, `refer` where a row is referred, or names of groups.

    Probabilities, the actions of `Soft` and `LogLoss`, stay as they are.
    """
    if not isinstance(decision, Boundaries) and names is not None:
        raise refusal("names", "left out: only risk groups of pm.Boundaries have names", names)
    if isinstance(decision, Soft | LogLoss):
        return actions
    if isinstance(decision, Boundaries):
        known = group_names(decision.boundaries) if names is None else [str(name) for name in names]
        if len(known) != len(decision.boundaries) + 1:
            came = Words(f"{len(known)} names for {len(decision.boundaries) + 1} groups")
            raise refusal("names", "one name for each risk group", came)
        return np.array(known)[actions]
    if actions.size and (actions.dtype.kind not in "iu" or actions.max() >= len(classes) or actions.min() < -1):
        came = Words(f"actions of {type(decision).__name__} that are neither classes nor -1")
        raise refusal("decision", "one whose actions are positions in `classes_`, or -1 to refer", came)
    if not (actions < 0).any():
        return np.asarray(classes.take(actions))
    labels = np.empty(len(classes) + 1, dtype=object)
    labels[:] = [*classes.tolist(), refer]
    return labels[actions]
