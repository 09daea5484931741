"""The adaptive flavours choose as the papers say, round by round, and end where nothing is left to gain."""

import numpy as np
import pytest

from permissible import ULSClassifier
from permissible.losses.bags import BAGS


@pytest.fixture(scope="module")
def rows():
    generator = np.random.default_rng(3)
    X = generator.standard_normal((200, 4))
    y = (X[:, 0] + X[:, 1] * X[:, 2] + 0.7 * generator.standard_normal(200) > 0).astype(int)
    return X, y


def singles(X, y, flavour):
    """One round of each phi of the bag alone, from the same start."""
    return {name: ULSClassifier.plain(name, n_rules=1, max_literals=2).fit(X, y) for name in BAGS[flavour]}


@pytest.mark.parametrize("flavour", ["F1", "F2"])
def test_F_takes_the_step_of_least_training_error(rows, flavour):
    X, y = rows
    model = ULSClassifier.plain(flavour, n_rules=1, max_literals=2).fit(X, y)
    least = min(np.mean(one.predict(X) != y) for one in singles(X, y, flavour).values())
    assert np.mean(model.predict(X) != y) == least


@pytest.mark.parametrize("flavour", ["E1", "E2"])
def test_E_takes_the_rule_of_largest_edge(rows, flavour):
    X, y = rows
    model = ULSClassifier.plain(flavour, n_rules=1, max_literals=2).fit(X, y)
    alone = singles(X, y, flavour)
    assert model.history_["edge"][0] == pytest.approx(max(one.history_["edge"][0] for one in alone.values()), rel=1e-12)
    assert model.rules_[0] == alone[model.history_["loss"][0]].rules_[0]


@pytest.mark.filterwarnings("ignore:The rules separate the classes")
@pytest.mark.parametrize("flavour", ["F1", "F2", "E1", "E2"])
def test_rows_that_one_column_separates_end_without_weights(flavour):
    y = np.repeat([0, 1], 40)
    X = np.column_stack([y, np.tile([0, 1], 40)]).astype(float)
    model = ULSClassifier.plain(flavour, n_rules=50, max_literals=2).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), y)
    assert np.isfinite(model.history_["surrogate"]).all()


@pytest.mark.parametrize("flavour", ["F1", "E1"])
def test_renormalised_coefficients_sum_to_at_most_one_after_a_squared_round(rows, flavour):
    X, y = rows
    for n_rules in range(1, 12):
        model = ULSClassifier.plain(flavour, n_rules=n_rules, max_literals=1).fit(X, y)
        if model.history_["loss"][-1] == "squared":
            assert np.abs(model.coef_).sum() <= 1 + 1e-12


def test_history_has_the_training_error_of_the_model(rows):
    X, y = rows
    model = ULSClassifier.plain("F2", n_rules=7, max_literals=2).fit(X, y)
    assert model.history_["train_error"][-1] == pytest.approx(np.mean(model.predict(X) != y), abs=1e-12)
