"""The impurity of several classes and of costs: closed forms, concavity, the bound by the least expected cost, the kernel."""

import numpy as np
import pytest
from scipy.stats import entropy

from permissible import losses
from permissible.kernels._core import trees
from permissible.losses.class_impurity import class_impurity

every_phi = pytest.mark.parametrize("name", losses.names(permissible_only=True))
COSTS = np.array([[0.0, 1.0, 5.0], [2.0, 0.0, 0.0], [4.0, 3.0, 0.0]])


def weights(seed, n=40, m=3):
    rng = np.random.default_rng(seed)
    drawn = rng.gamma(0.6, 2.0, (n, m))
    drawn[rng.random((n, m)) < 0.2] = 0.0
    drawn[0] = [0.0, 0.0, 3.0][:m]
    drawn[:, 0] += (drawn.sum(axis=1) == 0) * 1.0
    return drawn


def test_the_entropy_of_several_classes_is_shannons_and_ginis_is_ginis():
    weight = weights(0)
    total = weight.sum(axis=1)
    share = weight / total[:, None]
    assert class_impurity(losses.get("logistic"), weight) == pytest.approx(total * entropy(share.T, base=2), abs=1e-12)
    gini = 4 * total * (share * (1 - share)).sum(axis=1)
    assert class_impurity(losses.get("squared"), weight) == pytest.approx(gini, abs=1e-12)
    binary = -(share * np.log2(np.where(share > 0, share, 1))) - (1 - share) * np.log2(
        np.where(share < 1, 1 - share, 1)
    )
    summed = class_impurity(losses.get("logistic"), weight, joint=False)
    assert summed == pytest.approx(total * binary.sum(axis=1), abs=1e-12)


@every_phi
def test_with_costs_it_is_concave_zero_when_pure_and_above_the_least_cost(name):
    loss, first, second = losses.get(name), weights(1), weights(2)
    value = lambda weight: class_impurity(loss, weight, costs=COSTS)  # noqa: E731
    assert (value(first + second) >= value(first) + value(second) - 1e-9).all()  # homogeneous and concave
    assert value(3.5 * first) == pytest.approx(3.5 * value(first), rel=1e-12, abs=1e-12)
    assert value(np.diag([1.0, 2.0, 3.0])) == pytest.approx(0.0, abs=1e-15)
    assert (value(first) >= (first @ COSTS).min(axis=1) - 1e-9).all()


@every_phi
def test_two_classes_with_costs_are_weighted_classes(name):
    loss, weight = losses.get(name), weights(3, m=2)
    costs = np.array([[0.0, 3.0], [0.5, 0.0]])
    weighted = class_impurity(loss, weight * [3.0, 0.5])
    assert class_impurity(loss, weight, costs=costs) == pytest.approx(weighted, rel=1e-12, abs=1e-12)
    even = class_impurity(loss, weights(4), costs=1.0 - np.eye(3))
    assert even == pytest.approx(class_impurity(loss, weights(4), joint=False) / 2, rel=1e-12, abs=1e-12)


@every_phi
@pytest.mark.parametrize("joint", [False, True])
@pytest.mark.parametrize("costs", [None, COSTS], ids=["plain", "costs"])
def test_the_kernel_computes_the_same(name, joint, costs):
    loss, weight = losses.get(name), weights(5)
    functor = loss.impurity_functor
    impurity = trees.Impurity(functor.name, functor.parameter, joint=joint and loss.joint_entropy, costs=costs)
    columns = trees.Columns(np.array([3], np.int32), np.zeros(1, np.uint8), np.zeros(1, np.int8))
    finder = trees.SplitFinder(columns, 3, 1.0, False, impurity, trees.Limits(4, None))
    expected = class_impurity(loss, weight, joint=joint, costs=costs)
    assert finder.impurities(np.ascontiguousarray(weight.T)) == pytest.approx(expected, rel=1e-12, abs=1e-12)
