"""The figures of [B] and [T] Figure 5 show what the papers say of them."""

import numpy as np
import pytest

import permissible as pm
from permissible import losses

pytest.importorskip("matplotlib").use("Agg")

from papers.figures import multiclass as figures  # noqa: E402


def test_the_supports_are_where_each_score_is_largest():
    first, second, scores = figures._scores_of_plane()
    assert np.abs(scores.sum(axis=1)).max() < 1e-12
    axes = figures.supports_figure()
    for line in axes.lines[:3]:  # decision boundaries: the two largest scores are equal along them
        x, y = line.get_data()
        on = np.sort(np.column_stack([x, y, -x - y]), axis=1)
        assert on[:, 2] == pytest.approx(on[:, 1])
    assert first.shape == second.shape


def test_every_binary_loss_is_guess_averse():
    for line in figures.binary_losses_figure().lines[:4]:
        f, values = line.get_data()
        assert (values[f > 0] < np.interp(0.0, f, values)).all()


def test_point_g_violates_guess_aversion_for_ls_alone():
    # [B] Figure 3a and (13): L_s([3, 2, -5]) = 7.4 > 2
    assert losses.LS().value([[3.0, 2.0, -5.0]], [0])[0] == pytest.approx(7.396, abs=1e-3)
    assert losses.GLL().value([[3.0, 2.0, -5.0]], [0])[0] < losses.GLL().value([[0.0, 0.0, 0.0]], [0])[0]
    assert [ax.get_title() for ax in figures.guess_aversion_figure()] == ["ls", "gll", "gll"]
    assert figures.surface_figure("structured_hinge", figures.SENSITIVE).get_title() == "structured_hinge"


def test_the_linearised_tree_adds_up_to_the_leaves():
    rows, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 5), [0, 1, 1, 1] * 5
    tree = pm.UDTClassifier(max_leaf_nodes=3, smoothing=1.0).fit(rows, y).model_
    words = [text.get_text() for text in figures.linearised_figure(tree).texts]
    assert len(words) == 2 * tree.n_nodes
    shown = [float(word.split("\n")[-1]) for word in words[tree.n_nodes :]]
    values = dict(zip(figures._places(tree), shown, strict=True))
    for leaf in tree.leaves:
        path, node = 0.0, int(leaf)
        while node >= 0:
            path, node = path + values[node], int(tree.parent[node])
        assert path == pytest.approx(tree.node_score[leaf], abs=0.02)
    with pytest.raises(ValueError, match="of two classes"):
        figures.linearised_figure(pm.UDTClassifier().fit(rows, [0, 1, 2, 1] * 5).model_)
