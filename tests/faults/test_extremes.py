"""Extreme but legal input: an estimator fits it and answers with finite numbers, or refuses it in one sentence. Nothing else."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

import permissible as pm
from tests.faults.subjects import ESTIMATORS, HOUSE, TAKES_MISSING

BINARY = tuple(kind for kind in ESTIMATORS if kind.startswith("boundary"))


def fits_or_refuses(kind, X, y, **given):
    """Fit: finite scores, probabilities that are ones; or one sentence. The only warning allowed is one in plain words."""
    estimator = ESTIMATORS[kind]()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            estimator.fit(X, y, **given)
        except (ValueError, TypeError) as refusal:
            message = str(refusal)
            assert HOUSE.fullmatch(message), message
            assert "\n" not in message
            return "refused"
        probability = estimator.predict_proba(X)
        assert np.isfinite(estimator.decision_function(X)).all()
        assert ((probability >= 0) & (probability <= 1)).all()
        np.testing.assert_allclose(probability.sum(axis=1), 1, atol=1e-6)
        assert set(estimator.predict(X)) <= set(np.asarray(y))
    return "fitted"


def numbers(n_rows=60, n_columns=3, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n_rows, n_columns))
    return X, (X[:, 0] + 0.5 * generator.normal(size=n_rows) > 0).astype(int)


def _scaled(factor):
    X, y = numbers()
    return X * factor, y


def _one(column):
    X, y = numbers()
    X[:, 1] = column
    return X, y


def _distinct(count):
    X, _ = numbers(1100)
    X[:, 1] = np.arange(1100) % count
    return X, (X[:, 1] > count / 2).astype(int) ^ (np.arange(1100) % 7 == 0)


def _mixed_scales():
    X, y = numbers()
    return X * np.array([1e300, 1e-300, 1.0]), y


def _tiny_and_huge_together():
    X, y = numbers()
    X[:, 1] = np.where(np.arange(len(y)) % 2, 1e300, 1e-300)
    X[:, 2] = np.where(np.arange(len(y)) % 3, -1e308, 1e308)
    return X, y


TABLES = {
    "one row per class": (np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([0, 1])),
    "one row per class, equal rows": (np.zeros((2, 2)), np.array([0, 1])),
    "one column": (numbers()[0][:, :1], numbers()[1]),
    "one constant column": (np.ones((20, 1)), np.arange(20) % 2),
    "constant columns": _one(3.0),
    "only constant columns": (np.full((20, 4), 7.0), np.arange(20) % 2),
    "duplicate columns": (np.repeat(numbers()[0][:, :1], 8, axis=1), numbers()[1]),
    "duplicate rows of both classes": (np.zeros((40, 2)), np.arange(40) % 2),
    "values of 1e300": _scaled(1e300),
    "values of 1e-300": _scaled(1e-300),
    "subnormal values": _scaled(1e-315),
    "the largest float64": _one(np.finfo(float).max),
    "scales 600 orders apart": _mixed_scales(),
    "tiny and huge in one column": _tiny_and_huge_together(),
    "integers beyond 2^53": ((2**60 + np.arange(120).reshape(60, 2) * 2**20), np.arange(60) % 2),
    "unsigned integers beyond 2^63": (
        (np.uint64(2**63) + np.arange(120, dtype=np.uint64).reshape(60, 2) * np.uint64(2**40)),
        np.arange(60) // 30,
    ),
    "truth values": (numbers()[0] > 0, numbers()[1]),
    "float32": (numbers()[0].astype(np.float32), numbers()[1]),
    "float16": (numbers()[0].astype(np.float16), numbers()[1]),
    "minus zero": (np.where(numbers()[0] > 0, 0.0, -0.0), numbers()[1]),
    "Fortran order": (np.asfortranarray(numbers()[0]), numbers()[1]),
    "every second row of a larger table": (numbers(120)[0][::2], numbers(120)[1][::2]),
    "columns backwards": (numbers()[0][:, ::-1], numbers()[1]),
    "read-only": (numbers()[0], numbers()[1]),
    "255 distinct values": _distinct(255),
    "256 distinct values": _distinct(256),
    "257 distinct values": _distinct(257),
    "one row against a thousand": (numbers(1001)[0], np.r_[1, np.zeros(1000, dtype=int)]),
    "more columns than rows": (numbers(10, 50)[0], np.arange(10) % 2),
}
TABLES["read-only"][0].setflags(write=False)


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_extreme_tables_are_fitted_or_refused(kind, name):
    X, y = TABLES[name]
    assert fits_or_refuses(kind, X, y) in ("fitted", "refused")


# Nothing of this list is strange enough to be refused by anyone who bins or scales.
FITTED = (
    "one row per class",
    "one column",
    "constant columns",
    "duplicate columns",
    "truth values",
    "float32",
    "Fortran order",
    "every second row of a larger table",
    "columns backwards",
    "read-only",
    "255 distinct values",
    "256 distinct values",
    "257 distinct values",
    "one row against a thousand",
    "more columns than rows",
    "integers beyond 2^53",
)


@pytest.mark.parametrize("name", FITTED)
@pytest.mark.parametrize("kind", [kind for kind in ESTIMATORS if kind != "boundary-cv"])
def test_ordinary_oddities_are_fitted(kind, name):
    X, y = TABLES[name]
    assert fits_or_refuses(kind, X, y) == "fitted"


WEIGHTS = {
    "subnormal": np.full(60, 5e-324),
    "subnormal beside ordinary": np.where(np.arange(60) % 2, 1.0, 5e-324),
    "15 orders of magnitude": np.geomspace(1e-8, 1e7, 60),
    "300 orders of magnitude": np.geomspace(1e-150, 1e150, 60),
    "huge": np.full(60, 1e300),
    "one row carries nearly all": np.r_[1e12, np.ones(59)],
    "mostly zero": np.where(np.arange(60) % 7, 0.0, 1.0),
    "integers beyond 2^53": np.full(60, 2**60),
    "truth values": np.arange(60) % 2 == np.arange(60) // 30 % 2,
}


@pytest.mark.parametrize("name", WEIGHTS)
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_extreme_weights_are_fitted_or_refused(kind, name):
    X, y = numbers()
    assert fits_or_refuses(kind, X, y, sample_weight=WEIGHTS[name]) in ("fitted", "refused")


@pytest.mark.parametrize("kind", [kind for kind in ESTIMATORS if kind not in BINARY])
def test_26_classes_are_fitted(kind):
    X, _ = numbers(260)
    y = np.array([*"abcdefghijklmnopqrstuvwxyz"])[np.arange(260) % 26]
    assert fits_or_refuses(kind, X, y) == "fitted"


@pytest.mark.parametrize("kind", TAKES_MISSING)
@pytest.mark.parametrize(
    "name", ["all missing", "one missing column", "one category", "categories only", "one value, else missing"]
)
def test_odd_columns_of_missing_values_and_categories_are_fitted(kind, name):
    X, y = numbers()
    column = np.full(60, np.nan)
    tables = {
        "all missing": np.full((60, 2), np.nan),
        "one missing column": np.c_[X, column],
        "one category": pd.DataFrame({"a": X[:, 0], "b": pd.Series(["red"] * 60, dtype="category")}),
        "categories only": pd.DataFrame({"b": pd.Series(np.array([*"rgb"])[np.arange(60) % 3], dtype="category")}),
        "one value, else missing": np.c_[X[:, 0], np.where(np.arange(60) % 2, np.nan, 1.0)],
    }
    assert fits_or_refuses(kind, tables[name], y) == "fitted"


def _many_categories(count, n_rows):
    labels = np.array([f"c{i % count}" for i in range(n_rows)], dtype=object)
    return pd.DataFrame({"a": np.arange(n_rows) % 5, "b": pd.Series(labels, dtype="category")}), np.arange(
        n_rows
    ) % 3 % 2


@pytest.mark.parametrize("kind", TAKES_MISSING)
@pytest.mark.parametrize("count", [253, 254, 255, 256, 2000])
def test_many_categories_are_fitted_or_refused(kind, count):
    assert fits_or_refuses(kind, *_many_categories(count, 2 * count)) in ("fitted", "refused")


@pytest.mark.slow
@pytest.mark.parametrize("kind", TAKES_MISSING)
def test_100000_categories_are_fitted_or_refused(kind):
    assert fits_or_refuses(kind, *_many_categories(100_000, 150_000)) in ("fitted", "refused")


@pytest.mark.parametrize("n_columns", [1000, pytest.param(10_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_very_many_columns_are_fitted(kind, n_columns):
    X, y = numbers(30, n_columns)
    assert fits_or_refuses(kind, X, y) == "fitted"


LABELS = {
    "truth values": np.arange(60) % 2 == 0,
    "-1 and 1": np.arange(60) % 2 * 2 - 1,
    "far apart": np.where(np.arange(60) % 2, 2**62, -(2**62)),
    "unsigned": np.where(np.arange(60) % 2, 2**63, 1).astype(np.uint64),
    "whole floats": np.arange(60) % 2 + 0.0,
    "empty text": np.where(np.arange(60) % 2, "", "x"),
    "long text": np.where(np.arange(60) % 2, "a" * 10_000, "b"),
    "letters of the world": np.where(np.arange(60) % 2, "žluť", "日本"),
    "int8": (np.arange(60) % 2).astype(np.int8),
}


@pytest.mark.parametrize("name", LABELS)
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_labels_of_any_kind_come_back_as_they_were(kind, name):
    X, _ = numbers()
    y = LABELS[name]
    estimator = ESTIMATORS[kind]().fit(X, y)
    assert set(estimator.classes_.tolist()) == set(y.tolist())
    assert set(estimator.predict(X).tolist()) <= set(y.tolist())


def test_rows_separated_so_far_that_every_weight_vanishes_are_fitted():
    """The exponential loss without a penalty has no finite minimiser here; found by test_fuzz.py."""
    X, y = np.array([[0.0], [0.0], [np.nan]]), np.array([0, 0, 1])
    model = pm.ULSClassifier(
        "exponential",
        n_rounds=1,
        max_literals=1,
        scheme="corrective",
        l2_regularization=0.0,
        early_stopping=False,
        fit_intercept=False,
    )
    with pytest.warns(ConvergenceWarning, match="separate the classes"):
        model.fit(X, y)
    assert model.predict(X).tolist() == [0, 0, 1]
    margin = np.array([-1.0, -1.0, 1.0]) * model.decision_function(X)
    assert model.certificate_.surrogate == pytest.approx(np.mean(np.exp(-margin)), rel=1e-9)
    assert 0 <= model.certificate_.largest_edge <= 1
