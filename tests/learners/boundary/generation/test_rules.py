"""Rules by column generation: optimal over all rules of one test, and certified where the fit stops earlier."""

from functools import partial

import numpy as np
import pytest

import permissible as pm
from permissible import losses
from permissible.bins.encoding import encode
from permissible.bins.find import find_bins
from permissible.bins.layout import layout_of
from permissible.learners.boundary.generation.edges import largest_edges, mask_of
from permissible.learners.boundary.generation.leaves import leaf_edges
from permissible.learners.boundary.generation.rules import TermOptions, generate_rules
from permissible.learners.boundary.target import Target
from permissible.learners.uls.search import single_literals
from permissible.table.reading import read
from tests.learners.boundary.generation.test_master import ASYMMETRIC, linear_program, lines_of


def mixed_table(n=150, seed=0):
    """Numbers with missing values, a few levels, and categories."""
    rng = np.random.default_rng(seed)
    age = rng.normal(size=n).round(1)
    drive = age + rng.normal(size=n)
    age[rng.random(n) < 0.1] = np.nan
    colour = rng.choice(["red", "green", "blue", "grey"], n)
    drive += 1.0 * (colour == "red") - (colour == "blue")
    table = {"age": age, "dose": rng.integers(0, 5, n).astype(float), "colour": colour}
    return table, drive > np.median(drive)


def binned_of(columns):
    table = read(columns)
    return encode(find_bins(table), table)


def all_single_rules(binned):
    """Every rule of one test, as +-1 columns; brute force."""
    layout = layout_of(binned.binning).by_column
    rules = [(literal,) for j in range(binned.n_columns) for literal in single_literals(j, layout, binned.binning, ())]
    return np.array([np.where(mask_of(binned, rule), 1.0, -1.0) for rule in rules])


def generated(binned, positive, weight=None, surrogate=None, *, alpha=0.01, n_rounds=500, max_literals=1):
    surrogate = losses.PiecewiseLinear([0.25, 0.5, 0.75]) if surrogate is None else surrogate
    weight = np.ones(len(positive)) if weight is None else weight
    options = TermOptions(alpha, n_rounds, True, 1e-7)
    segments = Target.of(surrogate.boundaries, surrogate).segments
    search = partial(largest_edges, binned, max_literals) if max_literals else partial(leaf_edges, binned, weight, 6)
    return generate_rules(binned, positive, weight, segments, options, search)


@pytest.mark.parametrize("surrogate", [losses.PiecewiseLinear([0.5]), losses.PiecewiseLinear([0.1, 0.9]), ASYMMETRIC])
@pytest.mark.parametrize("alpha", [0.05, 0.01])
def test_stumps_are_optimal_over_all_of_them(surrogate, alpha):
    """The linear program over every rule of one test has the same optimum, within the certified gap."""
    columns, positive = mixed_table()
    binned, share = binned_of(columns), np.full(150, 1 / 150)
    exact = linear_program(positive, share, all_single_rules(binned), lines_of(surrogate), alpha)
    fit = generated(binned, positive, surrogate=surrogate, alpha=alpha)
    assert fit.stopped == "optimal"
    assert fit.class_lower <= exact * (1 + 1e-12)
    assert exact * (1 - 1e-12) <= fit.objective <= exact * (1 + 2e-7)
    assert fit.objective - fit.class_lower <= 2e-7 * exact
    assert fit.rounds[-1].largest_edge <= alpha * (1 + 1e-6)


def test_a_fit_that_stops_early_still_bounds_the_optimum_over_all_stumps():
    columns, positive = mixed_table()
    binned, surrogate = binned_of(columns), losses.PiecewiseLinear([0.25, 0.5, 0.75])
    exact = linear_program(positive, np.full(150, 1 / 150), all_single_rules(binned), lines_of(surrogate), 0.01)
    for n_rounds in (1, 3, 8):
        fit = generated(binned, positive, n_rounds=n_rounds)
        assert fit.stopped == "rounds"
        assert fit.n_terms == n_rounds
        assert fit.class_lower <= exact <= fit.objective
        assert fit.objective - fit.rounds[-1].dual_objective <= 1e-7 * fit.objective  # optimal over the rules found


def test_the_largest_edge_of_one_test_is_that_of_brute_force():
    columns, positive = mixed_table(seed=3)
    binned = binned_of(columns)
    rng = np.random.default_rng(0)
    values = np.rint(2**20 * np.where(positive, rng.random(150), -rng.random(150)))
    values -= np.rint(values.mean())
    edges = np.abs(all_single_rules(binned) @ values)
    found = largest_edges(binned, 1, values, 1.0, 5)
    assert found[0][0] == edges.max()
    assert len({rule[0].column for _, rule in found}) == len(found) == 3
    longer = largest_edges(binned, 3, values, 1.0, 5)
    assert longer[0][0] >= edges.max()
    mask = mask_of(binned, longer[0][1])
    assert longer[0][0] == abs(values[mask].sum() - values[~mask].sum())


def test_objective_falls_as_rules_are_added_and_longer_rules_are_no_worse():
    columns, positive = mixed_table()
    binned = binned_of(columns)
    few, more = generated(binned, positive, n_rounds=4), generated(binned, positive, n_rounds=12)
    assert more.objective < few.objective
    long = generated(binned, positive, max_literals=3)
    assert long.objective < generated(binned, positive).objective


def test_weight_two_is_the_row_twice_and_the_order_of_rows_does_not_matter():
    columns, positive = mixed_table()
    weight = np.random.default_rng(5).integers(1, 4, 150)
    twice = np.repeat(np.arange(150), weight)
    order = np.random.default_rng(6).permutation(len(twice))
    fits = [
        generated(binned_of(columns), positive, weight.astype(float), max_literals=2, n_rounds=20),
        *(
            generated(binned_of({k: v[rows] for k, v in columns.items()}), positive[rows], max_literals=2, n_rounds=20)
            for rows in (twice, twice[order])
        ),
    ]
    for other in fits[1:]:
        assert other.rules == fits[0].rules
        assert np.array_equal(other.coef, fits[0].coef)
        assert other.intercept == fits[0].intercept
        assert other.class_lower == fits[0].class_lower


def test_rules_that_divide_the_rows_alike_come_once():
    x = np.arange(40.0)
    fit = generated(binned_of({"a": x, "b": -x, "c": x}), x > 17, n_rounds=10)
    assert fit.n_terms == 1


def test_the_estimator_says_what_is_certified():
    columns, y = mixed_table()
    one = pm.BoundaryClassifier((0.25, 0.75), learner="rule", alpha=0.02, max_literals=1).fit(columns, y)
    assert one.certificate_.exhaustive
    assert one.certificate_.stopped == "optimal"
    assert one.certificate_.class_gap <= 1e-5 * one.objective_
    assert "none of any rules of one test" in one.certificate_.statement
    two = pm.BoundaryClassifier((0.25, 0.75), learner="rule", alpha=0.02).fit(columns, y)
    assert two.certificate_.class_gap == np.inf
    assert two.gap_ <= 1e-5 * two.objective_
    assert len(two.history_["objective"]) == two.n_iter_
    weights = np.abs(two.coefficients_)
    assert two.objective_ == pytest.approx(
        losses.PiecewiseLinear([0.25, 0.75]).value(y, two.decision_function(columns)).mean() + 0.02 * weights.sum(),
        rel=1e-12,
    )


def test_leaves_of_trees_divide_the_rows_and_their_edges_are_exact():
    columns, positive = mixed_table(seed=3)
    binned = binned_of(columns)
    rng = np.random.default_rng(0)
    values = np.rint(2**40 * np.where(positive, rng.random(150), -rng.random(150)))
    found = leaf_edges(binned, np.ones(150), 6, values, 2.0**-40, 1)
    masks = np.array([mask_of(binned, rule) for _, rule in found])
    assert 2 <= len(found) <= 6
    assert (masks.sum(axis=0) == 1).all()  # every row lies in one leaf
    for (edge, _), mask in zip(found, masks, strict=True):
        assert edge == abs(values[mask].sum() - values[~mask].sum()) * 2.0**-40
    assert [edge for edge, _ in found] == sorted((edge for edge, _ in found), reverse=True)


def test_leaves_are_fitted_to_a_certified_gap_and_a_row_of_weight_two_is_the_row_twice():
    columns, positive = mixed_table()
    weight = np.random.default_rng(5).integers(1, 4, 150)
    twice = np.repeat(np.arange(150), weight)
    one = generated(binned_of(columns), positive, weight.astype(float), max_literals=0, n_rounds=30)
    other = generated(
        binned_of({k: v[twice] for k, v in columns.items()}), positive[twice], max_literals=0, n_rounds=30
    )
    assert one.rules == other.rules
    assert np.array_equal(one.coef, other.coef)
    assert one.objective - one.rounds[-1].dual_objective <= 1e-7 * one.objective
    exact = linear_program(
        positive,
        weight / weight.sum(),
        np.array([np.where(mask_of(binned_of(columns), rule), 1.0, -1.0) for rule in one.rules]),
        lines_of(losses.PiecewiseLinear([0.25, 0.5, 0.75])),
        0.01,
    )
    assert one.objective == pytest.approx(exact, rel=2e-7)
    assert max(len(rule) for rule in one.rules) > 2
