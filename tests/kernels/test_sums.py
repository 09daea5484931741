"""Exact sums: the sum of the real numbers, rounded once, however it is split; math.fsum and fractions are the referees."""

import math
from fractions import Fraction

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from permissible.kernels._core import sums

NUMBERS = st.lists(st.floats(allow_nan=False, allow_infinity=False, width=64), max_size=40)


@given(NUMBERS, st.integers(0, 40))
@settings(max_examples=100, deadline=None)
def test_exact_sums_are_the_rounded_sums_and_parts_of_them_add(values, cut):
    assume(np.isfinite(sum(map(abs, values))))
    x = np.array(values, dtype=np.float64)
    assert sums.exact_sum(x) == math.fsum(values)
    limbs = sums.exact_limbs(x[None, :cut].copy()) + sums.exact_limbs(x[None, cut:].copy())
    assert sums.exact_values(limbs) == [math.fsum(values)]


@given(st.integers(0, 10_000))
@settings(max_examples=30, deadline=None)
def test_products_are_sums_of_rounded_products(seed):
    random = np.random.default_rng(seed)
    x = random.standard_normal((30, 3)) * 10.0 ** random.integers(-20, 20, (30, 3))
    mass = random.standard_normal(30) * (random.random(30) < 0.7)
    found = sums.exact_values(sums.exact_products(x, mass))
    wanted = [float(sum(map(Fraction, (x[:, j] * mass).tolist()), Fraction(0))) for j in range(3)]
    assert found == [*wanted, math.fsum(mass)]


def test_the_score_of_a_row_does_not_depend_on_its_neighbours():
    random = np.random.default_rng(0)
    x, coef = random.standard_normal((37, 11)), random.standard_normal(11)
    whole = sums.linear_scores(x, coef, 0.3)
    np.testing.assert_allclose(whole, x @ coef + 0.3, rtol=1e-12)
    for start in range(37):
        np.testing.assert_array_equal(sums.linear_scores(x[start:].copy(), coef, 0.3), whole[start:])


def test_infinite_terms_are_not_lost():
    assert sums.exact_sum(np.array([1.0, np.inf])) == np.inf
    assert sums.exact_sum(np.zeros(0)) == 0.0
