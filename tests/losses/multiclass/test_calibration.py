"""Calibration of multiclass losses: the statements of [B], counterexamples checked by brute force, and losses of one's own."""

import numpy as np
import pytest
from scipy.optimize import minimize

from permissible import losses

CLASSES = pytest.mark.parametrize("m", [2, 3])


@pytest.mark.parametrize(
    ("name", "two", "three"),
    [("ls", True, True), ("lt", True, True), ("gll", False, False), ("gel", True, False), ("mc", False, False)],
)
def test_the_statements_of_the_paper_on_classification_calibration(name, two, three):
    assert bool(losses.is_classification_calibrated(name, 2)) == two
    assert bool(losses.is_classification_calibrated(name, 3)) == three


@pytest.mark.parametrize("name", ["gll", "structured_hinge"])
def test_a_counterexample_is_one(name):
    found = losses.is_classification_calibrated(name, 3).counterexample
    loss = losses.get_multiclass(name)
    expected = found.eta @ found.cost
    assert expected[found.bayes] == expected.min() < expected[found.decided]
    assert found.scores.argmax() == found.decided or np.ptp(found.scores) < 1e-9

    def risk(scores):
        rows = np.tile(scores - scores.mean(), (3, 1))
        return float(found.eta @ loss.value(rows, np.arange(3), found.cost))

    assert risk(found.scores) == pytest.approx(found.risk, rel=1e-9)
    rng = np.random.default_rng(0)
    for start in rng.normal(0, 2, (20, 3)):  # no scores at all are better, by a method without gradients
        assert minimize(risk, start, method="Nelder-Mead").fun >= found.risk * (1 - 1e-6)


def test_c_calibration_holds_for_two_classes_only_and_implies_guess_aversion():
    for name in ("gll", "gel", "ls", "lt", "structured_hinge"):
        assert losses.is_c_calibrated(name, 2)
        assert losses.is_guess_averse(name, 2)
    verdict = losses.is_c_calibrated("gll", 3)  # appendix B, Lemma 4
    assert not verdict
    assert losses.is_guess_averse("gll", 3)
    found, loss = verdict.counterexample, losses.GLL()
    assert found.right.argmax() == found.label != found.wrong.argmax()
    assert loss.value(found.right, found.label, found.cost) >= loss.value(found.wrong, found.label, found.cost)


OWN_GLL = losses.GammaPhi(np.log1p, lambda v: np.exp(-v), name="own gll")
OWN_GEL = losses.GammaPhi(lambda u: u, lambda v: np.exp(-v), lambda u: np.ones_like(u), lambda v: -np.exp(-v))


@pytest.mark.parametrize(("own", "known"), [(OWN_GLL, losses.GLL()), (OWN_GEL, losses.GEL())], ids=["gll", "gel"])
def test_gamma_phi_losses_are_those_of_the_paper(own, known):
    rng = np.random.default_rng(1)
    scores, y, cost = rng.normal(size=(9, 4)), rng.integers(0, 4, 9), rng.uniform(1, 5, (4, 4)) * (1 - np.eye(4))
    assert own.value(scores, y, cost) == pytest.approx(known.value(scores, y, cost), rel=1e-12)
    assert own.gradient(scores, y, cost) == pytest.approx(known.gradient(scores, y, cost), rel=1e-6, abs=1e-8)
    assert losses.is_guess_averse(own, 3)


@pytest.mark.parametrize(
    ("gamma", "phi", "words"),
    [
        (lambda u: -u, lambda v: np.exp(-v), "`gamma` must be strictly increasing"),
        (lambda u: u, np.exp, "`phi` must be nowhere increasing"),
        (lambda u: u, lambda v: -v, "`phi` must be non-negative"),
        (np.log, lambda v: np.exp(-v), "`gamma` must be finite"),
    ],
)
def test_functions_that_make_no_loss_are_refused(gamma, phi, words):
    with pytest.raises(ValueError, match=words):
        losses.GammaPhi(gamma, phi)


def test_a_wrong_derivative_is_refused():
    with pytest.raises(ValueError, match="`phi_prime` must be the derivative"):
        losses.GammaPhi(lambda u: u, lambda v: np.exp(-v), None, lambda v: np.exp(-v))
