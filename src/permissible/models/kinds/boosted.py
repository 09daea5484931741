"""Boosted trees: the frozen result of ULS on the leaves of trees. It computes scores; it does not learn or print.

The score is a constant and the sum of one value per tree; with K classes a leaf has K values, and there are K scores. Two classes
go through the link of the loss, several through softmax for the logistic loss and through each class's own link, normalised,
for the others.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from permissible.bins.encoding import encode
from permissible.bins.literal import MISSING
from permissible.kernels._core import boosted as kernels
from permissible.losses import Loss
from permissible.models.kinds.forest import Forest
from permissible.models.model import Compiled, Link, binary_margins, counted
from permissible.table.schema import Schema
from permissible.table.table import Table
from permissible.types import AnyArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False, repr=False)
class BoostedModel(Compiled):
    """Trees that add up to one score, or to one per class."""

    schema: Schema  # the columns that the trees test
    loss: Loss  # the loss that was minimised
    constant: FloatArray  # the scores before the first tree: one for two classes, else one per class
    forest: Forest  # trees with a value for each score in every leaf

    def _size(self) -> str:
        return f"{counted(self.n_trees, 'tree')} on {counted(len(self.schema.columns), 'column')}"

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return self.forest.n_trees

    @property
    def link(self) -> Link:
        """How scores become probabilities."""
        if len(self.constant) == 1:
            return Link("loss", (self.loss,))
        if self.loss.functor is not None and self.loss.functor.softmax:
            return Link("softmax")
        return Link("one-versus-rest", (self.loss,) * len(self.constant))

    def scores(self, table: Table, n_threads: int = 1) -> FloatArray:
        """The score of the positive class, shape (n_rows,), or one column per class."""
        binned = encode(self.forest.binning, table, n_threads)
        codes = kernels.Codes(binned.blocks, binned.n_columns, n_threads)
        scores = np.tile(self.constant, (table.n_rows, 1))
        kernels.Trees(*self._kernel_form).add(codes, 0, self.n_trees, scores, n_threads)
        return scores[:, 0] if len(self.constant) == 1 else scores

    @cached_property
    def _kernel_form(self) -> tuple[AnyArray, ...]:
        return kernel_form(self.forest, len(self.constant))

    def margins(self, table: Table, codes: IntArray, n_threads: int = 1) -> FloatArray:
        """The margin of each row in [-1, 1]: 2 Pr[own class] - 1."""
        if len(self.constant) == 1:
            return binary_margins(self.loss, self.scores(table, n_threads), codes)
        return super().margins(table, codes, n_threads)

    def first(self, n_trees: int) -> "BoostedModel":
        """The model after its first trees."""
        return replace(self, forest=self.forest.first(n_trees))

    def table(self) -> dict[str, list[object]]:
        """One line per tree: number of leaves, the columns tested, the least and the largest value of a leaf."""
        arrays, names = self.forest.arrays, self.schema.names
        table: dict[str, list[object]] = {name: [] for name in ("tree", "leaves", "columns", "least", "largest")}
        for tree in range(self.n_trees):
            columns = arrays["column"][slice(*arrays["first_node"][tree : tree + 2])].tolist()
            values = arrays["value"][slice(*arrays["first_value"][tree : tree + 2])]
            tested = ", ".join(str(names[column]) for column in dict.fromkeys(columns))
            line = tree + 1, len(columns) + 1, tested, float(values.min()), float(values.max())
            for cells, cell in zip(table.values(), line, strict=True):
                cells.append(cell)
        return table


def kernel_form(forest: Forest, n_scores: int) -> tuple[AnyArray, ...]:
    """The trees as the kernel takes them: splits in order, each of which sends some rows of an earlier leaf to a new leaf."""
    arrays = forest.arrays
    code, mask = arrays["code"], np.ascontiguousarray(arrays["mask"])
    parents: list[int] = []
    leaves: list[int] = []
    for tree in range(forest.n_trees):
        nodes = slice(*arrays["first_node"][tree : tree + 2])
        parent, leaf_of = _split_order(arrays["left"][nodes].tolist(), arrays["right"][nodes].tolist())
        parents += parent
        leaves += [len(leaves) + leaf for leaf in leaf_of]
    by_cut = np.arange(256)[None, :] <= code[:, None]
    with_missing = by_cut.copy()
    with_missing[:, MISSING] = True
    bits = np.unpackbits(mask, axis=1, bitorder="little").astype(bool)
    plain = (code >= 0) & (bits == by_cut).all(axis=1)
    missing = (code >= 0) & (bits == with_missing).all(axis=1)
    test = np.where(plain, 0, np.where(missing, 1, 2)).astype(np.uint8)
    return (
        np.array(parents, dtype=np.uint8),
        test,
        np.clip(code, 0, 255).astype(np.uint8),
        np.ascontiguousarray(arrays["column"], dtype=np.int32),
        mask.view(np.uint64),
        np.zeros(len(code)),
        np.ascontiguousarray(arrays["first_node"], dtype=np.int32),
        np.ascontiguousarray(arrays["value"].reshape(-1, n_scores)[leaves]),
    )


def _split_order(left: list[int], right: list[int]) -> tuple[list[int], list[int]]:
    """Of each split the leaf that it divides, and of each leaf of the kernel its position in the tree."""
    parent, leaf_of = [0] * len(left), [0] * (len(left) + 1)
    for split, children in enumerate(zip(left, right, strict=True)):
        for child, leaf in zip(children, (parent[split], split + 1), strict=True):
            if child >= 0:
                parent[child] = leaf
            else:
                leaf_of[leaf] = ~child
    return parent, leaf_of
