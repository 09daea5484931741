"""Simulations of [K]: Bayes risks are the printed fractions, the draw has the stated law."""

import numpy as np
import pytest

from papers import published
from papers.simulations import SETTINGS, draw, rotation
from permissible.decisions import Boundaries


@pytest.mark.parametrize("row", published.read("kimes-bayes"), ids=lambda row: row["setting"])
def test_bayes_risk_is_the_exact_fraction(row):
    assert SETTINGS[row["setting"]].bayes_risk() == pytest.approx(
        int(row["numerator"]) / int(row["denominator"]), abs=1e-12
    )


@pytest.mark.parametrize("name", SETTINGS)
def test_bayes_rule_attains_the_bayes_risk_on_a_large_draw(name):
    setting = SETTINGS[name]
    generator = np.random.default_rng(3)
    turned = rotation(3, generator)
    rows, label = draw(setting, 200_000, turned, generator)
    first = (rows @ turned)[:, 0]
    probability = np.array(setting.probabilities)[np.searchsorted(setting.cuts, first, side="right")]
    region = np.searchsorted(setting.boundaries, probability, side="left")
    assert Boundaries(setting.boundaries).region_losses()[label, region].mean() == pytest.approx(
        setting.bayes_risk(), abs=0.004
    )


def test_rotation_is_one():
    turned = rotation(7, np.random.default_rng(0))
    assert turned @ turned.T == pytest.approx(np.eye(7), abs=1e-12)
    assert np.linalg.det(turned) == pytest.approx(1.0)
