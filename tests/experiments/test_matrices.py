"""Over all cost matrices the risk of a cost-blind classifier is the mean cost times its error."""

import numpy as np
import pytest

from permissible.decisions import CostMatrix
from permissible.experiments import guess_averse as table_2
from permissible.experiments.protocols import matrices
from permissible.experiments.scope import Scope
from permissible.experiments.store import unit


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
    rows = matrices.blocks({one: payload}, {"ecoli": (found["MC"], 1)})[1].rows
    assert rows[0][3] == pytest.approx(5.5 * payload["error"])
    assert 0 < payload["share"] <= 1
    assert rows[0][5] == table_2.trial("ecoli", 0).costs[tuple(payload["pair"])]


def test_only_sets_with_a_predefined_split_are_planned(small_tables):
    found = Scope(data=str(small_tables), network=False).find(["ecoli", "vehicle"])
    assert matrices.plan(Scope(), found, 100) == []
