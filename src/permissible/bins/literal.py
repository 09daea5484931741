"""A literal: one test on one column, as data; text, SQL and ONNX are renderings of it.

Codes of a column: 0..254 are value bins, `OTHER` (254) in a categorical column is the code of rare and unseen categories, and
`MISSING` (255) for a missing value. `x <= t` covers codes 0..k, where thresholds[k] == t; `x > t` covers k+1..254.
"""

from dataclasses import dataclass, replace
from typing import Literal as OneOf
from typing import TypeAlias

import numpy as np

from permissible.bins.binning import Binning
from permissible.types import BoolArray, Codes

MISSING = 255
OTHER = 254
Test: TypeAlias = OneOf["<=", ">", "in", "not in", "missing", "present"]
_OPPOSITES: tuple[tuple[Test, Test], ...] = (("<=", ">"), ("in", "not in"), ("missing", "present"))
_OPPOSITE: dict[Test, Test] = {**dict(_OPPOSITES), **{second: first for first, second in _OPPOSITES}}


@dataclass(frozen=True, slots=True)
class Literal:
    """A test on one column."""

    column: int  # position of the column in the schema
    test: Test
    threshold: float = float("nan")  # what "<=" and ">" compare with; NaN otherwise
    # For "<=" and ">": (k,), the last code on the lower side. For "in" and "not in": the bins named.
    codes: tuple[int, ...] = ()
    missing: bool = False  # whether the literal holds for a missing value

    def negated(self) -> "Literal":
        """The literal that covers exactly the other rows."""
        return replace(self, test=_OPPOSITE[self.test], missing=not self.missing)

    def membership(self) -> BoolArray:
        """For each of the 256 codes, whether it is covered."""
        covered = np.zeros(256, dtype=bool)
        match self.test:
            case "<=":
                covered[: self.codes[0] + 1] = True
            case ">":
                covered[self.codes[0] + 1 : MISSING] = True
            case "in":
                covered[list(self.codes)] = True
            case "not in":
                covered[:MISSING] = True
                covered[list(self.codes)] = False
            case "present":
                covered[:MISSING] = True
            case "missing":
                pass
        covered[MISSING] = self.missing
        return covered

    def covers(self, codes: Codes) -> BoolArray:
        """Whether each row, given the column's codes, passes the test."""
        return self.membership()[codes]


Rule: TypeAlias = tuple[Literal, ...]
"""A monomial: the conjunction of its literals. The empty rule covers every row."""


def threshold_literal(binning: Binning, column: int, code: int, *, missing: bool = False) -> Literal:
    """`x <= t`, where t is the threshold after bin `code`."""
    return Literal(column, "<=", float(binning.columns[column].thresholds[code]), (code,), missing)


def category_literal(column: int, *codes: int, negated: bool = False, missing: bool = False) -> Literal:
    """`c in {...}` (or `not in` when `negated`) over the bins `codes`."""
    return Literal(column, "not in" if negated else "in", codes=tuple(sorted(codes)), missing=missing)
