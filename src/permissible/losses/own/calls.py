"""Calling a function that a user wrote: on arrays if it accepts them, else number by number; its warnings are suppressed."""

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from permissible.losses.entropy import Formula
from permissible.types import FloatArray
from permissible.validation import Words, refusal, refusal_type

OwnFunction = Callable[[Any], Any]


def on_arrays(function: OwnFunction, argument: str) -> Formula:
    """Return the function as one of float64 arrays of any shape."""
    if not callable(function):
        raise refusal_type(argument, "a function of a number", function)
    return partial(_call, function, argument)


def _call(function: OwnFunction, argument: str, values: FloatArray) -> FloatArray:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            result = np.asarray(function(values), dtype=np.float64)
            if result.shape == values.shape:
                return result
        except Exception:
            pass  # not a function of arrays: call it number by number, which also finds its errors
        return np.array([_one(function, v, argument) for v in values.ravel().tolist()]).reshape(values.shape)


def _one(function: OwnFunction, value: float, argument: str) -> float:
    try:
        return float(function(value))
    except (ZeroDivisionError, OverflowError, ValueError):
        return float("nan")  # such as math.log(0): undefined there
    except Exception as error:
        came = Words(f"{type(error).__name__}: {error} at {value:g}")
        raise refusal_type(argument, "a function of a number that returns a number", came) from error


def refuse_infinite(argument: str, expected: str, values: FloatArray, grid: FloatArray, where: str = "") -> None:
    """Refuse a function with a value on the grid that is not a finite number."""
    bad = ~np.isfinite(values)
    if bad.any():
        raise refusal(argument, expected, Words(f"{values[bad][0]} at {where}{grid[bad][0]:g}"))


def complex_slope(function: OwnFunction, p: FloatArray) -> FloatArray | None:
    """Return the derivative by a complex step, exact to rounding; None if the function does not take complex numbers."""
    step = p * 1e-8
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            result = np.asarray(function(p + 1j * step))
        except Exception:
            return None
    return np.asarray(result.imag / step) if result.shape == p.shape and np.iscomplexobj(result) else None


def difference_slope(formula: Formula, p: FloatArray, step: FloatArray | None = None) -> FloatArray:
    """Return the derivative by a five-point difference, with a step in proportion to p unless given."""
    step = 1e-3 * p if step is None else step
    near = formula(p + step) - formula(p - step)
    far = formula(p + 2 * step) - formula(p - 2 * step)
    return np.asarray((8 * near - far) / (12 * step))
