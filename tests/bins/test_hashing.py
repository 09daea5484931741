"""One hash for tables, dense matrices and sparse ones."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy import sparse

from permissible.bins.binning import Binning
from permissible.bins.hashing import hash_matrix, row_hashes
from permissible.bins.layout import layout_of
from permissible.table import read
from permissible.table.schema import Schema

VALUES = st.sampled_from([0.0, -0.0, 1.0, -1.0, 1e-300, 2.5, 1e300, float("nan")])


@given(arrays(np.float64, array_shapes(min_dims=2, max_dims=2, max_side=6), elements=VALUES), st.integers(0, 2**40))
def test_a_table_a_dense_and_a_sparse_matrix_of_the_same_numbers_hash_alike(X, seed):
    dense = hash_matrix(X, seed)
    assert np.array_equal(dense, hash_matrix(sparse.csr_array(X), seed))
    assert np.array_equal(dense, hash_matrix(np.asfortranarray(X), seed, n_threads=2))
    assert np.array_equal(dense, row_hashes(read(X), seed))


def test_a_stored_zero_adds_nothing():
    stored = sparse.csr_array((np.array([0.0, 3.0, -0.0]), np.array([0, 1, 0]), np.array([0, 2, 3])), shape=(2, 2))
    assert np.array_equal(hash_matrix(stored), hash_matrix(stored.toarray()))


def test_columns_hash_by_name_and_rows_by_seed():
    X = np.array([[1.0, 2.0], [3.0, 4.0]])
    names = ["a", "b"]
    assert np.array_equal(hash_matrix(X, names=names), hash_matrix(X[:, ::-1], names=names[::-1]))
    assert not np.any(hash_matrix(X, names=names) == hash_matrix(X))
    assert not np.any(hash_matrix(X, 1) == hash_matrix(X, 0))


def test_no_columns_have_an_empty_layout():
    layout = layout_of(Binning(Schema(()), ()))
    assert layout.by_column.shape == (0, 3)
    assert len(layout.n_codes) == 0
