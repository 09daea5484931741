"""Solvers of problem (18) of [K]: dense rows."""

from typing import Any, TypedDict

import numpy as np
import numpy.typing as npt

class Solution(TypedDict):
    """What a linear solver hands back."""

    coef: npt.NDArray[np.float64]
    intercept: float
    dual: npt.NDArray[np.float64]
    primal_value: float
    dual_value: float
    iterations: int
    passes: int
    converged: bool

def solve_dense(
    x: npt.NDArray[Any],
    positive: npt.NDArray[np.int8],
    weight: npt.NDArray[np.float64],
    hinge: npt.NDArray[np.float64],
    width: npt.NDArray[np.float64],
    strength: float,
    fit_intercept: bool,
    penalize_intercept: bool,
    coef: npt.NDArray[np.float64],
    intercept: float,
    warm: bool,
    tol: float,
    max_iter: int,
    threads: int,
) -> Solution: ...
