"""Checks of probability boundaries: increasing, inside (0, 1)."""

import numpy as np

from permissible.types import ArrayLike
from permissible.validation.arrays import real_numbers
from permissible.validation.refusal import Words, refusal


def checked_boundaries(boundaries: ArrayLike) -> tuple[float, ...]:
    """Return boundaries as floats; refuse any outside (0, 1) or not strictly increasing."""
    array = real_numbers("boundaries", boundaries, "increasing numbers in (0, 1)")
    if array.ndim != 1 or not array.size:
        raise refusal("boundaries", "a non-empty sequence of increasing numbers in (0, 1)", boundaries)
    if not ((array > 0) & (array < 1)).all():
        raise refusal("boundaries", "numbers in (0, 1)", float(array[~((array > 0) & (array < 1))][0]))
    if not (np.diff(array) > 0).all():
        place = int(np.flatnonzero(np.diff(array) <= 0)[0])
        raise refusal("boundaries", "strictly increasing", Words(f"{array[place]:g} followed by {array[place + 1]:g}"))
    return tuple(array.tolist())
