"""The literals a column offers: one for each threshold or category, and `is missing` where values are missing."""

from permissible.bins.binning import Binning
from permissible.bins.literal import Literal


def threshold_literal(
    binning: Binning, column: int, code: int, *, above: bool = False, missing: bool = False
) -> Literal:
    """`x <= t` (or `x > t` when `above`), where t is the threshold after bin `code`."""
    threshold = float(binning.columns[column].thresholds[code])
    return Literal(column, ">" if above else "<=", threshold, (code,), missing)


def category_literal(column: int, *codes: int, negated: bool = False, missing: bool = False) -> Literal:
    """`c in {...}` (or `not in` when `negated`) over the bins `codes`."""
    return Literal(column, "not in" if negated else "in", codes=tuple(sorted(codes)), missing=missing)


def literals_of(binning: Binning, column: int) -> list[Literal]:
    """Every literal of a column, one of each pair of opposites; of `x <= t` both fates of a missing value where there are any.

    Examples
    --------
    >>> from permissible.bins import describe, find_bins, literals_of
    >>> from permissible.table import read
    >>> binning = find_bins(read({"age": [41, 42, None]}))
    >>> [describe(literal, binning.schema) for literal in literals_of(binning, 0)]
    ['age <= 41.5', 'age <= 41.5 or missing', 'age is missing']
    """
    bins = binning.columns[column]
    fates = (False, True) if bins.has_missing else (False,)
    if binning.schema.columns[column].kind == "categorical":
        found = [category_literal(column, code) for code in range(bins.n_bins)]
    else:
        codes = range(len(bins.thresholds))
        found = [threshold_literal(binning, column, code, missing=fate) for code in codes for fate in fates]
    return [*found, Literal(column, "missing", missing=True)] if bins.has_missing else found
