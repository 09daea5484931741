"""Partitions on real worker processes give the model file of one machine, byte for byte."""

from itertools import pairwise

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from dask import delayed

import permissible as pm
from permissible.dask import BoundaryClassifier, MCBoostClassifier, UDTClassifier, ULSClassifier, loading
from tests.dask.machines import workers
from tests.distributed.rows_in_parts import document, make

SETTINGS = {"n_rounds": 6, "max_literals": 2, "random_state": 0}


def partitioned(frame, sizes):
    """A dask frame with partitions of these sizes."""
    ends = np.cumsum([0, *sizes])
    pieces = [frame.iloc[a:b] for a, b in pairwise(ends)]
    return dd.from_delayed([delayed(piece) for piece in pieces], meta=frame.iloc[:0], verify_meta=False)


@pytest.fixture(scope="module")
def data():
    return make()


@pytest.fixture(scope="module")
def local(data, tmp_path_factory):
    return document(pm.ULSClassifier(**SETTINGS).fit(*data), tmp_path_factory.mktemp("local"))


@pytest.mark.parametrize("transport", ["rpc", "serial"])
def test_every_transport_gives_the_model_of_one_machine(client, data, local, tmp_path, transport):
    frame, y = (dd.from_pandas(given, npartitions=5, sort=False) for given in data)
    model = ULSClassifier(client=client, transport=transport, **SETTINGS).fit(frame, y)
    assert type(model) is pm.ULSClassifier
    assert document(model, tmp_path) == local


@pytest.mark.parametrize("n_partitions", [1, 2, pytest.param(50, marks=pytest.mark.slow)])
def test_any_number_of_partitions_gives_the_same_model(client, data, local, tmp_path, n_partitions):
    whole = data[0].assign(label=data[1])
    frame = dd.from_pandas(whole, npartitions=n_partitions, sort=False)
    assert document(ULSClassifier(**SETTINGS).fit(frame, "label"), tmp_path) == local  # the default client


@pytest.mark.parametrize("transport", ["rpc", "serial"])
@pytest.mark.parametrize("classes", [2, 3])
def test_boosted_trees_are_those_of_one_machine(client, tmp_path, transport, classes):
    data = make(1500, classes)
    frame, y = (dd.from_pandas(given, npartitions=4, sort=False) for given in data)
    settings = {"learner": "tree", "n_rounds": 15, "max_leaf_nodes": "auto", "random_state": 0}
    model = ULSClassifier(client=client, transport=transport, **settings).fit(frame, y)
    assert document(model, tmp_path) == document(pm.ULSClassifier(**settings).fit(*data), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("n_workers", [1, 3, 4])
def test_any_number_of_workers_gives_the_same_model(data, local, tmp_path, n_workers):
    frame, y = (dd.from_pandas(given, npartitions=7, sort=False) for given in data)
    with workers(n_workers) as client:
        assert document(ULSClassifier(client=client, **SETTINGS).fit(frame, y), tmp_path) == local


def test_classes_that_share_their_messages_give_the_model_of_one_machine(client, tmp_path):
    frame, y = make(1500, classes=3)
    given = (dd.from_pandas(part, npartitions=4, sort=False) for part in (frame, y))
    found = ULSClassifier(client=client, **SETTINGS).fit(*given)
    assert document(found, tmp_path) == document(pm.ULSClassifier(**SETTINGS).fit(frame, y), tmp_path)


def test_empty_missing_and_rare_partitions_change_nothing_but_the_data(client, data, tmp_path):
    frame, y = data
    order = np.argsort(frame["real"].isna(), kind="stable")  # missing values last, so that a partition has nothing else
    frame, y = frame.iloc[order].reset_index(drop=True), y.iloc[order].reset_index(drop=True)
    present = int(frame["real"].notna().sum())
    sizes = [0, 1, present - 1, 0, len(frame) - present, 0]
    wanted = document(pm.ULSClassifier(**SETTINGS).fit(frame, y), tmp_path)
    found = ULSClassifier(client=client, **SETTINGS).fit(partitioned(frame, sizes), partitioned(y, sizes))
    assert document(found, tmp_path) == wanted


def test_arrays_and_weights_give_the_model_of_one_machine(client, tmp_path):
    random = np.random.default_rng(1)
    X, weight = random.standard_normal((1000, 5)), random.random(1000)
    weight[:10] = 0.0
    y = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int)
    wanted = pm.ULSClassifier(**SETTINGS).fit(X, y, sample_weight=weight)
    found = ULSClassifier(client=client, **SETTINGS).fit(
        da.from_array(X, chunks=(300, 2)), da.from_array(y, chunks=300), da.from_array(weight, chunks=300)
    )
    assert document(found, tmp_path) == document(wanted, tmp_path)
    np.testing.assert_array_equal(found.predict_proba(X), wanted.predict_proba(X))


def test_parquet_files_give_the_model_of_one_machine(client, data, local, tmp_path):
    whole = data[0].assign(label=data[1])
    paths = []
    for number, part in enumerate((whole[:1000], whole[1000:1001], whole[1001:])):
        paths.append(tmp_path / f"{number}.parquet")
        pd.DataFrame(part).to_parquet(paths[-1])
    found = ULSClassifier(client=client, **SETTINGS).fit(paths, target="label")
    assert document(found, tmp_path) == local


def test_a_tree_is_the_tree_of_one_machine(client, data, tmp_path):
    frame, y = (dd.from_pandas(given, npartitions=5, sort=False) for given in data)
    settings = {"max_leaf_nodes": 12, "random_state": 0}
    models = UDTClassifier(client=client, **settings).fit(frame, y), pm.UDTClassifier(**settings).fit(*data)
    found, wanted = (document(model, tmp_path) for model in models)
    assert found == wanted


@pytest.mark.parametrize("transport", ["rpc", "serial"])
def test_trees_of_mcboost_are_those_of_one_machine(client, tmp_path, transport):
    frame, y = make(1500, classes=3)
    settings = {
        "learner": "tree",
        "n_rounds": 3,
        "max_leaf_nodes": 6,
        "early_stopping": True,
        "scoring": "surrogate",
        "random_state": 0,
    }
    given = (dd.from_pandas(part, npartitions=4, sort=False) for part in (frame, y))
    found = MCBoostClassifier(client=client, transport=transport, **settings).fit(*given)
    assert document(found, tmp_path) == document(pm.MCBoostClassifier(**settings).fit(frame, y), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("n_workers", [1, 3])
@pytest.mark.parametrize("learner", ["linear", "rule", "tree"])
def test_any_number_of_workers_gives_the_same_mcboost(tmp_path, n_workers, learner):
    frame, y = make(1500, classes=4)
    settings = {"learner": learner, "n_rounds": 3, "random_state": 0}
    wanted = document(pm.MCBoostClassifier(**settings).fit(frame, y), tmp_path)
    with workers(n_workers) as client:
        for n_partitions in (1, 6, 50):
            given = (dd.from_pandas(part, npartitions=n_partitions, sort=False) for part in (frame, y))
            assert document(MCBoostClassifier(client=client, **settings).fit(*given), tmp_path) == wanted


@pytest.mark.parametrize("boundaries", ["soft", pytest.param((0.2, 0.8), marks=pytest.mark.slow)])
def test_a_boundary_classifier_is_the_same_on_any_partitions(client, tmp_path, boundaries):
    random = np.random.default_rng(2)
    X = random.standard_normal((900, 4))
    y = (X[:, 0] + random.standard_normal(900) > 0).astype(int)
    columns = {f"x{j}": X[:, j] for j in range(4)}
    dataset = pm.BinnedDataset.from_batches([{**columns, "y": y}], target="y", keep_values=True)
    wanted = pm.BoundaryClassifier(boundaries=boundaries).fit(dataset)
    for chunk in (900, 250):
        found = BoundaryClassifier(client=client, boundaries=boundaries).fit(
            da.from_array(X, chunks=(chunk, 2)), da.from_array(y, chunks=chunk)
        )
        assert found.coef_.tobytes() == wanted.coef_.tobytes()
        assert found.certificate_ == wanted.certificate_


def test_a_binned_data_set_needs_no_cluster(data, local, tmp_path):
    dataset = pm.BinnedDataset.from_batches([data[0].assign(label=data[1])], target="label")
    assert document(ULSClassifier(**SETTINGS).fit(dataset), tmp_path) == local


def test_what_cannot_be_fitted_is_refused_in_one_sentence(client, data):
    frame, y = data
    fitter = ULSClassifier(client=client, **SETTINGS)
    with pytest.raises(TypeError, match="`X` must be a dask DataFrame"):
        fitter.fit(frame, y)
    with pytest.raises(ValueError, match="`y` must be partitioned like X"):
        fitter.fit(dd.from_pandas(frame, npartitions=3), da.from_array(y.to_numpy(), chunks=1500))
    with pytest.raises(ValueError, match="`transport` must be"):
        ULSClassifier(transport="pigeon").fit(frame, y)
    with pytest.raises(ValueError, match="at least two classes"):
        fitter.fit(dd.from_pandas(frame, npartitions=2), dd.from_pandas(y * 0, npartitions=2))


def test_partitions_that_change_between_the_passes_are_refused(client, data, tmp_path, monkeypatch):
    frame = data[0].assign(label=data[1])[:400]
    paths = [str(tmp_path / name) for name in ("one.csv", "two.csv")]
    for path in paths:
        frame.to_csv(path, index=False)
    model = UDTClassifier(client=client, max_leaf_nodes=3)
    assert model.fit(paths, target="label").classes_.tolist() == [0, 1]
    survey = loading.survey_of_all

    def survey_and_change(*given):
        found = survey(*given)
        frame.assign(count=frame["count"] + 1).to_csv(paths[1], index=False)
        return found

    monkeypatch.setattr(loading, "survey_of_all", survey_and_change)
    with pytest.raises(ValueError, match=r"^`batches` must be the same rows in both passes"):
        model.fit(paths, target="label")


def test_a_continuous_target_is_refused_on_a_cluster_as_in_memory(client, data):
    frame = data[0][["count"]].assign(label=np.linspace(0, 1, len(data[0])))
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        UDTClassifier(client=client).fit(dd.from_pandas(frame, npartitions=2, sort=False), "label")
