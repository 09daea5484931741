"""A proper loss given as two functions becomes its phi ([N] Lemma 3, both directions)."""

import numpy as np
import pytest

from permissible import losses

Q = np.linspace(0.02, 0.98, 49)


@pytest.mark.parametrize("name", ["logistic", "squared", "matsushita", "logcosh"])
def test_the_partial_losses_of_a_phi_give_it_back(name):
    known = losses.get(name)
    made = losses.from_proper(lambda q: known.bregman(1.0, q), lambda q: known.bregman(0.0, q))
    assert made.phi(Q) - made.a == pytest.approx(known.phi(Q) - known.a, rel=1e-9)
    assert made.score(Q) == pytest.approx(known.score(Q), rel=1e-8, abs=1e-9)
    margins = np.linspace(-0.9, 0.9, 19) * min(known.score_limit, 4.0)
    assert made.value(margins) == pytest.approx(known.value(margins), rel=1e-7)


def test_the_partial_losses_are_the_divergences_of_the_answers():
    def one(q):  # the integral of (1 - c) w(c) over [q, 1] is proper for any weight w; here w(c) = c (1 - c)
        return 1 / 12 - q**2 / 2 + 2 * q**3 / 3 - q**4 / 4

    made = losses.from_proper(one, lambda q: one(1 - q), name="weighted")
    assert made.bregman(1.0, Q) == pytest.approx(one(Q) - one(1.0), abs=1e-9)
    assert made.bregman(0.0, Q) == pytest.approx(one(1 - Q) - one(1.0), abs=1e-9)


@pytest.mark.parametrize(
    ("l1", "l0", "words"),
    [
        (lambda q: 1 - q, lambda q: q, "proper"),  # the absolute error: reports 0 or 1
        (lambda q: (1 - q) ** 3, lambda q: q**3, "proper"),
        (lambda q: -np.log(q), lambda q: -2 * np.log(1 - q), "same for both classes"),
        (lambda q: np.where(q > 0.5, np.nan, 1 - q), lambda q: q, "finite"),
    ],
)
def test_what_is_not_proper_or_not_symmetric_is_refused(l1, l0, words):
    with pytest.raises(ValueError, match=words):
        losses.from_proper(l1, l0)
