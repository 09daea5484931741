"""The type of the table changes no model, and the order of its columns is that of fit, in every estimator."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

import permissible as pm

ROWS = 48
RNG = np.random.default_rng(5)
X = RNG.integers(0, 5, (ROWS, 3))
CODES = (X[:, 0] + RNG.integers(0, 3, ROWS) > 3).astype(int)
ESTIMATORS = {
    "rules": lambda **more: pm.ULSClassifier(n_rounds=4, max_literals=2, early_stopping=False, **more),
    "columns": lambda **more: pm.ULSClassifier(n_rounds=4, learner="column", early_stopping=False, **more),
    "tree": lambda **more: pm.UDTClassifier(max_leaf_nodes=4, **more),
    "boundary, rules": lambda **more: pm.BoundaryClassifier(learner="rule", n_rounds=5, **more),
    "boundary": lambda **more: pm.BoundaryClassifier(**more),
    "boosting": lambda **more: pm.MCBoostClassifier(n_rounds=4, **{"learner": "linear", **more}),
}
every_estimator = pytest.mark.parametrize("make", ESTIMATORS.values(), ids=ESTIMATORS)

COLUMNS = {name: X[:, j] for j, name in enumerate(("b", "a", "c"))}
BARE = {
    **{f"numpy {kind}": X.astype(kind) for kind in ("i1", "u8", ">i2", "f2", "f4", ">f8", np.longdouble, object)},
    "Fortran": np.asfortranarray(X, dtype=float),
    "strided": np.repeat(X.astype(float), 2, axis=1)[:, ::2],
    "masked nowhere": np.ma.masked_array(X),
    "list": X.tolist(),
    "pandas without names": pd.DataFrame(X),
    "pandas sparse": pd.DataFrame.sparse.from_spmatrix(scipy.sparse.csr_matrix(X)),
}
NAMED = {
    "mapping": COLUMNS,
    "mapping of series": {name: pl.Series(values) for name, values in COLUMNS.items()},
    "pandas": pd.DataFrame(COLUMNS),
    "pandas nullable": pd.DataFrame(COLUMNS).astype("Int16"),
    "pandas sparse": pd.DataFrame(COLUMNS).astype(pd.SparseDtype("i8", 0)),
    "polars": pl.DataFrame(COLUMNS),
    "polars lazy": pl.LazyFrame(COLUMNS),
    "polars Int128": pl.DataFrame(COLUMNS).cast(pl.Int128),
    "polars decimal": pl.DataFrame(COLUMNS).cast(pl.Decimal(9, 2)),
    "arrow": pa.table(COLUMNS),
    "record batch": pa.RecordBatch.from_pydict({name: pa.array(values) for name, values in COLUMNS.items()}),
}


def selected(table, names):
    if isinstance(table, dict):
        return {name: table[name] for name in names}
    return table[names] if isinstance(table, pd.DataFrame) else table.select(names)


@every_estimator
def test_the_type_of_the_table_changes_no_model(make):
    plain = make().fit(X.astype(float), CODES).predict_proba(X.astype(float))
    named = make().fit(NAMED["pandas"], CODES)
    for tables in (BARE, NAMED):
        for name, table in tables.items():
            model = make().fit(table, CODES)
            assert hasattr(model, "feature_names_in_") == (tables is NAMED), name
            np.testing.assert_allclose(model.predict_proba(table), plain, rtol=0, atol=1e-12, err_msg=name)
            if tables is NAMED:
                np.testing.assert_allclose(named.predict_proba(table), plain, rtol=0, atol=1e-12, err_msg=name)


def sparse_forms():
    """The same matrix in every format; once with each entry in two halves, once with the columns of a row backwards."""
    plain = scipy.sparse.csr_matrix(X.astype(float))
    for kind in ("csr", "csc", "coo", "dok", "lil", "dia", "bsr"):
        yield kind, plain.asformat(kind)
    yield "array", scipy.sparse.csr_array(X)
    for kind in ("i1", "u8", "f4", np.longdouble):
        yield str(np.dtype(kind)), scipy.sparse.csr_matrix(X.astype(kind))
    halves = (np.repeat(plain.data / 2, 2), np.repeat(plain.indices, 2), 2 * plain.indptr)
    yield "halves", scipy.sparse.csr_matrix(halves, shape=X.shape)
    order = np.concatenate([np.arange(a, b)[::-1] for a, b in zip(plain.indptr[:-1], plain.indptr[1:], strict=True)])
    yield "backwards", scipy.sparse.csr_matrix((plain.data[order], plain.indices[order], plain.indptr), shape=X.shape)


@pytest.mark.parametrize("make", [ESTIMATORS["columns"], ESTIMATORS["boundary"]], ids=["columns", "boundary"])
def test_every_sparse_matrix_gives_the_model_of_the_dense_one(make):
    dense = make().fit(X.astype(float), CODES)
    for name, table in sparse_forms():
        entries = table.nnz
        model = make().fit(table, CODES)
        for given in (table, X):
            found, expected = model.predict_proba(given), dense.predict_proba(X)
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8, err_msg=name)
        assert table.nnz == entries


@every_estimator
@pytest.mark.parametrize("name", NAMED)
def test_columns_in_another_order_are_refused_and_can_be_selected(make, name):
    table = NAMED[name]
    model = make().fit(table, CODES)
    assert model.feature_names_in_.tolist() == ["b", "a", "c"]
    turned = selected(table, ["a", "c", "b"])
    for predict in (model.predict, model.predict_proba):
        with pytest.raises(
            ValueError, match=r"same order as they were in fit.\nSelect them with X\[model.feature_names_in_\]"
        ):
            predict(turned)
    again = selected(turned, model.feature_names_in_.tolist())
    np.testing.assert_array_equal(model.predict_proba(again), model.predict_proba(table))
    with pytest.raises(ValueError, match="yet now missing:\n- c"):
        model.predict(selected(table, ["b", "a"]))
    with pytest.raises(ValueError, match="unseen at fit time:\n- d"):
        model.predict({**COLUMNS, "d": CODES})


@every_estimator
def test_names_on_one_side_only_are_warned_about(make):
    named, bare = make().fit(NAMED["arrow"], CODES), make().fit(X, CODES)
    for table in (X, X.tolist(), pd.DataFrame(X)):
        with pytest.warns(UserWarning, match="X does not have valid feature names"):
            named.predict(table)
    for table in NAMED.values():
        with pytest.warns(UserWarning, match="X has feature names, but"):
            bare.predict(table)


def test_a_file_finds_columns_by_name_in_any_order(tmp_path):
    from permissible.cli.main import main

    frame = pd.DataFrame({**COLUMNS, "y": CODES})
    model = ESTIMATORS["rules"]().fit(frame[["b", "a", "c"]], CODES)
    pm.save(model, tmp_path / "model.json")
    frame[["y", "c", "b", "a"]].to_csv(tmp_path / "turned.csv", index=False)
    paths = [str(tmp_path / name) for name in ("model.json", "turned.csv", "out.csv")]
    assert main(["predict", *paths[:2], "-o", paths[2]]) == 0
    found = pd.read_csv(paths[2])
    assert found.iloc[:, 0].tolist() == model.predict(frame[["b", "a", "c"]]).tolist()
