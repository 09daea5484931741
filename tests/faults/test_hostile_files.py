"""Hostile files: a model file, a table or a cost file may be anything; it is refused in one sentence, and nothing is executed."""

import json
import os
import random

import numpy as np
import pytest

import permissible as pm
from permissible.estimators.files.save_load import FORMAT, _checksum, document_of, read_document
from permissible.models.files import strict_json
from permissible.models.files.strict_json import dump, parse
from permissible.table.files import open_table
from permissible.table.files.text import FileError
from tests.faults.subjects import ESTIMATORS, good

X, Y = good(60)
KINDS = ("uls", "udt", "boundary", "mcboost", "mcboost-tree")


def _plain(kind):
    return parse(dump(document_of(ESTIMATORS[kind]().fit(X, Y))))


def _sealed(document):
    body = {key: value for key, value in document.items() if key != "checksum"}
    return {**body, "checksum": _checksum(body)}


def _places(item, path=()):
    children = item.items() if isinstance(item, dict) else enumerate(item) if isinstance(item, list) else ()
    return [path] * bool(path) + [place for key, child in children for place in _places(child, (*path, key))]


def _told(forged):
    """What is said of a forged file when it is read and asked; nothing when it answers."""
    try:
        model = read_document(_sealed(forged), "a file", {})
    except ValueError as refusal:
        return str(refusal)
    try:
        with np.errstate(all="ignore"):
            model.predict_proba(X)
    except (ValueError, TypeError) as refusal:
        return str(refusal)
    return ""


ODD = (None, True, 0, -1, 2**31, 10**400, 0.5, 1e308, "inf", "nan", "", "x", [], {}, [0], [1e308, -1], {"a": 1}, "../x")


@pytest.mark.filterwarnings("ignore:X does not have valid feature names:UserWarning")  # the forged file gives names
@pytest.mark.parametrize("count", [150, pytest.param(4000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", KINDS)
def test_a_model_file_with_parts_replaced_is_refused_or_answers(kind, count):
    """The checksum is made right again: a forger can do that, so it must not be what protects the reader."""
    document, generator = _plain(kind), random.Random(0)
    places = _places(document)
    for _ in range(count):
        forged = json.loads(json.dumps(document))
        place = generator.choice(places)
        item = forged
        for key in place[:-1]:
            item = item[key]
        item[place[-1]] = generator.choice(ODD)
        told = _told(forged)
        assert "\n" not in told, (place, told)


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_file_cut_off_anywhere_is_refused(kind, tmp_path):
    path = tmp_path / "model.json"
    pm.save(ESTIMATORS[kind]().fit(X, Y), path)
    whole = path.read_bytes()
    for share in np.linspace(0, 0.999, 25):
        path.write_bytes(whole[: int(len(whole) * share)])
        with pytest.raises(ValueError, match=r"^`path` must be a model file") as caught:
            pm.load(path)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x00",
        b"null",
        b"[]",
        b"{}",
        b'"text"',
        b'{"format": 3}',
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"a": 1, "a": 2}',
        b"NaN",
        b"1e999999",
        b"9" * 5000,
        b"\x80\x04\x95",
        b"PK\x03\x04",
        b"import os",
        b"{" + b" " * 10**6,
    ],
)
def test_what_is_no_model_file_is_refused_in_one_sentence(content, tmp_path):
    path = tmp_path / "model.json"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"^`path` must be") as caught:
        pm.load(path)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 600


def test_a_file_that_is_too_large_is_refused_before_it_is_read(tmp_path, monkeypatch):
    path = tmp_path / "model.json"
    with open(path, "wb") as file:
        file.truncate(strict_json.MAX_BYTES + 1)
    monkeypatch.setattr(type(path), "read_bytes", lambda _: pytest.fail("it was read"))
    with pytest.raises(ValueError, match="at most"):
        pm.load(path)


def test_depth_is_limited():
    deep = "[" * (strict_json.MAX_DEPTH + 1) + "]" * (strict_json.MAX_DEPTH + 1)
    with pytest.raises(ValueError, match="nested more than"):
        parse(deep)
    assert parse("[" * 60 + "]" * 60)


def test_reading_a_model_file_executes_nothing(tmp_path):
    """Names of classes, functions and modules in a file are text, whatever they are."""
    witness = tmp_path / "witness"
    call = f"__import__('pathlib').Path({str(witness)!r}).touch()"
    document = _plain("udt")
    for key in ("estimator", "library"):
        forged = {**document, key: call}
        _told(forged)
    for payload in (call, {"__reduce__": ["os.system", f"touch {witness}"]}, {"py/object": "os.system"}):
        forged = json.loads(json.dumps(document))
        forged["parameters"]["loss"] = payload
        with pytest.raises(ValueError):
            read_document(_sealed(forged), "a file", {}).fit(X, Y)
    assert not witness.exists()


@pytest.mark.parametrize("n_jobs", [10**6, 2**31, 2**64, 10**400])
def test_no_file_makes_a_model_ask_for_more_threads_than_a_machine_starts(n_jobs):
    """The runtime ends the whole process when a thread cannot be started; found by fuzz.model_document."""
    X, y = good(3000, 80)
    model = ESTIMATORS["udt"]().fit(X, y)
    expected = model.predict(X)
    np.testing.assert_array_equal(model.set_params(n_jobs=n_jobs).predict(X), expected)


@pytest.mark.parametrize("name", ["os", "__class__", "load", "BinnedDataset", "CostMatrix", "losses.get"])
def test_only_estimators_can_be_named_by_a_file(name):
    with pytest.raises(ValueError, match="must be"):
        read_document(_sealed({**_plain("udt"), "estimator": name}), "a file", {})


def test_the_format_is_named_and_versions_to_come_are_refused():
    assert _plain("udt")["format"] == FORMAT
    with pytest.raises(ValueError, match="newer permissible"):
        read_document(_sealed({**_plain("udt"), "version": 10**6}), "a file", {})


TABLES = [
    b"",
    b"\n",
    b"\x00\x00",
    b"a",
    b"a,b\n1",
    b"a,b\n1,2,3\n",
    b'a,b\n"1,2\n',
    b"a,a\n1,2\n",
    b"\xff\xfe\x00a",
    b"\xef\xbb\xbfa,b\n1,2\n",
    b"a,b\r1,2\r",
    b"," * 100_001,
    b"a\n" + b"9" * 400 + b"\n",
    b'"' * 9999,
    b"a,b\n" + b'"' + b"x" * 200_000,
    b"=cmd|' /C calc'!A0,b\n1,2\n",
    b"@relation x",
    b"@data\n1",
    b"@attribute a numeric\n@data\n1,2\n",
    b"@attribute a {x,y\n@data\nz\n",
    b"@attribute a numeric\n@data\n{0 1}\n",
    b"@attribute a date\n@data\n1\n",
    b"@attribute 'a numeric\n@data\n1\n",
    b"@attribute a numeric\n@attribute a numeric\n@data\n1,2\n",
]


@pytest.mark.parametrize("suffix", [".csv", ".arff", ".csv.gz", ".parquet", ".arrow"])
@pytest.mark.parametrize("place", range(len(TABLES)))
def test_odd_tables_are_read_or_refused_in_one_sentence(place, suffix, tmp_path):
    path = tmp_path / f"rows{suffix}"
    path.write_bytes(TABLES[place])
    told = ""
    try:
        source = open_table(path)
        for _ in source.chunks(source.kinds()):
            pass
    except FileError as refusal:
        told = str(refusal)
    assert "\n" not in told
    assert len(told) < 600


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"a",
        b",a\na,0",
        b",a,b\na,0,1\nb,x,0",
        b"\xff",
        b",a,b\na,0\nb,1,0",
        b",a,b\nc,0,1\nd,1,0",
        b"\x00,\n\n\n",
        b"\n\n\0\n\n\n\0\n\n\n\0",
    ],
)
def test_odd_cost_files_are_refused_in_one_sentence(content, tmp_path):
    path = tmp_path / "costs.csv"
    path.write_bytes(content)
    with pytest.raises(ValueError) as caught:
        pm.CostMatrix.from_csv(path)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith("`")


def test_a_folder_of_blocks_cannot_point_outside_of_itself(tmp_path):
    """The index of a BinnedDataset names no files of others: what it names is looked for inside its own folder."""
    secret = tmp_path / "secret"
    secret.write_bytes(os.urandom(64))
    folder = tmp_path / "blocks"
    folder.mkdir()
    for content in ('{"blocks": ["../secret"]}', '{"parts": [{"path": "/etc/passwd"}]}', "[]", "nonsense", ""):
        for name in ("index.json", "dataset.json", "manifest.json"):
            (folder / name).write_text(content)
        with pytest.raises((ValueError, OSError)):
            pm.BinnedDataset.open(folder)


INDEX = "name,suite,file,format,rows,attrs,classes,target_column,train_rows,nominal_attrs,missing_values,bytes,source,note\n"
ESCAPES = ("../secret.csv", "{absolute}", "inner/../../secret.csv", "link.csv", "linked/secret.csv", "..", "a\0b.csv")


@pytest.mark.parametrize("file", ESCAPES)
def test_an_index_of_data_sets_cannot_point_outside_of_its_folder(file, tmp_path):
    from papers.datasets import load

    (tmp_path / "secret.csv").write_text("a,y\n1,u\n2,v\n")
    folder = tmp_path / "data"
    (folder / "inner").mkdir(parents=True)
    (folder / "link.csv").symlink_to(tmp_path / "secret.csv")
    (folder / "linked").symlink_to(tmp_path)
    named = file.format(absolute=tmp_path / "secret.csv")
    (folder / "index.csv").write_text(INDEX + f"mine,uls,{named},csv,2,1,2,y,,0,no,9,here,\n")
    with pytest.raises(
        ValueError, match=r"`data` must be a folder whose index\.csv names files inside of it, got"
    ) as caught:
        load("mine", folder, network=False)
    assert "\n" not in str(caught.value)


def test_an_index_of_data_sets_without_a_column_is_refused(tmp_path):
    from papers.datasets import load

    (tmp_path / "index.csv").write_text("name,file\nmine,x.csv\n")
    with pytest.raises(ValueError, match=r"`data` must be a folder whose index\.csv gives format of every set"):
        load("mine", tmp_path, network=False)


def test_an_index_that_stays_inside_is_read(tmp_path):
    from papers.datasets import load

    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "rows.csv").write_text("a,y\n1,u\n2,v\n")
    (tmp_path / "index.csv").write_text(INDEX + "mine,uls,inner/rows.csv,csv,2,1,2,y,,0,no,9,here,\n")
    assert load("mine", tmp_path, network=False).n_rows == 2
