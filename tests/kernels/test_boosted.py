"""Boosted trees: the compiled engine against its readable twin, and what is promised of every fit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from permissible import losses
from permissible.kernels._core import boosted
from permissible.kernels.reference.boosted import GrowthTwin, TwinOptions, leaves_of, newton_boost
from permissible.losses.surrogate import compiled

LOSSES = ["logistic", "matsushita", "mu", "squared", "power", "logcosh", "exponential", "least_squares"]


def blocks_of(codes):
    n_rows, n_columns = codes.shape
    blocks = np.zeros(((n_columns + 7) // 8, n_rows, 8), dtype=np.uint8)
    for j in range(n_columns):
        blocks[j // 8, :, j % 8] = codes[:, j]
    return blocks


def layout_of(codes, categorical=None, monotone=None):
    n_columns = codes.shape[1]
    bins = [int(np.max(c[c < 254], initial=0)) + 1 for c in codes.T]
    flags = np.zeros(n_columns, bool) if categorical is None else categorical
    ways = np.zeros(n_columns, int) if monotone is None else monotone
    return np.array([(flags[j], bins[j], (codes[:, j] == 255).any(), ways[j]) for j in range(n_columns)], np.int32)


def options(n_trees=10, tree=None, **more):
    fit = boosted.FitOptions()
    fit.n_trees, fit.search_rows = n_trees, 1e12
    limits = boosted.TreeOptions()
    for name, value in (tree or {}).items():
        setattr(limits, name, value)
    fit.tree = limits
    for name, value in more.items():
        setattr(fit, name, value)
    return fit


def rows_of(codes, target, n_classes=2, loss="logistic", hashes=None, copies=None, weight=None, threads=1, twice=True):
    kernel = compiled(losses.get(loss)) if isinstance(loss, str) else compiled(loss)
    held = boosted.Codes(blocks_of(codes), codes.shape[1], threads, twice)
    return boosted.Rows(
        held, target.astype(np.uint16), n_classes, kernel.name, kernel.parameter, kernel.table, copies, weight, hashes
    )


def fitted(codes, target, fit_options, *, layout=None, held_out=None, **more):
    layout = layout_of(codes) if layout is None else layout
    return boosted.fit(rows_of(codes, target, **more), held_out, layout, fit_options)


def arrays(found):
    trees = found.trees
    return [found.constant, trees.parent, trees.test, trees.cut, trees.column, trees.set, trees.values, trees.gain]


def same(first, second):
    return all(np.array_equal(a, b) for a, b in zip(arrays(first), arrays(second), strict=True))


def scores_of(found, codes, last=None):
    scores = np.tile(found.constant, (len(codes), 1))
    held = boosted.Codes(blocks_of(codes), codes.shape[1])
    found.trees.add(held, 0, len(found.trees) if last is None else last, scores)
    return scores


def made(n_rows=3000, n_columns=11, n_classes=2, seed=0, missing=0.1, bins=40):
    random = np.random.default_rng(seed)
    codes = random.integers(0, bins, size=(n_rows, n_columns)).astype(np.uint8)
    codes[random.random(codes.shape) < missing] = 255
    signal = (codes[:, 0] % 200) * 0.1 + (codes[:, 1] > bins // 2) * (codes[:, 2] % 7) + random.normal(size=n_rows)
    return codes, np.searchsorted(np.quantile(signal, np.arange(1, n_classes) / n_classes), signal)


@st.composite
def tables(draw):
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_rows, n_columns = draw(st.integers(1, 150)), draw(st.integers(1, 10))
    codes = random.integers(0, draw(st.sampled_from([1, 2, 5, 30, 254])), size=(n_rows, n_columns)).astype(np.uint8)
    codes[random.random(codes.shape) < draw(st.sampled_from([0.0, 0.3]))] = 255
    if draw(st.booleans()):
        codes[:, 0] = 255
    categorical = random.random(n_columns) < 0.3
    gradient = random.normal(size=n_rows).astype(np.float32)
    curvature = random.random(n_rows).astype(np.float32)
    if draw(st.booleans()):
        curvature[:] = 0.25
    copies = random.integers(0, 4, n_rows).astype(np.int32) if draw(st.booleans()) else None
    return codes, categorical, gradient, curvature, copies


@settings(max_examples=150, deadline=None)
@given(tables(), st.integers(2, 12), st.sampled_from([0, 2]), st.sampled_from([0.0, 0.7]))
def test_a_tree_is_that_of_the_twin(table, leaves, depth, min_curvature):
    codes, categorical, gradient, curvature, copies = table
    limits = boosted.TreeOptions()
    limits.max_leaf_nodes, limits.max_depth, limits.min_curvature, limits.l2 = leaves, depth, min_curvature, 0.5
    held, used = boosted.Codes(blocks_of(codes), codes.shape[1]), np.ones(codes.shape[1], np.uint8)
    layout = layout_of(codes, categorical)
    found = boosted.grow_tree(held, layout, gradient, curvature, copies, used, limits)
    twin = GrowthTwin(codes, layout[:, 1], categorical, TwinOptions(leaves, depth, min_curvature, 0.5))
    splits = twin.grow(gradient, curvature, copies)
    assert found.parent.tolist() == [split.parent for split in splits]
    assert found.column.tolist() == [split.column for split in splits]
    np.testing.assert_allclose(found.gain, [split.gain for split in splits], rtol=1e-12)
    np.testing.assert_array_equal(found.leaves(held, 0), leaves_of(splits, codes))


def test_a_fit_is_that_of_the_twin():
    codes, target = made(400, 5, bins=12)
    found = fitted(codes, target, options(8, {"max_leaf_nodes": 6}))
    twin = GrowthTwin(codes, layout_of(codes)[:, 1], np.zeros(5, bool), TwinOptions(6))
    trees, values, constant = newton_boost(twin, target, 8, 0.1)
    assert found.constant[0] == pytest.approx(constant, abs=1e-6)
    assert found.trees.column.tolist() == [split.column for tree in trees for split in tree]
    np.testing.assert_allclose(found.trees.values[:, 0], np.concatenate(values), atol=2e-5)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("loss", ["logistic", "matsushita", "squared"])
@pytest.mark.parametrize("sampled", [False, True])
def test_threads_do_not_change_a_bit(loss, n_classes, sampled):
    codes, target = made(60_000, 9, n_classes)
    hashes = np.random.default_rng(1).integers(0, 2**32, len(codes), dtype=np.uint32)
    fits = []
    for threads in (1, 2, 3):
        fit = options(4, {"threads": threads}, threads=threads)
        if sampled:
            fit.search_rows = 16_000
        more = {"n_classes": n_classes, "loss": loss, "hashes": hashes, "threads": threads}
        fits.append(fitted(codes, target, fit, **more))
    assert same(fits[0], fits[1])
    assert same(fits[0], fits[2])
    assert (fits[0].searched < len(codes)).all() == sampled


@pytest.mark.parametrize(
    "limits", [{"max_leaf_nodes": 3}, {"max_leaf_nodes": 4}, {"max_leaf_nodes": 250}, {"max_depth": 4}]
)
@pytest.mark.parametrize("monotone", [False, True])
def test_leaves_divided_ahead_of_their_turn_change_nothing(limits, monotone):
    codes, target = made(60_000, 9)
    categorical = None if monotone else np.arange(9) == 1
    layout = layout_of(codes, categorical, np.arange(9) % 3 - 1 if monotone else None)
    fits = []
    for threads in (1, 2):
        fit = options(2, {"threads": threads, **limits}, threads=threads)
        fits.append(fitted(codes, target, fit, layout=layout, threads=threads))
    assert same(*fits)


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("rate", [0.1, 1.0])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_surrogate_falls_in_every_round(loss, rate, exact):
    codes, target = made(1500)
    found = fitted(codes, target, options(30, learning_rate=rate, exact=exact, track_loss=True), loss=loss)
    assert np.all(np.diff(found.loss) <= 1e-6 * found.loss[0])
    assert found.loss[-1] < 0.9 * found.loss[0]


@pytest.mark.parametrize("loss", LOSSES)
def test_the_surrogate_of_several_classes_falls_in_every_round(loss):
    codes, target = made(1500, n_classes=5)
    found = fitted(codes, target, options(30, track_loss=True), loss=loss, n_classes=5)
    assert np.all(np.diff(found.loss) <= 1e-6 * found.loss[0])
    assert found.loss[-1] < 0.95 * found.loss[0]


@pytest.mark.parametrize("loss", LOSSES)
def test_the_training_loss_is_that_of_the_trees(loss):
    codes, target = made(800)
    kernel = compiled(losses.get(loss))
    found = fitted(codes, target, options(20, track_loss=True), loss=loss)
    margin = np.where(target == 1, 1.0, -1.0) * scores_of(found, codes)[:, 0]
    assert found.loss[-1] == pytest.approx(kernel.function().at(margin)[:, 0].sum(), rel=1e-6)


def test_softmax_is_that_of_the_trees():
    codes, target = made(800, n_classes=4)
    found = fitted(codes, target, options(20, track_loss=True), n_classes=4)
    scores = scores_of(found, codes)
    chosen = scores[np.arange(len(target)), target]
    assert found.loss[-1] == pytest.approx((np.log(np.exp(scores).sum(axis=1)) - chosen).sum(), rel=1e-4)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("loss", ["logistic", "matsushita"])
def test_weight_two_equals_row_twice(loss, n_classes):
    codes, target = made(2000, n_classes=n_classes)
    hashes = np.random.default_rng(1).integers(0, 2**32, len(codes), dtype=np.uint32)
    copies = np.random.default_rng(2).integers(1, 4, len(codes)).astype(np.int32)
    fit = options(6)
    fit.search_rows = 1200
    more = {"n_classes": n_classes, "loss": loss}
    weighted = fitted(codes, target, fit, copies=copies, hashes=hashes, **more)
    again = np.repeat(np.arange(len(codes)), copies)
    assert same(weighted, fitted(codes[again], target[again], fit, hashes=hashes[again], **more))


def test_samples_grow_until_rate_times_trees_is_ten():
    codes, target = made(60_000)
    hashes = np.random.default_rng(1).integers(0, 2**32, len(codes), dtype=np.uint32)
    found = fitted(codes, target, options(56, learning_rate=0.2, search_rows=30_000.0), hashes=hashes)
    wanted = 12_000 + (30_000 - 12_000) * np.minimum(0.2 * np.arange(56) / 10, 1)
    np.testing.assert_allclose(found.searched, wanted, rtol=0.2)  # the threshold follows the gradients, a round late
    np.testing.assert_allclose(found.searched[[0, -1]], wanted[[0, -1]], rtol=0.05)


def test_small_samples_do_not_grow():
    codes, target = made(9000)
    hashes = np.random.default_rng(1).integers(0, 2**32, len(codes), dtype=np.uint32)
    found = fitted(codes, target, options(12, search_rows=6000.0), hashes=hashes)
    np.testing.assert_allclose(found.searched, 6000, rtol=0.1)


def test_the_order_of_rows_does_not_matter():
    codes, target = made(3000)
    hashes = np.random.default_rng(1).integers(0, 2**32, len(codes), dtype=np.uint32)
    order = np.random.default_rng(3).permutation(len(codes))
    fit = options(6)
    fit.search_rows = 1200
    shuffled = fitted(codes[order], target[order], fit, hashes=hashes[order])
    assert same(fitted(codes, target, fit, hashes=hashes), shuffled)


def test_real_weights_that_are_all_one_change_nothing():
    codes, target = made(500)
    weighted = fitted(codes, target, options(5), weight=np.ones(len(codes), np.float32))
    assert same(fitted(codes, target, options(5)), weighted)


@pytest.mark.parametrize("loss", ["logistic", "matsushita", "squared"])
def test_exact_values_have_no_gradient_left(loss):
    """(35): after an exact step without shrinkage or l2 the weights of every leaf balance."""
    codes, target = made(2000, missing=0.0)
    fit = options(1, {"max_leaf_nodes": 5, "min_curvature": 20.0}, learning_rate=1.0, l2=0.0, exact=True)
    found = fitted(codes, target, fit, loss=loss)
    y = np.where(target == 1, 1.0, -1.0)
    weight = compiled(losses.get(loss)).function().at(y * scores_of(found, codes)[:, 0])[:, 1]
    leaf = found.trees.leaves(boosted.Codes(blocks_of(codes), codes.shape[1]), 0)
    assert np.abs(np.bincount(leaf, weights=y * weight)).max() < 1e-5 * len(codes)


def test_one_exact_tree_from_zero_has_the_probabilities_of_its_leaves():
    """(50): the exact logistic value of a leaf is the link of the frequency there, as in a tree of UDT."""
    codes, target = made(2000, missing=0.0)
    fit = options(1, {"max_leaf_nodes": 6, "min_curvature": 10.0}, learning_rate=1.0, l2=0.0, exact=True)
    fit.fit_constant = False
    found = fitted(codes, target, fit)
    leaf = found.trees.leaves(boosted.Codes(blocks_of(codes), codes.shape[1]), 0)
    p = np.bincount(leaf, weights=target) / np.bincount(leaf)
    np.testing.assert_allclose(found.trees.values[:, 0], np.log(p / (1 - p)), atol=1e-6)


def test_held_out_rows_stop_a_fit():
    codes, target = made(1200, seed=1)
    random = np.random.default_rng(5)
    noisy = np.where(random.random(len(target)) < 0.3, 1 - target, target)
    fit = options(400, learning_rate=0.5, patience=5)
    found = fitted(codes[:800], noisy[:800], fit, layout=layout_of(codes), held_out=rows_of(codes[800:], noisy[800:]))
    assert found.stop == 2
    assert len(found.trees) == found.best_round + 5 < 400
    assert np.argmin(found.held_out) == found.best_round
    y = np.where(noisy[800:] == 1, 1.0, -1.0)
    loss = np.log1p(np.exp(-y * scores_of(found, codes[800:], found.best_round)[:, 0])).sum()
    assert found.held_out[found.best_round] == pytest.approx(loss, rel=1e-6)


def test_monotone_columns():
    codes, target = made(3000, 4, missing=0.0)
    target = np.where(np.random.default_rng(0).random(3000) < 0.2, 1 - target, target)
    found = fitted(codes, target, options(30), layout=layout_of(codes, monotone=[1, -1, 0, 0]))
    for column, way in ((0, 1), (1, -1)):
        grid = np.repeat(codes[:200], 40, axis=0)
        grid[:, column] = np.tile(np.arange(40), 200)
        steps = np.diff(scores_of(found, grid)[:, 0].reshape(200, 40), axis=1)
        assert (way * steps >= -1e-12).all()
        assert np.abs(steps).max() > 0


def test_interaction_groups():
    codes, target = made(2000, 4)
    tree = {"interactions": [[1, 1, 0, 0], [0, 0, 1, 1]]}
    found = fitted(codes, target, options(5, tree))
    for t in range(5):
        first, last = found.trees.first_split[t : t + 2]
        above = {0: set()}
        for made_leaf, s in enumerate(range(first, last), start=1):
            above[found.trees.parent[s]].add(int(found.trees.column[s]))
            above[made_leaf] = set(above[found.trees.parent[s]])
        assert all(columns <= {0, 1} or columns <= {2, 3} for columns in above.values())


@pytest.mark.parametrize("search_rows", [3000, 1e12])
@pytest.mark.parametrize("threads", [1, 2])
def test_codes_kept_once_give_the_same_trees(search_rows, threads):
    """Several chunks of rows, categories, and indicators that are bundled; sampled and not."""
    codes, target = made(13_001, 21)
    codes[:, 9:] = np.arange(12) == codes[:, [0]] % 13
    layout = layout_of(codes, np.arange(21) % 9 == 2)
    hashes = boosted.Codes(blocks_of(codes), 21).hashes(np.arange(21, dtype=np.uint64))
    fit = options(8, search_rows=search_rows, threads=threads, track_loss=True)
    once, twice = (
        fitted(
            codes[:9000],
            target[:9000],
            fit,
            layout=layout,
            held_out=rows_of(codes[9000:], target[9000:], twice=twice),
            hashes=hashes[:9000],
            threads=threads,
            twice=twice,
        )
        for twice in (False, True)
    )
    assert same(once, twice)
    assert (once.searched[0] < 9000) == (search_rows < 9000)
    np.testing.assert_array_equal(once.loss, twice.loss)
    np.testing.assert_array_equal(once.held_out, twice.held_out)
    scores = np.tile(once.constant, (len(codes), 1))
    held = boosted.Codes(blocks_of(codes), 21, threads, False)
    once.trees.add(held, 0, 8, scores, threads)
    np.testing.assert_array_equal(scores, scores_of(twice, codes))
    kept = boosted.Codes(blocks_of(codes), 21)
    np.testing.assert_array_equal(once.trees.leaves(held, 3, threads), twice.trees.leaves(kept, 3))


@pytest.mark.parametrize("twice", [False, True])
def test_a_code_beyond_its_bins_is_refused(twice):
    codes, target = made(9000)
    layout = layout_of(codes)
    codes[8999, 10] = 41
    with pytest.raises(ValueError, match="beyond the bins"):
        fitted(codes, target, options(1), layout=layout, twice=twice)


def test_trees_from_their_arrays_score_alike():
    codes, target = made(700)
    found = fitted(codes, target, options(7), layout=layout_of(codes, np.arange(11) % 3 == 0))
    t = found.trees
    again = boosted.Trees(t.parent, t.test, t.cut, t.column, t.set, t.gain, t.first_split, t.values)
    scores = np.tile(found.constant, (len(codes), 1))
    again.add(boosted.Codes(blocks_of(codes), 11), 0, 7, scores)
    np.testing.assert_array_equal(scores, scores_of(found, codes))


def test_a_users_own_phi_by_its_table():
    from permissible.losses import PermissibleLoss
    from permissible.losses.catalogue import matsushita

    codes, target = made(900)
    own = PermissibleLoss("own", {}, matsushita(), rebuild=(PermissibleLoss, ()))
    if compiled(own).name != "table":
        pytest.skip("the loss was recognised")
    ours, built_in = (fitted(codes, target, options(10), loss=loss) for loss in (own, "matsushita"))
    np.testing.assert_allclose(scores_of(ours, codes), scores_of(built_in, codes), atol=1e-3)


def test_rounds_driven_from_outside_are_those_of_the_loop():
    """Gradients in, tree out, values in: what a loss without a kernel does."""
    codes, target = made(1000)
    held, layout, used = boosted.Codes(blocks_of(codes), 11), layout_of(codes), np.ones(11, np.uint8)
    found = fitted(codes, target, options(5))
    y, score = np.where(target == 1, 1.0, -1.0), np.full(len(codes), found.constant[0])
    for tree in range(5):
        w = 1 / (1 + np.exp(y * score))
        g, h = (y * w).astype(np.float32), (w * (1 - w)).astype(np.float32)
        grown = boosted.grow_tree(held, layout, g, h, None, used, boosted.TreeOptions())
        first, last = found.trees.first_split[tree : tree + 2]
        assert grown.column.tolist() == found.trees.column[first:last].tolist()
        assert grown.cut.tolist() == found.trees.cut[first:last].tolist()
        leaf = grown.leaves(held, 0)
        score += 0.1 * (np.bincount(leaf, weights=g) / (np.bincount(leaf, weights=h) + 1.0))[leaf]
    np.testing.assert_allclose(score, scores_of(found, codes)[:, 0], atol=1e-4)


def test_codes_beyond_their_bins_are_refused():
    codes, target = made(100)
    layout = layout_of(codes)
    layout[3, 1] = 5
    with pytest.raises(ValueError, match="beyond the bins"):
        fitted(codes, target, options(1), layout=layout)


def test_an_interrupted_fit_stops():
    codes, target = made(200)
    found = boosted.fit(rows_of(codes, target), None, layout_of(codes), options(100), lambda _: False)
    assert found.stop == 3
    assert len(found.trees) == 0
