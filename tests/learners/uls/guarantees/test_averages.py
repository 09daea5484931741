"""The average of fits with few rules: least squares done anew by NumPy, and the factor by scipy from fits on the folds."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

import permissible as pm
from permissible import losses
from permissible.learners.uls.criteria.draws import search_layout
from permissible.learners.uls.fit import Chosen, Task, fit_rules, run
from permissible.learners.uls.guarantees.averages import CHANGE, FARTHEST, STAYING, swept, without
from permissible.learners.uls.options import ULSOptions
from permissible.rows.splits import FOLDS, evaluation_folds
from permissible.table import read
from tests.learners.uls.guarantees.test_agreement import rows, source_of  # noqa: F401


def problem(seed, n_rules, n_rows=60):
    """Weighted rows of +-1 rules, and the sums of products that a fit has."""
    rng = np.random.default_rng(seed)
    rules = np.where(rng.random((n_rows, n_rules)) < rng.uniform(0.2, 0.8, n_rules), 1.0, -1.0)
    weight, coefficients = rng.uniform(0.1, 2.0, n_rows), rng.normal(size=n_rules)
    design = np.column_stack((np.ones(n_rows), rules))
    return rules, weight / weight.sum(), coefficients, (design * weight[:, None]).T @ design


def change(rules, weight, moved):
    """What a change of the coefficients costs, the constant being free: the centred mean square and the ridge."""
    centred = rules - weight @ rules
    return float(weight @ (centred @ moved) ** 2 + CHANGE * (weight @ centred**2) @ moved**2)


@given(st.integers(0, 10_000), st.integers(2, 9))
def test_each_rule_that_leaves_is_the_cheapest_and_the_others_take_over(seed, n_rules):
    rules, weight, coefficients, products = problem(seed, n_rules)
    centred = (rules - weight @ rules) * np.sqrt(weight)[:, None]
    ridge = np.diag(np.sqrt(CHANGE * (centred**2).sum(axis=0)))
    stacked = np.vstack((centred, ridge))
    alive = list(range(n_rules))
    for most in range(n_rules - 1, 0, -1):
        fits = {}
        for gone in alive:  # least squares on the others, anew
            others = [k for k in alive if k != gone]
            fits[gone] = np.zeros(n_rules)
            fits[gone][others] = np.linalg.lstsq(stacked[:, others], stacked @ coefficients, rcond=None)[0]
        costs = {gone: change(rules, weight, found - coefficients) for gone, found in fits.items()}
        left = without(products, coefficients, most)
        (gone,) = [k for k in alive if left[k] == 0.0]
        assert costs[gone] <= min(costs.values()) * (1 + 1e-6) + 1e-12
        assert left == pytest.approx(fits[gone], abs=1e-6)
        alive.remove(gone)


def test_a_column_that_is_swept_out_of_all_leaves_the_inverse():
    matrix = problem(0, 6)[3]
    inverse = matrix.copy()
    for k in range(len(matrix)):
        swept(inverse, k)
    assert inverse @ matrix == pytest.approx(np.eye(len(matrix)), abs=1e-10)


def test_rules_that_cover_the_same_rows_are_one_to_the_score():
    rules, weight, coefficients, _ = problem(1, 5)
    doubled = np.column_stack((rules, rules[:, 2]))
    design = np.column_stack((np.ones(len(rules)), doubled))
    given_ = np.append(coefficients, 0.3)
    left = without((design * weight[:, None]).T @ design, given_, 5)
    assert left[[2, 5]].min() == 0.0
    whole = np.append(coefficients, 0.0) + 0.3 * np.eye(6)[2]
    assert left[2] + left[5] == pytest.approx(whole[2], rel=0.02)


def test_the_factor_is_the_best_on_rows_that_no_fold_saw(rows):  # noqa: F811
    X, y = rows
    own = tuple(
        ULSOptions(n_rounds=20, max_literals=k, l2=1.0, learning_rate=0.2, beam=2, noise=0.25, intervals=True)
        for k in (1, 2, 3)
    )
    source, scores = source_of(X, y), np.zeros(len(y))
    task = Task(
        losses.get("logistic"), own, layout=search_layout(source, 1, drawn=True)
    )  # the draws are those of all rows
    fitted = fit_rules(source, 1, task)
    used = [one for one in fitted.selection["candidates"] if one["used"]]
    for split in evaluation_folds(source, 1, 0):
        held = split.held_out.rows(source.parts[0])
        for one in used:
            options = replace(own[one["max_literals"] - 1], n_rounds=one["n_rounds"])
            loss, trace = run(Chosen(source, 1, split.training), None, task, options)
            scores[held] += trace.model(source.binning, loss).scores(read(X[held])) / len(used)

    penalty = STAYING * (np.log(2) / 0.5) ** 2  # at l2 = 1; the logistic loss and its weight at score 0

    def loss_at(times):
        return np.logaddexp(0.0, -np.where(y == 1, times, -times) * scores).sum() + penalty * (times - 1) ** 2 / 2

    found = minimize_scalar(loss_at, bounds=(0.0, FARTHEST), method="bounded", options={"xatol": 1e-10})
    assert fitted.selection["factor"] == pytest.approx(found.x, abs=1e-5)
    final = fitted.trace.model(source.binning, loss).scores(read(X))
    agreement = fitted.trace.evidence["agreement"]
    assert len(agreement.n_rules) == FOLDS
    assert agreement.flipped == pytest.approx(np.mean((scores >= 0) != (final >= 0)))


def test_few_rules_are_left_and_as_many_rounds(rows):  # noqa: F811
    X, y = rows
    model = pm.ULSClassifier(n_rounds=12).fit(X, y)
    assert len(model.rules_) == len(model.history_["surrogate"]) == 12
    wide = pm.ULSClassifier(n_rounds=100).fit(X, y)
    difference = model.decision_function(X) - wide.decision_function(X)
    assert np.corrcoef(model.decision_function(X), wide.decision_function(X))[0, 1] > 0.9
    assert np.isfinite(difference).all()


@pytest.mark.parametrize("weighted", [False, True])
def test_parts_have_the_average_of_the_whole_table(rows, weighted):  # noqa: F811
    X, y = rows
    weight = np.random.default_rng(1).uniform(0.5, 2, len(y)) if weighted else None
    own = [
        ULSOptions(n_rounds=15, max_literals=k, l2=1.0, learning_rate=0.2, noise=0.25, intervals=True) for k in (1, 2)
    ]
    whole, parts = (
        fit_rules(source_of(X, y, weight, cuts), 1, Task(losses.get("logistic"), tuple(own)))
        for cuts in ((), (120, 400))
    )
    assert whole.selection["factor"] == parts.selection["factor"] != 1.0
    assert whole.trace.terms() == parts.trace.terms()
    assert len(whole.trace.terms()[1]) <= 15
