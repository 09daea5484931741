"""Numbers in, numbers of the same shape out: the one place where scalars, lists and float32 become float64 arrays.

Every public function of a loss goes through :func:`elementwise`, so the formulas below it only ever see a float64
array of one dimension. Large arrays are processed in blocks that stay in the processor's cache, which halves the time of
a formula of several steps; the blocks do not change a bit of the result, since each number is computed alone.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeAlias, cast

import numpy as np

from permissible.types import ArrayLike, FloatArray
from permissible.validation import refusal, refusal_type

BLOCK = 8192
Inner: TypeAlias = Callable[[Any, FloatArray], FloatArray]
Outer: TypeAlias = Callable[[Any, ArrayLike], FloatArray]


def as_floats(values: ArrayLike, argument: str) -> FloatArray:
    """Return `values` as a float64 array; refuse what is not real numbers."""
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "fiub":
            raise TypeError
    except (TypeError, ValueError):
        raise refusal_type(argument, "a number or an array of real numbers", values) from None
    return array.astype(np.float64, copy=False)


def as_probabilities(values: ArrayLike, argument: str) -> FloatArray:
    """Return `values` as a float64 array; refuse a value outside [0, 1] (a NaN passes and stays NaN)."""
    array = as_floats(values, argument)
    outside = (array < 0) | (array > 1)
    if outside.any():
        raise refusal(argument, "a probability in [0, 1]", float(array[outside].flat[0]))
    return array


def elementwise(argument: str, check: Callable[[ArrayLike, str], FloatArray] = as_floats) -> Callable[[Inner], Outer]:
    """Make a method of one float64 array accept anything number-like; a scalar in gives a float out."""

    def decorate(method: Inner) -> Outer:
        @wraps(method)
        def call(self: object, *given: ArrayLike, **named: ArrayLike) -> FloatArray:
            if len(given) + len(named) != 1 or not set(named) <= {argument}:
                raise refusal_type(argument, "the only argument", (*given, *named))
            array = check(given[0] if given else named[argument], argument)
            if array.size <= BLOCK:
                result = method(self, array.ravel()).reshape(array.shape)  # formulas see one dimension only
                return result if array.ndim else cast(FloatArray, result.item())
            flat = array.ravel()
            result = np.empty_like(flat)
            for start in range(0, flat.size, BLOCK):
                result[start : start + BLOCK] = method(self, flat[start : start + BLOCK])
            return result.reshape(array.shape)

        return call

    return decorate
