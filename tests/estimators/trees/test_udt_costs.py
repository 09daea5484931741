"""Trees of several classes and trees grown for costs: scikit-learn, pystreed's optimal trees, and what costs buy."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.model_selection import StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

import permissible as pm

COSTS = np.array([[0.0, 1.0, 8.0], [2.0, 0.0, 1.0], [1.0, 6.0, 0.0]])


def binary_rows(seed, n=160, d=8):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, d)).astype(float)
    score = X[:, :3] @ [1.0, -1.0, 1.0] + 0.8 * X[:, 3] * X[:, 4] + rng.normal(0, 0.8, n)
    return X, np.digitize(score, [0.2, 1.1])


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_the_entropy_tree_of_three_classes_has_scikit_learns_entropy(load):
    X, y = load(return_X_y=True)
    for leaves in (2, 3, 4):
        ours = pm.UDTClassifier(max_leaf_nodes=leaves).fit(X, y)
        peer = DecisionTreeClassifier(criterion="entropy", max_leaf_nodes=leaves, random_state=0).fit(X, y).tree_
        ends = peer.children_left < 0
        entropy = (peer.impurity[ends] * peer.weighted_n_node_samples[ends]).sum() / len(y)
        assert ours.history_["surrogate"][-1] == pytest.approx(entropy, rel=1e-9)


def test_the_sum_of_binary_entropies_is_an_option_and_not_shannons():
    X, y = load_wine(return_X_y=True)
    joint, summed = (pm.UDTClassifier(max_leaf_nodes=4, multiclass=word).fit(X, y) for word in ("joint", "sum"))
    assert joint.history_["surrogate"][-1] < summed.history_["surrogate"][-1]  # another unit
    with pytest.raises(ValueError, match="`multiclass` must be left at its default"):
        pm.UDTClassifier("squared", multiclass="sum").fit(X, y)


def test_two_classes_with_costs_are_weighted_classes():
    X, y = binary_rows(0)
    y = (y > 0).astype(int)
    costs = [[0.0, 4.0], [1.0, 0.0]]
    charged = pm.UDTClassifier(cost_matrix=costs, max_leaf_nodes=6, smoothing=0.0).fit(X, y)
    weighted = pm.UDTClassifier(class_weight={0: 4.0, 1: 1.0}, max_leaf_nodes=6, smoothing=0.0).fit(X, y)
    assert np.array_equal(charged.apply(X), weighted.apply(X))
    assert np.array_equal(charged.predict(X), weighted.predict(X))


@pytest.mark.parametrize("seed", range(10))
def test_no_tree_of_its_depth_costs_less_than_the_optimal_one(seed):
    pystreed = pytest.importorskip("pystreed")
    X, y = binary_rows(seed)
    best = pystreed.STreeDInstanceCostSensitiveClassifier(max_depth=2, max_num_nodes=3, time_limit=30)
    best.fit(X.astype(int), COSTS[y])
    optimum = COSTS[y, np.asarray(best.predict(X.astype(int)), dtype=int)].mean()
    ours = {
        loss: pm.UDTClassifier(loss, cost_matrix=COSTS, max_depth=2, max_leaf_nodes=None, smoothing=0.0).fit(X, y)
        for loss in ("logistic", "squared", "matsushita")
    }
    risks = {loss: COSTS[y, model.predict(X)].mean() for loss, model in ours.items()}
    assert min(risks.values()) >= optimum - 1e-12
    assert max(risks.values()) <= 1.07 * optimum  # greedy, but for the right thing: 1.011 in the mean of these ten


def test_costs_in_the_split_cost_less_than_costs_in_the_decision_alone():
    split, decision = [], []
    for seed in range(12):
        X, y = binary_rows(100 + seed, n=400)
        for train, test in StratifiedKFold(3, shuffle=True, random_state=0).split(X, y):
            charged = pm.UDTClassifier(cost_matrix=COSTS, max_leaf_nodes=4).fit(X[train], y[train])
            plain = pm.UDTClassifier(max_leaf_nodes=4).fit(X[train], y[train])
            split.append(COSTS[y[test], charged.predict(X[test])].mean())
            decision.append(COSTS[y[test], plain.decide(X[test], pm.CostMatrix(COSTS))].mean())
    assert np.mean(split) < np.mean(decision)


def test_a_tree_for_costs_decides_prunes_and_survives_its_file(tmp_path):
    X, y = binary_rows(7, n=300)
    names = np.array(["c", "a", "b"])[y]
    costs = pm.CostMatrix(COSTS, classes=["c", "a", "b"])
    tree = pm.UDTClassifier(cost_matrix=costs, pruning="auto", random_state=0).fit(X, names)
    assert tree.cost_matrix_ == costs.aligned(tree.classes_)
    expected = tree.classes_[tree.cost_matrix_.decide(tree.predict_proba(X))]
    assert np.array_equal(tree.predict(X), expected)
    assert np.array_equal(tree.classes_[tree.decide(X)], expected)
    assert tree.certificate_.surrogate >= tree.certificate_.lower_bound
    pm.save(tree, tmp_path / "tree.json")
    again = pm.load(tmp_path / "tree.json")
    assert np.array_equal(again.predict(X), expected)
    assert np.array_equal(again.feature_importances_, tree.feature_importances_)


def test_memory_and_parts_grow_the_same_tree_for_costs():
    X, y = binary_rows(8, n=300)
    frame = {f"x{j}": X[:, j] for j in range(X.shape[1])} | {"y": y}
    parts = [{name: column[rows] for name, column in frame.items()} for rows in (slice(0, 140), slice(140, 300))]
    dataset = pm.BinnedDataset.from_batches(parts, target="y")
    model = pm.UDTClassifier(cost_matrix=COSTS, max_leaf_nodes=9)
    in_parts, in_memory = (
        model.fit(dataset).model_,
        pm.UDTClassifier(cost_matrix=COSTS, max_leaf_nodes=9).fit(X, y).model_,
    )
    assert np.array_equal(in_parts.weight, in_memory.weight)
    assert [literal and literal.column for literal in in_parts.literals] == [
        literal and literal.column for literal in in_memory.literals
    ]


def test_smoothed_leaves_have_a_finite_log_loss():
    X, y = load_wine(return_X_y=True)
    risk = []
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
        for smoothing in (0.0, 1.0):
            model = pm.UDTClassifier(smoothing=smoothing).fit(X[train], y[train])
            risk.append(pm.LogLoss().risk(y[test], model.predict_proba(X[test])))
    raw, smooth = np.mean(risk[::2]), np.mean(risk[1::2])
    assert smooth < 0.5 < raw


def test_the_first_split_asks_what_is_dear():
    # column 0 tells 0 from 1, a mistake that costs little; column 1 tells 2, which is dear, from the others, less surely
    y = np.repeat([0, 1, 2], [40, 40, 20])
    X = np.column_stack([y == 0, (y == 2) ^ (np.arange(100) % 8 == 0)]).astype(float)
    costs = np.array([[0.0, 0.1, 5.0], [0.1, 0.0, 5.0], [5.0, 5.0, 0.0]])
    plain, charged = (pm.UDTClassifier(cost_matrix=given, max_leaf_nodes=2).fit(X, y) for given in (None, costs))
    assert [model.model_.literals[0].column for model in (plain, charged)] == [0, 1]
    risks = [costs[y, model.decide(X, pm.CostMatrix(costs))].mean() for model in (plain, charged)]
    assert risks[1] < 0.75 * risks[0]
