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
    assert len(loss_plots.conjugates_figure().get_lines()) == 4 * 3
    assert len(loss_plots.links_figure().get_lines()) == 5
    dual = loss_plots.legendre_figure("logistic", 0.3, 1.5).get_lines()[-1]
    assert dual.get_xdata()[-1] == pytest.approx(1 / (1 + np.exp(-(np.log(0.3 / 0.7) + 1.5))))
    panels = loss_plots.surrogates_figure()
    assert [len(axes.get_lines()) for axes in panels] == [2 + 1, 2 + 2, 2 + 3]
    assert loss_plots.tangents_figure().get_legend() is not None


def test_phi_is_drawn_on_given_axes():
    axes = plt.subplots()[1]
    assert loss_plots.plot_phi(["M", losses.get("power", upsilon=0.7)], ax=axes) is axes
    assert len(axes.get_lines()) == 2
