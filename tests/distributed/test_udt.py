"""Trees of data larger than memory are the trees of memory, bit for bit."""

import numpy as np
import pandas as pd
import pytest

import permissible as pm


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
@pytest.mark.parametrize("parameters", [{}, {"pruning": "cv"}, {"loss": "squared", "max_leaves": None, "max_depth": 5},
                                        {"min_samples_leaf": 30, "monotonic_cst": {"x0": 1}}])  # fmt: skip
def test_a_data_set_on_disk_gives_the_tree_of_memory(tmp_path, weighted, parameters):
    data = frame(3000, weighted=weighted)
    whole = [data.iloc[:700], data.iloc[700:]]
    stored = pm.BinnedDataset.from_batches(whole, target="y", **({"weight": "w"} if weighted else {}))
    ours = pm.UDTClassifier(random_state=0, **parameters).fit(stored)
    X = data[[*(f"x{j}" for j in range(4)), "colour"]]
    memory = pm.UDTClassifier(random_state=0, **parameters).fit(X, data["y"], data["w"] if weighted else None)
    assert ours.tree_.literals == memory.tree_.literals
    np.testing.assert_array_equal(ours.tree_.weight, memory.tree_.weight)
    np.testing.assert_array_equal(ours.tree_.samples, memory.tree_.samples)
    np.testing.assert_array_equal(ours.history_["surrogate"], memory.history_["surrogate"])
    np.testing.assert_array_equal(ours.predict_proba(X), memory.predict_proba(X))


def test_several_blocks_give_the_tree_of_memory():
    rng = np.random.default_rng(1)
    n_rows = 70_000
    data = {f"x{j}": rng.integers(0, 50, n_rows).astype(float) for j in range(3)}
    data["y"] = (data["x0"] * data["x1"] + 400 * rng.normal(size=n_rows) > 600).astype(int)
    stored = pm.BinnedDataset.from_batches([data], target="y")
    assert len(stored.parted().transport.holder.parts) == 2
    ours = pm.UDTClassifier(random_state=0).fit(stored)
    memory = pm.UDTClassifier(random_state=0).fit(pd.DataFrame(data).drop(columns="y"), data["y"])
    assert ours.tree_.literals == memory.tree_.literals
    np.testing.assert_array_equal(ours.tree_.weight, memory.tree_.weight)


def test_boosted_trees_over_parts_are_refused_in_one_sentence():
    stored = pm.BinnedDataset.from_batches([frame(200)], target="y")
    with pytest.raises(ValueError, match='`features` must be "rules" for data in parts'):
        pm.ULSClassifier(features="tree").fit(stored)
