"""Literals from bins: of a threshold, and of categories."""

from permissible.bins.binning import Binning
from permissible.bins.literal import Literal


def threshold_literal(binning: Binning, column: int, code: int, *, missing: bool = False) -> Literal:
    """`x <= t`, where t is the threshold after bin `code`."""
    return Literal(column, "<=", float(binning.columns[column].thresholds[code]), (code,), missing)


def category_literal(column: int, *codes: int, negated: bool = False, missing: bool = False) -> Literal:
    """`c in {...}` (or `not in` when `negated`) over the bins `codes`."""
    return Literal(column, "not in" if negated else "in", codes=tuple(sorted(codes)), missing=missing)
