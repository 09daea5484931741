"""UDT against independent referees: scikit-learn's trees, the formulas of the paper, exhaustive search."""

from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from sklearn.tree import DecisionTreeClassifier

from permissible import losses
from permissible.learners.trees.criteria import TreeLimits
from permissible.learners.trees.rows import Weighting, descend
from permissible.models.kinds.tree_rules import leaf_rules, linearised
from permissible.rows.totals import Totals
from tests.learners.trees.grown import grow_tree

LOSSES = [
    losses.get("logistic"),
    losses.get("matsushita"),
    losses.get("mu", mu=0.3),
    losses.get("squared"),
    losses.get("power", upsilon=0.7),
    losses.get("logcosh", zeta=-4.0),
    losses.get("exponential"),
]


def surrogate(loss, weight):
    """Sum over leaves of W (phi(p) - a) / b, from the leaves alone."""
    total = weight.sum(axis=1)
    shares = weight / total[:, None]
    if weight.shape[1] == 2:
        return float(np.sum(total * np.asarray(loss.impurity(shares[:, 1]))))
    return float(np.sum(total[:, None] * np.asarray(loss.impurity(shares))))


@st.composite
def small_data(draw, n_classes=2):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_rows, n_columns = draw(st.integers(5, 50)), draw(st.integers(1, 6))
    levels = draw(st.sampled_from([2, 4, 40]))
    values = rng.integers(0, levels, size=(n_rows, n_columns)).astype(float)
    signal = values[:, 0] + rng.normal(size=n_rows) * levels / 2
    target = np.searchsorted(np.quantile(signal, np.arange(1, n_classes) / n_classes), signal)
    assume(len(np.unique(target)) == n_classes)
    return values, target


def has_close_call(values, target, loss, n_splits, margin=1e-9):
    """Whether some choice on the way was decided by less than rounding: two different partitions of (nearly) equal gain.

    An impure leaf whose best gain is 0 counts too: scikit-learn splits it all the same, and UDT asks for A < 0.
    """

    def value(rows):
        counts = np.bincount(target[rows], minlength=int(target.max()) + 1).astype(float)
        return surrogate(loss, counts[None]) if len(rows) else 0.0

    def best_cuts(rows):
        found = {}
        for j in range(values.shape[1]):
            for t in np.unique(values[rows, j])[:-1]:
                left = values[rows, j] <= t
                key = min(tuple(left), tuple(~left))
                found[key] = (value(rows) - value(rows[left]) - value(rows[~left]), rows[left], rows[~left])
        return sorted(found.values(), key=lambda cut: -cut[0])

    leaves = [(np.arange(len(target)), best_cuts(np.arange(len(target))))]
    for _ in range(n_splits):
        leaves = [leaf for leaf in leaves if leaf[1] and value(leaf[0]) > 0]
        if not leaves:
            return False
        if any(cuts[0][0] < margin for _, cuts in leaves):
            return True
        leaves.sort(key=lambda leaf: -leaf[1][0][0])
        if len(leaves) > 1 and leaves[0][1][0][0] - leaves[1][1][0][0] < margin:
            return True
        _, cuts = leaves.pop(0)
        if len(cuts) > 1 and cuts[0][0] - cuts[1][0] < margin:
            return True
        leaves += [(rows, best_cuts(rows)) for rows in cuts[0][1:]]
    return False


def same_partition(first, second):
    pairs = set(zip(first.tolist(), second.tolist(), strict=True))
    return len(pairs) == len(set(first.tolist())) == len(set(second.tolist()))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(small_data(), st.sampled_from([("squared", "gini"), ("logistic", "entropy")]), st.sampled_from([2, 3, 6]))
def test_gini_and_entropy_partition_as_scikit_learn_does_where_the_best_split_is_unique(bin_rows, data, names, leaves):
    values, target = data
    loss = losses.get(names[0])
    assume(not has_close_call(values, target, loss, leaves - 1))
    binned, table = bin_rows(values)
    model, _ = grow_tree(binned, target, 2, loss, limits=TreeLimits(leaves))
    peer = DecisionTreeClassifier(criterion=names[1], max_leaf_nodes=leaves, random_state=0).fit(values, target)
    assert same_partition(model.apply(table), peer.apply(values))


@settings(max_examples=20, deadline=None)
@given(small_data(3))
def test_gini_of_three_classes_has_scikit_learn_s_impurity(bin_rows, data):
    values, target = data
    binned, _ = bin_rows(values)
    _, trace = grow_tree(binned, target, 3, losses.get("squared"), limits=TreeLimits(2))
    peer = DecisionTreeClassifier(max_leaf_nodes=2, random_state=0).fit(values, target).tree_
    ends = peer.children_left < 0
    gini = np.sum(peer.impurity[ends] * peer.weighted_n_node_samples[ends])
    assert trace.surrogate[-1] == pytest.approx(4 * gini, rel=1e-12)


@settings(max_examples=60, deadline=None)
@given(small_data(), st.sampled_from(LOSSES), st.booleans())
def test_surrogate_after_every_split_is_that_of_the_leaves(bin_rows, data, loss, weighted):
    values, target = data
    weight = np.random.default_rng(0).random(len(target)) + 0.01 if weighted else None
    binned, _ = bin_rows(values)
    for leaves in (1, 2, 5):
        model, trace = grow_tree(binned, target, 2, loss, weight, TreeLimits(leaves))
        sums = np.zeros((model.n_nodes, 2))
        np.add.at(sums, (descend(model, binned), target), 1.0 if weight is None else weight)
        assert trace.surrogate[-1] == pytest.approx(surrogate(loss, sums[model.leaves]), rel=1e-12, abs=1e-12)
        assert np.all(np.diff(trace.surrogate) < 0)


@settings(max_examples=30, deadline=None)
@given(small_data(3), st.sampled_from(LOSSES))
def test_surrogate_of_several_classes_is_the_sum_over_classes(bin_rows, data, loss):
    values, target = data
    binned, _ = bin_rows(values)
    model, trace = grow_tree(binned, target, 3, loss, limits=TreeLimits(4), joint=False)
    assert trace.surrogate[-1] == pytest.approx(surrogate(loss, model.weight[model.leaves]), rel=1e-12, abs=1e-12)


@settings(max_examples=30, deadline=None)
@given(small_data())
def test_a_user_s_phi_equal_to_gini_gives_gini_s_tree(bin_rows, data):
    values, target = data
    binned, _ = bin_rows(values)
    gini, _ = grow_tree(binned, target, 2, losses.get("squared"))
    bare = SimpleNamespace(
        impurity_functor=None, joint_entropy=False, impurity=lambda p: 4 * p * (1 - p)
    )  # all that a tree needs
    for mine in (losses.from_phi(lambda p: p * (1 - p), name="mine"), bare):
        ours, _ = grow_tree(binned, target, 2, mine)
        assert ours.literals == gini.literals
        np.testing.assert_array_equal(ours.weight, gini.weight)


@settings(max_examples=30, deadline=None)
@given(small_data())
def test_mu_matsushita_grows_matsushita_s_tree(bin_rows, data):
    binned, _ = bin_rows(data[0])
    trees = [grow_tree(binned, data[1], 2, loss)[0] for loss in (losses.get("mu", mu=0.99), losses.get("matsushita"))]
    assert trees[0].literals == trees[1].literals


def test_the_choice_of_phi_can_change_the_tree(bin_rows):
    """mathematics.md section 6: some losses take variable 1 and some variable 2."""
    rows, target = [], []
    for (a, b), (negative, positive) in {(0, 0): (6, 1), (0, 1): (1, 1), (1, 0): (1, 0), (1, 1): (1, 0)}.items():
        rows += [[a, b]] * (negative + positive)
        target += [0] * negative + [1] * positive
    binned, _ = bin_rows(rows)
    chosen = {
        loss.name: grow_tree(binned, np.array(target), 2, loss, limits=TreeLimits(2))[0].literals[0].column
        for loss in (losses.get("matsushita"), losses.get("logistic"), losses.get("squared"))
    }
    assert chosen == {"matsushita": 0, "logistic": 0, "squared": 1}


def test_xor_stops_at_the_root_with_a_reason(bin_rows):
    binned, _ = bin_rows([[0, 0], [0, 1], [1, 0], [1, 1]])
    for loss in LOSSES:
        model, trace = grow_tree(binned, np.array([0, 1, 1, 0]), 2, loss)
        assert model.n_nodes == 1
        assert trace.stopped == "no gain"
        assert trace.surrogate[-1] == pytest.approx(4.0)


@settings(max_examples=40, deadline=None)
@given(small_data(), st.sampled_from(LOSSES))
def test_leaf_scores_are_the_minimisers_of_the_surrogate_over_leaf_indicators(bin_rows, data, loss):
    """(50): ULS with the constant feature restricted to a leaf gives the leaf g(p)."""
    values, target = data
    binned, table = bin_rows(values)
    model, _ = grow_tree(binned, target, 2, loss, limits=TreeLimits(3))
    leaf = model.apply(table)
    for node in model.leaves[~model.is_pure[model.leaves]]:
        sign = np.where(target[leaf == node] == 1, 1.0, -1.0)
        found = minimize_scalar(
            lambda h, sign=sign: np.sum(np.asarray(loss.value(h * sign))),
            bounds=(-60, 60),
            method="bounded",
            options={"xatol": 1e-12},
        )
        assert model.node_score[node] == pytest.approx(found.x, abs=2e-5)


@settings(max_examples=30, deadline=None)
@given(small_data(), st.sampled_from(LOSSES))
def test_the_linearised_tree_scores_like_the_tree(bin_rows, data, loss):
    values, target = data
    binned, table = bin_rows(values)
    model, _ = grow_tree(binned, target, 2, loss, limits=TreeLimits(6))
    np.testing.assert_allclose(linearised(model).score(table), model.scores(table), rtol=1e-9, atol=1e-9)


@settings(max_examples=40, deadline=None)
@given(small_data(3), st.booleans())
def test_leaf_rules_are_disjoint_and_complete(bin_rows, data, categorical):
    values, target = data
    values = values.copy()
    values[np.random.default_rng(1).random(values.shape) < 0.1] = np.nan
    assume(not np.isnan(values).all(axis=0).any())
    binned, table = bin_rows(values, categorical=(0, 1) if categorical else ())
    model, _ = grow_tree(binned, target, 3, losses.get("logistic"), limits=TreeLimits(None))
    from permissible.models.kinds.rules import passes

    covered = np.ones((len(leaf_rules(model)), len(target)), dtype=bool)
    for i, rule in enumerate(leaf_rules(model)):
        for literal in rule.rule:
            covered[i] &= passes(literal, table.columns[literal.column], model.code_of_category.get(literal.column))
    np.testing.assert_array_equal(covered.sum(axis=0), 1)
    np.testing.assert_array_equal(
        np.array([r.node for r in leaf_rules(model)])[covered.argmax(axis=0)], model.apply(table)
    )


@settings(max_examples=40, deadline=None)
@given(small_data(), st.sampled_from(LOSSES))
def test_weight_two_is_the_row_twice(bin_rows, data, loss):
    values, target = data
    repeats = np.random.default_rng(2).integers(0, 4, len(target))
    assume(len(np.unique(target[repeats > 0])) == 2)
    limits = TreeLimits(6, min_samples_leaf=3)
    once, _ = grow_tree(bin_rows(values)[0], target, 2, loss, repeats.astype(float), limits)
    rows = np.repeat(np.arange(len(target)), repeats)
    # The same bins for both, so that thresholds compare.
    binned = bin_rows(values)[0]
    twice_binned = type(binned)(binned.binning, np.ascontiguousarray(binned.blocks[:, rows]), len(rows))
    twice, _ = grow_tree(twice_binned, target[rows], 2, loss, None, limits)
    assert once.literals == twice.literals
    np.testing.assert_array_equal(once.weight, twice.weight)


@settings(max_examples=30, deadline=None)
@given(small_data(), st.sampled_from(LOSSES))
def test_mirrored_labels_mirror_the_tree(bin_rows, data, loss):
    values, target = data
    binned, _ = bin_rows(values)
    model, _ = grow_tree(binned, target, 2, loss)
    mirror, _ = grow_tree(binned, 1 - target, 2, loss)
    assert model.literals == mirror.literals
    np.testing.assert_allclose(model.node_score, -mirror.node_score)


@settings(max_examples=30, deadline=None)
@given(small_data(), st.integers(0, 2**32 - 1), st.booleans())
def test_the_order_of_rows_does_not_matter(bin_rows, data, seed, weighted):
    values, target = data
    order = np.random.default_rng(seed).permutation(len(target))
    weight = np.random.default_rng(3).random(len(target)) if weighted else np.ones(len(target))
    model, _ = grow_tree(bin_rows(values)[0], target, 2, losses.get("logistic"), weight)
    again, _ = grow_tree(bin_rows(values[order])[0], target[order], 2, losses.get("logistic"), weight[order])
    assert model.literals == again.literals
    np.testing.assert_array_equal(model.weight, again.weight)


def test_a_subset_split_is_the_best_of_all_subsets(bin_rows):
    rng = np.random.default_rng(4)
    for loss in LOSSES:
        categories = rng.integers(0, 6, 120).astype(float)
        target = (rng.random(120) < np.array([0.1, 0.9, 0.3, 0.7, 0.5, 0.2])[categories.astype(int)]).astype(int)
        _, trace = grow_tree(bin_rows(categories[:, None], (0,))[0], target, 2, loss, limits=TreeLimits(2))
        best = min(
            surrogate(loss, np.array([np.bincount(target[side], minlength=2) for side in (inside, ~inside)], float))
            for size in range(1, 6)
            for chosen in combinations(range(6), size)
            for inside in [np.isin(categories, chosen)]
        )
        assert trace.surrogate[-1] == pytest.approx(best, rel=1e-12)


def test_missing_values_go_where_they_help(bin_rows):
    values = np.array([[0.0], [0.0], [1.0], [1.0], [np.nan], [np.nan]])
    for target, words in [
        ([0, 0, 1, 1, 1, 1], "x0 <= 0.5"),
        ([0, 0, 1, 1, 0, 0], "x0 <= 0.5 or missing"),
        ([0, 0, 0, 0, 1, 1], "x0 is not missing"),
    ]:
        model, _ = grow_tree(bin_rows(values)[0], np.array(target), 2, losses.get("logistic"))
        assert leaf_rules(model)[0].words == words
        assert model.n_nodes == 3


def test_monotone_constraints_hold_everywhere(bin_rows):
    rng = np.random.default_rng(6)
    values = rng.integers(0, 12, size=(400, 2)).astype(float)
    target = (np.sin(values[:, 0]) + 0.2 * values[:, 1] + rng.normal(size=400) > 1).astype(int)
    grid = np.stack(np.meshgrid(np.arange(12.0), np.arange(12.0), indexing="ij"), axis=-1)
    _, free = bin_rows(grid.reshape(-1, 2))
    for direction in (1, -1):
        model, _ = grow_tree(
            bin_rows(values)[0],
            target,
            2,
            losses.get("logistic"),
            limits=TreeLimits(None),
            monotone=np.array([0, direction]),
        )
        probability = model.probabilities(free)[:, 1].reshape(12, 12)
        assert model.n_nodes > 20
        assert np.all(np.diff(probability, axis=1) * direction >= 0)
    unbound, _ = grow_tree(bin_rows(values)[0], target, 2, losses.get("logistic"), limits=TreeLimits(None))
    assert np.any(np.diff(unbound.probabilities(free)[:, 1].reshape(12, 12), axis=1) < 0)


def test_limits_are_kept(bin_rows):
    rng = np.random.default_rng(7)
    values, target = rng.integers(0, 50, size=(300, 3)).astype(float), rng.integers(0, 2, 300)
    binned, _ = bin_rows(values)
    weight = rng.random(300) + 0.5
    grown = {
        name: grow_tree(binned, target, 2, losses.get("logistic"), w, limits)
        for name, w, limits in [
            ("depth", None, TreeLimits(None, max_depth=3)),
            ("samples", None, TreeLimits(None, min_samples_leaf=20)),
            ("rows", weight, TreeLimits(None, min_samples_leaf=20)),
            ("weight", weight, TreeLimits(None, min_weight_fraction_leaf=0.05)),
            ("gain", None, TreeLimits(None, min_gain=0.01)),
        ]
    }
    assert grown["depth"][0].depth.max() == 3
    assert grown["samples"][0].samples.min() >= 20
    assert grown["rows"][0].samples.min() >= 20
    assert grown["weight"][0].weight.sum(axis=1).min() >= 0.05 * weight.sum()
    assert np.all(-np.diff(grown["gain"][1].surrogate) / 300 > 0.01)
    assert all(model.n_nodes > 3 for model, _ in grown.values())


@given(st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=20))
def test_quantised_weights_are_within_a_grid_step(weights):
    weight = np.array(weights)
    weighting = Weighting.of(Totals.of(weight, len(weight)))
    integers, unit, counts = weighting.integers(weight), weighting.unit, weighting.grid is None
    assert np.all(np.abs(integers * unit - weight) <= 0.5 * unit)
    assert unit <= 2.0**-30 or counts
    assert counts == np.array_equal(weight, np.rint(weight))


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(small_data(n_classes=3), st.sampled_from([2, 4]))
def test_gini_of_three_classes_partitions_as_scikit_learn_does(bin_rows, data, leaves):
    values, target = data
    loss = losses.get("squared")
    assume(not has_close_call(values, target, loss, leaves - 1))
    binned, table = bin_rows(values)
    model, _ = grow_tree(binned, target, 3, loss, limits=TreeLimits(leaves))
    peer = DecisionTreeClassifier(criterion="gini", max_leaf_nodes=leaves, random_state=0).fit(values, target)
    assert same_partition(model.apply(table), peer.apply(values))


def test_the_logistic_tree_of_three_classes_sums_the_entropy_of_each_class_against_the_rest(bin_rows):
    def against_the_rest(shares):
        return sum(-p * np.log(p) - (1 - p) * np.log1p(-p) for p in np.clip(shares, 1e-300, 1 - 1e-16))

    shannon = lambda shares: float(-np.sum(shares * np.log(np.clip(shares, 1e-300, 1))))  # noqa: E731
    differ = 0

    def best_root(values, target, impurity):
        found = {}
        for column in range(values.shape[1]):
            for cut in np.unique(values[:, column])[:-1]:
                sides = values[:, column] <= cut
                found[tuple(sides)] = sum(
                    side.sum() * impurity(np.bincount(target[side], minlength=3) / side.sum())
                    for side in (sides, ~sides)
                )
        ranked = sorted(found, key=found.get)
        return np.array(ranked[0]), len(ranked) > 1 and found[ranked[1]] - found[ranked[0]] > 1e-9

    for seed in range(120):
        rng = np.random.default_rng(seed)
        values = rng.integers(0, 4, (40, 4)).astype(float)
        target = np.searchsorted([1.5, 3.5], values[:, 0] + rng.normal(size=40) * 2)
        root, unique = best_root(values, target, against_the_rest)
        if len(np.unique(target)) < 3 or not unique:
            continue
        binned, table = bin_rows(values)
        model, _ = grow_tree(binned, target, 3, losses.get("logistic"), limits=TreeLimits(2), joint=False)
        assert same_partition(model.apply(table), root.astype(int))
        other, unique = best_root(values, target, shannon)
        differ += unique and not same_partition(other.astype(int), root.astype(int))
    assert differ  # which is why Shannon's entropy is the default for several classes
