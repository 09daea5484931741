"""Twins of the binning kernels: thresholds as short decimals, bins of equal weight, codes, row hashes."""

import numpy as np
import numpy.typing as npt

from permissible.types import AnyArray, BoolArray, Codes, FloatArray, IntArray

MISSING, OTHER = 255, 254
# The literals themselves: 10.0 ** -5 need not be the double nearest to 1e-5.
DECADES = np.array([float(f"1e{k}") for k in range(-22, 23)])
WORD, GOLDEN = 2**64 - 1, 0x9E3779B97F4A7C15


def survey(columns: list[AnyArray]) -> tuple[BoolArray, BoolArray]:
    """For each column, whether a value is missing and whether one is infinite."""
    missing = [bool(np.any(c == -1) if c.dtype == np.int32 else np.any(np.isnan(c))) for c in columns]
    infinite = [bool(c.dtype != np.int32 and np.any(np.isinf(c))) for c in columns]
    return np.array(missing, dtype=bool), np.array(infinite, dtype=bool)


def distinct_values(column: AnyArray, rows: IntArray | None, limit: int) -> tuple[FloatArray, bool]:
    """The sorted distinct values, and whether there are at most `limit` of them."""
    values = column if rows is None else column[rows]
    different = np.unique(values[~np.isnan(values)].astype(np.float64) + 0.0)
    return different, len(different) <= limit


def separate(lower: float, upper: float) -> float:
    """The shortest decimal strictly between two neighbouring values (`lower` if there is no double between them)."""
    middle = lower / 2 + upper / 2
    with np.errstate(over="ignore"):
        width = float(np.float64(upper) - np.float64(lower))
    size = abs(middle)
    if lower < 0 < upper and middle == 0:
        return 0.0
    if 1e-20 <= width < 1e20 and 1e-20 <= size < 1e15 and size < width * 1e14:
        k = min(_decade(width) + 1, _decade(size))
        for power in range(k, max(k - 4, -23), -1):
            ten = float(f"1e{abs(power)}")
            candidate = float(np.rint(middle / ten) * ten if power >= 0 else np.rint(middle * ten) / ten)
            if lower < candidate < upper:
                return candidate
    for digits in range(17):
        candidate = float(f"{middle:.{digits}e}")
        if lower < candidate < upper:
            return candidate
    return lower


def _decade(x: float) -> int:
    """The largest k with 10^k <= x."""
    return int(np.searchsorted(DECADES, x, side="right")) - 23


def equal_shares(mass: list[int], max_bins: int) -> list[int]:
    """Where bins of equal weight end (after which values); heavy values are capped at the weight of one bin."""
    rest, shares = sum(mass), max_bins
    while True:
        heavy = [m for m in mass if m * shares > rest]
        settled = (sum(mass) - sum(heavy), max_bins - len(heavy)) == (rest, shares)
        rest, shares = sum(mass) - sum(heavy), max_bins - len(heavy)
        if settled:
            break
    cap = -(-rest // shares)
    capped = [min(m, cap) for m in mass]
    ends: list[int] = []
    left, inside, bins = sum(capped), 0, max_bins
    for i, m in enumerate(capped):
        if bins > 1 and inside > 0 and (2 * inside + m) * bins > 2 * left:
            ends.append(i - 1)
            left, inside, bins = left - inside, 0, bins - 1
        inside += m
    return ends


def find_edges(
    column: AnyArray, rows: IntArray | None, weights: IntArray | None, unit: int, max_bins: int
) -> tuple[FloatArray, bool, bool]:
    """Thresholds, whether a value is missing, and whether every distinct value has its own bin."""
    values = column.astype(np.float64) if rows is None else column[rows].astype(np.float64)
    weights = np.full(len(values), unit, dtype=np.int64) if weights is None else weights
    present = ~np.isnan(values)
    distinct, place = np.unique(values[present] + 0.0, return_inverse=True)
    mass = np.zeros(len(distinct), dtype=np.int64)
    np.add.at(mass, place, weights[present])
    exact = len(distinct) <= max_bins
    ends = list(range(len(distinct) - 1)) if exact else equal_shares([int(m) for m in mass], max_bins)
    thresholds = np.array([separate(float(distinct[i]), float(distinct[i + 1])) for i in ends], dtype=np.float64)
    return thresholds, not present.all(), exact


def largest_kept(hashes: npt.NDArray[np.uint64], limit: int) -> int:
    """The `limit`-th smallest distinct hash (the largest possible number if there are no more than `limit`)."""
    different = np.unique(hashes)
    return int(different[limit - 1]) if len(hashes) > limit and len(different) >= limit else WORD


def encode_column(column: AnyArray, thresholds: FloatArray, code_of_category: Codes) -> Codes:
    """The codes of one column."""
    if column.dtype == np.int32:
        known = np.append(code_of_category, np.array([OTHER, MISSING], dtype=np.uint8))
        return np.asarray(known[np.where(column < len(code_of_category), column, -2)])
    values = column.astype(np.float64)
    codes = np.searchsorted(thresholds, values, side="left").astype(np.uint8)
    codes[np.isnan(values)] = MISSING
    return codes


def row_hashes(
    columns: list[AnyArray], column_hashes: list[int], category_hashes: list[list[int]], seed: int, n_rows: int
) -> npt.NDArray[np.uint64]:
    """A content hash of each row: a sum over the columns of each value with its column's hash, mixed with the seed."""
    salt = finalise((seed + GOLDEN) & WORD)
    hashes = np.zeros(n_rows, dtype=np.uint64)
    for row in range(n_rows):
        total = 0
        for column, own, known in zip(columns, column_hashes, category_hashes, strict=True):
            total += _scramble(_bits(column[row], known), own)
        hashes[row] = finalise((total & WORD) ^ salt)
    return hashes


def _bits(value: np.generic, known: list[int]) -> int:
    if isinstance(value, np.int32):
        return known[int(value)] if value >= 0 else 0x7FF8000000000000
    number = np.float64(value) + 0.0
    return 0x7FF8000000000000 if np.isnan(number) else int(number.view(np.uint64))


def _scramble(bits: int, own: int) -> int:
    bits = ((bits ^ (bits >> 32)) * (own | 1)) & WORD
    return bits ^ (bits >> 32)


def finalise(h: int) -> int:
    """The finaliser of splitmix64."""
    h = ((h ^ (h >> 30)) * 0xBF58476D1CE4E5B9) & WORD
    h = ((h ^ (h >> 27)) * 0x94D049BB133111EB) & WORD
    return h ^ (h >> 31)
