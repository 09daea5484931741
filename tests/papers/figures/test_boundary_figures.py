"""Figures 1 to 3 of [K] show what their equations say."""

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")
import matplotlib.pyplot as plt

from papers.figures import boundaries as boundary_figures


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def test_figure_1_draws_the_set_where_p_is_a_boundary():
    panels = boundary_figures.regions_figure()
    for axes, boundaries in zip(panels[:2], boundary_figures.PROBLEMS[:2], strict=True):
        contours = axes.collections[-1]
        assert contours.levels.tolist() == list(boundaries)
        for level, path in zip(boundaries, contours.get_paths(), strict=True):
            p = 1 / (1 + np.exp(-(path.vertices @ boundary_figures.SLOPE)))
            assert p == pytest.approx(level, abs=1e-3)
    shown = panels[2].collections[0].get_array()
    assert shown.min() < 0.02
    assert shown.max() > 0.98
    assert [len(line.get_xdata()) for line in panels[0].get_lines()] == [50, 50]


def test_figure_2_is_the_step_function_of_equation_7():
    panels = boundary_figures.theoretical_losses_figure()
    for axes, boundaries in zip(panels[:2], boundary_figures.PROBLEMS[:2], strict=True):
        pi, (positive, negative) = np.array(boundaries), axes.get_lines()
        g = positive.get_xdata()
        above = 2 / len(pi) * ((1 - pi) * (g[:, None] <= pi)).sum(axis=1)  # written from (7)
        below = 2 / len(pi) * (pi * (g[:, None] > pi)).sum(axis=1)
        assert positive.get_ydata() == pytest.approx(above)
        assert negative.get_ydata() == pytest.approx(below)
    soft = panels[2].get_lines()
    assert soft[0].get_ydata() == pytest.approx((1 - soft[0].get_xdata()) ** 2)
    many = np.linspace(0, 1, 802)[1:-1].tolist()
    limit = boundary_figures.theoretical_losses_figure([many])
    curve = np.atleast_1d(limit)[0].get_lines()[0]
    assert curve.get_ydata() == pytest.approx((1 - curve.get_xdata()) ** 2, abs=5e-3)


def test_figure_3_is_equation_9_and_never_rises():
    panels = boundary_figures.margin_losses_figure()
    for axes, boundaries in zip(panels[:2], boundary_figures.PROBLEMS[:2], strict=True):
        pi = np.array(boundaries)
        delta = np.log(pi / (1 - pi))
        positive, negative = axes.get_lines()
        z = positive.get_xdata()
        assert positive.get_ydata() == pytest.approx(2 / len(pi) * ((1 - pi) * (z[:, None] <= delta)).sum(axis=1))
        assert negative.get_ydata() == pytest.approx(2 / len(pi) * (pi * (z[:, None] < -delta)).sum(axis=1))
    for axes in panels:
        for line in axes.get_lines():
            assert (np.diff(line.get_ydata()) <= 0).all()


def test_figures_are_drawn_on_given_axes():
    given = plt.subplots(1, 1)[1]
    assert boundary_figures.margin_losses_figure([(0.3,)], ax=given) is given
    assert len(given.get_lines()) == 2
