"""Both passes over data in parts meet the same rows, and targets are taken or refused in the words of a fit in memory."""

import datetime
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import permissible as pm
from permissible.distributed.data.dataset import BinnedDataset


def rows(n_rows: int = 60) -> pd.DataFrame:
    random = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "x": random.normal(size=n_rows).round(2),
            "c": random.choice(["a", "b"], n_rows),
            "w": random.integers(1, 3, n_rows) * 1.0,
            "y": random.choice(["no", "yes"], n_rows),
        }
    )


def edited(column: str, row: int, value: object) -> pd.DataFrame:
    frame = rows()
    frame.loc[row, column] = value
    return frame


CHANGES = {
    "fewer rows": (rows().iloc[:-1], "60 rows in the first and 59 in the second"),
    "more rows": (pd.concat([rows(), rows().iloc[:1]]), "60 rows in the first and 61 in the second"),
    "another value": (edited("x", 7, 0.123), "other values, labels or weights"),
    "a new category": (edited("c", 7, "z"), "other values, labels or weights"),
    "another weight": (edited("w", 7, 9.0), "other values, labels or weights"),
    "another label": (edited("y", 7, "yes" if rows().loc[7, "y"] == "no" else "no"), "other values, labels or weights"),
    "a new label": (edited("y", 7, "perhaps"), "a label in the second that the first did not have"),
    "labels of another type": (rows().assign(y=1), "a label in the second that the first did not have"),
}


def changing(first: pd.DataFrame, second: pd.DataFrame):
    """Batches that are other ones from the second pass on."""
    passes = iter([first])
    return lambda: [next(passes, second)]


@pytest.mark.parametrize("change", CHANGES)
def test_rows_that_change_between_the_passes_are_refused(change, tmp_path):
    after, words = CHANGES[change]
    for options in ({"weight": "w"}, {"drop": ["w"]}):
        if change == "another weight" and "drop" in options:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(
                ValueError, match=f"^`batches` must be the same rows in both passes over them, got .*{words}"
            ):
                BinnedDataset.from_batches(changing(rows(), after), target="y", directory=tmp_path / "d", **options)
        assert not (tmp_path / "d").exists()


def test_weights_that_appear_in_the_second_pass_are_refused():
    with pytest.raises(ValueError, match="other weights in the second"):
        BinnedDataset.from_batches(changing(rows().assign(w=1.0), rows()), target="y", weight="w")


def test_the_same_rows_in_another_order_and_other_chunks_are_the_same_rows():
    whole = rows()
    turned = [whole.iloc[::-1].iloc[:13], whole.iloc[::-1].iloc[13:]]
    passes = iter([[whole]])
    made = BinnedDataset.from_batches(lambda: next(passes, turned), target="y", weight="w")
    assert made.n_rows == 60


def test_parts_of_several_types_that_mean_the_same_are_taken():
    """Truth values in one part and whole numbers in another, a category only in rows of weight 0: nothing has changed."""
    parts = [
        {"x": [1.0, 2.0, 3.0], "c": ["a", "b", "odd"], "y": [True, False, True], "w": [1.0, 1.0, 0.0]},
        {"x": [4, 5, 6], "c": [None, "a", "b"], "y": [0, 1, 2], "w": [2.0, 1.0, 1.0]},
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = BinnedDataset.from_batches(parts, target="y", weight="w")
    assert made.classes.tolist() == [0, 1, 2]
    assert made.n_rows == 5


# -- targets ----------------------------------------------------------------------------------------------------------------

TARGETS = {
    "continuous": [0.5, 1.0, 2.25, 0.0],
    "infinite": [0.0, np.inf, 1.0, 0.0],
    "missing number": [0.0, np.nan, 1.0, 0.0],
    "missing text": ["a", None, "b", "a"],
    "dates": np.array(["2020-01-01", "2020-01-02"] * 2, dtype="datetime64[D]"),
    "date objects": [datetime.date(2020, 1, 1 + day) for day in (0, 1, 0, 1)],
    "text and numbers": ["a", 1, "a", 1],
    "complex": [1j, 2j, 1j, 2j],
    "one class": ["a", "a", "a", "a"],
}


def said(fit) -> str:
    with pytest.raises((ValueError, TypeError)) as refused:
        fit()
    return str(refused.value)


@pytest.mark.parametrize("kind", TARGETS)
def test_a_target_that_memory_refuses_is_refused_in_parts_in_the_same_words(kind):
    x, y = np.arange(4.0), TARGETS[kind]
    in_memory = said(lambda: pm.UDTClassifier().fit({"x": x}, y))
    in_parts = said(lambda: BinnedDataset.from_batches([{"x": x, "y": y}], target="y"))
    if kind == "one class":
        in_memory = in_memory.replace(" (4 samples)", "")
    assert in_parts == in_memory
    assert "\n" not in in_parts


def test_numbers_as_objects_are_judged_as_numbers():
    said_of = [
        said(lambda y=y: BinnedDataset.from_batches([{"x": [1.0, 2.0], "y": y}], target="y"))
        for y in ([0.5, 1.0], np.array([0.5, 1.0], dtype=object))
    ]
    assert said_of[0] == said_of[1]
    assert "continuous" in said_of[0]


def test_text_in_one_part_and_numbers_in_another_are_refused():
    parts = [{"x": [1.0, 2.0], "y": ["a", "b"]}, {"x": [1.0, 2.0], "y": [1, 2]}]
    in_parts = said(lambda: BinnedDataset.from_batches(parts, target="y"))
    assert in_parts == "`y` must be labels of one type, got text and numbers together; use y.astype(str)."


@pytest.mark.parametrize(
    "y", [[0, 1, 2, 0], [0.0, 1.0, 2.0, 0.0], [True, False] * 2, ["b", "a"] * 2, [-100, 100] * 2], ids=str
)
def test_classes_of_parts_are_those_of_memory(y):
    x = np.arange(4.0)
    in_memory = pm.UDTClassifier().fit({"x": x}, y).classes_
    in_parts = BinnedDataset.from_batches([{"x": x[:2], "y": y[:2]}, {"x": x[2:], "y": y[2:]}], target="y").classes
    assert in_parts.tolist() == in_memory.tolist()
    assert {type(label) for label in in_parts.tolist()} == {type(label) for label in in_memory.tolist()}


def test_weights_of_a_later_part_are_not_lost():
    """The first part has weight 1 throughout, the second 1 and others."""
    frame, y = rows().drop(columns=["y", "w"]), rows()["y"]
    weight = np.where(np.arange(60) < 30, 1.0, np.arange(60) % 5 + 1.0)
    parts = [frame.assign(y=y, w=weight).iloc[cut] for cut in (slice(0, 30), slice(30, None))]
    dataset = BinnedDataset.from_batches(parts, target="y", weight="w")
    in_memory = pm.UDTClassifier(max_leaf_nodes=6, pruning=None).fit(frame, y, sample_weight=weight)
    in_parts = pm.UDTClassifier(max_leaf_nodes=6, pruning=None).fit(dataset)
    np.testing.assert_array_equal(in_parts.predict_proba(frame), in_memory.predict_proba(frame))


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "record batches"])
def test_frames_of_every_library_have_the_columns_of_memory(library):
    """A column of categories that are numbers is one of categories in parts too."""
    frame = pd.DataFrame(
        {
            "group": pd.Categorical(np.arange(60) % 5),
            "text": rows()["c"],
            "x": rows()["x"],
            "truth": np.arange(60) % 3 == 0,
            "y": rows()["y"],
        }
    )
    table = pa.Table.from_pandas(frame, preserve_index=False)
    given, parts = {
        "pandas": lambda: (frame, [frame.iloc[:20], frame.iloc[20:]]),
        "polars": lambda: (pl.from_arrow(table), [pl.from_arrow(table)[:20], pl.from_arrow(table)[20:]]),
        "pyarrow": lambda: (table, [table.slice(0, 20), table.slice(20)]),
        "record batches": lambda: (table, table.to_batches(max_chunksize=20)),
    }[library]()
    features = (
        given.drop(columns="y")
        if library == "pandas"
        else given.drop("y")
        if library == "polars"
        else given.drop(["y"])
    )
    in_memory = pm.UDTClassifier(max_leaf_nodes=4).fit(features, frame["y"])
    dataset = BinnedDataset.from_batches(parts, target="y")
    assert dataset.schema == in_memory.schema_
    assert library != "pandas" or dataset.schema.columns[0].kind == "categorical"
    assert pm.UDTClassifier(max_leaf_nodes=4).fit(dataset).to_text() == in_memory.to_text()
