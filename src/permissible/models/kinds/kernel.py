"""A kernel score with probability boundaries: f(x) = sum_j coef_j k(x_j, x) + b over the support vectors."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np

from permissible.kernels._core import boundary as core
from permissible.losses import Loss
from permissible.models.kinds.linear import probabilities_at
from permissible.models.model import Model, counted
from permissible.types import AnyArray, FloatArray, Matrix
from permissible.validation import refusal

KernelFunction: TypeAlias = Callable[[AnyArray, AnyArray], AnyArray]

KINDS = {"linear": 0, "rbf": 1, "poly": 2, "sigmoid": 3}


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel by name and LIBSVM's parameters, a function of two matrices, or "precomputed".

    linear x.y, rbf exp(-gamma |x - y|^2), poly (gamma x.y + coef0)^degree, sigmoid tanh(gamma x.y + coef0).
    """

    name: str | KernelFunction
    gamma: float = 1.0
    coef0: float = 0.0
    degree: int = 3

    def __post_init__(self) -> None:
        if not callable(self.name) and self.name not in (*KINDS, "precomputed"):
            raise refusal("kernel", f"None, one of {', '.join(KINDS)}, precomputed, or a function", self.name)

    @property
    def compiled(self) -> bool:
        """Whether the compiled core computes this kernel."""
        return isinstance(self.name, str) and self.name in KINDS

    @property
    def record(self) -> core.Kernel:
        """The arguments of a compiled kernel."""
        return core.Kernel(KINDS[str(self.name)], self.gamma, self.coef0, self.degree)

    def matrix(self, left: Matrix, right: Matrix) -> FloatArray:
        """The kernel between the rows of two matrices, in double precision."""
        if callable(self.name):
            return np.asarray(self.name(left, right), dtype=np.float64)
        product = np.asarray(
            (left @ right.T).todense() if hasattr(left, "todense") else left @ right.T, dtype=np.float64
        )
        match self.name:
            case "linear":
                return product
            case "poly":
                return np.asarray((self.gamma * product + self.coef0) ** self.degree)
            case "sigmoid":
                return np.asarray(np.tanh(self.gamma * product + self.coef0))
        squares = [
            np.asarray((m.multiply(m) if hasattr(m, "multiply") else m * m).sum(axis=1)).ravel() for m in (left, right)
        ]
        distance = squares[0].astype(np.float64)[:, None] + squares[1].astype(np.float64)[None, :] - 2.0 * product
        return np.asarray(np.exp(-self.gamma * np.maximum(distance, 0.0)))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class KernelModel(Model):
    """f(x) = sum_j coef_j k(x_j, x) + b."""

    kernel: Kernel
    support: Matrix  # the support vectors; for a precomputed kernel their positions among the training rows
    coef: FloatArray  # one for each support vector
    intercept: float  # this and what follows: as in `LinearModel`
    loss: Loss
    boundaries: FloatArray
    deltas: FloatArray
    takes_matrix: ClassVar[bool] = True

    def _size(self) -> str:
        return f"{self.kernel.name} kernel, {counted(len(self.coef), 'support vector')}"

    def scores(self, X: Matrix, n_threads: int = 1) -> FloatArray:
        """f(x) of each row; for a precomputed kernel X holds k(row, training row)."""
        if self.kernel.name == "precomputed":
            return np.asarray(X[:, self.support] @ self.coef, dtype=np.float64) + self.intercept
        if self.kernel.compiled and isinstance(X, np.ndarray) and isinstance(self.support, np.ndarray):
            kernel, points = self.kernel, np.ascontiguousarray(X, dtype=np.float64)
            support = np.ascontiguousarray(self.support, dtype=np.float64)
            return core.score_kernel(support, kernel.record, self.coef, points) + self.intercept
        return np.asarray(self.kernel.matrix(X, self.support) @ self.coef, dtype=np.float64) + self.intercept

    def probabilities(self, X: Matrix, n_threads: int = 1) -> FloatArray:
        """Probabilities of both classes; that of the positive one is ginv(f), and pi_k exactly where f = delta_k."""
        return probabilities_at(self.scores(X), self.loss, self.boundaries, self.deltas)
