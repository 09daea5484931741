"""Statistics against scipy, statsmodels and Demsar's published worked example."""

import numpy as np
import pytest
import scipy.stats
import statsmodels.api
import statsmodels.stats.weightstats
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from papers import statistics
from permissible.evaluation import paired

# Demsar (JMLR 7, 2006), Table 6: AUC of C4.5 with and without tuning of m and cf on 14 data sets; ranks are by larger AUC.
DEMSAR = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.9751, 0.975],  # printed .975 twice, ranked 2 and 3
        [0.957, 0.978, 0.946, 0.970],
    ]
)
TABLES = arrays(np.float64, (12, 4), elements=st.floats(0, 1, allow_nan=False, width=32))


def test_demsar_worked_example_gives_his_ranks_and_critical_difference():
    assert paired.average_ranks(1 - DEMSAR) == pytest.approx([3.143, 2.000, 2.893, 1.964], abs=5e-4)
    assert statistics.friedman(1 - DEMSAR).critical_difference == pytest.approx(1.25, abs=5e-3)


def test_friedman_agrees_with_scipy_ties_included():
    ours = statistics.friedman(1 - DEMSAR)
    theirs = scipy.stats.friedmanchisquare(*DEMSAR.T)
    assert ours.chi_square == pytest.approx(theirs.statistic)
    assert ours.p_value == pytest.approx(theirs.pvalue)


def test_iman_davenport_is_demsars_f_of_the_statistic():
    # He computes without the correction for ties: chi-square 9.28 and F 3.69.
    rank = paired.average_ranks(1 - DEMSAR)
    plain = 12 * 14 / (4 * 5) * (np.sum(rank**2) - 4 * 5**2 / 4)
    assert plain == pytest.approx(9.28, abs=0.005)
    assert 13 * plain / (14 * 3 - plain) == pytest.approx(3.69, abs=0.005)
    ours = statistics.friedman(1 - DEMSAR)
    assert ours.f_statistic == pytest.approx(13 * ours.chi_square / (14 * 3 - ours.chi_square))
    assert ours.f_p_value == pytest.approx(scipy.stats.f.sf(ours.f_statistic, 3, 39))


@given(TABLES)
def test_paired_t_agrees_with_scipy(table):
    ours = paired.paired_t(table[:, 0], table[:, 1])
    gap = table[:, 0] - table[:, 1]
    if np.ptp(gap) > 1e-6:
        theirs = scipy.stats.ttest_rel(table[:, 0], table[:, 1])
        assert ours.statistic == pytest.approx(theirs.statistic, rel=1e-9)
        assert ours.p_value == pytest.approx(theirs.pvalue, rel=1e-9)


def test_paired_t_agrees_with_statsmodels():
    gap = DEMSAR[:, 0] - DEMSAR[:, 3]
    t, p, _ = statsmodels.stats.weightstats.DescrStatsW(gap).ttest_mean()
    ours = paired.paired_t(DEMSAR[:, 0], DEMSAR[:, 3])
    assert (ours.statistic, ours.p_value) == pytest.approx((t, p))


def test_paired_t_of_equal_columns_is_no_difference():
    assert paired.paired_t(DEMSAR[:, 0], DEMSAR[:, 0]).p_value == 1.0
    assert paired.paired_t(DEMSAR[:, 0] + 0.5, np.round(DEMSAR[:, 0], 3)).p_value < 1e-12


def test_wilcoxon_of_demsar_rejects_as_he_does():
    # His section 3.1.3: T = 12, critical value 21 at .05 for 14 sets.
    ours = paired.wilcoxon(DEMSAR[:, 0], DEMSAR[:, 3])
    assert ours.p_value < 0.05
    assert paired.wilcoxon(DEMSAR[:, 0], DEMSAR[:, 0]).p_value == 1.0


def test_beaten_counts_significant_wins_only():
    generator = np.random.default_rng(0)
    base = generator.random(40)
    table = np.column_stack(
        [base, base + 0.1 + 0.01 * generator.random(40), base + 1e-9 * generator.standard_normal(40)]
    )
    assert statistics.beaten(table).tolist() == [1, 0, 1]


def test_regression_agrees_with_statsmodels():
    x, y = DEMSAR[:, 0], DEMSAR[:, 1]
    ours = statistics.regression(x, y)
    theirs = statsmodels.api.OLS(y, statsmodels.api.add_constant(x)).fit()
    assert (ours.intercept, ours.slope) == pytest.approx(tuple(theirs.params))
    assert ours.slope_p_value == pytest.approx(theirs.pvalues[1])
    assert ours.correlation**2 == pytest.approx(theirs.rsquared)
    assert ours.paired.p_value == pytest.approx(scipy.stats.ttest_rel(y, x).pvalue)


def test_standard_error_agrees_with_scipy():
    assert paired.standard_error(DEMSAR[:, 0]) == pytest.approx(scipy.stats.sem(DEMSAR[:, 0]))
    assert np.isnan(paired.standard_error(np.array([1.0])))


def test_bootstrap_error_of_the_median_is_near_its_normal_theory():
    values = np.random.default_rng(1).standard_normal(400)
    assert statistics.median_standard_error(values) == pytest.approx(np.sqrt(np.pi / 2 / 400), rel=0.25)


@given(TABLES)
def test_ranks_sum_to_the_same_on_every_set(table):
    assert paired.ranks(table).sum(axis=1) == pytest.approx(10.0)
