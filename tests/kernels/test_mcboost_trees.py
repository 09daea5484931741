"""Trees and rules of multiclass boosting against the formulas of the paper, numerical derivatives and brute force."""

import itertools

import numpy as np
import pytest

from permissible.kernels._core import boosted, sums
from permissible.kernels._core import mcboost as kernel
from permissible.kernels.reference import mcboost as reference
from permissible.models.kinds.simplex import codewords, scores_of

LOSSES = ["gll", "gel", "ls", "lt", "mc"]
NO_SPLITS = np.zeros((0, 8), dtype=np.int64)


def problem(seed, n=40, m=4, d=3, by_row=False, bins=5):
    rng = np.random.default_rng(seed)
    target = rng.integers(0, m, n)
    costs = rng.uniform(0.5, 5, (n if by_row else m, m))
    costs[np.arange(len(costs)), target if by_row else np.arange(m)] = 0.0
    blocks = np.zeros(((d + 7) // 8, n, 8), dtype=np.uint8)
    codes = rng.integers(0, bins, (n, d))
    for j in range(d):
        blocks[j // 8, :, j % 8] = codes[:, j]
    scores = scores_of(rng.normal(size=(n, m - 1)))
    return target, costs, scores, rng.choice([1.0, 2.0, 0.3, 1.7], n), blocks, codes


def rows_of(loss, target, costs, scores, weight, blocks, d, bins=5, by_row=False, threads=1):
    layout = np.array([[0, bins, 0, 0]] * d, dtype=np.int32)
    names = np.arange(d, dtype=np.uint64)
    numbers = LOSSES.index(loss), threads
    rows = kernel.tree_rows(blocks, layout, names, target.astype(np.uint16), costs, not by_row, weight, *numbers)
    rows.set_scores(np.ascontiguousarray(scores))
    return rows


def look(rows, along, coordinate=False, step=None, splits=NO_SPLITS, inside=-1):
    return rows.take(splits, inside, step, np.ascontiguousarray(along), coordinate, False, 0, 1.0)


def options(leaves=2, **others):
    found = boosted.TreeOptions()
    found.max_leaf_nodes, found.min_samples_leaf, found.l2, found.min_curvature = leaves, 0.0, 1.0, 0.0
    for name, value in others.items():
        setattr(found, name, value)
    return found


def split(column, cut, parent=0):
    return [parent, 0, cut, column, 0, 0, 0, 0]


@pytest.mark.parametrize("by_row", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
def test_sums_of_leaves_are_derivatives_of_the_loss(loss, by_row):
    target, costs, scores, weight, blocks, codes = problem(3, by_row=by_row)
    rows = rows_of(loss, target, costs, scores, weight, blocks, 3, by_row=by_row)
    by_class = costs if by_row else costs[target]
    look(rows, np.ones(4))
    splits, grid = np.array([split(1, 2)]), 2.0**30
    found = rows.step_sums(splits, -1, False, grid, grid)[:, :, :4] / grid

    def value(leaf, j, t):
        inside = (codes[:, 1] > 2) == leaf
        moved = scores.copy()
        moved[inside, j] += t  # one score alone: not a step, but it shows every derivative
        return float((weight * reference.loss_values(loss, moved, target, by_class))[inside].sum())

    for leaf, j in itertools.product(range(2), range(4)):
        first = (value(leaf, j, 1e-5) - value(leaf, j, -1e-5)) / 2e-5
        second = (value(leaf, j, 1e-4) - 2 * value(leaf, j, 0) + value(leaf, j, -1e-4)) / 1e-8
        assert found[0, leaf, j] == pytest.approx(-first, rel=1e-5, abs=1e-6)
        assert found[1, leaf, j] == pytest.approx(second, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("loss", LOSSES)
def test_along_a_coordinate_both_derivatives_are_those_of_the_line(loss):
    target, costs, scores, weight, blocks, _ = problem(5)
    rows = rows_of(loss, target, costs, scores, weight, blocks, 3)
    along = codewords(4)[:, 1] / 2
    look(rows, along, coordinate=True)
    grid = 2.0**30
    found = rows.step_sums(NO_SPLITS, -1, True, grid, grid).ravel() / grid
    line = [
        float(weight @ reference.loss_values(loss, scores + t * along, target, costs[target]))
        for t in (-1e-4, 0.0, 1e-4)
    ]
    assert found[0] == pytest.approx(-(line[2] - line[0]) / 2e-4, rel=1e-6, abs=1e-7)
    assert found[1] == pytest.approx((line[2] - 2 * line[1] + line[0]) / 1e-8, rel=1e-4)
    limbs = rows.slopes(NO_SPLITS, -1, along[None, :].copy(), 0.0)
    np.testing.assert_allclose(sums.exact_values(np.ascontiguousarray(limbs)), [-found[0], found[1]], rtol=1e-8)


@pytest.mark.parametrize("loss", LOSSES)
def test_steps_move_scores_and_measures(loss):
    target, costs, scores, weight, blocks, codes = problem(7)
    rows = rows_of(loss, target, costs, scores, weight, blocks, 3)
    step = np.array([[0.3, -0.1, -0.4, 0.2], [-0.5, 0.1, 0.1, 0.3]])
    look(rows, np.zeros(4), step=step, splits=np.array([split(0, 1)]))
    moved = scores + step[(codes[:, 0] > 1).astype(int)]
    np.testing.assert_allclose(rows.scores(), moved, atol=1e-13)
    surrogate, cost, error = sums.exact_values(np.ascontiguousarray(rows.measure()))
    assert surrogate == pytest.approx(weight @ reference.loss_values(loss, moved, target, costs[target]), rel=1e-12)
    chosen = moved.argmax(axis=1)
    assert cost == pytest.approx(weight @ costs[target, chosen], rel=1e-12)
    assert error == pytest.approx(weight @ (chosen != target), rel=1e-12)
    other = rows_of(loss, target, costs, np.zeros_like(scores), weight, blocks, 3)
    other.restore(rows.save())
    look(other, np.zeros(4))
    np.testing.assert_array_equal(other.measure(), rows.measure())


def worth(gradient, curvature, inside):
    return sum(gradient[side].sum() ** 2 / (curvature[side].sum() + 1.0) for side in (inside, ~inside))


def searched(loss, seed, **kw):
    target, costs, scores, weight, blocks, codes = problem(seed, n=60, m=3, **kw)
    rows = rows_of(loss, target, costs, scores, weight, blocks, 3)
    along = np.array([1.0, -1.0, 1.0])
    *_, most_g, most_h, _ = look(rows, along)
    gradient, curvature = np.zeros(60), np.zeros(60)
    for i in range(60):  # of each row alone
        one = [of[i : i + 1] for of in (target, scores, weight)]
        row = rows_of(loss, one[0], costs, one[1], one[2], blocks[:, i : i + 1].copy(), 3)
        look(row, along)
        g, h = row.step_sums(NO_SPLITS, -1, False, 2.0**30, 2.0**30)[:, 0, :3] / 2.0**30
        gradient[i] = g @ along - (g.sum() * along.sum() / 3 if loss == "ls" else 0.0)  # L_s: scores sum to 0
        curvature[i] = h.sum()
    rows.pack(2.0**22 / most_g / 60, 2.0**22 / most_h / 60)
    return rows, gradient, curvature, codes


@pytest.mark.parametrize("loss", LOSSES)
def test_the_first_split_is_the_best_of_all_by_brute_force(loss):
    rows, gradient, curvature, codes = searched(loss, 11)
    splits, inside = rows.grow(options(), np.ones(3, dtype=np.uint8))
    tried = {(j, cut): worth(gradient, curvature, codes[:, j] <= cut) for j in range(3) for cut in range(4)}
    assert inside == -1
    assert tried[int(splits[0, 3]), int(splits[0, 2])] >= max(tried.values()) * (1 - 1e-4)


@pytest.mark.parametrize("loss", ["gll", "gel"])
def test_the_second_literal_of_a_rule_is_the_best_by_brute_force(loss):
    rows, gradient, curvature, codes = searched(loss, 12)
    splits, inside = rows.grow(options(3, rule=True), np.ones(3, dtype=np.uint8))
    first = codes[:, splits[0, 3]] <= splits[0, 2]
    if len(splits) == 1:
        assert inside in (0, 1)
        return
    before = first if int(splits[1, 0]) == 0 else ~first
    tried = {}
    for j in range(3):
        for cut in range(4):
            low = codes[:, j] <= cut
            for side in (low, ~low):
                if (before & side).any():
                    tried[j, cut, bool(side[0] == low[0])] = worth(gradient, curvature, before & side)
    low = codes[:, splits[1, 3]] <= splits[1, 2]
    chosen = before & (low if inside == int(splits[1, 0]) else ~low)
    assert worth(gradient, curvature, chosen) >= max(tried.values()) * (1 - 1e-4)


def test_trees_grown_from_answers_are_those_of_the_rows():
    target, costs, scores, weight, blocks, _ = problem(21, n=500, m=3, d=11, bins=30)
    layout = np.array([[0, 30, 0, 0]] * 11, dtype=np.int32)
    used, along = np.ones(11, dtype=np.uint8), np.array([1.0, 1.0, -1.0])
    whole = rows_of("gll", target, costs, scores, weight, blocks, 11, bins=30)
    look(whole, along)
    grids = 2.0**16, 2.0**16
    whole.pack(*grids)
    parts = []
    for part in np.split(np.arange(500), [3, 220]):
        parts.append(
            rows_of("gll", target[part], costs, scores[part], weight[part], blocks[:, part].copy(), 11, bins=30)
        )
        look(parts[-1], along)
        parts[-1].pack(*grids)

    def ask(splits, leaf):
        return sum(part.cells(splits, leaf, used) for part in parts)

    for limits in (options(8), options(4, rule=True), options(16, max_depth=3)):
        here, there = whole.grow(limits, used), kernel.grow_asked(ask, layout, limits, used, *grids)
        np.testing.assert_array_equal(here[0], there[0])
        assert here[1] == there[1]


@pytest.mark.parametrize("loss", LOSSES)
def test_threads_do_not_change_a_bit(loss):
    target, costs, scores, weight, blocks, _ = problem(31, n=20_000, m=12)
    found = []
    for threads in (1, 2, 3):
        rows = rows_of(loss, target, costs, scores, weight, blocks, 3, threads=threads)
        seen = look(rows, np.where(np.arange(12) % 2, 1.0, -1.0))
        splits = np.array([split(0, 1), split(1, 2, 1)])
        found.append(
            (seen, sums.exact_values(rows.measure()), rows.step_sums(splits, -1, False, 2.0**20, 2.0**20).tolist())
        )
    assert found[0] == found[1] == found[2]
