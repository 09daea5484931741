"""The intake speaks scikit-learn's conventions: a classifier that only counts classes passes its checks with nothing else."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_breast_cancer
from sklearn.utils.estimator_checks import parametrize_with_checks

import permissible as pm
from permissible.estimators.input import training as intake


class NearestMean(ClassifierMixin, BaseEstimator):
    """The nearest class mean of coded values: little enough to show the intake, enough for scikit-learn's accuracy checks."""

    def __init__(self, class_weight=None, categorical_features=None):
        self.class_weight = class_weight
        self.categorical_features = categorical_features

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def fit(self, X, y, sample_weight=None):
        rows = intake.training_rows(self, X, y, sample_weight)
        values = np.nan_to_num(rows.table.floats())
        hot = (rows.target[:, None] == np.arange(len(rows.classes))) * rows.weight[:, None]
        self.means_ = (hot.T @ values) / hot.sum(0)[:, None]
        self.offset_ = np.log(hot.sum(0) / hot.sum())
        intake.remember(self, rows.classes, rows.schema)
        return self

    def _distances(self, X):
        values = np.nan_to_num(intake.rows(self, X).floats()).astype(float)
        return 50 * self.offset_ - ((values[:, None, :] - self.means_[None]) ** 2).sum(2)

    def predict(self, X):
        nearest = np.argmax(self._distances(X), axis=1)
        return self.classes_[nearest]


@parametrize_with_checks([NearestMean()])
def test_scikit_learns_own_checks_pass(estimator, check):
    check(estimator)


def train(X=((1.0,), (2.0,)), y=(0, 1), sample_weight=None, **parameters):
    return intake.training_rows(NearestMean(**parameters), np.asarray(X), y, sample_weight)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"y": [1, 1]}, "one class only"),
        ({"X": np.zeros((0, 2)), "y": []}, "0 sample"),
        ({"X": np.zeros((2, 0))}, "0 feature"),
        ({"X": [[1.0], [np.inf]]}, "inf in column 'x0', row 1"),
        ({"y": [0.0, np.nan]}, "Input y contains NaN"),
        ({"y": np.array(["a", None], dtype=object)}, "Input y contains NaN"),
        ({"y": [0.5, 1.0]}, "Unknown label type: continuous"),
        ({"y": [0, 1, 1]}, "3 labels"),
        ({"y": None}, "requires y to be passed"),
        ({"y": np.array(["a", 1], dtype=object)}, "text and numbers together"),
        ({"sample_weight": [1.0, -1.0]}, "not negative, got -1.0"),
        ({"sample_weight": [0.0, 0.0]}, "all zero"),
        ({"sample_weight": [0.0, 1.0], "class_weight": {1: 0.0}}, "a class with rows of positive sample_weight"),
        ({"sample_weight": [1.0, np.nan]}, "2 finite numbers, got nan"),
        ({"sample_weight": [1.0]}, "a list of 2 finite numbers"),
        ({"class_weight": "even"}, '"balanced"'),
        ({"class_weight": {3: 1.0}}, "one for 3"),
        ({"class_weight": {0: -1.0}}, "not negative"),
        ({"X": [1.0, 2.0]}, "Reshape your data"),
        ({"X": [[1j], [2.0]]}, "Complex data not supported"),
        ({"X": np.array([["2020-01-01"], ["2020-01-02"]], dtype="M8[D]")}, "days since a date"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(arguments, sentence):
    with pytest.raises((ValueError, TypeError)) as caught:
        train(**arguments)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_sparse_and_repeated_names_are_refused():
    with pytest.raises(TypeError, match="Sparse input is not supported"):
        intake.training_rows(NearestMean(), scipy.sparse.eye(3, format="csr"), [0, 1, 1])
    with pytest.raises(ValueError, match="'a' twice"):
        intake.training_rows(NearestMean(), pd.DataFrame(np.zeros((2, 2)), columns=["a", "a"]), [0, 1])


def test_rows_of_weight_zero_are_as_if_left_out():
    X = pd.DataFrame({"n": [1.0, 2.0, np.nan, 4.0], "c": ["u", "v", "w", "u"]})
    kept = intake.training_rows(NearestMean(), X.iloc[[0, 1, 3]], ["p", "q", "p"], [1.0, 2.0, 3.0])
    same = intake.training_rows(NearestMean(), X, ["p", "q", "r", "p"], [1.0, 2.0, 0.0, 3.0])
    assert same.schema == kept.schema
    assert same.classes.tolist() == ["p", "q"]
    np.testing.assert_array_equal(same.bins().blocks, kept.bins().blocks)
    np.testing.assert_array_equal(same.weight, kept.weight)


def test_balanced_class_weight_counts_a_row_of_weight_two_twice():
    X = np.arange(4.0)[:, None]
    once = intake.training_rows(NearestMean("balanced"), X, [0, 1, 1, 1], [2, 1, 1, 1])
    twice = intake.training_rows(NearestMean("balanced"), X[[0, 0, 1, 2, 3]], [0, 0, 1, 1, 1])
    np.testing.assert_allclose(once.weight, [2 * twice.weight[0], *twice.weight[2:]])


@pytest.mark.parametrize(
    "labels", [[3, -1, 3], [True, False, True], ["b", "a", "b"], [10.0, 2.0, 10.0], [10**12, 0, 10**12]]
)
def test_labels_keep_their_type_and_decode_back(labels):
    rows = train(X=[[1.0], [2.0], [3.0]], y=labels)
    assert rows.classes[rows.target].tolist() == labels
    assert rows.classes.tolist() == sorted(set(labels))


def test_threads_and_seeds():
    assert intake.threads(None) == 1
    assert intake.threads(2) == 2
    assert intake.threads(-1) >= 1
    assert intake.seed(7) == 7
    assert intake.seed(np.random.RandomState(0)) == intake.seed(np.random.RandomState(0))
    with pytest.raises(ValueError, match="n_jobs"):
        intake.threads(0)
    with pytest.raises(ValueError, match="random_state"):
        intake.seed(-1)


def test_names_follow_scikit_learns_rule():
    X = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]})
    model = NearestMean().fit(X, [0, 1])
    assert model.feature_names_in_.tolist() == ["a", "b"]
    with pytest.raises(ValueError, match="same order"):
        model.predict(X[["b", "a"]])
    with pytest.raises(ValueError, match="yet now missing:\n- b"):
        model.predict(X[["a"]])
    with pytest.warns(UserWarning, match="valid feature names"):
        model.predict(X.to_numpy())
    assert not hasattr(model.fit(X.to_numpy(), [0, 1]), "feature_names_in_")


@pytest.mark.parametrize(
    "model",
    [
        pm.ULSClassifier.compact(n_rules=4),
        pm.UDTClassifier(pruning="auto"),
        pm.MCBoostClassifier(learner="tree", n_rounds=5, subsample=0.5),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_fit_without_a_seed_repeats(model):
    X, y = load_breast_cancer(return_X_y=True)
    texts = {clone(model).fit(X, y).to_text() for _ in range(8)}
    assert len(texts) == 1
