"""Trees of data larger than memory are the trees of memory, bit for bit."""

import numpy as np
import pandas as pd
import pytest

import permissible as pm
from permissible.dask import UDTClassifier
from permissible.distributed.data import store as store_module
from permissible.estimators.files.save_load import text_of as document
from permissible.learners.trees import grower as udt_parts
from permissible.learners.trees.grower import Weighed
from permissible.rows.local import LocalRows
from tests.distributed.rows_in_parts import InParts, OneWorker, make, named


def frame(n_rows, seed=0, weighted=False):
    rng = np.random.default_rng(seed)
    data = pd.DataFrame({f"x{j}": rng.normal(size=n_rows).round(2) for j in range(4)})
    data["colour"] = rng.choice(["red", "green", "blue"], n_rows)
    data.loc[rng.random(n_rows) < 0.1, "x1"] = np.nan
    score = data["x0"] * data["x2"] + (data["colour"] == "red") + rng.normal(size=n_rows)
    data["y"] = np.where(score > 0.5, "yes", "no")
    if weighted:
        data["w"] = rng.random(n_rows) + 0.1
    return data


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"pruning": "auto"},
        {"loss": "squared", "max_leaf_nodes": None, "max_depth": 5},
        {"min_samples_leaf": 30, "monotonic_cst": {"x0": 1}},
    ],
)
def test_a_data_set_on_disk_gives_the_tree_of_memory(tmp_path, weighted, parameters):
    data = frame(3000, weighted=weighted)
    whole = [data.iloc[:700], data.iloc[700:]]
    stored = pm.BinnedDataset.from_batches(whole, target="y", **({"weight": "w"} if weighted else {}))
    ours = pm.UDTClassifier(random_state=0, **parameters).fit(stored)
    X = data[[*(f"x{j}" for j in range(4)), "colour"]]
    memory = pm.UDTClassifier(random_state=0, **parameters).fit(X, data["y"], data["w"] if weighted else None)
    assert ours.model_.literals == memory.model_.literals
    np.testing.assert_array_equal(ours.model_.weight, memory.model_.weight)
    np.testing.assert_array_equal(ours.model_.samples, memory.model_.samples)
    np.testing.assert_array_equal(ours.history_["surrogate"], memory.history_["surrogate"])
    np.testing.assert_array_equal(ours.predict_proba(X), memory.predict_proba(X))


def test_several_blocks_give_the_tree_of_memory():
    rng = np.random.default_rng(1)
    n_rows = 70_000
    data = {f"x{j}": rng.integers(0, 50, n_rows).astype(float) for j in range(3)}
    data["y"] = (data["x0"] * data["x1"] + 400 * rng.normal(size=n_rows) > 600).astype(int)
    stored = pm.BinnedDataset.from_batches([data], target="y")
    assert len(stored.source().parts) == 2
    ours = pm.UDTClassifier(random_state=0).fit(stored)
    memory = pm.UDTClassifier(random_state=0).fit(pd.DataFrame(data).drop(columns="y"), data["y"])
    assert ours.model_.literals == memory.model_.literals
    np.testing.assert_array_equal(ours.model_.weight, memory.model_.weight)


@pytest.mark.parametrize("weighted", [False, True])
def test_parts_give_the_file_of_memory_its_certificate_included(monkeypatch, weighted):
    monkeypatch.setattr(store_module, "BLOCK_ROWS", 250)
    X, y = make(900, 3)
    weight = np.random.default_rng(1).random(900) + 0.1 if weighted else None
    whole = X.assign(label=y, w=weight) if weighted else X.assign(label=y)
    stored = pm.BinnedDataset.from_batches([whole[:333], whole[333:]], target="label", weight="w" if weighted else None)
    settings = {"random_state": 0, "max_leaf_nodes": 20, "pruning": "auto", "min_weight_fraction_leaf": 0.01}
    wanted = pm.UDTClassifier(**settings).fit(X, y, weight)
    assert wanted.certificate_.lower_bound > 0
    for source in (stored, *(InParts(stored, [1, 500, 0, 399], remote=remote) for remote in (False, True))):
        assert document(pm.UDTClassifier(**settings).fit(source)) == document(wanted)


def test_checkpoints_of_earlier_versions_are_read(monkeypatch):
    # They hold one more value of a cut: where codes go that the node never saw, which its set of codes says as well.
    def older(nodes):
        given = [(*node[:2], None if node[2] is None else (*node[2][:5], False, *node[2][5:])) for node in nodes]
        return Weighed(tuple(given))

    stored = pm.BinnedDataset.from_batches([frame(500)], target="y")
    wanted = document(pm.UDTClassifier(random_state=0).fit(stored))
    recorded = []
    monkeypatch.setattr(udt_parts, "Weighed", lambda nodes: recorded.append(older(nodes)) or recorded[-1])
    assert document(pm.UDTClassifier(random_state=0).fit(InParts(stored, [200, 300], remote=True))) == wanted
    assert recorded


def test_a_growth_that_was_stopped_goes_on_from_its_checkpoint_to_the_same_tree(tmp_path, monkeypatch):
    X, y = make(900)
    stored = pm.BinnedDataset.from_batches([X.assign(label=y)], target="label")
    settings = {"random_state": 0, "max_leaf_nodes": 40, "pruning": "auto"}
    asked, ask = [], LocalRows.ask

    def counted(self, question):
        asked.append(named(question))
        if asked.count("SumNodes") == most:
            raise KeyboardInterrupt
        return ask(self, question)

    most = -1
    monkeypatch.setattr(LocalRows, "ask", counted)
    wanted = document(pm.UDTClassifier(**settings).fit(stored))
    questions = asked.count("SumNodes")
    assert questions > 10
    for stop_at in (3, 4, questions // 2):  # stopped in the first tree, again, and in the tree of a fold
        most = stop_at
        asked.clear()
        with pytest.raises(KeyboardInterrupt):
            UDTClassifier(checkpoint=tmp_path / "fit.json", **settings).fit(stored)
    most = -1
    asked.clear()
    found = UDTClassifier(checkpoint=tmp_path / "fit.json", **settings).fit(stored)
    assert document(found) == wanted
    assert asked.count("SumNodes") <= questions // 2
    assert not (tmp_path / "fit.json").exists()


class Forgetful(OneWorker):
    """Answers twice, and every third time it has forgotten what it knew."""

    sent = 0

    def send(self, request):
        self.sent += 1
        if self.sent % 3 == 0:
            self.holder.sessions.clear()
        super().send(request)
        return super().send(request)


@pytest.mark.parametrize(
    ("estimator", "settings"),
    [
        ("UDTClassifier", {"max_leaf_nodes": 12}),
        ("MCBoostClassifier", {"learner": "tree", "n_rounds": 2, "max_leaf_nodes": 12}),
        ("MCBoostClassifier", {"learner": "rule", "n_rounds": 2, "max_literals": 4}),
        ("MCBoostClassifier", {"learner": "linear", "n_rounds": 3}),
    ],
)
def test_parts_that_forget_in_mid_tree_give_the_same_model(estimator, settings):
    X, y = make(900, 3)
    stored = pm.BinnedDataset.from_batches([X.assign(label=y)], target="label", keep_values=True)
    source = InParts(stored, [1, 500, 0, 399], remote=True)
    source.transport.__class__ = Forgetful
    model = getattr(pm, estimator)
    assert document(model(random_state=0, **settings).fit(source)) == document(
        model(random_state=0, **settings).fit(X, y)
    )
