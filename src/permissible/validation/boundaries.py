"""Checks of probability boundaries: increasing, inside (0, 1)."""

import numpy as np

from permissible.types import ArrayLike
from permissible.validation.refusal import Words, refusal, refusal_type


def checked_boundaries(boundaries: ArrayLike) -> tuple[float, ...]:
    """Return boundaries as floats; refuse any outside (0, 1) or not strictly increasing."""
    try:
        array = np.asarray(boundaries, dtype=np.float64)
    except (TypeError, ValueError):
        raise refusal_type("boundaries", "increasing numbers in (0, 1)", boundaries) from None
    if array.ndim != 1 or not array.size:
        raise refusal("boundaries", "a non-empty sequence of increasing numbers in (0, 1)", boundaries)
    if not ((array > 0) & (array < 1)).all():
        raise refusal("boundaries", "numbers in (0, 1)", float(array[~((array > 0) & (array < 1))][0]))
    if not (np.diff(array) > 0).all():
        place = int(np.flatnonzero(np.diff(array) <= 0)[0])
        raise refusal("boundaries", "strictly increasing", Words(f"{array[place]:g} followed by {array[place + 1]:g}"))
    return tuple(array.tolist())
