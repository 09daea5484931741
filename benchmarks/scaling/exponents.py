"""The exponent of a curve: the slope of log time (or memory) over log size, by least squares.

Small fits are all overhead, so the slope is taken over the upper half of the sizes on the log scale, at least three of them.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

LEAST_MIB = 2.0
"""Memory below this is the allocator's, not the fit's."""


def exponent(sizes: Sequence[float], amounts: Sequence[float]) -> float:
    """The slope over the upper half of the sizes.

    Examples
    --------
    >>> round(exponent([1, 10, 100, 1000, 10000], [5, 5, 6, 60, 600]), 2)
    1.0
    """
    order = np.argsort(sizes)
    x, y = np.log(np.asarray(sizes, dtype=float)[order]), np.log(np.asarray(amounts, dtype=float)[order])
    first = min(int(np.searchsorted(x, (x[0] + x[-1]) / 2 - 1e-9)), max(len(x) - 3, 0))
    return float(np.polyfit(x[first:], y[first:], 1)[0])


def curves(points: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str], list[Mapping[str, Any]]]:
    """The measured points by axis and estimator, in order of size."""
    found: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for point in points:
        found.setdefault((point["axis"], point["estimator"]), []).append(point)
    return {key: sorted(curve, key=lambda point: point[key[0]]) for key, curve in found.items()}


def exponents(points: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """One entry for each curve of at least three points (two, for threads): exponents of seconds and of memory."""
    stated = []
    for (axis, name), curve in curves(points).items():
        if len(curve) < 2 or (len(curve) < 3 and axis != "threads"):
            continue
        sizes = [point[axis] for point in curve]
        heavy = [point for point in curve if point["mib"] >= LEAST_MIB]
        memory = exponent([p[axis] for p in heavy], [p["mib"] for p in heavy]) if len(heavy) > 2 else None
        time = exponent(sizes, [point["seconds"] for point in curve])
        stated.append({"axis": axis, "estimator": name, "time": time, "memory": memory})
    return stated
