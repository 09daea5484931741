"""Boosted trees on blocks and on a worker are those of memory: the same file, byte for byte."""

import numpy as np
import pytest

import permissible as pm
from permissible import losses
from permissible.distributed.data import store as store_module
from tests.distributed.rows_in_parts import InParts, document, make

PHI = losses.from_phi(lambda p: np.sqrt(p * (1 - p)), name="own phi")
SETTINGS = [
    {"n_rounds": 40},
    {"n_rounds": 12, "max_leaf_nodes": "auto", "l2_regularization": 3.0},
    {"n_rounds": 6, "early_stopping": False, "search_fraction": 1.0, "max_features": 0.5},
    {"n_rounds": 4, "early_stopping": False, "learning_rate": 1.0, "l2_regularization": 0.5, "loss": "matsushita"},
    {"n_rounds": 6, "early_stopping": False, "loss": "logcosh", "fit_intercept": False},
]


def stored(frame, y, weight=None):
    whole = frame.assign(label=y) if weight is None else frame.assign(label=y, w=weight)
    name = None if weight is None else "w"
    return pm.BinnedDataset.from_batches([whole[:333], whole[333:340], whole[340:]], target="label", weight=name)


def trees(**settings):
    return pm.ULSClassifier(learner="tree", random_state=0, **settings)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_blocks_give_the_file_of_memory(monkeypatch, tmp_path, settings, classes):
    monkeypatch.setattr(store_module, "BLOCK_ROWS", 250)
    frame, y = make(900, classes)
    assert document(trees(**settings).fit(stored(frame, y)), tmp_path) == document(
        trees(**settings).fit(frame, y), tmp_path
    )


@pytest.mark.parametrize("kind", ["copies", "multiples", "real"])
@pytest.mark.parametrize("classes", [2, 3])
def test_weights_give_the_file_of_memory(monkeypatch, tmp_path, kind, classes):
    monkeypatch.setattr(store_module, "BLOCK_ROWS", 128)
    frame, y = make(900, classes)
    random = np.random.default_rng(1)
    weight = random.integers(1, 5, 900).astype(float)
    weight = {"copies": weight, "multiples": 0.37 * weight, "real": random.random(900) + 0.1}[kind]
    parts = trees(n_rounds=15).fit(stored(frame, y, weight))
    memory = trees(n_rounds=15).fit(frame, y, sample_weight=weight)
    assert document(parts, tmp_path) == document(memory, tmp_path)


def test_a_worker_gives_the_trees_of_memory_with_two_questions_a_tree(tmp_path):
    frame, y = make(1500)
    data = stored(frame, y)
    remote = InParts(data, [400, 1, 600, 499], remote=True)
    settings = {"n_rounds": 10, "early_stopping": False}
    model = trees(**settings).fit(remote)
    assert document(model, tmp_path) == document(trees(**settings).fit(frame, y), tmp_path)
    asked = remote.transport.asked
    assert asked.count("SumLeaves") == 10
    assert asked.count("MoveRows") == 12  # to the scores 0, to the constant, and one per tree


def test_an_own_phi_gives_the_trees_of_memory(monkeypatch):
    monkeypatch.setattr(store_module, "BLOCK_ROWS", 250)
    frame, y = make(600)
    parts, memory = (
        trees(loss=PHI, n_rounds=5, early_stopping=False).fit(*given) for given in ((stored(frame, y),), (frame, y))
    )
    np.testing.assert_array_equal(parts.predict_proba(frame), memory.predict_proba(frame))


def test_many_rows_are_sampled_alike(monkeypatch):
    frame, y = make(40_000)
    data = InParts(stored(frame, y), [15_000, 25_000])
    parts, memory = (trees(n_rounds=8, early_stopping=False).fit(*given) for given in ((data,), (frame, y)))
    np.testing.assert_array_equal(parts.predict_proba(frame), memory.predict_proba(frame))
    assert np.isfinite(parts.certificate_.largest_gain)
    assert parts.certificate_.largest_gain == memory.certificate_.largest_gain


def test_validation_rows_beside_parts_are_refused():
    frame, y = make(60)
    with pytest.raises(ValueError, match="`validation` must be None on data in parts"):
        trees().fit(stored(frame, y), validation=(frame, y))
