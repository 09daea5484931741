"""UDTClassifier over the product of its modes: its surrogate, its greedy splits and its pruning against brute force."""

from functools import cache
from itertools import product

import numpy as np
import pytest
from scipy.stats import entropy

import permissible as pm
from tests.modes.cases import fitted, in_parts, matrix, table
from tests.modes.referee import LOSSES

PRUNING = (None, 0.02, "auto")
CELLS = list(product(LOSSES, (2, 3), PRUNING, (None, 5), (False, True), ("memory", "parts")))
MATRIX = list(matrix(CELLS, 2, many=2, thin=3))


@cache
def least_risk(label):
    """The least conditional risk min_x p F(x) + (1 - p) F(-x) of a share p, by a search over x; phi / b where there is one."""
    referee = LOSSES[label][1]
    if referee.phi is not None:
        half = float(referee.phi(np.array([0.5]))[0])
        return lambda p: np.where((p > 0) & (p < 1), referee.phi(np.where((p > 0) & (p < 1), p, 0.5)) / half, 0.0)

    def search(p):
        p = np.asarray(p, dtype=float)
        low, high, ratio = np.full(p.shape, -30.0), np.full(p.shape, 30.0), (np.sqrt(5) - 1) / 2

        def risk(x):
            return p * referee.value(x) + (1 - p) * referee.value(-x)

        for _ in range(90):
            first, second = high - ratio * (high - low), low + ratio * (high - low)
            left = risk(first) < risk(second)
            low, high = np.where(left, low, first), np.where(left, second, high)
        return np.where((p > 0) & (p < 1), risk((low + high) / 2), 0.0)

    return search


class Tree:
    """A fitted tree with its rows, and the surrogate of any set of rows."""

    def __init__(self, cell, pruned=True):
        self.loss, classes, pruning, leaves, weighted, source, problem, seed = cell
        X, y, sample = table(problem, seed, weighted)
        if classes == 3:
            y = y + np.random.default_rng(seed).integers(0, 2, len(y))
            y[:3] = 0, 1, 2
        self.X, self.y = X, y
        self.sample = np.ones(len(y)) if sample is None else sample
        self.classes = np.unique(y)
        self.table = {f"x{j}": column for j, column in enumerate(X.T)} if source == "parts" else X
        model = pm.UDTClassifier(LOSSES[self.loss][0], max_leaf_nodes=leaves, pruning=pruning if pruned else None)
        if source == "parts":
            self.model = fitted(model, in_parts(X, y, sample))
        else:
            self.model = fitted(model, X, y, **({} if sample is None else {"sample_weight": sample}))
        self.tree = self.model.model_
        self.total = self.sample.sum()

    def sums(self, groups, rows=slice(None)):
        """The weight of each class in each group of rows."""
        found = np.zeros((int(groups.max()) + 1, len(self.classes)))
        np.add.at(found, (groups, np.searchsorted(self.classes, self.y[rows])), self.sample[rows])
        return found

    def surrogates(self, sums):
        """Weight times impurity of groups, given the weight of each class; several by Shannon, or one against the rest."""
        weight = sums.sum(axis=1, keepdims=True)
        shares = sums / np.where(weight > 0, weight, 1.0)
        if len(self.classes) > 2 and self.loss == "logistic":
            inner = np.where(weight > 0, shares, 1.0 / len(self.classes))  # an empty group weighs nothing
            return weight[:, 0] * entropy(inner.T, base=2)
        shares = shares[:, 1:] if len(self.classes) == 2 else shares
        return weight[:, 0] * least_risk(self.loss)(shares).sum(axis=1)

    def surrogate(self, rows):
        return float(self.surrogates(self.sums(np.zeros(len(rows), dtype=int), rows))[0])

    def rows_of(self):
        """The rows that pass each node, from the literals of the tree."""
        found = {0: np.arange(len(self.y))}
        for node in range(self.tree.n_nodes):
            literal = self.tree.literals[node]
            if literal is not None:
                rows = found[node]
                below = self.X[rows, literal.column] <= literal.threshold
                below = below if literal.test == "<=" else ~below
                found[int(self.tree.left[node])], found[int(self.tree.right[node])] = rows[below], rows[~below]
        return found


@cache
def tree_of(cell, pruned=True):
    return Tree(cell, pruned)


def best_gain(tree, rows):
    """The largest decrease of the surrogate by one test on these rows: every threshold of every column."""
    best, whole = 0.0, tree.surrogate(rows)
    for values in tree.X[rows].T:
        groups = np.unique(values, return_inverse=True)[1].ravel()
        sums = tree.sums(groups, rows)
        below = np.cumsum(sums, axis=0)[:-1]
        if len(below):
            parts = tree.surrogates(below) + tree.surrogates(sums.sum(axis=0) - below)
            best = max(best, whole - float(parts.min()))
    return best


@pytest.mark.parametrize("cell", MATRIX)
def test_surrogate_and_bound_are_those_of_the_partition(cell):
    tree = tree_of(cell)
    leaf, certificate = tree.model.apply(tree.table), tree.model.certificate_
    assert all((leaf[rows] == node).all() for node, rows in tree.rows_of().items() if tree.tree.left[node] < 0)
    wanted = tree.surrogates(tree.sums(leaf)).sum() / tree.total
    finest = np.unique(tree.X, axis=0, return_inverse=True)[1].ravel()
    floor = tree.surrogates(tree.sums(finest)).sum() / tree.total
    root = tree.surrogate(np.arange(len(tree.y))) / tree.total
    assert certificate.surrogate == pytest.approx(wanted, rel=1e-7, abs=1e-9)
    assert certificate.root_surrogate == pytest.approx(root, rel=1e-7)
    assert certificate.lower_bound <= wanted + 1e-9
    if certificate.stopped != "pure":
        assert certificate.lower_bound == pytest.approx(min(floor, wanted), rel=1e-6, abs=1e-9)
    history = tree.model.history_
    assert np.append(root, history["surrogate"])[-1] == pytest.approx(wanted, rel=1e-7, abs=1e-9)
    np.testing.assert_allclose(-np.diff(np.append(root, history["surrogate"])), history["gain"], rtol=1e-6, atol=1e-9)
    probability = tree.model.predict_proba(tree.table)
    sure = tree.sample[probability.max(axis=1) == 1].sum() / tree.total
    assert certificate.saturated == pytest.approx(sure)
    labels = tree.model.predict(tree.table)
    if len(history["train_error"]):
        assert history["train_error"][-1] == pytest.approx(tree.sample[labels != tree.y].sum() / tree.total)


@pytest.mark.parametrize("cell", [param for param in MATRIX if param.values[0][2] is None])
def test_every_split_is_the_best_one_of_all_leaves(cell):
    tree = tree_of(cell)
    rows, open_, scale = tree.rows_of(), {0}, 1e-9 * tree.total
    gains = {node: best_gain(tree, rows[node]) for node in rows}
    for number, node in enumerate(tree.model.history_["node"].tolist()):
        best = max(gains[leaf] for leaf in open_)
        taken = float(tree.model.history_["gain"][number]) * tree.total
        assert taken >= best * (1 - 1e-7) - scale, f"split {number + 1} gains {taken:.9g}, {best:.9g} was there"
        open_ = (open_ - {node}) | {int(tree.tree.left[node]), int(tree.tree.right[node])}
    left, certificate = max(gains[leaf] for leaf in open_) / tree.total, tree.model.certificate_
    if certificate.stopped == "max_leaf_nodes":
        assert len(open_) == cell[3]
    else:
        assert left <= 1e-9
        assert certificate.locally_optimal
    assert (certificate.stopped == "pure") <= (certificate.surrogate <= 1e-9)


@pytest.mark.parametrize("cell", [param for param in MATRIX if param.values[0][2] is not None])
def test_the_pruned_tree_is_the_cheapest_one(cell):
    tree, full = tree_of(cell), tree_of(cell, pruned=False)
    level = tree.model.pruning_path_.chosen if cell[2] == "auto" else cell[2]
    rows = full.rows_of()
    least = {}
    for node in reversed(range(full.tree.n_nodes)):
        alone = full.surrogate(rows[node]) / full.total + level
        left, right = int(full.tree.left[node]), int(full.tree.right[node])
        least[node] = alone if left < 0 else min(alone, least[left] + least[right])
    found = tree.model.certificate_.surrogate + level * len(tree.tree.leaves)
    assert found == pytest.approx(least[0], rel=1e-7, abs=1e-9)
    cut = len(tree.tree.leaves) < len(full.tree.leaves)
    assert (tree.model.certificate_.stopped == "pruned") == cut
