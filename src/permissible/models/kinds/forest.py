"""The tree part of an additive model: trees, or rules (trees of one path), with values for coordinates of the simplex.

Nodes are flat arrays over codes, one bit per code and node; a literal, with its threshold or categories, is decoded
from them when needed. Scoring encodes the rows once and evaluates all trees in the compiled core.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from permissible.bins.binning import Binning
from permissible.bins.encoding import encode
from permissible.bins.literal import MISSING, OTHER, Literal, category_literal, threshold_literal
from permissible.kernels._core import mcboost as kernel
from permissible.models.kinds.simplex import scores_of
from permissible.models.model import Frozen, counted
from permissible.table.table import Table
from permissible.types import AnyArray, FloatArray, IntArray

_NODES = ("column", "code", "left", "right", "mask")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Forest(Frozen):
    """Trees as flat arrays."""

    binning: Binning  # how values become codes
    n_classes: int
    # ``column``, ``code``, ``left``, ``right``, ``mask`` per node (children below 0 are ~leaf; a set bit of the mask
    # goes left); ``first_node``, ``first_value`` per tree and one more; ``coordinate`` per tree (-1: a value for each);
    # ``value`` per leaf. Leverage and shrinkage are inside the values.
    arrays: Mapping[str, AnyArray]
    round_: IntArray  # the round of each tree

    def _size(self) -> str:
        return counted(self.n_trees, "tree")

    @property
    def n_rounds(self) -> int:
        """Number of rounds."""
        return int(self.round_.max()) + 1 if len(self.round_) else 0

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.round_)

    def scores(self, table: Table) -> FloatArray:
        """The (n, M) scores S of a table."""
        return scores_of(forest_values(self.arrays, encode(self.binning, table).blocks, self.binning, self.n_classes))

    def first(self, n_rounds: int) -> "Forest":
        """The trees of the first rounds."""
        return self.chosen(np.flatnonzero(self.round_ < n_rounds))

    def chosen(self, trees: IntArray) -> "Forest":
        """Some of the trees, in the order given."""
        pieces = [self._one(int(tree)) for tree in trees]
        return Forest(self.binning, self.n_classes, joined(pieces), self.round_[trees])

    def scaled(self, factor: float) -> "Forest":
        """Every value times a factor: the forest's fraction of a blend."""
        arrays = {**self.arrays, "value": self.arrays["value"] * factor}
        return Forest(self.binning, self.n_classes, arrays, self.round_)

    def joined(self, later: "Forest", *, same_rounds: bool = False) -> "Forest":
        """These trees, then the later ones; their rounds follow, or are the same rounds (`same_rounds`)."""
        moved = later.round_ if same_rounds else later.round_ + self.n_rounds
        arrays = joined([self.arrays, later.arrays])
        return Forest(self.binning, self.n_classes, arrays, np.concatenate([self.round_, moved]))

    def _one(self, tree: int) -> dict[str, AnyArray]:
        nodes = slice(*self.arrays["first_node"][tree : tree + 2])
        values = slice(*self.arrays["first_value"][tree : tree + 2])
        found: dict[str, AnyArray] = {name: self.arrays[name][nodes] for name in _NODES}
        found["first_node"] = np.array([0, nodes.stop - nodes.start], dtype=np.int32)
        found["first_value"] = np.array([0, values.stop - values.start], dtype=np.int32)
        found["coordinate"] = self.arrays["coordinate"][tree : tree + 1]
        found["value"] = self.arrays["value"][values]
        return found

    # -- reading -------------------------------------------------------------------------------------------------------

    def literal(self, node: int) -> Literal:
        """The test of a node; rows that pass it go left."""
        column, code = int(self.arrays["column"][node]), int(self.arrays["code"][node])
        bits = np.unpackbits(self.arrays["mask"][node], bitorder="little").astype(bool)
        missing = bool(bits[MISSING])
        if code < 0:
            known = int(self.binning.columns[column].n_bins)
            named = [int(c) for c in np.flatnonzero(bits[:known])]
            others = [int(c) for c in np.flatnonzero(~bits[:known])]
            if bits[OTHER]:  # rare and unseen categories go left: name the others
                return category_literal(column, *others, negated=True, missing=missing)
            return category_literal(column, *named, missing=missing)
        if code >= len(self.binning.columns[column].thresholds):
            return Literal(column, "present", missing=False)
        return threshold_literal(self.binning, column, code, missing=missing)


def joined(pieces: Sequence[Mapping[str, AnyArray]]) -> dict[str, AnyArray]:
    """Several groups of trees as one."""
    if not pieces:
        empty = np.zeros(0, dtype=np.int32)
        found: dict[str, AnyArray] = dict.fromkeys(("column", "code", "left", "right", "coordinate"), empty)
        first = np.zeros(1, dtype=np.int32)
        empty_trees: dict[str, AnyArray] = {"mask": np.zeros((0, 32), dtype=np.uint8), "value": np.zeros(0)}
        return {**found, **empty_trees, "first_node": first, "first_value": first}
    arrays = {name: np.concatenate([piece[name] for piece in pieces]) for name in (*_NODES, "coordinate", "value")}
    for name in ("first_node", "first_value"):
        sizes = np.concatenate([np.diff(piece[name]) for piece in pieces])
        arrays[name] = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    return arrays


def forest_values(arrays: Mapping[str, AnyArray], blocks: AnyArray, binning: Binning, n_classes: int) -> FloatArray:
    """What trees add to f (n, M-1), on coded rows."""
    nodes = arrays["column"], arrays["left"], arrays["right"], arrays["mask"]
    trees = arrays["first_node"], arrays["first_value"], arrays["coordinate"], arrays["value"]
    n_trees = len(arrays["coordinate"])
    return kernel.score_trees(blocks, len(binning.columns), *nodes, *trees, n_classes - 1, 0, n_trees, 1)
