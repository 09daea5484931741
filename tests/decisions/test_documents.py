"""Costs by class name mean the same in whatever order they are written down; a name that does not fit is refused."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest

import permissible as pm
from permissible.decisions import CostMatrix, decision_for

PRICES = {"a": 1.0, "b": 4.0, "c": 2.5}
CLASSES = np.array(["a", "b", "c"])


def test_mapping_order_does_not_matter_to_any_builder(tmp_path):
    proba = np.random.default_rng(0).dirichlet(np.ones(3), 50)
    first = CostMatrix.from_class_weights(PRICES, reject_cost={"b": 3.0, "a": 0.5, "c": 0.7})
    for names in permutations(PRICES):
        again = CostMatrix.from_class_weights(
            {name: PRICES[name] for name in names}, reject_cost={"a": 0.5, "c": 0.7, "b": 3.0}
        )
        assert again == first
        assert np.array_equal(again.decide(proba), first.decide(proba))
        assert CostMatrix.from_hierarchy(
            {"x": [names[0]], "y": [names[1]], "z": [names[2]]}
        ) == CostMatrix.from_hierarchy([["a"], ["b"], ["c"]])
        path = tmp_path / "costs.csv"
        lines = [
            f"{true},{','.join('0' if true == said else str(PRICES[true]) for said in reversed(names))}"
            for true in names
        ]
        path.write_text("\n".join([f"true,{','.join(reversed(names))}", *lines]))
        assert np.array_equal(CostMatrix.from_csv(path).matrix, first.matrix)


def test_expected_costs_of_the_aligned_matrix_are_those_of_the_names():
    rng = np.random.default_rng(1)
    price = {(true, said): 0.0 if true == said else rng.uniform(0.1, 5) for true in CLASSES for said in CLASSES}
    reject = {name: rng.uniform(0.1, 2) for name in CLASSES}
    for names in permutations(CLASSES):
        matrix = [[price[true, said] for said in names] for true in names]
        given = CostMatrix(matrix, [reject[name] for name in names], list(names))
        proba = rng.dirichlet(np.ones(3))
        expected = [sum(p * price[true, said] for p, true in zip(proba, CLASSES, strict=True)) for said in CLASSES]
        expected.append(sum(p * reject[true] for p, true in zip(proba, CLASSES, strict=True)))
        np.testing.assert_allclose(decision_for(given, CLASSES).expected([proba])[0], expected)


def test_a_data_frame_of_costs_names_its_classes():
    frame = pd.DataFrame([[0, 9], [1, 0]], index=["sick", "well"], columns=["sick", "well"])
    mixed = frame.loc[["well", "sick"]]
    assert CostMatrix(mixed).classes == ("sick", "well")
    assert CostMatrix(mixed) == CostMatrix(frame)
    assert CostMatrix(pd.DataFrame([[0, 9], [1, 0]])).classes is None
    with pytest.raises(ValueError, match="names the same classes in its rows as in its columns"):
        CostMatrix(pd.DataFrame([[0, 9], [1, 0]], index=["sick", "fine"], columns=["sick", "well"]))


def test_names_keep_their_types():
    made = CostMatrix([[0, 1], [4, 0]], classes=[1, "1"])
    assert made.classes == (1, "1")
    assert decision_for(made, np.array(["1", 1], dtype=object)).matrix.tolist() == [[0, 4], [1, 0]]
    assert CostMatrix.from_class_weights({True: 3, False: 1}).aligned(np.array([False, True])).matrix.tolist() == [
        [0, 1],
        [3, 0],
    ]


@pytest.mark.parametrize("names", [("a", "b"), ("a", "b", "d"), ("a", "b", "c", "d")])
def test_unknown_and_missing_names_are_refused_in_one_sentence_that_lists_them(names):
    costs = CostMatrix.from_class_weights(dict.fromkeys(names, 1.0))
    with pytest.raises(
        ValueError, match=r"`classes` must be those of the estimator, \['a', 'b', 'c'\], got \['a', 'b'"
    ) as error:
        decision_for(costs, CLASSES)
    odd = set(names) ^ set("abc")
    assert all(repr(name) in str(error.value).split("(")[1] for name in odd)


def test_what_is_no_decision_is_refused_and_an_array_is_a_cost_matrix():
    assert decision_for(1 - np.eye(3), CLASSES) == CostMatrix(1 - np.eye(3))
    for odd in (None, "soft", object(), pm.Hard, 0.5):
        with pytest.raises((TypeError, ValueError), match=r"`decision` must be a decision|`matrix` must be"):
            decision_for(odd, CLASSES)
    with pytest.raises(ValueError, match="`reject_cost` must be a number, or one for each true class"):
        CostMatrix(1 - np.eye(2), {"a": 1.0})
