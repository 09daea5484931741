"""The picture of a tree says what the tree says."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris

import permissible as pm
from permissible.estimators.pictures.tree import plot_tree, predicted_at_nodes, tree_layout


@pytest.mark.parametrize("load", [load_breast_cancer, load_iris])
def test_every_test_and_leaf_is_drawn_once(load):
    X, y = load(return_X_y=True, as_frame=True)
    model = pm.UDTClassifier(max_leaf_nodes=6).fit(X, y)
    ax = plot_tree(model)
    texts = [text.get_text() for text in ax.texts]
    assert sum("examples" in text for text in texts) == 6
    assert texts.count("yes") == texts.count("no") == 5
    assert sum("<=" in text for text in texts) == 5


def test_leaves_do_not_overlap_and_parents_stand_above_their_children():
    X, y = load_breast_cancer(return_X_y=True)
    model = pm.UDTClassifier(max_leaf_nodes=12).fit(X, y)
    drawn = tree_layout(model.model_, [0, 1], predicted_at_nodes(model))
    leaves = sorted(item.x for item in drawn if item.is_leaf)
    np.testing.assert_array_equal(leaves, np.arange(12))
    for item in drawn[1:]:
        assert drawn[item.parent].y == item.y + 1


def test_it_draws_into_given_axes():
    from matplotlib.figure import Figure

    X, y = load_iris(return_X_y=True)
    ax = Figure().subplots()
    assert plot_tree(pm.UDTClassifier(max_leaf_nodes=3).fit(X, y), ax=ax) is ax


def test_a_tree_without_a_split_is_one_leaf():
    ax = plot_tree(pm.UDTClassifier().fit(np.array([[0.0], [0.0]]), [0, 1]))
    assert [text.get_text() for text in ax.texts] == ["1\nPr[1] = 0.50\n2 examples"]
