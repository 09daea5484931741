"""Checks of cost matrices: C[true, predicted], non-negative, zero on the diagonal, no empty row."""

import numpy as np

from permissible.types import ArrayLike, FloatArray
from permissible.validation.arrays import real_numbers
from permissible.validation.refusal import Words, refusal


def checked_costs(matrix: ArrayLike, argument: str = "matrix") -> FloatArray:
    """Return a cost matrix as a new float64 array; refuse one that is not a valid cost matrix."""
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
        row = int(np.flatnonzero(np.diag(costs))[0])
        raise refusal(argument, "zero on the diagonal", Words(f"{costs[row, row]:g} at [{row}, {row}]"))
    if not costs.any(axis=1).all():
        row = int(np.flatnonzero(~costs.any(axis=1))[0])
        remedy = "a class that may always be missed can be left out"
        raise refusal(argument, "positive somewhere in each row", Words(f"row {row} of zeros"), remedy)
    return costs
