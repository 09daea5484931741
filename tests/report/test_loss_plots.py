"""Pictures of losses show the curves they claim to show."""

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")
import matplotlib.pyplot as plt

from permissible import losses
from permissible.report import loss_plots


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@pytest.mark.parametrize("name", losses.names())
@pytest.mark.parametrize(
    ("plot", "method"), [("loss", "value"), ("weight", "weight"), ("probability", "probability"), ("link", "score")]
)
def test_any_loss_can_be_drawn(name, plot, method):
    axes = getattr(loss_plots, f"plot_{plot}")(name)
    x, y = axes.get_lines()[0].get_data()
    assert y == pytest.approx(getattr(losses.get(name), method)(x))


def test_the_figures_of_the_papers_are_one_liners():
    two = loss_plots.divergence_figure().get_lines()
    p = two[0].get_xdata()
    assert two[0].get_ydata() == pytest.approx(losses.get("M").bregman(0, p))
    conjugates = loss_plots.conjugates_figure().get_lines()
    assert len(conjugates) == 4 * 3
    logistic = next(line for line in conjugates if line.get_label() == "logistic")
    assert logistic.get_ydata() == pytest.approx(np.log1p(np.exp(-logistic.get_xdata())))
    links = loss_plots.links_figure().get_lines()
    assert len(links) == 5
    logit = next(line for line in links if line.get_label() == "logistic")
    p = logit.get_xdata()
    assert logit.get_ydata() == pytest.approx(np.log(p / (1 - p)))
    dual = loss_plots.legendre_figure("logistic", 0.3, 1.5).get_lines()[-1]
    assert dual.get_xdata()[-1] == pytest.approx(1 / (1 + np.exp(-(np.log(0.3 / 0.7) + 1.5))))
    panels = loss_plots.surrogates_figure()
    assert [len(axes.get_lines()) for axes in panels] == [2 + 1, 2 + 2, 2 + 3]
    hinge = panels[0].get_lines()[0]
    slopes = np.unique(np.round(np.diff(hinge.get_ydata()) / np.diff(hinge.get_xdata()), 6))
    assert slopes[[0, -1]] == pytest.approx([-0.5, 0.0])  # one boundary at one half: the tangent at 0, and 0
    tangents = loss_plots.tangents_figure()
    pieces, smooth = tangents.get_lines()[0], next(x for x in tangents.get_lines() if x.get_label() == "logistic loss")
    gap = smooth.get_ydata() - pieces.get_ydata()
    assert gap.min() > -1e-9  # tangents lie below their base,
    assert gap[np.abs(smooth.get_xdata() - np.log(0.4 / 0.6)).argmin()] < 1e-3  # and touch it at the boundaries


def test_phi_is_drawn_on_given_axes():
    axes = plt.subplots()[1]
    assert loss_plots.plot_phi(["M", losses.get("power", upsilon=0.7)], ax=axes) is axes
    assert len(axes.get_lines()) == 2
