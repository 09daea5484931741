"""Collections as people have them, a table that is loaded once, blocks spread over workers, and predictions on collections."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from dask.bag import from_sequence
from distributed.protocol import dumps
from distributed.utils import nbytes
from sklearn.base import clone

import permissible as pm
import permissible.dask
from permissible.dask import UDTClassifier, ULSClassifier, decide, load, predict, predict_proba
from permissible.distributed.data.store import Store
from permissible.distributed.protocol.remote import RemoteSource
from tests.distributed.rows_in_parts import document, make

SETTINGS = {"n_rounds": 4, "max_literals": 2, "random_state": 0, "early_stopping": False}


@pytest.fixture(scope="module")
def data():
    return make()


@pytest.fixture(scope="module")
def local(data, tmp_path_factory):
    return document(pm.ULSClassifier(**SETTINGS).fit(*data), tmp_path_factory.mktemp("local"))


@pytest.fixture(scope="module")
def parquet(data, tmp_path_factory):
    """Files of many columns: dask reads one column of them in larger pieces than all."""
    folder = tmp_path_factory.mktemp("parquet")
    frame = data[0].assign(label=data[1], weight=1.0)
    for number, start in enumerate(range(0, len(frame), 400)):
        frame[start : start + 400].to_parquet(folder / f"part{number}.parquet")
    return str(folder)


def test_columns_of_one_parquet_data_set_are_joined(client, data, local, parquet, tmp_path):
    frame = dd.read_parquet(parquet)
    X, y = frame[list(data[0].columns)], frame["label"]
    assert len(X.to_delayed()) != len(y.to_delayed())  # otherwise this shows nothing
    fitter = ULSClassifier(client=client, **SETTINGS)
    assert document(fitter.fit(X, y), tmp_path) == local
    assert document(fitter.fit(X, y, frame["weight"]), tmp_path) == local
    kept = frame[frame["count"] >= 0]
    assert document(fitter.fit(kept[list(data[0].columns)], kept["label"]), tmp_path) == local


def test_frames_of_other_partitions_are_aligned_and_arrays_cut_alike(client, data, local, tmp_path):
    frame, y = data
    fitter = ULSClassifier(client=client, **SETTINGS)
    assert (
        document(fitter.fit(dd.from_pandas(frame, npartitions=3), dd.from_pandas(y, npartitions=2)), tmp_path) == local
    )
    X = frame[["real", "count"]].to_numpy()
    wanted = document(pm.ULSClassifier(**SETTINGS).fit(X, y.to_numpy()), tmp_path)
    found = fitter.fit(da.from_array(X, chunks=(700, 1)), da.from_array(y.to_numpy(), chunks=1000))
    assert document(found, tmp_path) == wanted
    column = da.from_array(y.to_numpy()[:, None], chunks=(800, 1))
    assert document(fitter.fit(da.from_array(X, chunks=(700, 1)), column), tmp_path) == wanted


def test_categories_that_dask_does_not_know_and_filtered_rows_are_those_of_memory(client, data, tmp_path):
    frame, y = data
    frame = frame.assign(colour=frame["colour"].astype("category"), label=y)
    frame.to_parquet(tmp_path / "rows.parquet")
    fitter, kept = ULSClassifier(client=client, **SETTINGS), frame[frame["count"] > 3]
    wanted = document(pm.ULSClassifier(**SETTINGS).fit(kept.drop(columns="label"), kept["label"]), tmp_path)
    spread = dd.from_pandas(frame, npartitions=3)
    spread["colour"] = spread["colour"].cat.as_unknown()
    filtered = dd.read_parquet(tmp_path / "rows.parquet", filters=[("count", ">", 3)])
    for found in (spread[spread["count"] > 3], filtered):
        assert document(fitter.fit(found, "label"), tmp_path) == wanted


def test_a_table_is_loaded_once_and_fitted_often(client, data, local, tmp_path):
    frame, y = data
    table = load(dd.from_pandas(frame, npartitions=5), dd.from_pandas(y, npartitions=5), client=client, random_state=0)
    assert (table.n_rows, table.classes.tolist()) == (len(frame), [0, 1])
    assert document(pm.ULSClassifier(**SETTINGS).fit(table), tmp_path) == local
    assert document(ULSClassifier(client=client, **SETTINGS).fit(table), tmp_path) == local
    wanted = document(pm.UDTClassifier(max_leaf_nodes=6).fit(frame, y), tmp_path)
    assert document(UDTClassifier(max_leaf_nodes=6).fit(table), tmp_path) == wanted


def test_the_blocks_of_a_data_set_are_spread_over_the_workers(client, data, local, tmp_path):
    dataset = pm.BinnedDataset.from_batches(
        [data[0].assign(label=data[1])], target="label", directory=tmp_path / "set", seed=0
    )
    table = load(dataset, client=client)
    assert len(table.source().transport.placement.futures) == dataset.store.n_blocks
    assert document(ULSClassifier(client=client, **SETTINGS).fit(dataset), tmp_path) == local


def test_predictions_stay_a_collection(client, data):
    frame, y = data
    model = pm.ULSClassifier(**SETTINGS).fit(frame, y)
    spread = dd.from_pandas(frame, npartitions=4)
    np.testing.assert_array_equal(predict(model, spread).compute(), model.predict(frame))
    np.testing.assert_array_equal(predict_proba(model, spread).compute(), model.predict_proba(frame))
    wanted = model.decide(frame, pm.Reject(0.2))
    np.testing.assert_array_equal(decide(model, spread, pm.Reject(0.2)).compute(), wanted)
    X = frame[["real", "count"]].to_numpy()
    matrix = pm.ULSClassifier(**SETTINGS).fit(X, y.to_numpy())
    blocks = da.from_array(X, chunks=(700, 1))
    np.testing.assert_array_equal(predict_proba(matrix, blocks).compute(), matrix.predict_proba(X))
    np.testing.assert_array_equal(predict(matrix, blocks).compute(), matrix.predict(X))
    with pytest.raises(TypeError, match=r"`X` must be a dask DataFrame or a dask Array, .* ask the model itself"):
        predict(model, frame)


def test_the_graph_of_a_frame_in_memory_is_sent_once(client, monkeypatch):
    X = pd.DataFrame(np.random.default_rng(0).standard_normal((20_000, 8)), columns=list("abcdefgh"))
    y = pd.Series((X["a"] > 0).astype(int), name="y")
    send, sent = client._send_to_scheduler, []

    def measured(message):
        sent.append(sum(map(nbytes, dumps(message))))
        return send(message)

    monkeypatch.setattr(client, "_send_to_scheduler", measured)
    frames = dd.from_pandas(X, npartitions=4), dd.from_pandas(y, npartitions=4)
    ULSClassifier(client=client, **SETTINGS).fit(*frames)
    held = X.to_numpy().nbytes
    assert held < sum(sent) < 1.5 * held


@pytest.mark.parametrize(
    "estimator",
    [pm.BoundaryClassifier(), pm.BoundaryClassifier(boundaries="soft"), pm.MCBoostClassifier(learner="linear")],
)
def test_a_linear_learner_asks_for_values_before_anything_is_read(client, estimator, monkeypatch):
    X = np.random.default_rng(0).standard_normal((200, 2))
    rows = {"a": X[:, 0], "b": X[:, 1], "y": (X[:, 0] > 0).astype(int)}
    dataset = pm.BinnedDataset.from_batches([rows], target="y")
    array = da.from_array(X, chunks=(100, 2))
    table = load(array, da.from_array(rows["y"], chunks=100), client=client)
    on_workers = getattr(permissible.dask, type(estimator).__name__)(client=client, **estimator.get_params())

    def read(*given):
        raise AssertionError("something was read")

    monkeypatch.setattr(Store, "_read", read)
    monkeypatch.setattr(RemoteSource, "survey", read)
    monkeypatch.setattr(RemoteSource, "open", read)
    for fitter, data in ((estimator, dataset), (estimator, table), (on_workers, dataset), (on_workers, table)):
        with pytest.raises(ValueError, match="keep_values=True"):
            fitter.fit(data)


def test_labels_of_another_length_or_in_memory_are_refused(client):
    X = da.zeros((100, 2), chunks=(30, 2))
    with pytest.raises(ValueError, match=r"`y` must be of one value for each of the 100 rows of X, got 90 values"):
        ULSClassifier(client=client).fit(X, da.zeros(90, chunks=30))
    with pytest.raises(
        TypeError, match=r"`y` must be a dask collection .*; make one of it, with dask.array.from_array"
    ):
        ULSClassifier(client=client).fit(X, np.zeros(100))
    with pytest.raises(TypeError, match=r"`X` must be a dask DataFrame, a dask Array, a list of files"):
        ULSClassifier(client=client).fit(from_sequence([1, 2]), "y")


def test_a_clone_shares_the_client(client):
    fitter = ULSClassifier(client=client, n_rounds=7)
    copied = clone(fitter).set_params(n_rounds=5)
    assert copied.client is client
    assert (fitter.get_params()["n_rounds"], copied.get_params()["n_rounds"]) == (7, 5)
