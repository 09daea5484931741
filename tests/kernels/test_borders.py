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


def rows_of_trees(blocks, bins=BINS):
    layout = np.column_stack([NUMERIC, bins, NUMERIC, NUMERIC]).astype(np.int32)
    target, names = (np.arange(N) % 2).astype(np.uint16), np.zeros(0, dtype=np.uint64)
    return mcboost.tree_rows(blocks, layout, names, target, 1.0 - np.eye(2), True, np.ones(N), 0, 1)


def tree(blocks):
    target = (np.arange(N) % 2).astype(np.uint16)
    columns = trees.Columns(BINS, NUMERIC, np.zeros(2, dtype=np.int8))
    finder = trees.SplitFinder(columns, 2, 1.0, False, trees.Impurity("logistic"), trees.Limits(4, 0))
    return finder.grow([trees.Rows(blocks, columns, target, None, 2)])


def histograms(blocks):
    target = (np.arange(N) % 2).astype(np.uint16)
    nodes = np.zeros(N, dtype=np.int32)
    columns = trees.Columns(BINS, NUMERIC, np.zeros(2, dtype=np.int8))
    return trees.Rows(blocks, columns, target, None, 2).sums(nodes, np.zeros(1, dtype=np.int32), 1)


KERNELS = [rows_of_trees, tree, histograms]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(("row", "column", "code"), [(0, 0, 4), (N - 1, 0, 253), (N - 3, 1, 3), (17, 1, 200)])
def test_a_code_beyond_its_bins_is_refused(kernel, blocks, row, column, code):
    kernel(blocks)
    blocks[0, row, column] = code
    with pytest.raises(ValueError, match="beyond the"):
        kernel(blocks)


def test_bins_out_of_range_are_refused(blocks):
    for bins in (0, 256, -1, 2**31 - 1):
        with pytest.raises(ValueError, match=r"at most 255 bins|beyond the"):
            rows_of_trees(blocks, np.array([bins, 3], dtype=np.int32))
        layout = np.array([[0, bins if bins else -5, 1]], dtype=np.int32)
        criterion = boosting.Criterion(False, 0.0, 1.0, 1.0, 0, 0)
        with pytest.raises(ValueError, match="0 to 255 bins"):
            boosting.best_literals(layout, np.zeros((1, 1, 256), dtype=np.int64), criterion, False, [])
