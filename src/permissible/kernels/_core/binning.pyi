from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from permissible.types import AnyArray, BoolArray, Codes, FloatArray, IntArray

def survey(columns: list[AnyArray], n_threads: int) -> tuple[BoolArray, BoolArray]: ...
def distinct_values(
    columns: list[AnyArray], rows: IntArray | None, limit: int, n_threads: int = 1
) -> list[tuple[FloatArray, bool]]: ...
def row_hashes(
    columns: list[AnyArray],
    column_hashes: npt.NDArray[np.uint64],
    category_hashes: npt.NDArray[np.uint64],
    offsets: IntArray,
    seed: int,
    n_rows: int,
    n_threads: int,
) -> npt.NDArray[np.uint64]: ...
def find_edges(
    columns: list[AnyArray],
    rows: IntArray | None,
    weights: IntArray | None,
    unit: int,
    max_bins: int,
    n_threads: int,
) -> Sequence[tuple[FloatArray, bool, bool]]: ...
def largest_kept(hashes: npt.NDArray[np.uint64], limit: int) -> int: ...
def separators(values: FloatArray) -> FloatArray: ...
def encode(
    columns: list[AnyArray],
    thresholds: FloatArray,
    threshold_offsets: IntArray,
    codes: Codes,
    code_offsets: IntArray,
    blocks: Codes,
    n_threads: int,
) -> None: ...
