"""Arrays handed in by the user: of real numbers, of one length, and within what the formula needs."""

from typing import Any

import numpy as np

from permissible.types import FloatArray
from permissible.validation.refusal import Words, refusal, refusal_type


def real_array(argument: str, values: Any, *, length: int | None = None) -> FloatArray:
    """A 1-D array of finite numbers, of the given length where one is asked for."""
    expected = "a list of finite numbers" if length is None else f"a list of {length} finite numbers"
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise refusal_type(argument, expected, values) from None
    if array.ndim != 1 or (length is not None and len(array) != length):
        raise refusal(argument, expected, Words(f"an array of shape {array.shape}"))
    if not np.isfinite(array).all():
        raise refusal(argument, expected, float(array[~np.isfinite(array)][0]))
    return array


def probabilities(argument: str, values: Any, *, length: int | None = None) -> FloatArray:
    """The same with every number between 0 and 1.

    Examples
    --------
    >>> probabilities("proba", [0.2, 1.2])
    Traceback (most recent call last):
    ...
    ValueError: `proba` must be made of numbers between 0 and 1, got 1.2.
    """
    array = real_array(argument, values, length=length)
    outside = (array < 0) | (array > 1)
    if outside.any():
        raise refusal(argument, "made of numbers between 0 and 1", float(array[outside][0]))
    return array


def weights(argument: str, values: Any, *, length: int) -> FloatArray:
    """The same with no number negative and one at least positive."""
    array = real_array(argument, values, length=length)
    if array.min(initial=0.0) < 0:
        raise refusal(argument, "finite and not negative", float(array[array < 0][0]))
    if length and not array.any():
        raise refusal(argument, "positive for at least one row", Words("weights that are all zero"))
    return array
