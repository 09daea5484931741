"""The input of a learner: thresholds, uint8 codes in blocks of 8 columns, and literals over them."""

from permissible.bins.binning import BLOCK_COLUMNS, BinnedTable, Binning, ColumnBins
from permissible.bins.describe import describe, describe_rule
from permissible.bins.encoding import encode
from permissible.bins.find import find_bins
from permissible.bins.hashing import hash_matrix, row_hashes
from permissible.bins.layout import Layout, layout_of
from permissible.bins.literal import MISSING, OTHER, Literal, Rule, category_literal, threshold_literal

__all__ = [
    "BLOCK_COLUMNS",
    "MISSING",
    "OTHER",
    "BinnedTable",
    "Binning",
    "ColumnBins",
    "Layout",
    "Literal",
    "Rule",
    "category_literal",
    "describe",
    "describe_rule",
    "encode",
    "find_bins",
    "hash_matrix",
    "layout_of",
    "row_hashes",
    "threshold_literal",
]
