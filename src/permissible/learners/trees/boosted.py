"""Boosted trees: rounds of ULS whose block of features is the leaves of a tree grown on the current weights.

The leaves of one tree are disjoint, so that the leveraging coefficients (35) of [N] are one number a leaf, for any
permissible or strictly convex loss, and Theorem 1 holds as it stands. A tree is searched on gradients g = y w and
curvatures k of all rows or of an importance sample; its coefficients are those of all rows, times the learning rate.
With K classes a tree has K values a leaf: softmax for the logistic loss, each class against the others for the rest.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from permissible.bins.binning import BinnedTable, Binning
from permissible.bins.hashing import Hashes, category_hash
from permissible.bins.literal import MISSING
from permissible.kernels._core import boosted as kernels
from permissible.losses import Loss, PermissibleLoss
from permissible.losses.entropy import Functor
from permissible.losses.surrogate import compiled, tabulated_functor
from permissible.types import AnyArray, Codes, FloatArray, IntArray

Stopped: TypeAlias = Literal["rounds", "no gain", "held-out loss", "callback"]
STOPPED: tuple[Stopped, ...] = ("rounds", "no gain", "held-out loss", "callback")
Callback: TypeAlias = Callable[[int], bool]
Bundles: TypeAlias = tuple[tuple[int, ...], ...]
"""Columns of zeros and ones that exclude each other: each group is one categorical column to the trees."""
FEW_ROWS, FEW_BINS = 20_000, 127
"""With fewer rows, scanning 255 bins costs more than summing the rows, and gains nothing."""


@dataclass(frozen=True, slots=True)
class BoostedOptions:
    """How trees are grown and added.

    Parameters
    ----------
    n_trees : int
        Rounds, at most.
    max_leaf_nodes : int
        Leaves of a tree, between 2 and 256.
    max_depth : int
        0 is no limit.
    learning_rate : float
        Factor on each step.
    l2 : float
        Each value v of a leaf costs l2 v^2 / 2 beside the sum of b F.
    min_samples_leaf : float
        Rows of a leaf, estimated by its share of the curvature.
    min_curvature : float
        Sum of curvatures of a leaf.
    category_smoothing, category_l2 : float
        Added to the curvature of a category before categories are sorted, and to that of both sides of a set.
    column_fraction : float
        Fraction of the columns that one tree may use.
    search_rows, search_fraction : float
        The search looks at `search_rows` rows and half of this fraction of all, at least at this fraction; at all rows
        where that is nearly as many.
    exact : bool
        Solve (35) exactly before shrinking, instead of one safe Newton step.
    patience : int
        Rounds without a smaller held-out loss after which to stop; 0 is never.
    track_loss : bool
        Record the training loss of every round.
    fit_intercept : bool
        Begin from the best constant instead of 0.
    bundle : bool
        Take columns of zeros and ones that exclude each other as one categorical column.
    monotone : tuple of int
        Of each column -1, 0 or 1; empty for no constraint.
    interactions : tuple of tuple of int
        Groups of columns that may meet on a path; empty for any.
    seed : int
    """

    n_trees: int = 100
    max_leaf_nodes: int = 31
    max_depth: int = 0
    learning_rate: float = 0.1
    l2: float = 1.0
    min_samples_leaf: float = 1.0
    min_curvature: float = 0.2
    category_smoothing: float = 1.0
    category_l2: float = 20.0
    column_fraction: float = 1.0
    search_rows: float = 16384.0
    search_fraction: float = 0.1
    exact: bool = False
    patience: int = 0
    track_loss: bool = False
    fit_intercept: bool = True
    bundle: bool = True
    monotone: tuple[int, ...] = ()
    interactions: tuple[tuple[int, ...], ...] = ()
    seed: int = 0

    def sample_size(self, total: float) -> float:
        """How many of `total` rows the search looks at."""
        wanted = max(self.search_rows + self.search_fraction / 2 * total, self.search_fraction * total)
        return wanted if wanted < 0.9 * total else total


@dataclass(frozen=True, slots=True, eq=False)
class BoostedRows:
    """Binned rows with a class each and a sample weight (None: 1 each)."""

    binned: BinnedTable
    target: AnyArray
    n_classes: int
    weight: FloatArray | None = None


@dataclass(frozen=True, slots=True, eq=False)
class BoostedTrees:
    """The fitted trees: splits in the order in which they were made, tree by tree.

    Split s of a tree sends the rows of leaf `parent` that fail its test to the new leaf s + 1. `test` is 0 for
    code <= cut, 1 for the same or missing, 2 for a code of `set` (four words of 64 bits). The columns are those outside
    of `bundles`, in order, then one a bundle: its code is 0 where all its columns are 0, else 1 + the place of the last
    one that is 1.
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
    bundles: Bundles = ()

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
        codes = _codes(binned, self.bundles, n_threads)
        scores = np.tile(self.constant, (binned.n_rows, 1))
        self.kernel().add(codes, 0, self.n_trees, scores, n_threads)
        return scores

    def staged_scores(self, binned: BinnedTable, n_threads: int = 1) -> Iterator[FloatArray]:
        """Scores after every tree."""
        codes = _codes(binned, self.bundles, n_threads)
        scores, trees = np.tile(self.constant, (binned.n_rows, 1)), self.kernel()
        for tree in range(self.n_trees):
            trees.add(codes, tree, tree + 1, scores, n_threads)
            yield scores.copy()

    def leaves(self, binned: BinnedTable, tree: int, n_threads: int = 1) -> IntArray:
        """The leaf of each coded row in one tree."""
        found = self.kernel().leaves(_codes(binned, self.bundles, n_threads), tree, n_threads)
        return np.asarray(found, dtype=np.int64)

    def node_arrays(self) -> dict[str, AnyArray]:
        """The trees as the arrays of a :class:`.Forest`; they must have been grown without bundles."""
        assert not self.bundles
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

    def importances(self, n_columns: int) -> FloatArray:
        """Sum of the gains of each column's splits; the columns of a bundle share those of the bundle."""
        groups = column_groups(n_columns, self.bundles)
        gains = np.bincount(self.column, weights=self.gain, minlength=len(groups))
        importances = np.zeros(n_columns)
        for gain, group in zip(gains, groups, strict=True):
            importances[[*group]] = gain / len(group)
        return importances

    def kernel(self) -> kernels.Trees:
        """The trees as the kernel takes them."""
        return kernels.Trees(
            self.parent, self.test, self.cut, self.column, self.set, self.gain, self.first_split, self.values
        )


@dataclass(frozen=True, slots=True, eq=False)
class BoostedTrace:
    """How a fit went: sums of b F before the first round and after each, rows searched, and why it `stopped`."""

    loss: FloatArray
    held_out: FloatArray
    searched: IntArray
    best_round: int
    stopped: Stopped


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
    codes = kernels.Codes(rows.binned.blocks, rows.binned.n_columns, n_threads)
    free = options.bundle and not options.monotone and not options.interactions
    bundles = tuple(map(tuple, kernels.find_bundles(codes, layout))) if free else ()
    if bundles:
        codes, layout = codes.bundled(bundles, n_threads), _bundled_layout(layout, bundles)
    back = np.argsort(_class_order(rows)) if rows.n_classes > 2 else np.arange(1)
    rows = replace(rows, target=back[rows.target]) if rows.n_classes > 2 else rows
    others = None
    if held_out is not None:
        if rows.n_classes > 2:
            held_out = replace(held_out, target=back[held_out.target])
        others = _kernel_rows(_codes(held_out.binned, bundles, n_threads), held_out, loss, bundles)
    found = kernels.fit(
        _kernel_rows(codes, rows, loss, bundles, options, n_threads),
        others,
        layout,
        _fit_options(options, rows, loss.scale, n_threads),
        callback,
    )
    trace = BoostedTrace(found.loss, found.held_out, found.searched, found.best_round, STOPPED[found.stop])
    model = _model(found, loss.scale, bundles)
    if rows.n_classes == 2:
        return model, trace
    return replace(model, constant=model.constant[back], values=np.ascontiguousarray(model.values[:, back])), trace


def _class_order(rows: BoostedRows) -> IntArray:
    """The classes in an order that follows from their rows: the search draws a sign a class, whatever its name.

    The smaller class first; of equal ones that whose codes are nearer to the mean of all in every column.
    """
    target, copies = np.asarray(rows.target), None
    if rows.weight is not None and _whole(rows.weight):
        copies = rows.weight
    count = np.bincount(target, copies, rows.n_classes)
    farthest = np.zeros(rows.n_classes)
    for column in range(rows.binned.n_columns):
        codes = rows.binned.column_codes(column).astype(np.float64)
        sums = np.bincount(target, codes if copies is None else codes * copies, rows.n_classes)  # exact: whole numbers
        farthest = np.maximum(farthest, np.abs(sums * count.sum() - sums.sum() * count))
    return np.lexsort((farthest, count))


def column_groups(n_columns: int, bundles: Bundles) -> list[tuple[int, ...]]:
    """The columns behind each column of the trees."""
    inside = {column for bundle in bundles for column in bundle}
    return [(column,) for column in range(n_columns) if column not in inside] + [*bundles]


def _bundled_layout(layout: AnyArray, bundles: Bundles) -> AnyArray:
    groups = column_groups(len(layout), bundles)
    made = [layout[group[0]] if len(group) == 1 else (1, len(group) + 1, 0, 0) for group in groups]
    return np.array(made, dtype=np.int32).reshape(-1, 4)


def _codes(binned: BinnedTable, bundles: Bundles, n_threads: int) -> kernels.Codes:
    codes = kernels.Codes(binned.blocks, binned.n_columns, n_threads)
    return codes.bundled(bundles, n_threads) if bundles else codes


def layout_of(binning: Binning, monotone: tuple[int, ...] = ()) -> AnyArray:
    """Of each column: categorical or not, number of bins, missing values or not, monotone direction."""
    columns = zip(binning.schema.columns, binning.columns, monotone or (0,) * len(binning.columns), strict=True)
    layout = [(column.kind == "categorical", bins.n_bins, bins.has_missing, way) for column, bins, way in columns]
    return np.array(layout, dtype=np.int32).reshape(-1, 4)


def tree_options(options: BoostedOptions, n_columns: int, n_threads: int = 1) -> kernels.TreeOptions:
    """The record of the kernels that limits one tree."""
    tree = kernels.TreeOptions()
    tree.max_leaf_nodes, tree.max_depth = options.max_leaf_nodes, options.max_depth
    tree.min_samples_leaf, tree.min_curvature = options.min_samples_leaf, options.min_curvature
    tree.l2, tree.threads = options.l2, n_threads
    tree.category_smoothing, tree.category_l2 = options.category_smoothing, options.category_l2
    tree.interactions = [[int(j in group) for j in range(n_columns)] for group in options.interactions]
    return tree


def _fit_options(options: BoostedOptions, rows: BoostedRows, scale: float, n_threads: int) -> kernels.FitOptions:
    fit, n_columns, total = kernels.FitOptions(), rows.binned.n_columns, _total(rows)
    fit.tree = tree_options(options, n_columns, n_threads)
    fit.n_trees, fit.learning_rate, fit.l2 = options.n_trees, options.learning_rate, options.l2 * scale
    fit.fit_constant = options.fit_intercept
    fit.exact, fit.column_fraction, fit.seed = options.exact, options.column_fraction, options.seed
    fit.search_rows = options.sample_size(total)
    fit.patience, fit.track_loss, fit.threads = options.patience, options.track_loss, n_threads
    return fit


def _whole(weight: FloatArray) -> bool:
    """Whether weights are copies of a row."""
    return bool(np.all(weight == np.rint(weight)) and weight.max(initial=0.0) < 2**20)


def _total(rows: BoostedRows) -> float:
    """Number of rows, copies counted."""
    if rows.weight is None or not _whole(rows.weight):
        return float(rows.binned.n_rows)
    return float(rows.weight.sum())


def _names(binning: Binning, bundles: Bundles) -> Hashes:
    """A hash of the name of each column of the trees, so that their order does not matter to the sample."""
    names = [column.name for column in binning.schema.columns]
    groups = column_groups(len(names), bundles)
    return np.array([category_hash(names[group[0]]) for group in groups], dtype=np.uint64)


def _kernel_rows(
    codes: kernels.Codes,
    rows: BoostedRows,
    loss: Functor,
    bundles: Bundles,
    options: BoostedOptions | None = None,
    n_threads: int = 1,
) -> kernels.Rows:
    """The rows as the kernels hold them; integer weights are copies, of which sums take so many times the same term."""
    copies, real = None, None
    if rows.weight is not None and _whole(rows.weight):
        copies = rows.weight.astype(np.int32)
    elif rows.weight is not None:
        real = rows.weight.astype(np.float32)
    target, hashes = np.ascontiguousarray(rows.target, dtype=np.uint16), None
    if options is not None and options.sample_size(_total(rows)) < _total(rows):
        hashes = codes.hashes(_names(rows.binned.binning, bundles), n_threads)
    return kernels.Rows(codes, target, rows.n_classes, loss.name, loss.parameter, loss.table, copies, real, hashes)


def _model(found: kernels.Fitted, scale: float, bundles: Bundles) -> BoostedTrees:
    trees = found.trees
    splits = trees.parent, trees.test, trees.cut, trees.column, trees.set, trees.gain, trees.first_split
    return BoostedTrees(scale * found.constant, *splits, scale * trees.values, bundles)
