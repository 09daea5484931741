"""The kernels of boosting in plain NumPy. Each is tested equal to its kernel.

Rows come as codes (n_rows, n_columns); weights and curvatures as float32; every sum is a sum of integers on a grid.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

from permissible.kernels.reference.binning import GOLDEN, WORD, finalise
from permissible.types import AnyArray, BoolArray, Codes, FloatArray, IntArray

Formula = Callable[[FloatArray], FloatArray]


def codes_of(blocks: Codes, n_columns: int) -> Codes:
    """Blocks of 8 columns as one matrix."""
    return blocks.transpose(1, 0, 2).reshape(blocks.shape[1], blocks.shape[0] * 8)[:, :n_columns]


def rule_mask(codes: Codes, columns: Sequence[int], members: AnyArray) -> BoolArray:
    """Whether each row passes every literal: its code is a member of the literal's set."""
    covered = np.ones(len(codes), dtype=bool)
    for column, member in zip(columns, members, strict=True):
        covered &= member[codes[:, column]].astype(bool)
    return covered


def histogram(
    codes: Codes,
    values: Sequence[tuple[AnyArray, float]],
    mask: BoolArray | None = None,
    copies: AnyArray | None = None,
) -> IntArray:
    """Sums by column and code of each (values, grid): round(value * grid) times the integer weight of the row."""
    n_rows, n_columns = codes.shape
    chosen = np.ones(n_rows, dtype=bool) if mask is None else mask
    sums = np.zeros((n_columns, len(values), 256), dtype=np.int64)
    for place, (value, grid) in enumerate(values):
        terms = np.rint(value.astype(np.float64) * grid).astype(np.int64)
        if copies is not None:
            terms = terms * copies.astype(np.int64)
        for column in range(n_columns):
            np.add.at(sums[column, place], codes[chosen, column], terms[chosen])
    return sums


def measure(
    margin: FloatArray,
    positive: BoolArray,
    mask: BoolArray,
    value_in: float,
    value_out: float,
    weight: Formula,
    curvature: Formula,
    slope: Formula,
) -> tuple[FloatArray, FloatArray]:
    """Sums of y w, curvature and y * its slope after a trial step, over the covered rows and over the others."""
    sign = np.where(positive, 1.0, -1.0)
    moved = margin + sign * np.where(mask, value_in, value_out)
    terms = np.stack((sign * weight(moved), curvature(moved), sign * slope(moved)))
    return terms[:, mask].sum(axis=1), terms[:, ~mask].sum(axis=1)


def decrease(
    weight_in: float, curvature_in: float, weight_all: float, curvature_all: float, l2: float, two_values: bool
) -> float:
    """The criterion of a rule: second-order decrease of the surrogate for the values that it will take.

    Without curvature the larger edge wins.
    """
    weight_out, curvature_out = weight_all - weight_in, curvature_all - curvature_in

    def second_order(weight: float, curvature: float) -> float:
        return weight**2 / curvature if curvature > 0 else abs(weight)

    if not two_values:
        return 0.5 * second_order(weight_in - weight_out, curvature_all + 2 * l2)
    return 0.5 * (second_order(weight_in, curvature_in + l2) + second_order(weight_out, curvature_out + l2))


def best_cut(sums: IntArray, n_bins: int, l2: float, units: tuple[float, float], two_values: bool) -> tuple[float, int]:
    """Best split of an ordered column without missing values: decrease, and last code on the left; first of ties."""
    weight = sums[0] * units[0]
    curvature = sums[1] * units[1] if two_values else np.zeros(256)
    all_weight, all_curvature = weight.sum(), curvature.sum() if two_values else units[1]
    best = (-1.0, -1)
    for code in range(n_bins - 1):
        inside = weight[: code + 1].sum(), curvature[: code + 1].sum()
        gain = decrease(inside[0], inside[1], all_weight, all_curvature, l2, two_values)
        if gain > best[0]:
            best = (gain, code)
    return best


def draw(seed: int, key: int, literal: int) -> float:
    """The draw of a literal of a column, standard and at most the square root of 12: the sum of four uniform numbers."""
    h = finalise(finalise((seed ^ key) + GOLDEN & WORD) + (literal + 1) * GOLDEN & WORD)
    return float(np.sqrt(3.0) * sum((h >> shift) % 2**16 / (2**16 - 1) - 0.5 for shift in (0, 16, 32, 48)))


def patterns(masks: AnyArray, positive: BoolArray, sample: IntArray) -> tuple[Codes, IntArray]:
    """The combinations of covering rules that occur, sorted, and the weight of negatives and positives of each.

    `masks` is (n_rows, n_rules) of 0 and 1.
    """
    bits, place = np.unique(masks, axis=0, return_inverse=True)
    weight = np.zeros((len(bits), 2), dtype=np.int64)
    np.add.at(weight, (place.ravel(), positive.astype(np.intp)), sample)
    return bits.astype(np.uint8), weight


def pattern_gradient(bits: Codes, first: FloatArray) -> FloatArray:
    """Gradient over (constant, rules), h = +-1."""
    return np.column_stack((np.ones(len(bits)), 2.0 * bits - 1.0)).T @ first


def pattern_hessian(bits: Codes, second: FloatArray) -> FloatArray:
    """Hessian over (constant, rules), h = +-1."""
    signs = np.column_stack((np.ones(len(bits)), 2.0 * bits - 1.0))
    return signs.T @ (second[:, None] * signs)


def score_rules(masks: AnyArray, coefficients: FloatArray, intercept: float) -> FloatArray:
    """Intercept plus or minus each coefficient, in groups of eight; `masks` is (n_rules, n_rows)."""
    score = np.full(masks.shape[1], intercept)
    for start in range(0, len(masks), 8):
        part = np.zeros(masks.shape[1])
        for mask, coefficient in zip(masks[start : start + 8], coefficients[start : start + 8], strict=True):
            part += np.where(mask, coefficient, -coefficient)
        score += part
    return score


def sampled(
    weight: AnyArray, curvature: AnyArray, hashes: AnyArray, threshold: float, seed: int
) -> tuple[AnyArray, AnyArray, float]:
    """The sample that a search of rules looks at, drawn by the size of weights and a hash of each row's content.

    Minimal variance sampling: both as float32 over p = min(1, r / threshold), r^2 = w^2 + k^2 / 10; 0 where not
    taken. They are in the unit (the third result) that brings the threshold to [1/2, 1).
    """
    mantissa, exponent = math.frexp(threshold)
    unit, mu = math.ldexp(1.0, exponent), np.float32(mantissa)
    g, h = ((values.astype(np.float64) / unit).astype(np.float32) for values in (weight, curvature))
    squares = g * g + np.float32(0.1) * h * h
    bar = (_mixed(hashes ^ np.uint32(_round_key(seed))) >> np.uint32(1)).astype(np.float32) * (mu / np.float32(2**31))
    with np.errstate(divide="ignore"):
        inverse = np.maximum(mu / np.sqrt(squares), np.float32(1))
    g[squares > 0] *= inverse[squares > 0]
    h[squares > 0] *= inverse[squares > 0]
    taken = bar * bar < squares
    return np.where(taken, g, np.float32(0)), np.where(taken, h, np.float32(0)), unit


def _mixed(x: AnyArray) -> AnyArray:
    """Every bit of the result depends on every bit of a word of 32."""
    x = (x ^ (x >> np.uint32(16))) * np.uint32(0x85EBCA6B)
    x = (x ^ (x >> np.uint32(13))) * np.uint32(0xC2B2AE35)
    return np.asarray(x ^ (x >> np.uint32(16)))


def _round_key(seed: int) -> int:
    return (finalise((seed * GOLDEN + 0x94D049BB133111EB) & WORD) >> 16) & 0xFFFFFFFF
