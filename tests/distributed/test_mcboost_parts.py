"""MCBoost on blocks and on parts gives the model file of MCBoost in memory, byte for byte; what parts cannot do is refused."""

from dataclasses import replace

import numpy as np
import pytest

import permissible as pm
from permissible.dask.estimators import RECORDS
from permissible.distributed.data import mapped
from permissible.distributed.data import store as store_module
from permissible.distributed.data.dataset import BinnedDataset
from permissible.distributed.protocol.journal import FileJournal
from permissible.estimators.files.save_load import text_of as document
from permissible.learners.mcboost.fit import Boosting, Settings
from permissible.learners.mcboost.problem import CostTask
from tests.distributed.rows_in_parts import InParts, make, question_of

COSTS = [[0, 1, 2], [3, 0, 1], [1, 1, 0]]


@pytest.fixture(scope="module")
def data():
    frame, y = make(900, 3)
    return frame, y, np.random.default_rng(1).random(900) + 0.1


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "settings",
    [
        {"n_rounds": 6},
        {
            "n_rounds": 5,
            "descent": "gradient",
            "loss": "lt",
            "cost_matrix": COSTS,
            "subsample": 0.6,
            "max_features": 0.7,
        },
        {
            "n_rounds": 12,
            "early_stopping": True,
            "scoring": "cost",
            "patience": 2,
            "loss": "gel",
            "cost_matrix": COSTS,
        },
        {"learner": "rule", "n_rounds": 4},
        {"learner": "tree", "n_rounds": 3, "max_leaf_nodes": 7, "cost_matrix": COSTS},
        {
            "learner": "tree",
            "n_rounds": 3,
            "descent": "gradient",
            "subsample": 0.6,
            "max_features": 0.5,
            "max_depth": 4,
        },
        {"learner": "tree", "n_rounds": 2, "line_search": "exact", "loss": "lt"},
        {"learner": "rule", "n_rounds": 3, "line_search": "exact", "descent": "gradient", "loss": "mc"},
        {
            "learner": "tree",
            "n_rounds": 12,
            "early_stopping": True,
            "scoring": "cost",
            "patience": 2,
            "loss": "ls",
            "max_leaf_nodes": 5,
        },
        {"learner": "rule", "n_rounds": 3, "loss": "gel", "cost_matrix": COSTS, "n_bags": 2, "max_features": 0.5},
        {"learner": "tree", "n_rounds": 3, "n_bags": 2, "subsample": 0.5},
        {"n_rounds": 4, "n_bags": 3, "subsample": 0.7},
    ],
)
def test_parts_give_the_file_of_memory(monkeypatch, data, settings, weighted):
    monkeypatch.setattr(store_module, "BLOCK_ROWS", 250)
    frame, y, weight = data
    whole = frame.assign(label=y, w=weight) if weighted else frame.assign(label=y)
    dataset = BinnedDataset.from_batches(
        [whole[:333], whole[333:340], whole[340:]],
        target="label",
        weight="w" if weighted else None,
        keep_values="learner" not in settings,
    )
    settings = {"learner": "linear", "random_state": 0, **settings}
    wanted = document(pm.MCBoostClassifier(**settings).fit(frame, y, sample_weight=weight if weighted else None))
    for source in (dataset, InParts(dataset, [1, 500, 0, 399])):
        assert document(pm.MCBoostClassifier(**settings).fit(source)) == wanted
    if settings["learner"] != "linear":
        for budget in (0, 50_000):  # no block keeps its scores, or only the first ones
            monkeypatch.setattr(mapped, "BUDGET", budget)
            assert document(pm.MCBoostClassifier(**settings).fit(dataset)) == wanted


@pytest.mark.parametrize("descent", ["coordinate", "gradient"])
def test_stumps_of_many_rows_are_those_of_memory(descent):
    random = np.random.default_rng(0)
    X = random.standard_normal((20_000, 3))  # enough rows for the packed search
    X[:50, 1] = np.nan
    y = (np.nan_to_num(X).sum(axis=1) > 0).astype(int) + (X[:, 0] > 1)
    dataset = BinnedDataset.from_batches([{"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": y}], target="y")
    frame = {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]}
    settings = {"learner": "tree", "max_leaf_nodes": 2, "n_rounds": 4, "random_state": 0, "descent": descent}
    wanted = document(pm.MCBoostClassifier(**settings).fit(frame, y))
    for source in (dataset, InParts(dataset, [7000, 1, 12_999])):
        assert document(pm.MCBoostClassifier(**settings).fit(source)) == wanted


def test_a_constant_weight_counts_as_it_does_in_memory(data):
    frame, y, _ = data
    dataset = BinnedDataset.from_batches([frame.assign(label=y, w=2.0)], target="label", weight="w")
    settings = {"learner": "rule", "n_rounds": 2, "random_state": 0}
    wanted = pm.MCBoostClassifier(**settings).fit(frame, y, sample_weight=np.full(len(y), 2.0))
    assert document(pm.MCBoostClassifier(**settings).fit(dataset)) == document(wanted)


def test_a_fit_that_was_stopped_goes_on_from_its_journal_to_the_same_model(data, tmp_path):
    frame, y, _ = data
    dataset = BinnedDataset.from_batches([frame.assign(label=y)], target="label")
    settings = {"learner": "tree", "n_rounds": 5, "max_leaf_nodes": 5, "random_state": 0}
    wanted = document(pm.MCBoostClassifier(**settings).fit(frame, y))
    path, asked = tmp_path / "journal.json", []
    for most in (5, 9, None):  # stopped twice, then left alone; the first question takes no step
        source = InParts(dataset, [300, 600], FileJournal.open(path, "fit", RECORDS, every=1), remote=True)
        send = source.transport.send

        def counted(request, send=send, most=most, seen=None):
            asked.append(question_of(request))
            if most is not None and asked[-1] == "TakeTree" and asked.count("TakeTree") == most:
                raise KeyboardInterrupt
            return send(request)

        source.transport.send = counted
        asked.clear()
        if most is None:
            assert document(pm.MCBoostClassifier(**settings).fit(source)) == wanted
            assert 0 < asked.count("LeafSums") <= 5  # of ten; the first trees were remembered, not grown again
        else:
            with pytest.raises(KeyboardInterrupt):
                pm.MCBoostClassifier(**settings).fit(source)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"learner": "linear"}, "keep_values=True"),
        ({"learner": "linear-full"}, "`learner` must be"),
        ({"learner": "auto"}, "`learner` must be"),
        ({"learner": "tree", "warm_start": True}, "`warm_start` must be False"),
    ],
)
def test_what_parts_cannot_do_is_refused(data, settings, said):
    dataset = BinnedDataset.from_batches([data[0].assign(label=data[1])], target="label")
    with pytest.raises(ValueError, match=said):
        pm.MCBoostClassifier(**settings).fit(dataset)
    with pytest.raises(ValueError, match="`cost` must be None"):
        pm.MCBoostClassifier(learner="tree").fit(dataset, cost=np.ones((900, 3)))


@pytest.mark.parametrize("descent", ["coordinate", "gradient"])
def test_penalised_affine_terms_in_parts_are_those_of_one_part(descent):
    random = np.random.default_rng(1)
    a, b = random.normal(size=90), random.integers(0, 2, 90).astype(float)
    y = np.where(b > 0, 2, (a > 0).astype(int))
    dataset = BinnedDataset.from_batches([{"a": a, "b": b, "y": y}], target="y", keep_values=True)
    task, settings = CostTask("gll", 1.0 - np.eye(3)), Settings(descent=descent, n_rounds=4, affine_l2=1.0)
    sources = [InParts(dataset, sizes).source() for sizes in ([90], [50, 40])]
    one, two = (Boosting(source, task, settings).averaged().component for source in sources)
    np.testing.assert_array_equal(one.slope, two.slope)
    np.testing.assert_array_equal(one.level, two.level)
    free = Boosting(sources[0], task, replace(settings, affine_l2=0.0)).averaged().component
    assert np.abs(one.slope).max() < np.abs(free.slope).max()
