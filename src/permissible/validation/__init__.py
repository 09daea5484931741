"""Checks of arguments: every check lives here, and every error has the same form.

An error is one sentence: the argument, what was expected, what came, and what to do about it.
"""

from permissible.validation.arrays import (
    checked_boundaries,
    checked_costs,
    probabilities,
    real_array,
    real_numbers,
    squarable,
    summable,
    weights,
)
from permissible.validation.refusal import Words, did_you_mean, one_of, refusal, refusal_type, shown

__all__ = [
    "Words",
    "checked_boundaries",
    "checked_costs",
    "did_you_mean",
    "one_of",
    "probabilities",
    "real_array",
    "real_numbers",
    "refusal",
    "refusal_type",
    "shown",
    "squarable",
    "summable",
    "weights",
]
