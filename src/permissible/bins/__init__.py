"""What a learner sees: thresholds, uint8 codes in blocks of 8 columns, and literals over them."""

from permissible.bins.binning import BLOCK_COLUMNS, BinnedTable, Binning, ColumnBins
from permissible.bins.encoding import encode
from permissible.bins.find import find_bins
from permissible.bins.literal import MISSING, OTHER, Literal, Rule
from permissible.bins.sampling import row_hashes

__all__ = [
    "BLOCK_COLUMNS", "MISSING", "OTHER", "BinnedTable", "Binning", "ColumnBins",
    "Literal", "Rule", "encode", "find_bins", "row_hashes",
]  # fmt: skip
