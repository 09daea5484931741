"""The compiled growth of trees against its readable twin."""

import itertools
import mmap
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from permissible.kernels._core import trees
from permissible.kernels.reference import trees as reference
from permissible.kernels.reference.trees import PartitionTask, grow_partition

LN2 = np.log(2)
IMPURITIES = {
    0: (0.0, lambda p: -(p * np.log(p) + (1 - p) * np.log1p(-p)) / LN2),
    1: (0.0, lambda p: 2 * np.sqrt(p * (1 - p))),
    2: (0.0, lambda p: 4 * p * (1 - p)),
    3: (0.7, lambda p: (4 * p * (1 - p)) ** 0.7),
    4: (5.0, lambda p: 1 - np.log(np.cosh(2.5 * (p - 0.5))) / np.log(np.cosh(1.25))),
}

NAMES = ["logistic", "matsushita", "squared", "power", "logcosh", "user"]


def grow(
    codes,
    target,
    n_classes,
    *,
    weight=None,
    categorical=None,
    monotone=None,
    phi=0,
    function=None,
    max_leaf_nodes=8,
    max_depth=None,
    min_samples=1.0,
    min_gain=0.0,
    threads=1,
    parameter=None,
    n_codes=None,
    cuts=(),
):
    n_columns = codes.shape[1]
    if n_codes is None:
        n_codes = [int(np.max(codes[:, j][codes[:, j] != 255], initial=0)) + 1 for j in range(n_columns)]
    columns = trees.Columns(
        np.array(n_codes, dtype=np.int32),
        np.zeros(n_columns, np.uint8) if categorical is None else categorical.astype(np.uint8),
        np.zeros(n_columns, np.int8) if monotone is None else monotone.astype(np.int8),
    )
    parameter = IMPURITIES.get(phi, (0.0,))[0] if parameter is None else parameter
    impurity = trees.Impurity(NAMES[phi], parameter, function)
    limits = trees.Limits(max_leaf_nodes, max_depth, min_samples, min_gain=min_gain)
    given = [(codes, target.astype(np.uint16), weight)]
    if len(cuts):
        weights = [None] * (len(cuts) + 1) if weight is None else np.split(weight, cuts)
        given = list(zip(np.split(codes, cuts), np.split(given[0][1], cuts), weights, strict=True))
    blocks = [trees.Rows(blocks_of(of), columns, label, some, n_classes) for of, label, some in given]
    finder = trees.SplitFinder(columns, n_classes, 1.0, False, impurity, limits, threads)
    return finder.grow(blocks, True)


def assert_same(one, other):
    names = [name for name in dir(trees.Tree) if not name.startswith("_")]
    assert len(names) == 12
    for name in names:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def blocks_of(codes):
    blocks = np.zeros(((codes.shape[1] + 7) // 8, len(codes), 8), dtype=np.uint8)
    for j in range(codes.shape[1]):
        blocks[j // 8, :, j % 8] = codes[:, j]
    return blocks


@st.composite
def node_data(draw):
    """Rows with ties, constant and missing columns, categories, several classes and integer weights."""
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    n_rows = draw(st.integers(1, 60))
    n_columns = draw(st.integers(1, 11))
    n_classes = draw(st.sampled_from([2, 2, 3, 4]))
    codes = rng.integers(0, draw(st.sampled_from([1, 2, 5, 254])) + 1, size=(n_rows, n_columns)).astype(np.uint8)
    codes[rng.random(codes.shape) < draw(st.sampled_from([0.0, 0.2]))] = 255
    if draw(st.booleans()):
        codes[:, 0] = 255
    target = rng.integers(0, n_classes, size=n_rows)
    weight = rng.integers(0, 4, size=n_rows).astype(np.int32)
    if not weight.any():
        weight[0] = 1
    categorical = rng.random(n_columns) < 0.3
    monotone = (
        np.where(categorical, 0, rng.integers(-1, 2, size=n_columns))
        if n_classes == 2 and draw(st.booleans())
        else np.zeros(n_columns, dtype=int)
    )
    return codes, target, n_classes, weight, categorical, monotone


@settings(max_examples=150, deadline=None)
@given(node_data(), st.sampled_from(sorted(IMPURITIES)), st.sampled_from([(8, None, 1), (None, 3, 2), (4, 2, 1)]))
def test_the_compiled_tree_is_the_twin_s_tree(data, phi, limits):
    codes, target, n_classes, weight, categorical, monotone = data
    max_leaf_nodes, max_depth, min_samples = limits
    ours = grow(
        codes,
        target,
        n_classes,
        weight=weight,
        categorical=categorical,
        monotone=monotone,
        phi=phi,
        max_leaf_nodes=-1 if max_leaf_nodes is None else max_leaf_nodes,
        max_depth=-1 if max_depth is None else max_depth,
        min_samples=float(min_samples),
    )
    growth = PartitionTask(
        codes,
        target,
        weight.astype(float),
        n_classes,
        IMPURITIES[phi][1],
        categorical,
        monotone,
        max_depth,
        min_samples,
    )
    leaf, gains = grow_partition(growth, max_leaf_nodes)
    np.testing.assert_allclose(ours.gain, gains, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(ours.leaf_of_row, leaf)


@settings(max_examples=60, deadline=None)
@given(node_data(), st.lists(st.integers(0, 60), max_size=5), st.booleans())
def test_rows_in_blocks_give_the_tree_of_one_piece(data, cuts, weighted):
    codes, target, n_classes, weight, categorical, monotone = data
    given = {"weight": weight if weighted else None, "categorical": categorical, "monotone": monotone}
    given["n_codes"] = [int(np.max(codes[:, j][codes[:, j] != 255], initial=0)) + 1 for j in range(codes.shape[1])]
    places = sorted(min(cut, len(codes)) for cut in cuts)
    assert_same(grow(codes, target, n_classes, cuts=places, **given), grow(codes, target, n_classes, **given))


@pytest.mark.parametrize("threads", [1, 3])
def test_many_rows_in_blocks_of_a_file_give_the_tree_of_one_piece_and_give_pages_back(tmp_path, threads):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 200, (1_500_000, 9), dtype=np.uint8)  # 24 MB: more than may stay between two visits
    target = (codes[:, 0].astype(int) * codes[:, 1] > 8000).astype(np.uint16)
    cuts = [*range(0, 1_500_001, 60_000)]
    written = [blocks_of(codes[a:b]) for a, b in itertools.pairwise(cuts)]
    np.concatenate([of.ravel() for of in written]).tofile(tmp_path / "codes")
    with (tmp_path / "codes").open("rb") as file:
        pages = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    mapped = np.frombuffer(pages, dtype=np.uint8)
    columns = trees.Columns(np.full(9, 200, np.int32), np.zeros(9, np.uint8), np.zeros(9, np.int8))
    finder = trees.SplitFinder(columns, 2, 1.0, False, trees.Impurity("logistic"), trees.Limits(40, None), threads)

    def grown(in_file):
        blocks = [
            trees.Rows(mapped[16 * a : 16 * b].reshape(2, -1, 8), columns, target[a:b], None, 2)
            for a, b in itertools.pairwise(cuts)
        ]
        for block in blocks:
            block.mapped = in_file
        return finder.grow(blocks, True)

    whole = [trees.Rows(blocks_of(codes), columns, target, None, 2)]
    wanted = finder.grow(whole, True)
    assert_same(grown(False), wanted)
    assert resident(tmp_path / "codes") >= mapped.size
    assert_same(grown(True), wanted)
    assert resident(tmp_path / "codes") <= 1 << 20


def resident(path):
    """The bytes of a mapped file that are memory of this process."""
    lines = Path("/proc/self/smaps").read_text().splitlines()
    place = next(number for number, line in enumerate(lines) if line.endswith(str(path)))
    return 1024 * next(int(line.split()[1]) for line in lines[place:] if line.startswith("Rss:"))


@settings(max_examples=40, deadline=None)
@given(node_data())
def test_wide_weights_and_counts_give_the_same_tree(data):
    codes, target, n_classes, weight, categorical, monotone = data
    narrow = grow(codes, target, n_classes, weight=weight, categorical=categorical, monotone=monotone)
    wide = grow(codes, target, n_classes, weight=weight.astype(np.int64), categorical=categorical, monotone=monotone)
    assert_same(narrow, wide)


@settings(max_examples=40, deadline=None)
@given(node_data())
def test_a_python_phi_equal_to_gini_gives_gini_s_tree(data):
    codes, target, n_classes, weight, categorical, monotone = data
    kwargs = {"weight": weight, "categorical": categorical, "monotone": monotone}
    compiled = grow(codes, target, n_classes, phi=2, **kwargs)
    called = grow(codes, target, n_classes, phi=5, function=lambda p: 4 * p * (1 - p), **kwargs)
    np.testing.assert_array_equal(compiled.leaf_of_row, called.leaf_of_row)
    np.testing.assert_allclose(compiled.gain, called.gain, rtol=1e-12)


def test_impurities_are_those_of_numpy_at_every_probability():
    for phi, (_, f) in IMPURITIES.items():
        for positive in (1, 7, 1999):
            codes = np.zeros((positive + 2000, 1), dtype=np.uint8)
            target = np.r_[np.ones(positive, int), np.zeros(2000, int)]
            root = grow(codes, target, 2, phi=phi).impurity[0]
            p = positive / (positive + 2000)
            assert root == pytest.approx((positive + 2000) * f(p), rel=2e-15 if phi < 3 else 1e-12)


@pytest.mark.parametrize("n_columns", [3, 28, 40])
def test_any_number_of_threads_grows_the_same_tree(n_columns):
    rng = np.random.default_rng(5)
    codes = rng.integers(0, 200, size=(60_000, n_columns)).astype(np.uint8)
    codes[rng.random(codes.shape) < 0.05] = 255
    target = (codes[:, 0].astype(int) + codes[:, 1] + rng.integers(0, 200, 60_000) > 300).astype(int)
    one = grow(codes, target, 2, max_leaf_nodes=40, threads=1)
    for threads in (2, 3):
        many = grow(codes, target, 2, max_leaf_nodes=40, threads=threads)
        assert_same(one, many)


def test_an_error_in_a_user_s_phi_reaches_the_user():
    def broken(p):
        raise ZeroDivisionError("phi is broken")

    with pytest.raises(ZeroDivisionError, match="phi is broken"):
        grow(np.array([[0], [1]], dtype=np.uint8), np.array([0, 1]), 2, phi=5, function=broken)


def test_a_phi_of_the_wrong_length_is_refused():
    with pytest.raises(ValueError, match="one value for each probability"):
        grow(np.array([[0], [1]], dtype=np.uint8), np.array([0, 1]), 2, phi=5, function=lambda p: np.zeros(len(p) + 1))


def test_sizes_and_dtypes_are_checked_at_the_border():
    with pytest.raises(ValueError, match="below the count of classes"):
        grow(np.zeros((2, 1), dtype=np.uint8), np.array([0, 2]), 2)
    with pytest.raises(TypeError):
        grow(np.zeros((2, 1), dtype=np.uint8), np.array([0, 1]), 2, weight=np.ones(2, dtype=np.float32))


def test_growth_can_be_interrupted():
    """Ctrl-C reaches the user within a second or so, also while the kernel runs."""
    program = """
import os, signal, threading, time
import numpy as np
from permissible.kernels._core import trees
rng = np.random.default_rng(0)
n = 60_000
signal.signal(signal.SIGINT, signal.default_int_handler)  # a process that a shell runs in the background is deaf to it
codes = rng.integers(0, 255, size=(1, n, 8)).astype(np.uint8)
target = rng.integers(0, 2, n).astype(np.uint16)
columns = trees.Columns(np.full(8, 255, np.int32), np.zeros(8, np.uint8), np.zeros(8, np.int8))
finder = trees.SplitFinder(columns, 2, 1.0, False, trees.Impurity("logistic"), trees.Limits(None, None))
threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
begun = time.monotonic()
try:
    for _ in range(200):
        finder.grow([trees.Rows(codes, columns, target, None, 2)])
except KeyboardInterrupt:
    print("interrupted", time.monotonic() - begun < 20)
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
    assert ran.stdout.strip() == "interrupted True", ran.stderr


@settings(max_examples=60, deadline=None)
@given(node_data(), st.integers(0, 2**32 - 1))
def test_rows_move_and_histograms_count_as_the_twins_do(data, seed):
    codes, target, n_classes, weight, _, _ = data
    rng = np.random.default_rng(seed)
    n_rows, n_columns = codes.shape
    blocks = blocks_of(codes)
    n_codes = np.array([int(np.max(c[c != 255], initial=0)) + 1 for c in codes.T], dtype=np.int32)
    before = rng.integers(-1, 4, n_rows).astype(np.int32)
    left = rng.random((2, 256)) < 0.5
    column = rng.integers(0, n_columns, 2).astype(np.int32)
    moved = before.copy()
    splits = np.array([[1, column[0], 3, 4], [3, column[1], 6, 7]], dtype=np.int32)
    trees.move_rows(blocks, moved, splits, np.packbits(left, axis=1, bitorder="little"))
    cuts = {1: (column[0], left[0], 3, 4), 3: (column[1], left[1], 6, 7)}  # a child of the first is cut at once
    np.testing.assert_array_equal(moved, reference.move_rows(codes, before, cuts))
    wanted = np.array([4, 0, 7], dtype=np.int32)
    columns = trees.Columns(n_codes, np.zeros(n_columns, np.uint8), np.zeros(n_columns, np.int8))
    for given_weight in (None, weight.astype(np.int64)):
        rows = trees.Rows(blocks, columns, target.astype(np.uint16), given_weight, n_classes)
        found, counts = rows.sums(moved, wanted, 1)
        for slot, node in enumerate(wanted):
            here = moved == node
            own = np.ones(here.sum(), dtype=np.int64) if given_weight is None else given_weight[here]
            expected = reference.part_histogram(codes[here], target[here], own, n_classes, n_codes)
            np.testing.assert_array_equal(found[slot], expected)
            assert counts[slot] == here.sum()
