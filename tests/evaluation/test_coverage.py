"""Intervals cover at their nominal rate: a seeded simulation whose true values are known from a million rows."""

import numpy as np
import pytest
from scipy.special import expit

import permissible as pm
from permissible import metrics

pytestmark = pytest.mark.slow
RUNS, ROWS = 300, 400
LOWEST = 0.95 - 4 * np.sqrt(0.95 * 0.05 / RUNS)  # simulation error: four standard errors


def population(n_rows, generator):
    """Probabilities that are too extreme and too high: y ~ sigma(0.7 x - 0.4), predicted sigma(x)."""
    x = generator.normal(-0.5, 1.3, n_rows)
    return (generator.random(n_rows) < expit(0.7 * x - 0.4)).astype(int), expit(x)


def figures(y, p, **options):
    calibration = metrics.calibration_summary(y, p, **options)
    found = {
        name: (value, low, high)
        for name, value, low, high in zip(*(calibration[k] for k in ("measure", "value", "low", "high")), strict=True)
    }
    table = metrics.threshold_table(y, p, [0.3], **options)
    for name in ("flagged", "sensitivity", "specificity", "ppv", "npv", "net_benefit", "cost"):
        found[name] = tuple(table[f"{name}{end}"][0] for end in ("", "_low", "_high"))
    curve = metrics.net_benefit(y, p, [0.3], **options)
    name = "standardised_net_benefit"
    found[name] = tuple(curve[f"{name}{end}"][0] for end in ("", "_low", "_high"))
    saved = metrics.decision_benefit(y, p, pm.Reject(0.2), **options)
    found["saving"] = tuple(saved[f"saving{end}"][1] for end in ("", "_low", "_high"))
    return found


def test_intervals_cover_the_truth_at_their_nominal_rate():
    generator = np.random.default_rng(20)
    truth = figures(*population(1_000_000, generator), n_bootstrap=0)
    covered = dict.fromkeys(truth, 0)
    for _ in range(RUNS):
        for name, (_, low, high) in figures(*population(ROWS, generator), n_bootstrap=300).items():
            covered[name] += low <= truth[name][0] <= high
    rates = {name: count / RUNS for name, count in covered.items()}
    assert all(rate >= LOWEST for rate in rates.values()), rates
    assert all(rates[name] <= 0.99 for name in ("slope", "brier", "net_benefit", "cost")), rates
