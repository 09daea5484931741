"""What a fit on workers sends: messages of each learner, and the bytes of the first pass."""

import pickle

import numpy as np
import pytest
from joblib import effective_n_jobs

import permissible as pm
from permissible.dask.loading import Loaded
from permissible.dask.partitions import CollectionLoader
from permissible.dask.passes import bound_of, drawn, look, merged_outlines, outline_of
from permissible.distributed.data.dataset import BinnedDataset
from permissible.learners.boundary.parts import bands
from tests.distributed.rows_in_parts import InParts, document

ROWS, COLUMNS = 60_000, 8


@pytest.fixture(scope="module")
def dataset():
    random = np.random.default_rng(0)
    X = random.standard_normal((ROWS, COLUMNS)).astype(np.float32)
    y = (X[:, 0] + X[:, 1] * X[:, 2] + random.standard_normal(ROWS) > 0).astype(int)
    columns = {f"x{j}": X[:, j] for j in range(COLUMNS)}
    return BinnedDataset.from_batches([{**columns, "y": y}], target="y", keep_values=True)


def asked_by(dataset, estimator):
    """The fitted estimator, and the names of the questions that it sent to a worker with three partitions."""
    parts = InParts(dataset, (20_000, 1, ROWS - 20_001), remote=True)
    return estimator.fit(Loaded(parts.data)), parts.transport.asked


def test_a_round_of_rules_takes_a_histogram_with_its_step_the_splits_and_the_leverage(dataset):
    settings = {"n_rounds": 20, "max_literals": 2, "early_stopping": False, "random_state": 0}
    model, asked = asked_by(dataset, pm.ULSClassifier(**settings))
    rounds = len(model.history_["surrogate"])
    assert rounds == 20
    assert asked.count("ChangeAndLook") == rounds - 1
    assert (
        asked.count("Histograms") <= rounds + 3
    )  # the splits of each round; the first histogram, the certificate, a miss
    assert asked.count("Measure") <= 1.25 * rounds  # three steps at once, and seldom a fourth
    assert len(asked) <= 3.75 * rounds


def test_a_search_of_a_sample_asks_for_the_edge_with_the_leverage(dataset):
    settings = {"n_rounds": 20, "max_literals": 2, "early_stopping": False, "random_state": 0, "search_fraction": 0.3}
    model, asked = asked_by(dataset, pm.ULSClassifier(**settings))
    assert len(model.history_["surrogate"]) == 20
    assert asked.count("batch") == 20  # the first steps of the leverage, and the sum of the weights inside
    assert asked.count("SignedWeights") <= 1  # the certificate
    assert len(asked) <= 4 * 20


@pytest.mark.parametrize("search_fraction", [1.0, 0.3])
def test_the_last_fit_follows_the_choice(dataset, search_fraction, tmp_path):
    """Candidates share their messages, and so do the fast one and the last fit: two and a half runs, and not five."""
    settings = {"n_rounds": 40, "search_fraction": search_fraction, "random_state": 0}
    model, asked = asked_by(dataset, pm.ULSClassifier(**settings))
    kept, runs = len(model.history_["surrogate"]), {one["learning_rate"] for one in model.selection_["candidates"]}
    assert (len(model.selection_["candidates"]), len(runs)) == (4, 2)
    assert len(asked) <= 13 * kept, len(asked) / kept
    alone = pm.ULSClassifier(**settings).fit(Loaded(InParts(dataset, (ROWS,)).data))
    assert document(model, tmp_path) == document(alone, tmp_path)


def test_a_tree_of_any_booster_takes_two_messages(dataset):
    for estimator in (
        pm.MCBoostClassifier(learner="tree", n_rounds=10, random_state=0),
        pm.MCBoostClassifier(learner="rule", n_rounds=10, random_state=0),
        pm.ULSClassifier(learner="tree", n_rounds=10, max_leaf_nodes=31, early_stopping=False, random_state=0),
    ):
        model, asked = asked_by(dataset, estimator)
        assert len(model.history_["surrogate"]) == 10
        assert len(asked) <= 2 * 10 + 8, estimator


def test_a_tree_takes_one_message_for_a_level(dataset):
    model, asked = asked_by(dataset, pm.UDTClassifier(max_leaf_nodes=31, random_state=0))
    assert len(model.to_rules()) == 31
    assert asked.count("SumNodes") <= 12  # best leaf first: 30 splits, of at least five levels


def test_a_boundary_takes_a_handful_of_messages(dataset, monkeypatch):
    monkeypatch.setattr(bands, "SAMPLE_CELLS", 10_000 * (COLUMNS + 1))
    model, asked = asked_by(dataset, pm.BoundaryClassifier())
    assert model.certificate_.relative_gap <= 1e-6
    assert len(asked) <= 9


def test_the_first_pass_moves_few_bytes():
    random, loader, n_partitions = np.random.default_rng(0), CollectionLoader(), 5
    looked = [
        look(
            loader,
            number,
            255,
            0,
            random.standard_normal((60_000, 28), dtype=np.float32),
            random.integers(0, 2, 60_000),
        )
        for number in range(n_partitions)
    ]
    outlines = [outline_of(one) for one in looked]
    bound = bound_of(merged_outlines(outlines).smallest)
    rows = [drawn(one, bound) for one in looked]
    assert sum(len(hashes) for hashes, *_ in rows) == 200_000
    moved = sum(len(pickle.dumps(sent, protocol=5)) for sent in (*outlines, *rows))
    assert moved <= 40 * 2**20 + n_partitions * 1.5 * 2**20


def test_all_cores_are_those_of_the_worker(dataset, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")  # of the coordinator
    sent = []

    class Watched(InParts):
        def __init__(self, *given, **more):
            super().__init__(*given, **more)
            send = self.transport.send
            self.transport.send = lambda request: sent.append(request) or send(request)

    pm.ULSClassifier(n_rounds=1, early_stopping=False, n_jobs=-1).fit(Watched(dataset, (ROWS,), remote=True))
    opening = next(request.opening for request in sent if request.session)
    assert opening.n_threads == 1
    packed = pickle.dumps(opening)
    monkeypatch.delenv("OMP_NUM_THREADS")
    assert pickle.loads(packed).n_threads == effective_n_jobs(-1)
