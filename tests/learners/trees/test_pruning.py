"""Cost-complexity pruning against scikit-learn's, and against its definition."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

from permissible import losses
from permissible.learners.trees.criteria import TreeLimits, TreeTask
from permissible.learners.trees.pruning import candidate_levels, link_levels, prune
from permissible.learners.trees.rows import descend
from permissible.learners.udt.fit import Pruning, cross_validate
from permissible.rows.keys import keys_of
from permissible.rows.local import LocalSource
from permissible.rows.part import MemoryPart
from permissible.rows.splits import fold_of_rows
from tests.learners.trees.grown import grow_tree


def rows_and_labels(seed, n_rows=80):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 30, size=(n_rows, 3)).astype(float)
    target = (values[:, 0] + 10 * rng.normal(size=n_rows) > 15).astype(int)
    target[:2] = [0, 1]
    return values, target


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 4, 5, 7])
def test_levels_of_gini_are_scikit_learn_s(bin_rows, seed):
    """Both prune a full tree; scikit-learn's Gini is half of ours, scaled to 1 at p = 1/2."""
    values, target = rows_and_labels(seed)
    tree, trace = grow_tree(bin_rows(values)[0], target, 2, losses.get("squared"), limits=TreeLimits(None))
    peer = DecisionTreeClassifier(max_leaf_nodes=10_000, random_state=0).fit(values, target)
    # The referee speaks of the same full tree: no tie was broken differently (seeds with such ties are left out).
    both = peer.tree_.impurity * peer.tree_.n_node_samples, trace.impurity / 2
    np.testing.assert_allclose(np.sort(both[0]), np.sort(both[1]), atol=1e-9)
    level = link_levels(tree, trace.impurity)
    path = peer.cost_complexity_pruning_path(values, target)
    ours = np.unique(np.round(level[np.isfinite(level)] / 2, 12))
    np.testing.assert_allclose(ours, np.unique(np.round(path.ccp_alphas[1:], 12)), atol=1e-11)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["logistic", "matsushita", "squared"]))
def test_a_pruned_tree_is_the_best_of_all_subtrees(bin_rows, seed, name):
    values, target = rows_and_labels(seed, 40)
    tree, trace = grow_tree(bin_rows(values)[0], target, 2, losses.get(name), limits=TreeLimits(6))
    level = link_levels(tree, trace.impurity)
    inner = np.flatnonzero(tree.left >= 0)
    for at in np.unique(level[np.isfinite(level)]) * 1.0001:
        pruned, _ = prune(tree, trace, level, at)
        ours = cost(pruned, trace_cost(pruned, losses.get(name)), at)
        for kept in product([False, True], repeat=len(inner)):
            cut = np.full(tree.n_nodes, np.inf)
            cut[inner[~np.array(kept)]] = 0.0
            other, _ = prune(tree, trace, cut, 0.0)
            assert ours <= cost(other, trace_cost(other, losses.get(name)), at) + 1e-9


def trace_cost(tree, loss):
    weight = tree.weight[tree.leaves]
    return (
        np.sum(weight.sum(axis=1) * np.asarray(loss.impurity(weight[:, 1] / weight.sum(axis=1)))) / tree.weight[0].sum()
    )


def cost(tree, surrogate, at):
    return surrogate + at * len(tree.leaves)


def test_levels_grow_towards_the_root_and_pruning_at_zero_keeps_the_tree(bin_rows):
    values, target = rows_and_labels(3)
    tree, trace = grow_tree(bin_rows(values)[0], target, 2, losses.get("logistic"), limits=TreeLimits(None))
    level = link_levels(tree, trace.impurity)
    for node in np.flatnonzero(tree.left >= 0)[1:]:
        assert level[node] <= level[tree.parent[node]]
    same, same_trace = prune(tree, trace, level, 0.0)
    assert same.literals == tree.literals
    assert same_trace.stopped == trace.stopped
    root, root_trace = prune(tree, trace, level, np.inf)
    assert root.n_nodes == 1
    assert root_trace.stopped == "pruned"


def test_the_trace_of_a_pruned_tree_ends_at_its_own_surrogate(bin_rows):
    values, target = rows_and_labels(4)
    loss = losses.get("logistic")
    tree, trace = grow_tree(bin_rows(values)[0], target, 2, loss, limits=TreeLimits(None))
    level = link_levels(tree, trace.impurity)
    pruned, pruned_trace = prune(tree, trace, level, float(np.median(level[np.isfinite(level)])))
    assert 1 < pruned.n_nodes < tree.n_nodes
    assert pruned_trace.surrogate[-1] == pytest.approx(trace_cost(pruned, loss) * len(target), rel=1e-12)
    assert len(pruned_trace.surrogate) == len(pruned.leaves)


def test_binned_rows_fall_into_the_leaves_of_their_values(bin_rows):
    values, target = rows_and_labels(5)
    binned, table = bin_rows(values)
    tree, _ = grow_tree(binned, target, 2, losses.get("logistic"), limits=TreeLimits(9))
    np.testing.assert_array_equal(descend(tree, binned), tree.apply(table))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_level_chosen_is_the_one_a_plain_cross_validation_chooses(bin_rows, n_classes):
    values, target = rows_and_labels(6, 150)
    if n_classes == 3:
        target = np.where(values[:, 1] > 20, 2, target)
    binned, table = bin_rows(values)
    loss, limits = losses.get("logistic"), TreeLimits(20)
    tree, trace = grow_tree(binned, target, n_classes, loss, limits=limits)
    level = link_levels(tree, trace.impurity)
    source = LocalSource((MemoryPart(binned, target),), binned.binning, np.arange(n_classes), 150, False)
    folds = fold_of_rows(keys_of(source).of(binned), target, None, 4)
    path = cross_validate(source, TreeTask(loss, limits), candidate_levels(level), Pruning(None, 4))
    for at, found in zip(path.levels, path.surrogate, strict=True):
        total = 0.0
        for fold in range(4):
            part, part_trace = grow_tree(binned, target, n_classes, loss, (folds != fold).astype(float), limits)
            small, _ = prune(part, part_trace, link_levels(part, part_trace.impurity), at)
            counts = small.weight[small.apply(table)][folds == fold] + 1  # Laplace
            share = counts / counts.sum(axis=1, keepdims=True)
            own = target[folds == fold]
            total += np.sum(-np.log2(share[np.arange(len(own)), own]))  # of several classes too: Shannon's entropy
        assert found == pytest.approx(total / 150)
    assert path.chosen == path.levels[np.flatnonzero(path.surrogate == path.surrogate.min())[-1]]
