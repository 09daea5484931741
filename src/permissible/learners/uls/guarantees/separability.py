"""Is there a finite minimiser over given columns? Stiemke's condition, by linear programming ([N] Lemma 2, [T] Lemma 5; E3).

For a loss whose weights never vanish a finite minimiser exists if and only if no direction delta has y_i <x_i, delta> >= 0
for all rows and > 0 for one (mathematics, 4.1). The program max sum_i s_i, s_i <= y_i <x_i, delta>, 0 <= s_i <= 1 has the
value 0 exactly when there is none, and the number of rows when delta separates them all. The papers' lemmas ask for less
and are wrong for it (majority of three).
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from permissible.types import BoolArray, FloatArray, Matrix

MOST_CELLS = 200_000
"""Rows times columns up to which the program is solved; beyond, nothing is said."""


@dataclass(frozen=True, slots=True, eq=False)
class Separation:
    """What the program found: `kind` is "none", "partial" or "complete", with a direction where there is one.

    `direction` holds a coefficient for each column, and the constant last.
    """

    kind: str
    direction: FloatArray | None


def separation(X: Matrix, positive: BoolArray, constant: bool) -> Separation | None:
    """Solve the program for the columns of X; None where it would be too large."""
    if X.shape[0] * (X.shape[1] + 1) > MOST_CELLS:
        return None
    dense = np.asarray(X.todense() if hasattr(X, "todense") else X, dtype=np.float64)
    size = np.abs(dense).max(axis=0, initial=0.0)
    unit = np.where(size > 0, size, 1.0)
    columns = np.column_stack([dense / unit, np.ones(len(dense)) if constant else np.zeros(len(dense))])
    signed = np.where(positive, 1.0, -1.0)[:, None] * columns
    n, d = signed.shape
    goal = np.concatenate([np.zeros(d), -np.ones(n)])
    table = sparse.hstack([sparse.csr_matrix(-signed), sparse.identity(n)], format="csr")
    limits = [(None, None)] * d + [(0.0, 1.0)] * n
    found = linprog(goal, A_ub=table, b_ub=np.zeros(n), bounds=limits, method="highs")
    if found.x is None:
        return None
    value = -float(found.fun)
    if value < 0.5:  # directions scale, so that the value is 0 or at least 1
        return Separation("none", None)
    direction = found.x[:d] / np.append(unit, 1.0)
    return Separation("complete" if value > n - 0.5 else "partial", np.asarray(direction, dtype=np.float64))
