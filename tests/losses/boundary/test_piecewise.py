"""Piecewise-linear surrogates: Proposition 1, conditions (C1)-(C3), minimal consistency, Corollary 1 ([K] sections 3-4)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from permissible import losses
from permissible.losses import PiecewiseLinear

BASES = losses.names(permissible_only=True)
boundary_sets = st.lists(st.integers(1, 99), min_size=1, max_size=6, unique=True).map(
    lambda pi: sorted(k / 100 for k in pi)
)


@given(pi=boundary_sets)
def test_proposition_1_is_the_logistic_base(pi):
    surrogate, p = PiecewiseLinear(pi), np.array(pi)
    assert surrogate.intercepts == pytest.approx(-p * np.log(p) - (1 - p) * np.log(1 - p), rel=1e-12)
    assert surrogate.slopes_pos == pytest.approx(-(1 - p))
    assert surrogate.slopes_neg == pytest.approx(-p)
    assert surrogate.deltas == pytest.approx(np.log(p / (1 - p)), rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("base", BASES)
@given(pi=boundary_sets)
def test_tangents_of_every_permissible_phi_are_minimally_consistent(base, pi):
    surrogate = PiecewiseLinear(pi, base=base)
    verdict = surrogate.check()
    assert verdict, verdict.reason
    assert surrogate.consistent_boundaries() == pytest.approx(pi, rel=1e-9)
    assert surrogate.consistency()
    hinges, deltas = surrogate.hinges, surrogate.deltas
    assert ((hinges[:-1] < deltas) & (deltas < hinges[1:])).all()
    heights = surrogate.intercepts
    inner = (heights[:-1] - heights[1:]) / np.diff(pi)  # H_k = (phi(pi_k) - phi(pi_{k+1})) / (pi_{k+1} - pi_k)
    assert hinges[1:-1] == pytest.approx(inner, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("base", BASES)
@given(pi=boundary_sets, score=st.floats(-8, 8))
def test_the_surrogate_touches_its_smooth_base_from_below(base, pi, score):
    surrogate, loss = PiecewiseLinear(pi, base=base), losses.get(base)
    assert surrogate.value(1, score) <= loss.b * loss.value(score) + 1e-12
    assert surrogate.value(0, score) <= loss.b * loss.value(-score) + 1e-12
    for delta in surrogate.deltas:
        assert surrogate.value(1, delta) == pytest.approx(loss.b * loss.value(delta), rel=1e-9, abs=1e-12)
        assert surrogate.value(0, delta) == pytest.approx(loss.b * loss.value(-delta), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("base", BASES)
def test_the_surrogate_becomes_its_smooth_base_as_boundaries_grow_dense(base):
    loss, scores = losses.get(base), np.linspace(-2, 2, 81)
    gaps = []
    for k in (3, 15, 63, 255):
        surrogate = PiecewiseLinear(np.arange(1, k + 1) / (k + 1), base=base)
        gaps.append(np.abs(surrogate.value(1, scores) - loss.b * loss.value(scores)).max())
    assert gaps[0] > gaps[1] > gaps[2] > gaps[3]
    assert gaps[3] < 0.02 * loss.b


def test_one_boundary_at_one_half_is_the_hinge_of_the_svm_rescaled():
    # ln 2 * hinge(z / (2 ln 2)): (18) is the SVM with lambda_svm = 4 ln 2 lambda
    z = np.linspace(-5, 5, 101)
    expected = np.log(2) * np.maximum(0, 1 - z / (2 * np.log(2)))
    assert PiecewiseLinear([0.5]).value(1, z) == pytest.approx(expected, abs=1e-14)
    assert PiecewiseLinear([0.5]).value(-1, -z) == pytest.approx(expected, abs=1e-14)


def test_d_and_one_minus_d_is_the_generalised_hinge_of_bartlett_and_wegkamp():
    # max(0, 1 - z, 1 - (1-d)/d z) after rescaling score and value
    d = 0.2
    surrogate, z = PiecewiseLinear([d, 1 - d]), np.linspace(-3, 3, 121)
    unit = surrogate.hinges[-1]
    expected = np.maximum(0, np.maximum(1 - z, 1 - (1 - d) / d * z)) * surrogate.intercepts[0]
    assert surrogate.value(1, z * unit) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@given(pi=boundary_sets, score=st.floats(-8, 8))
def test_segments_sum_to_the_loss_and_the_subgradient_is_its_slope(pi, score):
    surrogate = PiecewiseLinear(pi)
    for label, z, part in ((1, score, surrogate.segments_pos), (0, -score, surrogate.segments_neg)):
        hinged = (part.widths * np.maximum(part.hinges - z, 0)).sum()
        assert surrogate.value(label, score) == pytest.approx(hinged, rel=1e-11, abs=1e-12)
        assert (np.diff(part.hinges) < 0).all()
        assert part.breaks[0] == 0
        slope = surrogate.subgradient(label, score)
        for other in (score - 0.5, score + 0.5, -score):
            assert surrogate.value(label, other) >= surrogate.value(label, score) + slope * (other - score) - 1e-12


@given(pi=boundary_sets, gaps=st.lists(st.floats(0.1, 2), min_size=7, max_size=7))
def test_freely_chosen_hinges_are_kept_and_consistent(pi, gaps):
    hinges = np.cumsum(gaps[: len(pi) + 1])
    hinges = hinges - (hinges[0] + hinges[-1]) / 2
    surrogate = PiecewiseLinear.from_hinges(pi, hinges)
    assert surrogate.hinges == pytest.approx(hinges, abs=1e-9)
    assert surrogate.check(), surrogate.check().reason
    assert surrogate.consistent_boundaries() == pytest.approx(pi, rel=1e-9)


def test_tangents_of_a_loss_that_is_not_balanced_are_consistent_but_not_minimal():
    # mathematics 8.2: exponential at {.2, .4, .6} is consistent for .290 and .5 too
    surrogate = PiecewiseLinear.from_tangents([0.2, 0.4, 0.6], "exponential")
    verdict = surrogate.check()
    assert (verdict.slopes, verdict.alignment, verdict.boundaries) == (True, False, True)
    assert "(C2) hinge 1 of phi+ lies at" in verdict.reason
    assert surrogate.consistency()
    assert surrogate.consistent_boundaries() == pytest.approx((0.2, 0.28989795, 0.4, 0.5, 0.6))
    straight = PiecewiseLinear.from_tangents([0.2, 0.4, 0.6], losses.dwd()).check()
    assert "two lines coincide" in straight.reason
    assert PiecewiseLinear.from_tangents([0.2, 0.4, 0.6], losses.squared_hinge()).check()


def test_lines_that_break_a_condition_are_found_out():
    pi, good = (0.25, 0.75), PiecewiseLinear([0.25, 0.75])
    lines = good.intercepts_pos, good.slopes_pos, good.intercepts_neg, good.slopes_neg
    assert PiecewiseLinear.from_lines(pi, *lines).check()
    rising = PiecewiseLinear.from_lines(pi, lines[0], [-0.75, 0.25], *lines[2:]).check()
    assert not rising.slopes
    unordered = PiecewiseLinear.from_lines(pi, lines[0], lines[1][::-1], *lines[2:]).check()
    assert "slopes are not ordered" in unordered.reason
    moved = PiecewiseLinear.from_lines(pi, lines[0] + [0.1, 0], *lines[1:]).check()
    assert not moved.alignment
    other = PiecewiseLinear.from_lines((0.25, 0.7), *lines).check()
    assert other.reason == "(C3) B-/(B- + B+) = 0.75 at boundary 0.7"


def excess_target(pi, p, region):
    p_columns = np.array(pi)
    missed = 2 / len(pi) * (1 - p_columns[region:]).sum()
    alarmed = 2 / len(pi) * p_columns[:region].sum()
    best = 2 / len(pi) * np.minimum(p * (1 - p_columns), (1 - p) * p_columns).sum()
    return p * missed + (1 - p) * alarmed - best


@pytest.mark.parametrize("base", ["logistic", "matsushita", "squared"])
@given(pi=boundary_sets, p=st.floats(0, 1), score=st.floats(-6, 6))
def test_corollary_1_bounds_the_excess_risk(base, pi, p, score):
    surrogate = PiecewiseLinear(pi, base=base)
    candidates = np.append(surrogate.hinges, score)
    risks = p * surrogate.value(1, candidates) + (1 - p) * surrogate.value(0, candidates)
    region = int(np.searchsorted(surrogate.deltas, score, "left"))
    assert excess_target(pi, p, region) <= 2 * surrogate.excess_constant * (risks[-1] - risks.min()) + 1e-9


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: PiecewiseLinear([0.5, 0.5]), "`boundaries` must be strictly increasing, got 0.5 followed by 0.5"),
        (lambda: PiecewiseLinear([0.7, 0.2]), "`boundaries` must be strictly increasing, got 0.7 followed by 0.2"),
        (lambda: PiecewiseLinear([0.0, 0.2]), r"`boundaries` must be numbers in \(0, 1\), got 0.0"),
        (lambda: PiecewiseLinear([]), "`boundaries` must be a non-empty sequence"),
        (lambda: PiecewiseLinear("abc"), "`boundaries` must be increasing numbers"),
        (
            lambda: PiecewiseLinear([0.5], base="exponential"),
            "`base` must be the loss of a permissible phi, got 'exponential'; ",
        ),
        (lambda: PiecewiseLinear([0.5]).value(2, 0.0), "`y` must be 1 for positives, 0 or -1 for negatives, got 2"),
        (lambda: PiecewiseLinear.from_hinges([0.5], [1, 0]), "`hinges` must be strictly increasing"),
        (lambda: PiecewiseLinear.from_hinges([0.5], [1]), "`hinges` must be 2 finite numbers"),
        (lambda: PiecewiseLinear.from_tangents([0.3], losses.hinge()), "`loss` must be consistent for the boundaries"),
    ],
)
def test_bad_input_is_refused(call, words):
    with pytest.raises((ValueError, TypeError), match=words):
        call()
