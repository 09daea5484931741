"""Arrays handed in by the user: of real numbers, of one length, within what the formula needs; boundaries and costs."""

import numpy as np

from permissible.types import ArrayLike, FloatArray
from permissible.validation.refusal import Words, refusal, refusal_type

LEAST_SUM, GREATEST_SUM = 1e-250, 1e250
LARGEST = 1e150


def real_numbers(argument: str, values: object, expected: str) -> FloatArray:
    """Float64 of any shape; what is not real numbers (text, dates, complex numbers, rows of unequal length) is refused.

    >>> real_numbers("cost", [[0, 1j]], "an array of costs")
    Traceback (most recent call last):
    ...
    TypeError: `cost` must be an array of costs, got list [[0, 1j]].
    """
    try:
        array = np.asarray(values)
        if array.dtype.kind == "O":
            if any(isinstance(value, str | bytes | np.timedelta64 | np.complexfloating) for value in array.flat):
                raise TypeError  # NumPy would turn each of them into a float
            array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise refusal_type(argument, expected, values) from None
    if array.dtype.kind not in "biuf":
        raise refusal_type(argument, expected, values)
    return array.astype(np.float64, copy=False)


def real_array(argument: str, values: object, *, length: int | None = None) -> FloatArray:
    """A 1-D array of finite numbers, of the given length where one is asked for."""
    expected = "a list of finite numbers" if length is None else f"a list of {length} finite numbers"
    array = real_numbers(argument, values, expected)
    if array.ndim != 1 or (length is not None and len(array) != length):
        raise refusal(argument, expected, Words(f"an array of shape {array.shape}"))
    if not np.isfinite(array).all():
        raise refusal(argument, expected, float(array[~np.isfinite(array)][0]))
    return array


def probabilities(argument: str, values: object, *, length: int | None = None) -> FloatArray:
    """The same with every number between 0 and 1.

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


def weights(argument: str, values: object, *, length: int) -> FloatArray:
    """The same with no number negative and one at least positive."""
    array = real_array(argument, values, length=length)
    if array.min(initial=0.0) < 0:
        raise refusal(argument, "finite and not negative", float(array[array < 0][0]))
    if length and not array.any():
        raise refusal(argument, "positive for at least one row", Words("weights that are all zero"))
    return summable(argument, array)


def summable(argument: str, array: FloatArray) -> FloatArray:
    """The weights as they are; refused when their sum leaves no room for arithmetic in float64."""
    with np.errstate(over="ignore"):
        total = float(array.sum())
    if array.size and not LEAST_SUM <= total <= GREATEST_SUM:
        came = Words(f"a sum of {total:g}")
        expected = f"of a sum between {LEAST_SUM:g} and {GREATEST_SUM:g}"
        raise refusal(argument, expected, came, "scale them all by one factor")
    return array


def squarable(values: FloatArray, column: str) -> None:
    """Refuse a column of X with values whose squares float64 cannot hold; a missing one (NaN) passes."""
    largest = float(np.max(np.abs(values), initial=0.0, where=~np.isnan(values)))
    if largest > LARGEST:
        came = Words(f"{largest:g} in column {column!r}")
        raise refusal("X", f"of sizes up to {LARGEST:g} for this learner", came, "scale that column")


def checked_boundaries(boundaries: ArrayLike) -> tuple[float, ...]:
    """Return boundaries as floats; refuse any outside (0, 1) or not strictly increasing."""
    array = real_numbers("boundaries", boundaries, "increasing numbers in (0, 1)")
    if array.ndim != 1 or not array.size:
        raise refusal("boundaries", "a non-empty sequence of increasing numbers in (0, 1)", boundaries)
    outside = ~((array > 0) & (array < 1))
    if outside.any():
        raise refusal("boundaries", "numbers in (0, 1)", float(array[outside][0]))
    if (falls := np.diff(array) <= 0).any():
        place = int(falls.argmax())
        raise refusal("boundaries", "strictly increasing", Words(f"{array[place]:g} followed by {array[place + 1]:g}"))
    return tuple(array.tolist())


def checked_costs(matrix: ArrayLike, argument: str = "matrix") -> FloatArray:
    """Return costs[true, predicted] as a new array: non-negative, zero on the diagonal, no empty row; else refused."""
    costs = np.array(real_numbers(argument, matrix, "a square array of costs"))
    if costs.ndim != 2 or costs.shape[0] != costs.shape[1] or len(costs) < 2:
        expected = f"square, {argument}[true, predicted], of two classes or more"
        remedy = "a price of rejection goes into reject_cost" if costs.ndim == 2 else None
        raise refusal(argument, expected, Words(f"shape {costs.shape}"), remedy)
    bad = ~(np.isfinite(costs) & (costs >= 0))
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise refusal(argument, "finite and non-negative", Words(f"{costs[row, column]:g} at [{row}, {column}]"))
    if np.diag(costs).any():
        row = int(np.diag(costs).argmax())
        raise refusal(argument, "zero on the diagonal", Words(f"{costs[row, row]:g} at [{row}, {row}]"))
    empty = ~costs.any(axis=1)
    if empty.any():
        row = int(empty.argmax())
        remedy = "a class that may always be missed can be left out"
        raise refusal(argument, "positive somewhere in each row", Words(f"row {row} of zeros"), remedy)
    return costs
