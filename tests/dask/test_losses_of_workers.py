"""Workers die and join in mid-fit, by real SIGKILL: the model stays the same, or the fit says why it cannot go on."""

import os
import signal
import time

import dask.dataframe as dd
import pytest
from distributed import Nanny

import permissible as pm
import permissible.dask
from permissible.dask import ULSClassifier
from permissible.dask.placement import WorkersLostError
from permissible.dask.rpc import RPCTransport
from tests.dask.machines import workers
from tests.distributed.rows_in_parts import document, make

SETTINGS = {"n_rounds": 6, "max_literals": 2, "random_state": 0, "early_stopping": False}


@pytest.fixture(scope="module")
def data():
    return make()


@pytest.fixture(scope="module")
def local(data, tmp_path_factory):
    return document(pm.ULSClassifier(**SETTINGS).fit(*data), tmp_path_factory.mktemp("local"))


def kill_at(monkeypatch, transport, message, victims):
    """SIGKILL the processes with these ids just before a message of a fit."""
    sent, send = [0], transport.send

    def counted(self, request):
        sent[0] += 1
        if sent[0] == message:
            for victim in victims:
                os.kill(victim, signal.SIGKILL)
        return send(self, request)

    monkeypatch.setattr(transport, "send", counted)
    return sent


def test_a_worker_killed_in_mid_fit_changes_nothing(client, data, local, tmp_path, monkeypatch):
    frame, y = (dd.from_pandas(given, npartitions=6, sort=False) for given in data)
    victim = sorted(client.run(os.getpid).values())[0]
    sent = kill_at(monkeypatch, RPCTransport, 14, [victim])
    model = ULSClassifier(client=client, **SETTINGS).fit(frame, y)
    assert sent[0] > 20
    assert document(model, tmp_path) == local


def test_a_worker_killed_in_mid_fit_changes_no_boosted_tree(client, data, tmp_path, monkeypatch):
    settings = {"learner": "tree", "n_rounds": 8, "random_state": 0, "early_stopping": False}
    frame, y = (dd.from_pandas(given, npartitions=6, sort=False) for given in data)
    victim = sorted(client.run(os.getpid).values())[0]
    sent = kill_at(monkeypatch, RPCTransport, 14, [victim])
    model = ULSClassifier(client=client, **settings).fit(frame, y)
    assert sent[0] > 18
    assert document(model, tmp_path) == document(pm.ULSClassifier(**settings).fit(*data), tmp_path)


def test_boosted_trees_keep_no_checkpoint(client, data, tmp_path):
    frame, y = (dd.from_pandas(given, npartitions=2, sort=False) for given in data)
    with pytest.raises(ValueError, match="`checkpoint` must be None, since this estimator cannot resume"):
        ULSClassifier(client=client, learner="tree", checkpoint=tmp_path / "fit.json").fit(frame, y)


@pytest.mark.slow
def test_a_worker_that_joins_is_used(data, local, tmp_path, monkeypatch):
    frame, y = (dd.from_pandas(given, npartitions=3, sort=False) for given in data)
    with workers(1) as client:
        (first,) = client.run(os.getpid).values()
        kill_at(monkeypatch, RPCTransport, 14, [first])  # its nanny starts another one, which joins
        assert document(ULSClassifier(client=client, **SETTINGS).fit(frame, y), tmp_path) == local
        assert [*client.run(os.getpid).values()] != [first]


async def stays_away(self):
    return self.status


@pytest.mark.slow
def test_when_all_workers_die_the_fit_says_so_within_the_deadline(data, monkeypatch):
    frame, y = (dd.from_pandas(given, npartitions=4, sort=False) for given in data)
    with workers(2) as client:
        monkeypatch.setattr(Nanny, "instantiate", stays_away)  # else the nannies, which live here, start new ones
        kill_at(monkeypatch, RPCTransport, 14, client.run(os.getpid).values())
        start = time.monotonic()
        with pytest.raises(WorkersLostError, match=r"4 of 4 partitions .* 6 seconds .*0 workers are connected"):
            ULSClassifier(client=client, timeout=6.0, **SETTINGS).fit(frame, y)
        assert time.monotonic() - start < 60  # loading included


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("ULSClassifier", SETTINGS, 14),  # three classes, whose questions travel together
        ("UDTClassifier", {"max_leaf_nodes": 30, "random_state": 0}, 5),
        ("MCBoostClassifier", {"learner": "tree", "n_rounds": 4, "max_leaf_nodes": 5, "random_state": 0}, 12),
        ("MCBoostClassifier", {"learner": "linear", "n_rounds": 3, "random_state": 0}, 12),
    ],
)
def test_a_worker_killed_in_mid_fit_changes_no_other_model(tmp_path, monkeypatch, name, settings, message):
    rows = make(1500, classes=3)
    frame, y = (dd.from_pandas(given, npartitions=6, sort=False) for given in rows)
    with workers(2) as client:
        victim = sorted(client.run(os.getpid).values())[0]
        sent = kill_at(monkeypatch, RPCTransport, message, [victim])
        model = getattr(permissible.dask, name)(client=client, **settings).fit(frame, y)
    assert sent[0] > message
    assert document(model, tmp_path) == document(getattr(pm, name)(**settings).fit(*rows), tmp_path)


def test_an_error_on_a_worker_is_told_as_it_is(client, data):
    frame, y = (dd.from_pandas(given, npartitions=2, sort=False) for given in data)
    with pytest.raises(ValueError, match="class label in every row"):
        ULSClassifier(client=client, **SETTINGS).fit(frame, y.where(y > 0))
