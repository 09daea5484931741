"""Cost matrices: least expected cost by brute force, rejection, ways to write them down."""

import json
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import permissible as pm
from papers.published import read as read_published
from permissible import decisions
from permissible.decisions import CostMatrix


@given(seed=st.integers(0, 10_000), m=st.integers(2, 5))
def test_the_decision_is_the_action_of_least_expected_cost(seed, m):
    rng = np.random.default_rng(seed)
    cost = rng.uniform(0.1, 5, (m, m)) * (1 - np.eye(m))
    reject = rng.uniform(0.1, 2, m)
    proba = rng.dirichlet(np.ones(m), 20)
    for decision in (CostMatrix(cost), CostMatrix(cost, reject), CostMatrix(cost, 0.7)):
        for p, action in zip(proba, decision.decide(proba), strict=True):
            prices = [sum(p[j] * cost[j, k] for j in range(m)) for k in range(m)]
            if decision.reject_cost is not None:
                prices.append(float(np.sum(p * decision.reject_cost)))
            assert prices[action] == pytest.approx(min(prices))
        y = rng.integers(0, m, 20)
        table = np.column_stack(
            [cost, np.broadcast_to(0.0 if decision.reject_cost is None else decision.reject_cost, m)]
        )
        assert decision.loss(y, proba) == pytest.approx(
            [table[j, k] for j, k in zip(y, decision.decide(proba), strict=True)]
        )


def test_ties_go_to_the_lowest_class_and_never_to_rejection():
    even = [[1 / 3, 1 / 3, 1 / 3]]
    assert CostMatrix(1 - np.eye(3)).decide(even).tolist() == [0]
    assert CostMatrix([[0, 1], [1, 0]], reject_cost=0.5).decide([0.5]).tolist() == [0]
    assert CostMatrix([[0, 1], [1, 0]], reject_cost=0.499).decide([0.5]).tolist() == [-1]


@given(p=st.floats(0, 1), pi=st.floats(0.05, 0.95), d=st.floats(0.05, 0.45))
def test_two_classes_give_the_binary_decisions(p, pi, d):
    weighted = CostMatrix([[0, 2 * pi], [2 * (1 - pi), 0]])
    rejecting = CostMatrix([[0, 1], [1, 0]], reject_cost=d)
    if abs(p - pi) > 1e-9:
        assert weighted.decide([p]) == pm.Weighted(pi).decide([p])
        assert weighted.loss([1], [p]) == pytest.approx(pm.Weighted(pi).loss([1], [p]))
    if min(abs(p - d), abs(p - 1 + d), abs(p - 0.5)) > 1e-9:
        assert rejecting.decide([p]) == pm.Reject(d).decide([p])
        assert rejecting.bayes_risk([p]) == pytest.approx(pm.Reject(d).bayes_risk([p]))


def test_class_weights_price_the_true_class():
    assert CostMatrix.from_class_weights([1, 4]).matrix.tolist() == [[0, 1], [4, 0]]
    named = CostMatrix.from_class_weights({"sick": 9, "well": 1}, reject_cost=0.5)
    assert named.classes == ("sick", "well")
    assert named.aligned(["well", "sick"]).matrix.tolist() == [[0, 1], [9, 0]]


def test_a_hierarchy_prices_by_distance_in_the_tree():
    tree = {"animal": ["cat", "dog"], "vehicle": {"road": ["car", "bus"], "water": ["ship"]}}
    made = CostMatrix.from_hierarchy(tree)
    price = {(a, b): made.matrix[i, j] for i, a in enumerate(made.classes) for j, b in enumerate(made.classes)}
    assert price["cat", "dog"] == 2
    assert price["car", "bus"] == 2
    assert price["car", "ship"] == 4
    assert price["cat", "car"] == 5
    assert np.array_equal(made.matrix, made.matrix.T)
    assert CostMatrix.from_hierarchy([["a", "b"], ["c"]]).matrix.tolist() == [[0, 2, 4], [2, 0, 4], [4, 4, 0]]


def test_ordinal_and_random_costs():
    assert CostMatrix.ordinal(3).matrix.tolist() == [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
    assert CostMatrix.ordinal(3, power=2).matrix[0, 2] == 4
    drawn = CostMatrix.random_symmetric(6, 1, 10, seed=3)
    off = drawn.matrix[~np.eye(6, dtype=bool)]
    assert np.array_equal(drawn.matrix, drawn.matrix.T)
    assert off.min() >= 1
    assert off.max() <= 10
    assert drawn == CostMatrix.random_symmetric(6, 1, 10, seed=3)
    assert drawn != CostMatrix.random_symmetric(6, 1, 10, seed=4)


def test_a_csv_file_names_its_classes_in_any_order(tmp_path):
    path = tmp_path / "costs.csv"
    path.write_text("true,b,a,reject\na,1,0,0.5\nb,0,4,0.25\n")
    made = CostMatrix.from_csv(path)
    assert made.classes == ("a", "b")
    assert made.matrix.tolist() == [[0, 1], [4, 0]]
    assert made.reject_cost.tolist() == [0.5, 0.25]
    path.write_text("true,a,b\na,0,1\nb,4,0\n")
    assert CostMatrix.from_csv(path).reject_cost is None
    assert CostMatrix.from_csv(path).matrix.tolist() == [[0, 1], [4, 0]]


def test_documents_pickles_and_equality():
    made = CostMatrix([[0, 1], [4, 0]], [0.5, 0.2], ["a", "b"])
    document = json.loads(json.dumps(made.to_document()))
    assert decisions.from_document(document) == made
    assert hash(decisions.from_document(document)) == hash(made)
    assert pickle.loads(pickle.dumps(made)) == made
    assert made != CostMatrix([[0, 1], [4, 0]])
    with pytest.raises(ValueError, match="read-only"):
        made.matrix[0, 1] = 7


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda path: CostMatrix([[0, -1], [1, 0]]), r"`matrix` must be finite and non-negative, got -1 at \[0, 1\]"),
        (
            lambda path: CostMatrix([[0, np.nan], [1, 0]]),
            r"`matrix` must be finite and non-negative, got nan at \[0, 1\]",
        ),
        (lambda path: CostMatrix([[2, 1], [1, 0]]), r"`matrix` must be zero on the diagonal, got 2 at \[0, 0\]"),
        (
            lambda path: CostMatrix([[0, 0], [1, 0]]),
            "`matrix` must be positive somewhere in each row, got row 0 of zeros",
        ),
        (lambda path: CostMatrix([[0, 1, 2], [1, 0, 2]]), r"`matrix` must be square, .*, got shape \(2, 3\); a price"),
        (lambda path: CostMatrix("abc"), "`matrix` must be a square array of costs"),
        (lambda path: CostMatrix([[0, 1], [1, 0]], -1), "`reject_cost` must be finite and non-negative, got -1"),
        (
            lambda path: CostMatrix([[0, 1], [1, 0]], [1, 2, 3]),
            r"`reject_cost` must be a number or 2 numbers, got shape \(3,\)",
        ),
        (lambda path: CostMatrix([[0, 1], [1, 0]], classes=["a"]), "`classes` must be 2 different classes"),
        (lambda path: CostMatrix([[0, 1], [1, 0]]).decide([[0.2, 0.3, 0.5]]), r"`proba` must be of shape \(n, 2\)"),
        (lambda path: CostMatrix([[0, 1], [1, 0]]).aligned(["a", "b", "c"]), "`matrix` must be of 3 classes"),
        (
            lambda path: CostMatrix([[0, 1], [1, 0]], classes=["a", "b"]).aligned(["a", "c"]),
            "`classes` must be those of",
        ),
        (lambda path: CostMatrix.from_hierarchy({"only": ["one"]}), "`tree` must be a hierarchy of two or more"),
        (lambda path: CostMatrix.from_hierarchy(["a", {1, 2}]), "`tree` must be nested mappings and lists"),
        (lambda path: CostMatrix.ordinal(3, power=0), "`power` must be positive"),
        (lambda path: CostMatrix.random_symmetric(3, 5, 1), "`low, high` must be 0 <= low <= high"),
        (lambda path: CostMatrix.from_class_weights([[1, 2]]), "`weights` must be one number for each class"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(tmp_path, call, words):
    with pytest.raises((ValueError, TypeError), match=words):
        call(tmp_path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("true,a,b\na,0,1\n", "a header and a row for each class, got 2 lines"),
        ("true,a,b\na,0,1\nc,1,0\n", r"whose header names the classes of its rows, \['a', 'c'\]"),
        ("true,a,b\na,0,one\nb,1,0\n", "a file of numbers, got 'one' in the row of 'a'"),
        ("true,a,b\na,0,1\nb,1\n", "a file with 2 costs in each row, got 1 in the row of 'b'"),
    ],
)
def test_a_bad_csv_file_is_refused_with_its_row(tmp_path, text, words):
    path = tmp_path / "costs.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=words):
        CostMatrix.from_csv(path)


def test_a_weighted_hierarchy_writes_the_printed_costs_of_the_corals():
    # [B] appendix D, 81 entries as printed
    printed = pm.CostMatrix(*published_costs())
    assert pm.CostMatrix.corals() == printed.aligned(sorted(printed.classes))


def published_costs():
    table = read_published("beijbom-mlc-cost")
    names = [row["class"] for row in table]
    return [[float(row[name]) for name in names] for row in table], None, names


def test_a_node_without_a_cost_is_named():
    tree = {"all": {"pair": ["a", "b"], "c": None}}
    assert pm.CostMatrix.from_hierarchy(tree, node_costs={"all": 3, "pair": 1}).matrix.tolist() == [
        [0, 1, 3],
        [1, 0, 3],
        [3, 3, 0],
    ]
    with pytest.raises(ValueError, match="no cost of 'pair'"):
        pm.CostMatrix.from_hierarchy(tree, node_costs={"all": 3})
    with pytest.raises(ValueError, match="a node without a name"):
        pm.CostMatrix.from_hierarchy(tree["all"], node_costs={"pair": 1})
    with pytest.raises(ValueError, match="positive costs"):
        pm.CostMatrix.from_hierarchy(tree, node_costs={"all": 3, "pair": 0})
