"""A fit that was killed goes on from its journal to the identical model."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import permissible as pm
from permissible import losses
from permissible.dask import ULSClassifier
from permissible.dask.estimators import RECORDS
from permissible.distributed.data.dataset import BinnedDataset
from permissible.distributed.protocol.journal import FileJournal, fingerprint
from permissible.rows.local import LocalRows, LocalSource
from tests.distributed.rows_in_parts import InParts, document, make, question_of

CORRECTIVE = {"n_rounds": 6, "max_literals": 2, "random_state": 0, "scheme": "corrective"}
CLASSIC = {"n_rounds": 12, "random_state": 0}

SCRIPT = """
import os, signal, sys
from permissible.dask import ULSClassifier
from permissible.distributed.data.dataset import BinnedDataset
from permissible.distributed.protocol.journal import FileJournal, fingerprint

write, left = FileJournal.write, [int(sys.argv[3])]

def write_and_die(self):
    write(self)
    left[0] -= 1
    if not left[0]:
        os.kill(os.getpid(), signal.SIGKILL)

FileJournal.write = write_and_die
ULSClassifier(n_rounds=12, random_state=0, checkpoint=sys.argv[2], checkpoint_every=2).fit(BinnedDataset.open(sys.argv[1]))
"""


def dataset(folder: Path) -> BinnedDataset:
    frame, y = make(800)
    return BinnedDataset.from_batches([frame.assign(label=y)], target="label", directory=folder)


@pytest.mark.parametrize("writes", [9, pytest.param(1, marks=pytest.mark.slow)])
def test_a_killed_coordinator_resumes_to_the_identical_model(tmp_path, writes):
    data = dataset(tmp_path / "data")
    wanted = document(pm.ULSClassifier(**CLASSIC).fit(data), tmp_path)
    journal = tmp_path / "journal"
    killed = subprocess.run([sys.executable, "-c", SCRIPT, tmp_path / "data", journal, str(writes)], check=False)
    assert killed.returncode == -signal.SIGKILL
    left = journal.stat().st_size
    assert left > 0
    resumed = ULSClassifier(checkpoint=journal, checkpoint_every=2, **CLASSIC).fit(data)
    assert document(resumed, tmp_path) == wanted
    assert not journal.exists()


@pytest.mark.parametrize("settings", [CLASSIC, {**CLASSIC, "early_stopping": False}])
def test_a_resumed_fit_does_not_ask_again(tmp_path, monkeypatch, settings):
    data = dataset(tmp_path / "data")
    sent = [0]

    def counting(ask):
        def counted(self, question):
            sent[0] += 1
            if sent[0] == stop_at:
                raise KeyboardInterrupt
            return ask(self, question)

        return counted

    stop_at = 0
    monkeypatch.setattr(LocalRows, "ask", counting(LocalRows.ask))
    monkeypatch.setattr(LocalSource, "survey", counting(LocalSource.survey))
    # A journal keeps the readable loop, which asks; without one a single block is fitted by the compiled loop.
    wanted = document(ULSClassifier(checkpoint=tmp_path / "undisturbed", **settings).fit(data), tmp_path)
    all_messages, stop_at = sent[0], sent[0] - 5
    sent[0] = 0
    with pytest.raises(KeyboardInterrupt):
        ULSClassifier(checkpoint=tmp_path / "journal", checkpoint_every=1, **settings).fit(data)
    sent[0], stop_at = 0, -1
    found = ULSClassifier(checkpoint=tmp_path / "journal", checkpoint_every=1, **settings).fit(data)
    assert document(found, tmp_path) == wanted
    assert sent[0] < 0.6 * all_messages  # of a round the step alone is sent again, one message of three


def test_classes_side_by_side_resume_from_one_file(tmp_path):
    frame, y = make(600, 3)
    data = BinnedDataset.from_batches([frame.assign(label=y)], target="label")
    settings = {"n_rounds": 8, "max_literals": 2, "random_state": 0, "early_stopping": False}
    wanted = document(pm.ULSClassifier(**settings).fit(frame, y), tmp_path)
    sent = []
    for stop_at in (-1, 25, 20, -1):
        journal = (
            FileJournal.open(tmp_path / "journal", "fit", RECORDS, every=1) if sent else None
        )  # first the fit undisturbed
        source = InParts(data, [200, 400], journal, remote=True)
        transport, send, count = source.transport, source.transport.send, [0]

        def counted(request, send=send, count=count, stop_at=stop_at):
            count[0] += question_of(request) == "batch"
            if count[0] == stop_at:
                raise ConnectionError("stopped")
            return send(request)

        transport.send = counted
        if stop_at > 0:
            with pytest.raises(ConnectionError):
                pm.ULSClassifier(**settings).fit(source)
        else:
            assert document(pm.ULSClassifier(**settings).fit(source), tmp_path) == wanted
        sent.append(count[0])
    assert sent[-1] < 0.7 * sent[0]  # steps that were remembered are told, not searched for again


def test_the_journal_of_another_fit_is_refused(tmp_path):
    data = dataset(tmp_path / "data")
    FileJournal(tmp_path / "journal", "another fit", RECORDS).write()
    with pytest.raises(ValueError, match="the checkpoint of this very fit"):
        ULSClassifier(checkpoint=tmp_path / "journal", **CLASSIC).fit(data)
    (tmp_path / "journal").write_text("{}")
    with pytest.raises(ValueError, match="a file that a fit has left"):
        ULSClassifier(checkpoint=tmp_path / "journal", **CLASSIC).fit(data)
    with pytest.raises(ValueError, match="`random_state` must be None or an integer where a checkpoint is kept"):
        ULSClassifier(checkpoint=os.devnull, random_state=np.random.RandomState(0)).fit(data)


def stopped_fit(data, journal, monkeypatch, **settings):
    """Leave the checkpoint of a fit that was stopped."""
    write, left = FileJournal.write, [2]

    def stop(self):
        write(self)
        left[0] -= 1
        if not left[0]:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(FileJournal, "write", stop)
        with pytest.raises(KeyboardInterrupt):
            ULSClassifier(checkpoint=journal, checkpoint_every=1, **{**CLASSIC, **settings}).fit(data)
    assert journal.exists()


def other_data(frame, y):
    """Tables of as many rows, with the same columns and classes, and one thing that differs."""
    value, label, weight = frame.copy(), y.copy(), pd.Series(1.0, index=y.index)
    value.loc[5, "real"] = 0.25
    label.loc[5] = 1 - label.loc[5]
    weight.loc[5] = 3.0
    return {"a value": (value, y, None), "a label": (frame, label, None), "a weight": (frame, y, weight)}


@pytest.mark.parametrize("differs", ["a value", "a label", "a weight", "the bins"])
def test_other_data_of_the_same_size_do_not_resume(tmp_path, monkeypatch, differs):
    frame, y = make(400)
    weight = pd.Series(1.0, index=y.index)
    weight.loc[:20] = 2.0
    first = BinnedDataset.from_batches([frame.assign(label=y, w=weight)], target="label", weight="w")
    stopped_fit(first, tmp_path / "journal", monkeypatch)
    left = (tmp_path / "journal").read_bytes()
    found = other_data(frame, y).get(differs, (frame, y, None))
    changed = found[0].assign(label=found[1], w=weight if found[2] is None else found[2] * weight)
    options = {"max_bins": 20} if differs == "the bins" else {}
    second = BinnedDataset.from_batches([changed], target="label", weight="w", **options)
    with pytest.raises(ValueError, match="the checkpoint of this very fit"):
        ULSClassifier(checkpoint=tmp_path / "journal", checkpoint_every=1, **CLASSIC).fit(second)
    assert (tmp_path / "journal").read_bytes() == left
    turned = changed if differs == "the bins" else frame.assign(label=y, w=weight)
    same = BinnedDataset.from_batches([turned.iloc[200:], turned.iloc[:200]], target="label", weight="w")
    resumed = ULSClassifier(checkpoint=tmp_path / "journal", checkpoint_every=1, **CLASSIC).fit(same)
    assert document(resumed, tmp_path) == document(pm.ULSClassifier(**CLASSIC).fit(first), tmp_path)


def test_another_phi_of_the_same_name_does_not_resume(tmp_path, monkeypatch):
    data = dataset(tmp_path / "data")
    one = losses.from_phi(lambda p: 2 * np.sqrt(p * (1 - p)), name="own")
    other = losses.from_phi(lambda p: 4 * p * (1 - p), name="own")
    short = {"n_rounds": 3, "max_literals": 1, "early_stopping": False}
    stopped_fit(data, tmp_path / "journal", monkeypatch, loss=one, **short)
    with pytest.raises(ValueError, match="the checkpoint of this very fit"):
        ULSClassifier(checkpoint=tmp_path / "journal", **{**CLASSIC, "loss": other, **short}).fit(data)


def test_settings_are_told_apart_to_the_last_digit():
    costs = np.full((40, 40), 1 / 3)
    nearly = costs.copy()
    nearly[20, 20] = np.nextafter(1 / 3, 1)
    assert repr(costs) == repr(nearly)
    assert fingerprint(costs) == fingerprint(costs.copy()) != fingerprint(nearly)
    functions = [eval(text) for text in ("lambda x: x + 1", "lambda x: x + 1", "lambda x: x + 2", "lambda x: x * 1")]
    assert fingerprint(functions[0]) == fingerprint(functions[1])
    assert len({fingerprint(function) for function in functions}) == 3


def test_a_checkpoint_is_a_file(tmp_path):
    """A pipe would be waited for, and a device would go with the end of the fit."""
    data = dataset(tmp_path / "data")
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(ValueError, match="`checkpoint` must be the name of a file"):
            ULSClassifier(checkpoint=path, **CLASSIC).fit(data)
    assert (tmp_path / "pipe").is_fifo()
