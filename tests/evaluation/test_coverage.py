"""Intervals cover at their nominal rate: seeded simulations whose true values are known from very many rows."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

import permissible as pm
from permissible import metrics

pytestmark = pytest.mark.slow
RUNS, ROWS = 300, 400


def lowest(runs):
    """The nominal rate less the error of the simulation, four standard errors."""
    return 0.95 - 4 * np.sqrt(0.95 * 0.05 / runs)


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
    assert all(rate >= lowest(RUNS) for rate in rates.values()), rates
    assert all(rates[name] <= 0.99 for name in ("slope", "brier", "net_benefit", "cost")), rates


def ends(table, name, place):
    return tuple(table[f"{name}{end}"][place] for end in ("", "_low", "_high"))


def coverage(figures_of, draw, runs, seed):
    """The share of samples whose interval covers what a million rows say, for each figure."""
    generator = np.random.default_rng(seed)
    truth = figures_of(*draw(1_000_000, generator), n_bootstrap=0)
    covered = dict.fromkeys(truth, 0)
    for _ in range(runs):
        for name, (_, low, high) in figures_of(*draw(ROWS, generator), n_bootstrap=300).items():
            covered[name] += low <= truth[name][0] <= high
    return {name: count / runs for name, count in covered.items()}


def test_intervals_of_differences_of_costs_and_of_every_decision_cover():
    decisions = [pm.Boundaries([0.2, 0.5]), pm.CostMatrix([[0, 1], [4, 0]], reject_cost=0.3), pm.Soft()]

    def two_models(n_rows, generator):
        y, p = population(n_rows, generator)
        return y, p, expit(0.6 * np.log(p / (1 - p)) - 0.3 + generator.normal(0, 0.5, n_rows))

    def differences(y, p, other, **options):
        gap = metrics.net_benefit_difference(y, p, other, [0.2, 0.4], **options)
        found = {f"at {t}": ends(gap, "difference", k) for k, t in enumerate(gap["threshold"])}
        for k, decision in enumerate(decisions):
            table = metrics.decision_benefit(y, p, decision, **options)
            found |= {f"cost {k}": ends(table, "cost", 0), f"saving {k}": ends(table, "saving", 1)}
        return found | {"curve": ends(metrics.expected_cost_curve(y, p, [0.35], **options), "cost", 0)}

    rates = coverage(differences, two_models, RUNS, 20)
    assert all(rate >= lowest(RUNS) for rate in rates.values()), rates


def test_intervals_of_weighted_rows_cover():
    def weighted(n_rows, generator):
        return *population(n_rows, generator), generator.gamma(2.0, 1.0, n_rows)

    rates = coverage(lambda y, p, w, **options: figures(y, p, sample_weight=w, **options), weighted, RUNS, 21)
    assert all(rate >= lowest(RUNS) for rate in rates.values()), rates


def test_intervals_of_groups_cover_and_those_of_differences_all_at_once():
    runs, names = 150, np.array(list("abcde"))
    measures = ["o_e", "auc", "sensitivity", "specificity", "net_benefit", "flagged"]

    def draw(n_rows, generator):
        y, p = population(n_rows, generator)
        group = generator.choice(names, n_rows, p=[0.4, 0.3, 0.2, 0.08, 0.02])  # the last is always small
        shift = np.array([0.0, 0.5, -0.4, 0.0, 0.8])[np.searchsorted(names, group)]
        y = (generator.random(n_rows) < expit(0.7 * np.log(p / (1 - p)) - 0.4 + shift)).astype(int)
        return y, p, group

    generator = np.random.default_rng(22)
    whole = metrics.subgroup_table(*draw(1_000_000, generator), measures, threshold=0.3, n_bootstrap=0)
    keys = list(zip(whole["group"], whole["measure"], strict=True))
    truth = {key: (whole["value"][k], whole["difference"][k]) for k, key in enumerate(keys)}
    inside, shown, together = dict.fromkeys(measures, 0), dict.fromkeys(measures, 0), 0
    for _ in range(runs):
        found = metrics.subgroup_table(*draw(600, generator), measures, threshold=0.3, n_bootstrap=300)
        held = True
        for k, key in enumerate(zip(found["group"], found["measure"], strict=True)):
            value, difference = truth[key]
            if not found["small"][k] and not np.isnan(found["low"][k]):
                shown[key[1]] += 1
                inside[key[1]] += found["low"][k] <= value <= found["high"][k]
            if not np.isnan(found["difference_low"][k]):
                held &= bool(found["difference_low"][k] <= difference <= found["difference_high"][k])
        together += held
    rates = {name: inside[name] / shown[name] for name in measures}
    assert all(rates[name] >= lowest(shown[name]) for name in measures), rates
    assert together / runs >= lowest(runs)


@pytest.mark.parametrize("cv", [10, "bootstrap"])
def test_intervals_of_validate_cover_what_the_model_of_all_rows_does_on_new_rows(cv):
    runs, generator = 80, np.random.default_rng(23)

    def draw(n_rows):
        X = generator.normal(size=(n_rows, 6))
        return X, (generator.random(n_rows) < expit(X @ [1.0, 0.7, 0.4, 0, 0, 0] - 0.5)).astype(int)

    new_rows, happened = draw(200_000)
    costs, covered, optimism = [[0, 1], [3, 0]], {}, []
    for run in range(runs):
        X, y = draw(ROWS)
        options = {"n_refits": 30} if cv == "bootstrap" else {}
        model = LogisticRegression(C=1e6)
        found = pm.validate(
            model, X, y, cv=cv, decision=costs, thresholds=[0.25], n_bootstrap=300, random_state=run, **options
        )
        p = model.fit(X, y).predict_proba(new_rows)[:, 1]
        seen = found.tables["calibration"]
        table = metrics.calibration_summary(happened, p, n_bootstrap=0)
        truth = dict(zip(table["measure"], table["value"], strict=True))
        told = {
            name: (seen["value"][k], seen["low"][k], seen["high"][k])
            for k, name in enumerate(seen["measure"])
            if name in ("o_e", "intercept", "slope", "auc", "brier")
        }
        at = metrics.threshold_table(happened, p, [0.25], costs=costs, n_bootstrap=0)
        for name in ("sensitivity", "specificity", "ppv", "npv", "net_benefit", "cost"):
            truth[name], told[name] = at[name][0], ends(found.tables["thresholds"], name, 0)
        for name, (_, low, high) in told.items():
            covered[name] = covered.get(name, 0) + (low <= truth[name] <= high)
        optimism.append(told["brier"][0] - truth["brier"])
    rates = {name: count / runs for name, count in covered.items()}
    assert all(rate >= lowest(runs) for rate in rates.values()), rates
    assert abs(np.mean(optimism)) < 4 * np.std(optimism) / np.sqrt(runs) + 0.001
