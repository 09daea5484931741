"""The weight of each row: `sample_weight` times `class_weight`. Weight 2 is the row twice, weight 0 the row left out.

Weights may be in any unit. A parameter that is a weight itself (`l2_regularization`, a least weight of a leaf) is in
the same unit: all weights times c and such a parameter times c is the same model. :func:`canonical` keeps that true for
units so large or so small that single precision, squares of sums or an absolute tolerance would fail.
"""

import math
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

from permissible.table.reading import as_array
from permissible.types import AnyArray, FloatArray, IntArray
from permissible.validation import Words, real_numbers, refusal, refusal_type, shown, summable, weights

ClassWeight: TypeAlias = Mapping[Any, float] | str | None
ORDINARY = 2.0**-20, 2.0**20
"""A largest weight between these is left as it is."""
TINY, HUGE = 2.0**-1022, 2.0**1000


def row_weights(sample_weight: object, n_rows: int) -> FloatArray | None:
    """The weights as float64, or None where none are given."""
    if sample_weight is None:
        return None
    expected = f"a list of {n_rows} finite numbers"
    try:
        given = as_array(sample_weight)
    except ValueError:  # lists of unequal length
        raise refusal_type("sample_weight", expected, sample_weight) from None
    weight = real_numbers("sample_weight", sample_weight if given.ndim == 0 else given, expected)
    if weight.ndim == 0:
        weight = np.full(n_rows, weight)
    return weights("sample_weight", weight, length=n_rows)


def with_class_weight(
    weight: FloatArray | None, class_weight: ClassWeight, classes: AnyArray, codes: IntArray
) -> FloatArray | None:
    """Multiply by each class's weight: a mapping from label to weight (1 where not listed), or "balanced"."""
    if class_weight is None:
        return weight
    factor = _factors(class_weight, classes, codes, weight)
    per_row = factor[codes]
    if weight is None:
        return summable("class_weight", per_row)
    if weight.any() and not per_row[weight > 0].any():
        expected = "positive for a class with rows of positive sample_weight"
        raise refusal("class_weight", expected, Words("weights that are all zero"))
    with np.errstate(over="ignore", under="ignore"):
        return summable("sample_weight", weight * per_row)


def canonical(weight: FloatArray) -> tuple[FloatArray, float]:
    """The weights times a power of two, and that power: 1 for ordinary weights, else the largest is then in [1/4, 1).

    Such a product is exact, so that a fit rounds as it does on ordinary weights; the power is a square, so that its
    root is exact too. A weight below 1e-308 of the largest stays positive and otherwise without consequence.

    >>> canonical(np.array([3e40, 1e40]))[0].tolist()
    [0.34438311059246707, 0.11479437019748902]
    """
    largest = float(weight.max(initial=0.0))
    if largest == 0.0 or ORDINARY[0] <= largest <= ORDINARY[1]:
        return weight, 1.0
    scale = math.ldexp(1.0, -2 * -(-math.frexp(largest)[1] // 2))
    with np.errstate(under="ignore"):
        return np.maximum(weight * scale, np.where(weight > 0, TINY, 0.0)), scale


def in_unit(value: float, scale: float) -> float:
    """A parameter that is a weight, times the power of two of :func:`canonical`."""
    return value if scale == 1.0 else min(value * scale, HUGE)


def _factors(class_weight: object, classes: AnyArray, codes: IntArray, weight: FloatArray | None) -> FloatArray:
    if isinstance(class_weight, str) and class_weight == "balanced":
        share = np.bincount(codes, weights=weight, minlength=len(classes))
        present = share > 0
        return np.where(present, share.sum() / (max(int(present.sum()), 1) * np.where(present, share, 1.0)), 1.0)
    if not isinstance(class_weight, Mapping):
        raise refusal("class_weight", 'None, "balanced" or a mapping from label to weight', class_weight)
    labels = classes.tolist()
    unknown = [label for label in class_weight if label not in labels]
    if unknown:
        raise refusal("class_weight", f"a weight for labels of y ({shown(labels)})", Words(f"one for {unknown[0]!r}"))
    expected = "made of finite weights that are not negative"
    factor = real_numbers("class_weight", [class_weight.get(label, 1.0) for label in labels], expected)
    if not (np.isfinite(factor).all() and (factor >= 0).all()):
        raise refusal("class_weight", expected, class_weight)
    if not factor.any():
        raise refusal("class_weight", "positive for at least one class in y", Words("weights that are all zero"))
    return factor
