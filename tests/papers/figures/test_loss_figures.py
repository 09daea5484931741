"""The figures of losses show the curves that the papers show."""

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")
import matplotlib.pyplot as plt

from papers.figures import losses as figures
from permissible import losses


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def test_the_figures_of_the_papers_are_one_liners():
    two = figures.divergence_figure().get_lines()
    p = two[0].get_xdata()
    assert two[0].get_ydata() == pytest.approx(losses.get("M").bregman(0, p))
    conjugates = figures.conjugates_figure().get_lines()
    assert len(conjugates) == 4 * 3
    logistic = next(line for line in conjugates if line.get_label() == "logistic")
    assert logistic.get_ydata() == pytest.approx(np.log1p(np.exp(-logistic.get_xdata())))
    links = figures.links_figure().get_lines()
    assert len(links) == 5
    logit = next(line for line in links if line.get_label() == "logistic")
    p = logit.get_xdata()
    assert logit.get_ydata() == pytest.approx(np.log(p / (1 - p)))
    dual = figures.legendre_figure("logistic", 0.3, 1.5).get_lines()[-1]
    assert dual.get_xdata()[-1] == pytest.approx(1 / (1 + np.exp(-(np.log(0.3 / 0.7) + 1.5))))
    panels = figures.surrogates_figure()
    assert [len(axes.get_lines()) for axes in panels] == [2 + 1, 2 + 2, 2 + 3]
    hinge = panels[0].get_lines()[0]
    slopes = np.unique(np.round(np.diff(hinge.get_ydata()) / np.diff(hinge.get_xdata()), 6))
    assert slopes[[0, -1]] == pytest.approx([-0.5, 0.0])  # one boundary at one half: the tangent at 0, and 0
    tangents = figures.tangents_figure()
    pieces, smooth = tangents.get_lines()[0], next(x for x in tangents.get_lines() if x.get_label() == "logistic loss")
    gap = smooth.get_ydata() - pieces.get_ydata()
    assert gap.min() > -1e-9  # tangents lie below their base,
    assert gap[np.abs(smooth.get_xdata() - np.log(0.4 / 0.6)).argmin()] < 1e-3  # and touch it at the boundaries
