"""Pictures of losses show the curves they claim to show."""

import matplotlib as mpl
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


def test_phi_is_drawn_on_given_axes():
    axes = plt.subplots()[1]
    assert loss_plots.plot_phi(["M", losses.get("power", upsilon=0.7)], ax=axes) is axes
    assert len(axes.get_lines()) == 2
