"""Malformed input of losses and decisions is refused in one sentence that names the argument."""

from typing import Any

import numpy as np
import pytest

import permissible as pm
from permissible import losses
from tests.faults.subjects import good, refused

X, Y = good()
N = len(Y)
EITHER = (ValueError, TypeError)


LOSS_NAMES = ("logistic", "matsushita", "squared", "mu", "power", "logcosh")
NOT_NUMBERS = {
    "text": "a",
    "None": None,
    "complex": 1j,
    "texts": ["a"],
    "ragged": [[1], [1, 2]],
    "a dictionary": {},
    "dates": np.datetime64("2024"),
}


@pytest.mark.parametrize("name", NOT_NUMBERS)
@pytest.mark.parametrize("method", ["value", "weight", "probability", "score", "phi", "impurity"])
def test_losses_refuse_what_is_no_number(method, name):
    argument = {"value": "margin", "weight": "margin", "probability": "score"}.get(method, "probability")
    with refused(TypeError, argument):
        getattr(losses.get("logistic"), method)(NOT_NUMBERS[name])


@pytest.mark.parametrize("value", [-0.1, 1.1, [0.5, 2.0], -np.inf, np.inf])
@pytest.mark.parametrize("method", ["score", "phi", "phi_prime", "impurity"])
@pytest.mark.parametrize("loss", LOSS_NAMES)
def test_losses_refuse_what_is_no_probability(loss, method, value):
    with refused(ValueError, "probability"):
        getattr(losses.get(loss), method)(value)


@pytest.mark.parametrize(
    ("name", "given", "argument"),
    [
        ("nonsense", {}, "loss"),
        ("logistc", {}, "loss"),
        (3, {}, "loss"),
        (None, {}, "loss"),
        ([], {}, "loss"),
        ("mu", {"mu": -0.1}, "mu"),
        ("mu", {"mu": 1.1}, "mu"),
        ("mu", {"mu": float("nan")}, "mu"),
        ("mu", {"mu": "a"}, "mu"),
        ("mu", {"mu": None}, "mu"),
        ("mu", {"nu": 1}, "params"),
        ("logistic", {"mu": 1}, "params"),
        ("power", {"upsilon": -1}, "upsilon"),
        ("power", {"upsilon": float("nan")}, "upsilon"),
        ("power", {"upsilon": float("inf")}, "upsilon"),
        ("power", {"upsilon": [1]}, "upsilon"),
        ("logcosh", {"zeta": 0}, "zeta"),
        ("logcosh", {"zeta": -1e7}, "zeta"),
        ("logcosh", {"zeta": float("nan")}, "zeta"),
        ("logcosh", {"zeta": float("inf")}, "zeta"),
        ("logcosh", {"zeta": {}}, "zeta"),
    ],
)
def test_losses_refuse_bad_names_and_parameters(name, given, argument):
    with refused(EITHER, argument):
        losses.get(name, **given)


OWN_PHIS = {
    "no function": 3,
    "asymmetric": lambda p: p * (1 - p) ** 2,
    "convex": lambda p: -p * (1 - p),
    "constant": lambda p: 0.0 * p + 1,
    "NaN": lambda p: p * float("nan"),
    "text": lambda p: "a",
    "linear": lambda p: 1 - abs(2 * p - 1) if p != 2 else 0,
    "negative": lambda p: p * (1 - p) - 5,
}


@pytest.mark.parametrize("name", OWN_PHIS)
def test_a_function_that_is_not_permissible_is_refused(name):
    with refused(EITHER, "phi"):
        losses.from_phi(OWN_PHIS[name])


BAD_BOUNDARIES = {
    "none": [],
    "0": [0.0],
    "1": [1.0],
    "twice": [0.5, 0.5],
    "falling": [0.6, 0.4],
    "NaN": [np.nan],
    "inf": [np.inf],
    "text": "half",
    "texts": ["a"],
    "None": None,
    "2-D": [[0.5]],
    "a number": 0.5,
    "complex": [0.5j],
    "a dictionary": {},
    "below": [-0.5],
}


@pytest.mark.parametrize("name", BAD_BOUNDARIES)
@pytest.mark.parametrize("maker", [pm.Boundaries, losses.PiecewiseLinear], ids=["Boundaries", "PiecewiseLinear"])
def test_malformed_boundaries_are_refused(maker, name):
    with refused(EITHER, "boundaries"):
        maker(BAD_BOUNDARIES[name])


BAD_COSTS: dict[str, Any] = {
    "1 x 1": [[0]],
    "1-D": [0, 1],
    "not square": [[0, 1, 2], [1, 0, 2]],
    "diagonal": [[1, 1], [1, 0]],
    "negative": [[0, -1], [1, 0]],
    "NaN": [[0, np.nan], [1, 0]],
    "inf": [[0, np.inf], [1, 0]],
    "empty row": [[0, 0], [1, 0]],
    "text": "costs",
    "texts": [["a", "b"]] * 2,
    "None": None,
    "3-D": np.ones((2, 2, 2)),
    "empty": [],
    "complex": np.array([[0, 1j], [1, 0]]),
    "ragged": [[0, 1], [1]],
    "a dictionary": {},
}


@pytest.mark.parametrize("name", BAD_COSTS)
def test_malformed_cost_matrices_are_refused(name):
    with refused(EITHER, "matrix"):
        pm.CostMatrix(BAD_COSTS[name])


@pytest.mark.parametrize("name", [name for name in BAD_COSTS if name != "None"])
@pytest.mark.parametrize("loss", ["GLL", "GEL", "LS", "LT"])
def test_multiclass_losses_refuse_malformed_costs(loss, name):
    with refused(EITHER, "cost"):
        getattr(losses, loss)().value([[0.1, 0.2]], [0], BAD_COSTS[name])


@pytest.mark.parametrize("method", ["value", "gradient"])
@pytest.mark.parametrize("loss", ["GLL", "GEL", "LS", "LT", "MC"])
@pytest.mark.parametrize(
    ("scores", "y", "argument"),
    [
        ("a", [0], "scores"),
        ([[0.1]], [0], "scores"),
        (np.zeros((1, 2, 2)), [0], "scores"),
        (None, [0], "scores"),
        ([[0.0, 1j]], [0], "scores"),
        ([[np.nan, 0.0]], [0], "scores"),
        ([[np.inf, 0.0]], [0], "scores"),
        ([[0.1, 0.2]], [2], "y"),
        ([[0.1, 0.2]], [-1], "y"),
        ([[0.1, 0.2]], [0, 1], "y"),
        ([[0.1, 0.2]], ["a"], "y"),
        ([[0.1, 0.2]], [0.5], "y"),
        ([[0.1, 0.2]], None, "y"),
    ],
)
def test_multiclass_losses_refuse_malformed_scores_and_labels(loss, method, scores, y, argument):
    with refused(EITHER, argument):
        getattr(getattr(losses, loss)(), method)(scores, y, None)


DECISIONS = {
    "hard": pm.Hard(),
    "weighted": pm.Weighted(0.3),
    "reject": pm.Reject(0.2),
    "boundaries": pm.Boundaries([0.25, 0.75]),
    "soft": pm.Soft(),
    "costs": pm.CostMatrix([[0, 1], [4, 0]]),
}
BAD_PROBA: dict[str, Any] = {
    "below 0": [-0.1],
    "above 1": [1.1],
    "NaN": [np.nan],
    "inf": [np.inf],
    "text": "a",
    "None": None,
    "3-D": np.zeros((2, 2, 2)),
    "one column": [[1.0]],
    "no sum": [[0.1, 0.1]],
    "complex": [0.5j],
    "a number": 0.5,
    "a dictionary": {},
    "ragged": [[0.5, 0.5], [1.0]],
}


@pytest.mark.parametrize("name", BAD_PROBA)
@pytest.mark.parametrize("decision", DECISIONS)
def test_decisions_refuse_what_is_no_probability(decision, name):
    with refused(EITHER, "proba"):
        DECISIONS[decision].decide(BAD_PROBA[name])


@pytest.mark.parametrize("y", [[2], [-1], [0, 1], ["a"], [0.5], None, [np.nan], [[0]]])
@pytest.mark.parametrize("decision", DECISIONS)
def test_decisions_refuse_malformed_labels(decision, y):
    with refused(EITHER, "y"):
        DECISIONS[decision].loss(y, [0.3])


@pytest.mark.parametrize("weight", [[1.0], [-1.0, 1.0], [np.nan, 1.0], [0.0, 0.0], ["a", "b"], [np.inf, 1.0], 1.0, {}])
@pytest.mark.parametrize("decision", DECISIONS)
def test_decisions_refuse_malformed_weights(decision, weight):
    with refused(EITHER, "sample_weight"):
        DECISIONS[decision].risk([0, 1], [0.3, 0.6], sample_weight=weight)


@pytest.mark.parametrize("value", [0.0, 1.0, -0.1, 1.1, float("nan"), "a", None, [0.5], 1j, {}])
@pytest.mark.parametrize(("maker", "argument"), [(pm.Weighted, "pi"), (pm.Reject, "cost")])
def test_decisions_refuse_malformed_prices(maker, argument, value):
    with refused(EITHER, argument):
        maker(value)


@pytest.mark.parametrize("reject", [-1.0, float("nan"), float("inf"), "a", [1.0], [1.0, -1.0], {}, 1j])
def test_a_cost_matrix_refuses_a_malformed_price_of_rejection(reject):
    with refused(EITHER, "reject_cost"):
        pm.CostMatrix([[0, 1], [4, 0]], reject_cost=reject)


@pytest.mark.parametrize("classes", [["a"], ["a", "a"], "ab", 3, ["a", "b", "c"], [["a"], ["b"]]])
def test_a_cost_matrix_refuses_malformed_classes(classes):
    with refused(EITHER, "classes"):
        pm.CostMatrix([[0, 1], [4, 0]], classes=classes)


@pytest.mark.parametrize(
    ("build", "argument"),
    [
        (lambda: pm.CostMatrix.from_class_weights("a"), "weights"),
        (lambda: pm.CostMatrix.from_class_weights([[1.0]]), "weights"),
        (lambda: pm.CostMatrix.from_class_weights({"a": "b", "c": 1}), "weights"),
        (lambda: pm.CostMatrix.from_class_weights(None), "weights"),
        (lambda: pm.CostMatrix.from_hierarchy(["a"]), "tree"),
        (lambda: pm.CostMatrix.from_hierarchy(["a", "a"]), "tree"),
        (lambda: pm.CostMatrix.from_hierarchy(object()), "tree"),
        (lambda: pm.CostMatrix.from_hierarchy([None, "a"]), "tree"),
        (lambda: pm.CostMatrix.ordinal(1), "n_classes"),
        (lambda: pm.CostMatrix.ordinal("a"), "n_classes"),
        (lambda: pm.CostMatrix.ordinal(3, power=0), "power"),
        (lambda: pm.CostMatrix.ordinal(3, power="a"), "power"),
        (lambda: pm.CostMatrix.ordinal(3, power=float("nan")), "power"),
        (lambda: pm.CostMatrix.ordinal(2.5), "n_classes"),
        (lambda: pm.CostMatrix.random_symmetric(0), "n_classes"),
        (lambda: pm.CostMatrix.random_symmetric(3, low=-1), "low"),
        (lambda: pm.CostMatrix.random_symmetric(3, low=2, high=1), "low"),
        (lambda: losses.is_guess_averse("gll", 1), "n_classes"),
        (lambda: losses.is_guess_averse("gll", 2.5), "n_classes"),
        (lambda: losses.is_guess_averse("nonsense", 3), "loss"),
    ],
)
def test_makers_of_costs_refuse_what_makes_no_sense(build, argument):
    with refused(EITHER, argument):
        build()
