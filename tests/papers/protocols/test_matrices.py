"""Over all cost matrices the risk of a cost-blind classifier is the mean cost times its error."""

import numpy as np
import pytest

from papers import guess_averse as table_2
from papers.protocols import matrices
from papers.scope import Scope
from papers.store import unit
from permissible.decisions import CostMatrix


@pytest.fixture
def small_tables(small_sets, monkeypatch):
    monkeypatch.setitem(table_2.TRAINING_ROWS, "ecoli", 60)
    table_2._rows.cache_clear()
    yield small_sets
    table_2._rows.cache_clear()


def test_the_mean_over_many_matrices_is_the_mean_cost_times_the_error():
    generator = np.random.default_rng(0)
    true, predicted = generator.integers(0, 4, (2, 200))
    risks = [CostMatrix.random_symmetric(4, 1.0, 10.0, seed=k).matrix[true, predicted].mean() for k in range(4000)]
    expected = matrices.MEAN_COST * np.mean(true != predicted)
    assert abs(np.mean(risks) - expected) < 4 * np.std(risks) / np.sqrt(4000)


def test_error_and_the_pair_confused_most_are_those_of_the_test_rows(small_tables):
    one = unit("guess-averse", "ecoli", matrices.METHOD, 0, {"rounds": 5, "seed": 0, "source": "made up"})
    payload = matrices.work(one)
    found = table_2.risks(table_2.trial("ecoli", 0), ["MC"], 5)
    risks = {"ecoli": {method: np.array([found["MC"]]) for method in table_2.ALGORITHMS}}
    rows = matrices.blocks({one: payload}, risks)[1].rows
    assert rows[0][3] == pytest.approx(5.5 * payload["error"])
    assert 0 < payload["share"] <= 1
    assert rows[0][5] == table_2.trial("ecoli", 0).costs[tuple(payload["pair"])]


def test_a_control_variate_finds_the_expectation_that_few_draws_miss():
    generator = np.random.default_rng(0)
    control = generator.uniform(1, 10, (2000, 50))
    risks = 0.3 * control + generator.normal(0, 0.1, control.shape) + 1
    found = np.array([matrices.over_all(*pair, 5.5) for pair in zip(risks, control, strict=True)])
    gaps = found[:, 0] - (0.3 * 5.5 + 1)
    assert np.abs(gaps).mean() < 0.25 * np.abs(risks.mean(axis=1) - 2.65).mean()
    assert np.mean(np.abs(gaps) <= 2 * found[:, 1]) == pytest.approx(0.95, abs=0.02)


def test_the_own_order_of_the_classes_is_the_fit_of_table_2(small_tables):
    shared = table_2.trial("ecoli", 0)
    order = np.arange(len(shared.costs))
    posterior = matrices._posterior(shared, order, 5)
    assert shared.risk(posterior.argmax(axis=1)) == table_2.risks(shared, ["MC"], 5)["MC"]
    assert shared.risk((posterior @ shared.costs).argmin(axis=1)) == table_2.risks(shared, ["P-MC"], 5)["P-MC"]


def test_another_order_names_the_classes_as_before(small_tables):
    shared = table_2.trial("ecoli", 0)
    order = np.arange(len(shared.costs))
    own, other = (matrices._posterior(shared, given, 20) for given in (order, order[::-1].copy()))
    assert not np.array_equal(own, other)
    assert np.mean(own.argmax(axis=1) == other.argmax(axis=1)) > 0.8
    one = unit("guess-averse", "ecoli", matrices.ORDERED, 1, {"rounds": 5, "seed": 0, "source": "made up"})
    payload = matrices.work(one)
    assert len(payload["MC"]) == len(payload["P-MC"]) == matrices.TRIALS
    gap = np.mean(payload["MC"]) - matrices.MEAN_COST * payload["error"]
    assert abs(gap) < 4 * np.std(payload["MC"]) / np.sqrt(matrices.TRIALS)


def test_only_sets_with_a_predefined_split_are_planned(small_tables):
    found = Scope(data=str(small_tables), network=False).find(["ecoli", "vehicle"])
    assert matrices.plan(Scope(), found, 100) == []
