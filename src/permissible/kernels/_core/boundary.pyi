"""Solvers of problem (18) of [K]: dense rows, coordinate descent, kernels."""

from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

class Problem:
    """Classes, weights and loss of the rows."""

    def __init__(
        self,
        positive: npt.NDArray[np.int8],
        weight: Floats,
        hinge: Floats,
        width: Floats,
        strength: float,
        fit_intercept: bool = True,
        penalize_intercept: bool = False,
    ) -> None: ...

class Start:
    """Where a linear solver starts."""

    def __init__(
        self, coef: Floats, dual: Floats, intercept: float = 0.0, warm: bool = False, whole: bool = False
    ) -> None: ...

class Kernel:
    """A kernel by its number and LIBSVM's parameters."""

    def __init__(self, kind: int, gamma: float, coef0: float, degree: int) -> None: ...

class Solution:
    """The result of a linear solver."""

    coef: Floats
    intercept: float
    dual: Floats
    primal_value: float
    dual_value: float
    iterations: int
    converged: bool

class KernelSolution:
    """The result of a kernel solver."""

    dual: Floats
    score: Floats
    intercept: float
    square: float
    primal_value: float
    dual_value: float
    updates: int

def solve_dense(
    x: npt.NDArray[Any], problem: Problem, start: Start, tol: float, max_iter: int, threads: int
) -> Solution: ...
def descend_dense(
    x: npt.NDArray[Any], problem: Problem, start: Start, tol: float, max_iter: int, seed: int
) -> Solution: ...
def descend_sparse(
    values: npt.NDArray[Any],
    columns: npt.NDArray[np.int32],
    starts: npt.NDArray[np.int64],
    problem: Problem,
    start: Start,
    tol: float,
    max_iter: int,
    seed: int,
) -> Solution: ...
def solve_kernel(
    x: Floats,
    kernel: Kernel,
    problem: Problem,
    dual: Floats,
    tol: float,
    max_updates: int,
    cache_bytes: int,
    single_precision: bool,
) -> KernelSolution: ...
def solve_gram(gram: Floats, problem: Problem, dual: Floats, tol: float, max_updates: int) -> KernelSolution: ...
def score_kernel(support: Floats, kernel: Kernel, coef: Floats, points: Floats) -> Floats: ...
def best_intercept(score: Floats, problem: Problem, near: float) -> float: ...
def structured_sweep(
    x: Floats,
    costs: Floats,
    caps: Floats,
    alpha: float,
    order: npt.NDArray[np.int64],
    weights: Floats,
    dual: Floats,
) -> None: ...
