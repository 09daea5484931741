"""Boosted trees: rounds of ULS whose block of features is the leaves of a tree grown on the current weights.

The leaves of one tree are disjoint, so that the leveraging coefficients (35) of [N] are one number per leaf, for any
permissible or strictly convex loss, and Theorem 1 holds as it stands. A tree is searched on gradients g = y w and
curvatures k of all rows or of an importance sample; its coefficients are those of all rows, times the learning rate.
With K classes a tree has K values per leaf: softmax for the logistic loss, each class against the others for the rest.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from permissible.bins.binning import BinnedTable, Binning
from permissible.bins.hashing import Hashes, code_hashes
from permissible.bins.literal import MISSING
from permissible.kernels._core import boosted as kernels
from permissible.learners.trees.boosted_options import BoostedOptions
from permissible.losses import Loss, PermissibleLoss
from permissible.losses.entropy import Functor
from permissible.losses.surrogate import compiled, tabulated_functor
from permissible.types import AnyArray, Codes, FloatArray, IntArray

Stopped: TypeAlias = Literal["rounds", "no gain", "held-out loss", "callback"]
STOPPED: tuple[Stopped, ...] = ("rounds", "no gain", "held-out loss", "callback")
Callback: TypeAlias = Callable[[int], bool]
FEW_ROWS, FEW_BINS = 20_000, 127
"""With fewer rows, scanning 255 bins costs more than summing the rows, and gains nothing."""
MANY_ROWS = 2**18
"""So many rows are kept in blocks alone where a search does not look at all of them; fewer also column by column, for speed."""


@dataclass(frozen=True, slots=True, eq=False)
class BoostedRows:
    """Binned rows with a class each and a sample weight (None: 1 each).

    `numbers` are those of the columns (rows/keys.py), by which a search draws its rows and columns; without them, columns
    count by name and place.
    """

    binned: BinnedTable
    target: AnyArray
    n_classes: int
    weight: FloatArray | None = None
    numbers: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class BoostedTrees:
    """The fitted trees: splits in the order in which they were made, tree by tree.

    Split s of a tree sends the rows of leaf `parent` that fail its test to the new leaf s + 1. `test` is 0 for
    code <= cut, 1 for the same or missing, 2 for a code of `set` (four words of 64 bits).
    """

    constant: FloatArray  # (outputs,)
    parent: Codes
    test: Codes
    cut: Codes
    column: AnyArray
    set: Hashes
    gain: FloatArray
    first_split: AnyArray  # of each tree, and the end
    values: FloatArray  # (leaves, outputs), shrinkage included

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.first_split) - 1

    def head(self, n_trees: int) -> "BoostedTrees":
        """The first trees alone."""
        k = int(self.first_split[n_trees])
        splits = {name: getattr(self, name)[:k] for name in ("parent", "test", "cut", "column", "set", "gain")}
        return replace(self, **splits, first_split=self.first_split[: n_trees + 1], values=self.values[: k + n_trees])

    def scores(self, binned: BinnedTable, n_threads: int = 1) -> FloatArray:
        """Scores of coded rows, shape (n_rows, outputs)."""
        codes = _codes(binned, n_threads, searched=False)
        scores = np.tile(self.constant, (binned.n_rows, 1))
        self.kernel().add(codes, 0, self.n_trees, scores, n_threads)
        return scores

    def staged_scores(self, binned: BinnedTable, n_threads: int = 1) -> Iterator[FloatArray]:
        """Scores after every tree."""
        codes = _codes(binned, n_threads)
        scores, trees = np.tile(self.constant, (binned.n_rows, 1)), self.kernel()
        for tree in range(self.n_trees):
            trees.add(codes, tree, tree + 1, scores, n_threads)
            yield scores.copy()

    def leaves(self, binned: BinnedTable, tree: int, n_threads: int = 1) -> IntArray:
        """The leaf of each coded row in one tree."""
        found = self.kernel().leaves(_codes(binned, n_threads), tree, n_threads)
        return np.asarray(found, dtype=np.int64)

    def node_arrays(self) -> dict[str, AnyArray]:
        """The trees as the arrays of a :class:`.Forest`."""
        left, right = np.full(len(self.parent), -1, dtype=np.int32), np.full(len(self.parent), -1, dtype=np.int32)
        for tree in range(self.n_trees):
            _link(self.parent, left, right, int(self.first_split[tree]), int(self.first_split[tree + 1]))
        numeric = np.arange(256)[None, :] <= np.asarray(self.cut)[:, None]
        numeric[:, MISSING] = self.test == 1
        by_cut = np.packbits(numeric, axis=1, bitorder="little")
        by_set = np.ascontiguousarray(self.set).view(np.uint8).reshape(-1, 32)
        n_splits, outputs = np.diff(self.first_split), len(self.constant)
        first_value = np.concatenate([[0], np.cumsum((n_splits + 1) * outputs)])
        return {
            "column": np.asarray(self.column, dtype=np.int32),
            "code": np.where(self.test == 2, -1, self.cut.astype(np.int32)).astype(np.int32),
            "left": left,
            "right": right,
            "mask": np.where((self.test == 2)[:, None], by_set, by_cut),
            "first_node": np.asarray(self.first_split, dtype=np.int32),
            "first_value": first_value.astype(np.int32),
            "coordinate": np.full(self.n_trees, -1, dtype=np.int32),
            "value": self.values.ravel(),
        }

    def kernel(self) -> kernels.Trees:
        """The trees as the kernel takes them."""
        return kernels.Trees(
            self.parent, self.test, self.cut, self.column, self.set, self.gain, self.first_split, self.values
        )


@dataclass(frozen=True, slots=True, eq=False)
class BoostedTrace:
    """How a fit went: sums of b F before the first round and after each, rows searched, and why it `stopped`.

    `largest_gain` is what one more split could lower the sum by, to second order, on the rows of the next search.
    """

    loss: FloatArray
    held_out: FloatArray
    searched: IntArray
    best_round: int
    stopped: Stopped
    largest_gain: float = 0.0


def _link(parent: Codes, left: AnyArray, right: AnyArray, begin: int, end: int) -> None:
    """Fill in the children of the nodes of one tree: a node is a split, ~leaf a leaf."""
    holder: dict[int, tuple[AnyArray, int]] = {}
    for split in range(end - begin):
        divided = int(parent[begin + split])
        if divided in holder:
            side, node = holder[divided]
            side[node] = split
        holder[divided], holder[split + 1] = (left, begin + split), (right, begin + split)
    for leaf, (side, node) in holder.items():
        side[node] = ~leaf


def kernel_of(loss: Loss) -> Functor | None:
    """The kernel of a loss; the power family goes by its table, since its functor solves an equation for every row."""
    by_name = compiled(loss)
    if by_name is not None and by_name.iterative and isinstance(loss, PermissibleLoss):
        return tabulated_functor(loss) or by_name
    return by_name


def boost_trees(
    rows: BoostedRows,
    loss: Functor,
    options: BoostedOptions,
    *,
    held_out: BoostedRows | None = None,
    n_threads: int = 1,
    callback: Callback | None = None,
) -> tuple[BoostedTrees, BoostedTrace]:
    """Boost trees from start to end in compiled code; `trace.best_round` trees have the least held-out loss."""
    layout = layout_of(rows.binned.binning, options.monotone)
    whole, total = rows.weight is None or _whole(rows.weight), _total(rows)
    hashed = options.sample_size(total) < total
    codes = _codes(rows.binned, n_threads, searched=not hashed)
    order = np.arange(rows.n_classes)
    if rows.n_classes > 2:
        order = np.argsort(class_order(code_sums(rows, rows.weight if whole else None)))
        rows = replace(rows, target=order[rows.target])
    others = None
    if held_out is not None:
        others_whole = held_out.weight is None or _whole(held_out.weight)
        held_out = replace(held_out, target=order[held_out.target]) if rows.n_classes > 2 else held_out
        others = kernel_rows(_codes(held_out.binned, n_threads, searched=False), held_out, loss, whole=others_whole)
    found = kernels.fit(
        kernel_rows(codes, rows, loss, whole=whole, hashed=hashed, n_threads=n_threads),
        others,
        layout,
        fit_options(options, rows, total, loss.scale, n_threads),
        callback,
    )
    return fitted(found, loss, order)


def fitted(found: kernels.Fitted, loss: Functor, order: IntArray) -> tuple[BoostedTrees, BoostedTrace]:
    """The trees in the unit of the loss and with the classes in their own order, and how the fit went."""
    record = found.loss, found.held_out, found.searched, found.best_round, STOPPED[found.stop], found.largest_gain
    model = _model(found, loss.scale)
    if len(model.constant) > 1:
        values = np.ascontiguousarray(model.values[:, order])
        model = replace(model, constant=model.constant[order], values=values)
    return model, BoostedTrace(*record)


def code_sums(rows: BoostedRows, copies: FloatArray | None) -> FloatArray:
    """Sums of the codes of each column and class, whole numbers; at the end the rows of each class."""
    target = np.asarray(rows.target)
    found = []
    for column in range(rows.binned.n_columns):
        codes = rows.binned.column_codes(column).astype(np.float64)
        found.append(np.bincount(target, codes if copies is None else codes * copies, rows.n_classes))
    return np.array([*found, np.bincount(target, copies, rows.n_classes)], dtype=np.float64)


def class_order(sums: FloatArray) -> IntArray:
    """The classes in an order that follows from their rows: the search draws a sign per class, whatever its name.

    The smaller class first; of equal ones that whose codes are nearer to the mean of all in every column. `sums` are those of
    :func:`code_sums`.
    """
    by_column, count = sums[:-1], sums[-1]
    away = np.abs(by_column * count.sum() - by_column.sum(axis=1, keepdims=True) * count)
    return np.lexsort((away.max(axis=0, initial=0.0), count))


def _codes(binned: BinnedTable, n_threads: int, *, searched: bool = True) -> kernels.Codes:
    return kernels.Codes(binned.blocks, binned.n_columns, n_threads, searched or binned.n_rows < MANY_ROWS)


def layout_of(binning: Binning, monotone: tuple[int, ...] = ()) -> AnyArray:
    """Of each column: categorical or not, number of bins, missing values or not, monotone direction."""
    columns = zip(binning.schema.columns, binning.columns, monotone or (0,) * len(binning.columns), strict=True)
    layout = [(column.kind == "categorical", bins.n_bins, bins.has_missing, way) for column, bins, way in columns]
    return np.array(layout, dtype=np.int32).reshape(-1, 4)


def tree_options(options: BoostedOptions, n_columns: int, n_threads: int = 1) -> kernels.TreeOptions:
    """The limits of one tree (leaves, depth, rows in a leaf, l2) in the form that the compiled core takes."""
    tree = kernels.TreeOptions()
    tree.max_leaf_nodes, tree.max_depth = options.max_leaf_nodes, options.max_depth
    tree.min_samples_leaf, tree.min_curvature = options.min_samples_leaf, options.min_curvature
    tree.l2, tree.threads = options.l2, n_threads
    tree.category_smoothing, tree.category_l2 = options.category_smoothing, options.category_l2
    tree.interactions = [[int(j in group) for j in range(n_columns)] for group in options.interactions]
    return tree


def fit_options(
    options: BoostedOptions, rows: BoostedRows, total: float, scale: float, n_threads: int
) -> kernels.FitOptions:
    """The options of the kernels for a fit on rows of this total."""
    fit = kernels.FitOptions()
    fit.tree = tree_options(options, rows.binned.n_columns, n_threads)
    fit.numbers = list(rows.numbers or range(1, rows.binned.n_columns + 1))
    fit.n_trees, fit.learning_rate, fit.l2 = options.n_trees, options.learning_rate, options.l2 * scale
    fit.fit_constant = options.fit_intercept
    fit.exact, fit.column_fraction, fit.seed = options.exact, options.column_fraction, options.seed
    fit.search_rows = options.sample_size(total)
    fit.patience, (fit.rival, fit.rival_trees) = options.patience, options.rival
    fit.track_loss, fit.bundle, fit.threads = options.track_loss, options.bundle, n_threads
    return fit


def _whole(weight: FloatArray) -> bool:
    """Whether weights are copies of a row."""
    return bool(np.all(weight == np.rint(weight)) and weight.max(initial=0.0) < 2**20)


def _total(rows: BoostedRows) -> float:
    """Number of rows, copies counted; with real weights the number of equal ones that would vary as much (Kish)."""
    if rows.weight is None:
        return float(rows.binned.n_rows)
    if _whole(rows.weight):
        return float(rows.weight.sum())
    return float(round(math.fsum(rows.weight) ** 2 / math.fsum(rows.weight**2)))


def kernel_rows(
    codes: kernels.Codes, rows: BoostedRows, loss: Functor, *, whole: bool, hashed: bool = False, n_threads: int = 1
) -> kernels.Rows:
    """The rows as the kernels hold them; whole weights are copies, of which sums take so many times the same term."""
    copies, real = None, None
    if rows.weight is not None and whole:
        copies = rows.weight.astype(np.int32)
    elif rows.weight is not None:
        real = rows.weight.astype(np.float32)
    target = np.ascontiguousarray(rows.target, dtype=np.uint16)
    hashes = code_hashes(rows.binned, rows.numbers, n_threads) if hashed else None
    return kernels.Rows(codes, target, rows.n_classes, loss.name, loss.parameter, loss.table, copies, real, hashes)


def equal_weights(rows: BoostedRows) -> FloatArray:
    """The weight of each row, 1 where none was given."""
    return np.ones(rows.binned.n_rows) if rows.weight is None else rows.weight


def _model(found: kernels.Fitted, scale: float) -> BoostedTrees:
    trees = found.trees
    splits = trees.parent, trees.test, trees.cut, trees.column, trees.set, trees.gain, trees.first_split
    return BoostedTrees(scale * found.constant, *splits, scale * trees.values)
