"""The adaptive flavours choose as the papers say, round by round, and end where nothing is left to gain."""

import numpy as np
import pytest
from scipy.optimize import brentq

from permissible import ULSClassifier, losses
from permissible.losses.registry import BAGS


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
            assert np.abs(model.coefficients_).sum() <= 1 + 1e-12


def test_history_has_the_training_error_of_the_model(rows):
    X, y = rows
    model = ULSClassifier.plain("F2", n_rules=7, max_literals=2).fit(X, y)
    assert model.history_["train_error"][-1] == pytest.approx(np.mean(model.predict(X) != y), abs=1e-12)


def played(flavour, X, y, n_rounds):
    """The flavour in NumPy, one literal on yes-or-no columns, from the text of [N] section 6: the phi of each round, and H."""
    sign, H = np.where(y == 1, 1.0, -1.0), np.zeros(len(y))
    rules = np.where(X <= 0.5, 1.0, -1.0)
    theta, chosen = np.zeros(X.shape[1]), []
    for _ in range(n_rounds):
        proposals = []
        for name in BAGS[flavour]:
            loss = losses.get(name)
            weight = np.asarray(loss.weight(sign * H))
            edges = np.abs((sign * weight) @ rules)
            best = int(np.argmax(edges))
            h = rules[:, best]

            def slope(step, loss=loss, h=h, H=H):
                return float((sign * h) @ np.asarray(loss.weight(sign * (H + step * h))))

            reach = 1.0
            while slope(reach) > 0 or slope(-reach) < 0:
                reach *= 2.0
            step = brentq(slope, -reach, reach, xtol=1e-13, rtol=1e-13)
            risk = np.mean(np.where(H + step * h >= 0, 1, 0) != y)
            proposals.append((name, best, step, edges[best] / weight.sum(), risk))
        taken = (
            max(proposals, key=lambda p: round(p[3], 7))
            if flavour.startswith("E")
            else min(proposals, key=lambda p: round(p[4], 9))
        )
        name, best, step = taken[:3]
        theta[best] += step
        shrink = max(1.0, np.abs(theta).sum()) if name == "squared" else 1.0
        theta /= shrink
        H = rules @ theta
        chosen.append(name)
    return chosen, H


@pytest.mark.parametrize("flavour", ["F1", "F2", "E1", "E2"])
@pytest.mark.parametrize("seed", range(4))
def test_every_round_chooses_as_an_independent_implementation(flavour, seed):
    generator = np.random.default_rng(seed)
    X = generator.integers(0, 2, (150, 7)).astype(float)
    y = (generator.random(150) < 1 / (1 + np.exp(-(X - 0.5) @ generator.normal(size=7) * 2.5))).astype(int)
    chosen, score = played(flavour, X, y, 6)
    model = ULSClassifier.plain(flavour, n_rules=6, max_literals=1).fit(X, y)
    assert model.history_["loss"].tolist() == chosen
    np.testing.assert_allclose(model.decision_function(X), score, atol=1e-6)


def test_without_curvature_the_largest_edge_wins_so_E1_takes_phi_B():
    # In the fourth round every score is beyond the limit of phi_B: no row has curvature.
    generator = np.random.default_rng(1)
    X = generator.integers(0, 2, (150, 7)).astype(float)
    y = (generator.random(150) < 1 / (1 + np.exp(-(X - 0.5) @ generator.normal(size=7) * 2.5))).astype(int)
    model = ULSClassifier.plain("E1", n_rules=4, max_literals=1).fit(X, y)
    assert model.history_["loss"].tolist() == ["mu", "mu", "logistic", "squared"]
