"""Codewords: the corners of a regular simplex, one per class, that relate M scores to M-1 boosted functions.

Equation (23) of [B]: S = Y f / 2. The paper requires sum 0 and unit rows only, which for M >= 4 does not make the
simplex regular; here all pairs have the same inner product, -1/(M-1), by the Helmert construction. Coordinate r
compares the classes 0..r with class r+1 and not the later ones, so coordinate steps are cheap
(cpp/losses/multiclass.hpp).
"""

from functools import cache

import numpy as np

from permissible.types import FloatArray


@cache
def codewords(n_classes: int) -> FloatArray:
    """The M x (M-1) matrix Y of codewords, one row per class.

    >>> codewords(2).ravel().tolist()
    [1.0, -1.0]
    >>> y = codewords(4)
    >>> (y @ y.T).round(3)[0].tolist()
    [1.0, -0.333, -0.333, -0.333]
    """
    corners = np.zeros((n_classes, n_classes - 1))
    for r in range(1, n_classes):
        corners[:r, r - 1] = 1.0
        corners[r, r - 1] = -r
        corners[:, r - 1] /= np.sqrt(r * (r + 1))
    words = np.asarray(np.sqrt(n_classes / (n_classes - 1)) * corners)
    words.flags.writeable = False  # asked for again and again
    return words


def scores_of(functions: FloatArray) -> FloatArray:
    """S = Y f / 2 (23) for an (n, M-1) array of function values."""
    return np.asarray(functions @ codewords(functions.shape[1] + 1).T / 2)
