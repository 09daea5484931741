"""The sample that a search of rules looks at, drawn by the size of weights and a hash of each row's content."""

import math

import numpy as np

from permissible.types import AnyArray


def sampled(
    weight: AnyArray, curvature: AnyArray, hashes: AnyArray, threshold: float, seed: int
) -> tuple[AnyArray, AnyArray, float]:
    """Minimal variance sampling: both as float32 over p = min(1, r / threshold), r^2 = w^2 + k^2 / 10; 0 where not taken.

    They are in the unit (the third result) that brings the threshold to [1/2, 1).
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
    word = 2**64 - 1
    x = (seed * 0x9E3779B97F4A7C15 + 0x94D049BB133111EB) & word
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & word
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & word
    return ((x ^ (x >> 31)) >> 16) & 0xFFFFFFFF
