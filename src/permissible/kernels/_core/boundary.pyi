"""Solvers of problem (18) of [K]: dense rows, coordinate descent, kernels."""

from typing import Any, TypedDict

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

class Solution(TypedDict):
    """What a linear solver hands back."""

    coef: Floats
    intercept: float
    dual: Floats
    primal_value: float
    dual_value: float
    iterations: int
    passes: int
    converged: bool

class KernelSolution(TypedDict):
    """What a kernel solver hands back."""

    dual: Floats
    score: Floats
    intercept: float
    square: float
    primal_value: float
    dual_value: float
    updates: int
    converged: bool

def solve_dense(
    x: npt.NDArray[Any],
    positive: npt.NDArray[np.int8],
    weight: Floats,
    hinge: Floats,
    width: Floats,
    strength: float,
    fit_intercept: bool,
    penalize_intercept: bool,
    coef: Floats,
    intercept: float,
    warm: bool,
    tol: float,
    max_iter: int,
    threads: int,
) -> Solution: ...
def descend_dense(
    x: npt.NDArray[Any],
    positive: npt.NDArray[np.int8],
    weight: Floats,
    hinge: Floats,
    width: Floats,
    strength: float,
    fit_intercept: bool,
    penalize_intercept: bool,
    dual: Floats,
    intercept: float,
    tol: float,
    max_iter: int,
    seed: int,
) -> Solution: ...
def descend_sparse(
    values: npt.NDArray[Any],
    columns: npt.NDArray[np.int32],
    starts: npt.NDArray[np.int64],
    n_columns: int,
    positive: npt.NDArray[np.int8],
    weight: Floats,
    hinge: Floats,
    width: Floats,
    strength: float,
    fit_intercept: bool,
    penalize_intercept: bool,
    dual: Floats,
    intercept: float,
    tol: float,
    max_iter: int,
    seed: int,
) -> Solution: ...
def solve_kernel(
    x: Floats,
    kind: int,
    gamma: float,
    coef0: float,
    degree: int,
    cache_bytes: int,
    single_precision: bool,
    positive: npt.NDArray[np.int8],
    weight: Floats,
    hinge: Floats,
    width: Floats,
    strength: float,
    fit_intercept: bool,
    penalize_intercept: bool,
    dual: Floats,
    tol: float,
    max_updates: int,
) -> KernelSolution: ...
def solve_gram(
    gram: Floats,
    positive: npt.NDArray[np.int8],
    weight: Floats,
    hinge: Floats,
    width: Floats,
    strength: float,
    fit_intercept: bool,
    penalize_intercept: bool,
    dual: Floats,
    tol: float,
    max_updates: int,
) -> KernelSolution: ...
def score_kernel(
    support: Floats, kind: int, gamma: float, coef0: float, degree: int, coef: Floats, points: Floats
) -> Floats: ...
def best_intercept(
    score: Floats, positive: npt.NDArray[np.int8], weight: Floats, hinge: Floats, width: Floats, near: float
) -> float: ...
