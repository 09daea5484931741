"""What a learner sees: thresholds, uint8 codes in blocks of 8 columns, and literals over them."""

from permissible.bins.binning import BLOCK_COLUMNS, BinnedTable, Binning, ColumnBins
from permissible.bins.candidates import category_literal, threshold_literal
from permissible.bins.describe import describe, describe_rule
from permissible.bins.encoding import encode
from permissible.bins.find import find_bins
from permissible.bins.literal import MISSING, OTHER, Literal, Rule
from permissible.bins.sampling import row_hashes

__all__ = [
    "BLOCK_COLUMNS", "MISSING", "OTHER", "BinnedTable", "Binning", "ColumnBins", "Literal", "Rule", "category_literal",
    "describe", "describe_rule", "encode", "find_bins", "row_hashes", "threshold_literal",
]  # fmt: skip
