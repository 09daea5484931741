"""Array aliases and the Protocols that several layers share. No code, no imports from the other layers."""

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
Codes: TypeAlias = npt.NDArray[np.uint8]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
AnyArray: TypeAlias = npt.NDArray[Any]
ArrayLike: TypeAlias = npt.ArrayLike

Matrix: TypeAlias = Any
"""Rows of numbers: a NumPy array, or a CSR matrix where sparse rows are taken."""
