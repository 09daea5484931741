"""Theorem 2 of [K] for any loss: the scores delta(pi) of the table in the mathematics, 8.1, and who fails."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from permissible import losses
from permissible.losses import check_consistency


class OnlyWeight:
    """A loss known by its derivative alone, so that delta is found by search."""

    def __init__(self, loss):
        self.weight = loss.weight


def table(pi):
    q = max(pi, 1 - pi)
    return {
        losses.get("logistic"): np.log(pi / (1 - pi)),
        losses.get("exponential"): np.log(pi / (1 - pi)) / 2,
        losses.squared_hinge(): 2 * pi - 1,
        losses.get("least_squares"): 2 * pi - 1,
        losses.dwd(): np.sign(pi - 0.5) * 0.5 * np.sqrt(q / (1 - q)),
        losses.lum(2.0, 0.5): np.sign(pi - 0.5) * (0.5 - 2 + 2 * (q / (1 - q)) ** (1 / 3)) / 1.5,
        losses.get("matsushita"): (2 * pi - 1) / (2 * np.sqrt(pi * (1 - pi))),
    }


@given(pi=st.floats(0.02, 0.98).filter(lambda p: abs(p - 0.5) > 0.01))
def test_deltas_are_those_of_the_table(pi):
    for loss, delta in table(pi).items():
        assert check_consistency(loss, [pi]).deltas == pytest.approx([delta], rel=1e-9), loss
        assert check_consistency(OnlyWeight(loss), [pi]).deltas == pytest.approx([delta], rel=1e-5), loss


@pytest.mark.parametrize("name", losses.names(permissible_only=True))
@given(pi=st.floats(0.001, 0.999))
def test_every_balanced_loss_changes_its_decision_at_the_link(name, pi):
    verdict = check_consistency(name, [pi])
    assert verdict
    assert verdict.deltas[0] == losses.get(name).score(pi)
    assert check_consistency(OnlyWeight(losses.get(name)), [pi]).deltas == pytest.approx(
        verdict.deltas, rel=1e-5, abs=1e-7
    )


def test_the_hinge_is_consistent_for_one_half_alone():
    assert check_consistency(losses.hinge(), [0.5]).deltas == (0.0,)
    for wrong in (0.3, 0.49, 0.51, 0.9):
        verdict = check_consistency(losses.hinge(), [0.5, wrong] if wrong > 0.5 else [wrong, 0.5])
        assert not verdict
        assert f"no score has the ratio {wrong:g}: it jumps from" in verdict.reason


def test_dwd_is_lum_with_both_parameters_one_and_its_middle_is_free():
    z = np.linspace(-3, 5, 81)
    assert losses.dwd().value(z) == pytest.approx(np.where(z < 0.5, 1 - z, 1 / (4 * np.maximum(z, 0.5))))
    assert losses.dwd().value(z) == pytest.approx(losses.lum(1, 1).value(z))
    step = 1e-6
    for loss in (losses.dwd(), losses.lum(2, 0.5), losses.squared_hinge()):
        slope = (loss.value(z + step) - loss.value(z - step)) / (2 * step)
        assert loss.weight(z) == pytest.approx(-slope, abs=1e-5)
    assert check_consistency(losses.dwd(), [0.5]).deltas == (0.0,)


def test_two_losses_of_different_weight_shift_the_boundary():
    # Positives weighted (1 - pi), negatives pi: one half of the pair is at pi of the original
    class Scaled:
        def __init__(self, factor):
            self.factor = factor

        def weight(self, margin):
            return self.factor * losses.get("logistic").weight(margin)

    verdict = check_consistency(Scaled(0.7), [0.5], negative=Scaled(0.3))
    assert verdict.deltas == pytest.approx([np.log(0.7 / 0.3)])


def test_bad_parameters_are_refused():
    with pytest.raises(ValueError, match="`a` must be a positive number, got 0"):
        losses.lum(0, 1)
    with pytest.raises(ValueError, match="`c` must be a non-negative number, got -1"):
        losses.lum(1, -1)
    with pytest.raises(ValueError, match="`loss` must be one of"):
        check_consistency("hinge", [0.5])
