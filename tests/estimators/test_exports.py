"""SQL, ONNX and Python give the labels and probabilities of the estimator: every kind of model, decision and data set."""

import csv
import os
import sqlite3
import warnings
from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np
import onnxruntime as ort
import pandas as pd
import pytest

import permissible as pm
from permissible import losses
from permissible.estimators.classifier import schema_of, table_of
from permissible.models.kinds.one_versus_rest import OneVersusRest
from permissible.table.match import UnseenCategoryWarning
from tests.estimators.files.test_save_load import CASES, mixed
from tests.models.random_models import rows_of

NAMES = [name for name, *_ in CASES]
MANY_VECTORS = ("kernel",)  # its SQL is refused: too many support vectors


def frame_of(estimator, X):
    """The rows as a data frame with the names that the exports use."""
    names = schema_of(estimator).names
    return X.reset_index(drop=True) if isinstance(X, pd.DataFrame) else pd.DataFrame(np.asarray(X), columns=names)


def run_sql(estimator, X, engine, **options):
    """Score, probability and decision of each row, from the database."""
    frame = frame_of(estimator, X)
    frame.insert(0, "row number", range(len(frame)))
    query = estimator.to_sql(table="rows of data", dialect=engine, keep=["row number"], **options)
    if engine == "sqlite":
        connection = sqlite3.connect(":memory:")
        frame.to_sql("rows of data", connection, index=False)
        found = pd.read_sql(query, connection)
    else:
        connection = duckdb.connect()
        connection.register("rows of data", frame)
        found = connection.execute(query).df()
    connection.close()
    return found.sort_values("row number").reset_index(drop=True)


def clear(proba):
    """Rows whose label does not hang on the last bit of a probability."""
    ranked = np.sort(proba, axis=1)
    return ranked[:, -1] - ranked[:, -2] > 1e-9


@pytest.mark.parametrize("engine", ["sqlite", "duckdb"])
@pytest.mark.parametrize("name", [name for name in NAMES if name not in MANY_VECTORS])
def test_sql_agrees_with_the_estimator(name, engine):
    _, estimator, X = CASES[NAMES.index(name)]
    X = X[:80]
    found, proba = run_sql(estimator, X, engine), estimator.predict_proba(X)
    if "probability" in found:
        np.testing.assert_allclose(found["probability"], proba[:, 1], rtol=1e-9, atol=1e-12)
    else:
        columns = [f"probability_{k}" for k in range(proba.shape[1])]
        np.testing.assert_allclose(found[columns], proba, rtol=1e-9, atol=1e-12)
    expected = estimator.predict(X)
    said = found["decision"].to_numpy().astype(expected.dtype)
    assert (said == expected)[clear(proba)].all()


@pytest.mark.parametrize("name", NAMES)
def test_python_agrees_with_the_estimator(name):
    _, estimator, X = CASES[NAMES.index(name)]
    X = X[:60]
    space: dict = {}
    exec(estimator.to_python(), space)
    proba, rows = estimator.predict_proba(X), rows_of(table_of(estimator, X))
    np.testing.assert_allclose([space["probabilities"](row) for row in rows], proba, rtol=1e-9, atol=1e-12)
    said = np.array([space["decide"](row) for row in rows])
    assert (said == estimator.predict(X))[clear(proba)].all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", NAMES)
def test_onnx_agrees_with_the_estimator(name, dtype):
    _, estimator, X = CASES[NAMES.index(name)]
    X = X[:60]
    label, proba, _ = run_onnx(estimator.to_onnx(dtype=dtype), estimator, X, dtype)
    expected = estimator.predict_proba(X)
    np.testing.assert_allclose(proba, expected, atol=1e-9 if dtype == "float64" else 2e-4)
    sure = np.sort(expected, axis=1)[:, -1] - np.sort(expected, axis=1)[:, -2] > 1e-3
    assert (label.astype(str) == estimator.predict(X).astype(str))[sure].all()


def run_onnx(graph, estimator, X, dtype):
    session = ort.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
    inputs = [item.name for item in session.get_inputs()]
    schema, frame = schema_of(estimator), frame_of(estimator, X)
    if inputs == ["X"] and all(column.kind != "categorical" for column in schema.columns):
        return session.run(None, {"X": frame.to_numpy().astype(dtype)})
    feed = {}
    for name, column in zip(inputs, schema.columns, strict=True):
        values = frame[column.name]
        if column.kind == "categorical":
            feed[name] = np.array([["" if pd.isna(value) else value] for value in values], dtype=object)
        else:
            feed[name] = values.to_numpy().astype(dtype)[:, None]
    return session.run(None, feed)


DECISIONS = [
    pm.Hard(),
    pm.Weighted(0.2),
    pm.Reject(0.3),
    pm.Boundaries([0.2, 0.5, 0.9]),
    pm.CostMatrix([[0, 1], [4, 0]]),
    pm.CostMatrix([[0, 1], [4, 0]], reject_cost=0.5),
]


@pytest.mark.parametrize("decision", DECISIONS, ids=lambda decision: repr(decision)[:40])
@pytest.mark.parametrize("loss", ["logistic", "matsushita", "power"])
def test_every_decision_is_written_out(decision, loss):
    X, y = mixed()
    model = pm.ULSClassifier(loss=loss, n_rounds=6, random_state=0).fit(X, y)
    actions = np.asarray(decision.decide(model.predict_proba(X)))
    labels = list(range(4)) if isinstance(decision, pm.Boundaries) else [*model.classes_.tolist(), None]
    expected = [labels[action] for action in actions]
    if loss == "power" and isinstance(decision, pm.CostMatrix):
        with pytest.raises(ValueError, match="a loss whose probability has a formula"):
            model.to_sql(decision=decision)
        return
    for engine in ("sqlite", "duckdb"):
        found = run_sql(model, X, engine, decision=decision)["decision"].tolist()
        said = [None if pd.isna(value) else type(labels[0])(value) for value in found]
        assert said == expected
    space: dict = {}
    exec(model.to_python(decision=decision), space)
    assert [space["decide"](row) for row in rows_of(table_of(model, X))] == expected


def test_a_loss_without_a_formula_still_scores_and_decides():
    X, y = mixed()
    own = losses.from_phi(lambda p: (p * (1 - p)) ** 0.7, name="mine")
    model = pm.ULSClassifier(loss=own, n_rounds=5, random_state=0).fit(X, y)
    found = run_sql(model, X, "duckdb")
    assert "probability" not in found
    np.testing.assert_allclose(found["score"], model.decision_function(X), rtol=1e-12)
    assert (found["decision"].to_numpy().astype(bool) == model.predict(X)).all()


def test_the_notebook_shows_the_rules_escaped():
    X, y = mixed()
    evil = X.rename(columns={"age": "<script>alert(1)</script>"})
    model = pm.ULSClassifier(n_rounds=4, random_state=0).fit(evil, y)
    shown = model._repr_html_()
    assert "<script>alert" not in shown
    assert "&lt;script&gt;alert(1)" in shown
    assert "sk-" in shown  # scikit-learn's diagram is still there
    assert "sk-" in pm.ULSClassifier()._repr_html_()


def test_an_unfitted_estimator_says_so():
    for ask in ("to_sql", "to_python", "to_onnx", "to_text", "to_html"):
        with pytest.raises(ValueError, match="not fitted yet"):
            getattr(pm.ULSClassifier(), ask)()


def test_a_kernel_model_with_many_support_vectors_is_refused_as_sql():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(400, 2))
    y = (generator.random(400) < 0.5).astype(int)
    model = pm.BoundaryClassifier(kernel="rbf", alpha=1e-3).fit(X, y)
    with pytest.raises(ValueError, match="at most 200 support vectors"):
        model.to_sql()


SOME_SETS = ("titanic", "heart-cleveland", "vote", "labor", "iris", "sick", "breast-cancer", "zoo")
LARGEST = 6000


def agreement_on(name, folder):
    """Fit, save and load, SQL in both databases, Python and ONNX on one data set of the folder."""
    from papers import datasets

    data = datasets.load(name, network=False)
    rows = (
        np.arange(data.n_rows)
        if data.n_rows <= LARGEST
        else np.random.default_rng(0).choice(data.n_rows, LARGEST, replace=False)
    )
    columns, y = {key: column[rows] for key, column in data.columns.items()}, data.target[rows].astype(str)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # separable sets say so
        model = pm.ULSClassifier(n_rounds=8, max_literals=2, random_state=0).fit(columns, y)
    asked = {key: column[:300] for key, column in columns.items()}
    proba = model.predict_proba(asked)
    pm.save(model, folder / "m.json")
    np.testing.assert_array_equal(pm.load(folder / "m.json").predict_proba(asked), proba)
    frame = pd.DataFrame(asked)
    for engine in ("sqlite", "duckdb"):
        found = run_sql(model, frame, engine)
        names = ["probability"] if "probability" in found else [f"probability_{k}" for k in range(proba.shape[1])]
        np.testing.assert_allclose(found[names], proba[:, -len(names) :], rtol=1e-9, atol=1e-12)
    space: dict = {}
    exec(model.to_python(), space)
    rows_asked = rows_of(table_of(model, asked))
    np.testing.assert_allclose([space["probabilities"](row) for row in rows_asked], proba, rtol=1e-9, atol=1e-12)
    _, shares, _ = run_onnx(model.to_onnx(dtype="float64"), model, frame, "float64")
    np.testing.assert_allclose(shares, proba, atol=1e-9)


@pytest.mark.data
@pytest.mark.skipif(not os.environ.get("PERMISSIBLE_DATA"), reason="needs the data folder (PERMISSIBLE_DATA)")
@pytest.mark.parametrize("name", SOME_SETS)
def test_everything_agrees_on_real_data(name, tmp_path):
    agreement_on(name, tmp_path)


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.skipif(not os.environ.get("PERMISSIBLE_DATA"), reason="needs the data folder (PERMISSIBLE_DATA)")
def test_everything_agrees_on_every_data_set_of_the_folder(tmp_path):
    with open(Path(os.environ["PERMISSIBLE_DATA"]) / "index.csv", newline="") as file:
        names = sorted({row["name"] for row in csv.DictReader(file)})
    for name in names:
        agreement_on(name, tmp_path)


def test_each_class_keeps_its_own_loss_in_every_export():
    # loss="auto" and "F*" choose a loss for each class; the exports once took the first class's for all
    generator = np.random.default_rng(4)
    X = generator.normal(size=(90, 2))
    model = pm.ULSClassifier(n_rounds=4, random_state=0).fit(X, np.digitize(X[:, 0] + X[:, 1], [-0.5, 0.5]))
    chosen = [losses.get("squared"), losses.get("matsushita"), losses.get("logistic")]
    parts = [replace(part, loss=loss) for part, loss in zip(model.model_.models, chosen, strict=True)]
    model.model_ = OneVersusRest(tuple(parts))
    each = np.column_stack([loss.probability(s) for loss, s in zip(chosen, model.decision_function(X).T, strict=True)])
    expected = each / each.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X), expected)
    names = [f"probability_{k}" for k in range(3)]
    for engine in ("sqlite", "duckdb"):
        found = run_sql(model, X, engine)
        np.testing.assert_allclose(found[names], expected, rtol=1e-9)
        assert (found["decision"] == expected.argmax(axis=1)).all()
    space: dict = {}
    exec(model.to_python(), space)
    rows = rows_of(table_of(model, X))
    np.testing.assert_allclose([space["probabilities"](row) for row in rows], expected, rtol=1e-9)
    label, proba, _ = run_onnx(model.to_onnx(dtype="float64"), model, X, "float64")
    np.testing.assert_allclose(proba, expected, rtol=1e-9)
    assert (label == expected.argmax(axis=1)).all()
    assert all(
        words in model.to_text() for words in ("0: 0.5 * (1.0 + (score))", "1: (1 + score / sqrt(1 + score^2)) / 2")
    )
    model.model_ = OneVersusRest((*parts[:2], replace(parts[2], loss=losses.get("power"))))
    for call in (model.to_sql, model.to_python, model.to_onnx):
        with pytest.raises(ValueError, match="a loss whose probability has a formula"):
            call()


@pytest.mark.parametrize(
    "make",
    [
        lambda: pm.BoundaryClassifier(),
        lambda: pm.BoundaryClassifier(kernel="rbf", gamma=0.1, alpha=0.1),
        lambda: pm.ULSClassifier(learner="column", n_rounds=5),
    ],
    ids=["linear", "kernel", "columns"],
)
def test_truth_values_are_numbers_in_linear_and_kernel_queries(make, tmp_path):
    X, y = mixed(n_rows=60)
    X = X[["smoker"]].assign(age=X["age"].fillna(50.0) / 10, old=X["age"] > 55)
    fitted = make().fit(X, y)
    pm.save(fitted, tmp_path / "model.json")
    for model in (fitted, pm.load(tmp_path / "model.json")):
        assert [column.kind for column in schema_of(model).columns] == ["boolean", "numeric", "boolean"]
        for engine in ("sqlite", "duckdb"):
            np.testing.assert_allclose(
                run_sql(model, X, engine)["probability"], model.predict_proba(X)[:, 1], rtol=1e-9
            )


def test_a_row_without_a_needed_value_has_no_answer():
    X, y = mixed(n_rows=60)
    X = X[["age"]].fillna(50.0) / 10
    model = pm.BoundaryClassifier().fit(X, y)
    for engine in ("sqlite", "duckdb"):
        found = run_sql(model, X.assign(age=np.nan), engine)
        assert found[["score", "probability", "decision"]].isna().all().all()
    space: dict = {}
    exec(model.to_python(), space)
    for missing in (None, np.nan):
        with pytest.raises(ValueError, match="`row` must hold a number in 'age', got"):
            space["decide"]({"age": missing})


def test_numeric_categories_are_numbers_in_graphs_and_nan_is_missing_in_databases():
    generator = np.random.default_rng(5)
    level = generator.choice([1.5, 2.25, -3.0, np.nan], 200)
    X = pd.DataFrame({"level": level, "x": generator.normal(size=200)})
    y = (np.isin(level, [1.5, -3.0]) | np.isnan(level)) ^ (generator.random(200) < 0.1)
    for make in (
        pm.UDTClassifier(max_leaf_nodes=6, categorical_features=["level"]),
        pm.ULSClassifier(n_rounds=6, categorical_features=["level"]),
    ):
        model = make.fit(X, y)
        rows = X.head(40).assign(level=np.tile([1.5, 2.25, -3.0, np.nan, 8.0], 8))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnseenCategoryWarning)
            expected, labels = model.predict_proba(rows)[:, 1], model.predict(rows)
        graph = model.to_onnx(dtype="float64")
        assert graph.graph.input[0].type.tensor_type.elem_type == 11  # double
        feed = {name: rows[[name]].to_numpy() for name in ("level", "x")}
        label, proba, _ = ort.InferenceSession(graph.SerializeToString()).run(None, feed)
        np.testing.assert_allclose(proba[:, 1], expected, rtol=1e-9)
        assert (label == labels.astype(str)).all()
        connection = duckdb.connect()
        connection.execute(
            "CREATE TABLE rows (number INTEGER, level DOUBLE, x DOUBLE)"
        )  # a data frame's NaN would become NULL
        connection.executemany(
            "INSERT INTO rows VALUES (?, ?, ?)", [(i, *row) for i, row in enumerate(rows.to_numpy().tolist())]
        )
        found = (
            connection.execute(model.to_sql(table="rows", dialect="duckdb", keep=["number"])).df().sort_values("number")
        )
        np.testing.assert_allclose(found["probability"], expected, rtol=1e-9)


def test_graphs_in_double_precision_tell_times_in_seconds_apart():
    seconds = 1.7e9 + np.arange(400.0).reshape(-1, 1)  # single precision holds every 128th of them
    y = (np.arange(400) // 37) % 2
    model = pm.UDTClassifier(max_leaf_nodes=None).fit(seconds, y)
    label, _, _ = run_onnx(model.to_onnx(dtype="float64"), model, seconds, "float64")
    assert (label == model.predict(seconds)).all()
    assert "seconds since 1970" in pm.UDTClassifier.to_onnx.__doc__
