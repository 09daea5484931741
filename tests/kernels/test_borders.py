"""The compiled core refuses codes beyond the bins of their column: its tables are as large as the bins say."""

import numpy as np
import pytest

from permissible.kernels._core import boosting, mcboost, trees

N = 200


@pytest.fixture
def blocks():
    """Codes of two columns: 0 to 3 and missing, and 0 to 2."""
    random = np.random.default_rng(0)
    codes = np.zeros((1, N, 8), dtype=np.uint8)
    codes[0, :, 0] = random.choice([0, 1, 2, 3, 255], N)
    codes[0, :, 1] = random.integers(0, 3, N)
    return codes


BINS = np.array([4, 3], dtype=np.int32)
NUMERIC = np.zeros(2, dtype=np.uint8)


def boosting_state() -> mcboost.State:
    target = (np.arange(N) % 2).astype(np.int32)
    return mcboost.state(target, 1.0 - np.eye(2), np.ones(N), True, 0, 1)


def node_cells(blocks):
    state = boosting_state()
    state.begin_sums()
    state.derive_largest(0, True)
    place = np.zeros(N, dtype=np.int32)
    return state.node_cells(blocks, NUMERIC, BINS, place, np.zeros(1, dtype=np.int32), 1, 1.0, 1.0, 1.0)


def round_of_trees(blocks, gradient=False):
    state = boosting_state()
    state.begin_round()
    limits = {"max_leaf_nodes": 4, "max_depth": 0, "max_literals": 0, "min_leaf_weight": 1.0, "l2": 1.0}
    growth = mcboost.Growth(**limits, random_thresholds=False, column_share=1.0, seed=0)
    more = {"share": None, "rate": 1.0, "exact": False, "gradient": gradient}
    return state.round_trees(blocks, NUMERIC, BINS, growth, **more)


def round_of_gradient(blocks):
    return round_of_trees(blocks, gradient=True)


def bundles(blocks):
    return mcboost.Bundles(blocks, NUMERIC, BINS)


def tree(blocks):
    target = (np.arange(N) % 2).astype(np.uint16)
    columns = trees.Columns(BINS, NUMERIC, np.zeros(2, dtype=np.int8))
    finder = trees.SplitFinder(columns, 2, 1.0, False, trees.Impurity("logistic"), trees.Limits(4, 0))
    return finder.grow(trees.Rows(blocks, columns, target, None, 2))


def histograms(blocks):
    target = (np.arange(N) % 2).astype(np.uint16)
    nodes = np.zeros(N, dtype=np.int32)
    columns = trees.Columns(BINS, NUMERIC, np.zeros(2, dtype=np.int8))
    return trees.Rows(blocks, columns, target, None, 2).sums(nodes, np.zeros(1, dtype=np.int32), 1)


KERNELS = [node_cells, round_of_trees, round_of_gradient, bundles, tree, histograms]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(("row", "column", "code"), [(0, 0, 4), (N - 1, 0, 254), (N - 3, 1, 3), (17, 1, 200)])
def test_a_code_beyond_its_bins_is_refused(kernel, blocks, row, column, code):
    kernel(blocks)
    blocks[0, row, column] = code
    with pytest.raises(ValueError, match="beyond the"):
        kernel(blocks)


def test_bins_out_of_range_are_refused(blocks):
    for bins in (0, 256, -1, 2**31 - 1):
        with pytest.raises(ValueError, match=r"bins must lie in 1..255"):
            mcboost.Bundles(blocks, NUMERIC, np.array([bins, 3], dtype=np.int32))
        layout = np.array([[0, bins if bins else -5, 1]], dtype=np.int32)
        criterion = boosting.Criterion(False, 0.0, 1.0, 1.0, 0, 0)
        with pytest.raises(ValueError, match="0 to 255 bins"):
            boosting.best_literals(layout, np.zeros((1, 1, 256), dtype=np.int64), criterion, False, [])
