"""A table on disk in blocks: same codes as in memory, whatever the chunks; reopened, checked, refused in one sentence."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from permissible.bins.encoding import encode
from permissible.bins.find import find_bins
from permissible.distributed.data import store as store_module
from permissible.distributed.data.dataset import BinnedDataset
from permissible.table import read


@pytest.fixture
def frame() -> pd.DataFrame:
    random = np.random.default_rng(0)
    colour = pd.Series(random.choice(["red", "green", "blue"], 1000)).where(random.random(1000) > 0.1)
    return pd.DataFrame(
        {
            "real": np.where(random.random(1000) < 0.1, np.nan, random.standard_normal(1000)),
            "count": random.integers(0, 9, 1000),
            "colour": colour,
            "truth": random.random(1000) < 0.5,
            "label": random.choice(["no", "yes"], 1000),
            "weight": random.integers(0, 3, 1000) * 0.5,
        }
    )


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(store_module, "BLOCK_ROWS", 128)


def codes_of(dataset: BinnedDataset) -> np.ndarray:
    return np.concatenate([dataset.store.codes(block) for block in range(dataset.store.n_blocks)], axis=1)


def in_memory(frame: pd.DataFrame) -> np.ndarray:
    table = read(frame)
    return encode(find_bins(table), table).blocks


@pytest.mark.parametrize("size", [1, 37, 128, 1000])
def test_chunks_of_any_size_give_the_codes_of_memory(frame, size):
    frame = frame[:300] if size == 1 else frame
    batches = [frame[start : start + size] for start in range(0, len(frame), size)]
    dataset = BinnedDataset.from_batches(batches, target="label", drop=["weight"])
    np.testing.assert_array_equal(codes_of(dataset), in_memory(frame.drop(columns=["label", "weight"])))
    np.testing.assert_array_equal(dataset.classes[dataset.store.target()], frame["label"])


def test_files_of_every_kind_give_the_same_codes(frame, tmp_path):
    frame.to_csv(tmp_path / "t.csv", index=False)
    pa.parquet.write_table(pa.Table.from_pandas(frame), tmp_path / "t.parquet", row_group_size=77)
    pa.feather.write_feather(frame, tmp_path / "t.arrow")
    wanted = in_memory(frame.drop(columns=["label", "weight"]))
    for made in (
        BinnedDataset.from_csv(tmp_path / "t.csv", target="label", drop=["weight"]),
        BinnedDataset.from_parquet(tmp_path / "t.parquet", target="label", drop=["weight"]),
        BinnedDataset.from_parquet([tmp_path / "t.parquet"] * 1, target="label", drop=["weight"]),
        BinnedDataset.from_arrow(tmp_path / "t.arrow", target="label", drop=["weight"]),
    ):
        np.testing.assert_array_equal(codes_of(made), wanted)


def test_rows_of_weight_zero_are_left_out(frame, tmp_path):
    dataset = BinnedDataset.from_batches(
        [frame[:400], frame[400:]], target="label", weight="weight", directory=tmp_path
    )
    kept = frame[frame["weight"] > 0]
    assert dataset.n_rows == len(kept)
    np.testing.assert_array_equal(dataset.store.weight(), kept["weight"])
    for block in range(dataset.store.n_blocks):
        first, last = dataset.store.span(block)
        np.testing.assert_array_equal(dataset.store.weight(block), kept["weight"][first:last])


def test_a_reopened_folder_is_the_same_data_set(frame, tmp_path):
    made = BinnedDataset.from_batches([frame], target="label", directory=tmp_path / "d")
    reopened = BinnedDataset.open(tmp_path / "d")
    assert reopened.schema == made.schema
    assert reopened.classes.tolist() == ["no", "yes"]
    np.testing.assert_array_equal(codes_of(reopened), codes_of(made))
    np.testing.assert_array_equal(reopened.store.hashes(), made.store.hashes())


def test_an_incomplete_folder_is_refused(frame, tmp_path):
    BinnedDataset.from_batches([frame], target="label", directory=tmp_path)
    (codes,) = tmp_path.glob("blocks-*/codes.u1")
    with codes.open("r+b") as file:
        file.truncate(100)
    with pytest.raises(ValueError, match=r"`directory` must be a complete data set"):
        BinnedDataset.open(tmp_path)
    (tmp_path / "dataset.json").unlink()
    with pytest.raises(ValueError, match=r"`directory` must be a folder with a binned data set"):
        BinnedDataset.open(tmp_path)


def test_bad_sources_are_refused_in_one_sentence(frame):
    with pytest.raises(ValueError, match=r"`target` must be a column of the data"):
        BinnedDataset.from_batches([frame], target="nowhere")
    with pytest.raises(TypeError, match="which can be read only once"):
        BinnedDataset.from_batches(iter([frame]), target="label")
    with pytest.raises(ValueError, match="at least two classes"):
        BinnedDataset.from_batches([frame[frame["label"] == "no"]], target="label")
    with pytest.raises(ValueError, match="at least one row"):
        BinnedDataset.from_batches([frame[:0]], target="label")
    for weight in (-1.0, np.inf, np.nan):
        with pytest.raises(ValueError, match=rf"finite weights that are not negative, got {weight}"):
            BinnedDataset.from_batches([frame.assign(weight=weight)], target="label", weight="weight")
    with pytest.raises(TypeError, match=r"`weight` must be a column of finite weights"):
        BinnedDataset.from_batches([frame.assign(weight="a")], target="label", weight="weight")
    with pytest.raises(ValueError, match=r"`weight` must be of a sum between"):
        BinnedDataset.from_batches([frame.assign(weight=1e300)], target="label", weight="weight")
    with pytest.raises(ValueError, match="tables with a column to learn from"):
        BinnedDataset.from_batches([frame[["label"]]], target="label")
    for name, given in (("target", "y"), ("weight", "w")):
        batch = {"x": np.arange(4.0), "y": np.arange(4) % 2, "w": np.ones(4)}
        batch[given] = batch[given][:3]
        with pytest.raises(ValueError, match=rf"`{name}` must be a column of 4 rows, as the others, got one of 3"):
            BinnedDataset.from_batches([batch], target="y", weight="w")


def test_labels_that_a_file_cannot_hold_are_refused_and_large_integers_are_kept():
    with pytest.raises(TypeError, match="text, integers or truth values, got labels represented as bytes"):
        BinnedDataset.from_batches([{"x": [1.0, 2.0], "y": [b"a", b"b"]}], target="y")
    with pytest.raises(ValueError, match="labels that fit into 64 bits"):
        BinnedDataset.from_batches([{"x": [1.0, 2.0], "y": [10**400, 2**60]}], target="y")
    made = BinnedDataset.from_batches([{"x": [1.0, 2.0], "y": [2**60 + 1, 2**60]}], target="y")
    assert made.classes.tolist() == [2**60, 2**60 + 1]


def test_labels_of_a_file_that_float64_would_join_are_refused(tmp_path):
    (tmp_path / "ids.csv").write_text(f"x,y\n1,{2**53}\n2,{2**53 + 1}\n3,{2**53}\n")
    with pytest.raises(ValueError, match=r"`target` must be integers below 2\^53.*store them as text"):
        BinnedDataset.from_csv(tmp_path / "ids.csv", target="y")
