"""A folder of a data set is replaced whole or not at all, and what is not ours in it stays."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from permissible.distributed.data import store_writer
from permissible.distributed.data.dataset import BinnedDataset

ROWS = {"x": np.arange(40.0), "y": np.arange(40) % 2}
OTHER = {"x": np.arange(60.0) * 3, "y": np.arange(60) % 3}


def state(folder: Path) -> dict[str, bytes]:
    """Every file of a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def build(rows, folder: Path, **options) -> BinnedDataset:
    return BinnedDataset.from_batches([rows], target="y", directory=folder, **options)


def test_a_new_data_set_takes_the_place_of_the_old_one_and_leaves_nothing_of_it(tmp_path):
    build(ROWS, tmp_path)
    (tmp_path / "notes.txt").write_text("mine")
    build(OTHER, tmp_path, keep_values=True)
    reopened = BinnedDataset.open(tmp_path)
    assert reopened.n_rows == 60
    assert reopened.classes.tolist() == [0, 1, 2]
    assert len([*tmp_path.glob("blocks-*")]) == 1
    assert (tmp_path / "notes.txt").read_text() == "mine"


class Broken:
    """Batches that fail in a chosen pass."""

    def __init__(self, fails_in: int, error: type[BaseException]) -> None:
        self.passes, self.fails_in, self.error = 0, fails_in, error

    def __call__(self):
        self.passes += 1
        yield OTHER
        if self.passes == self.fails_in:
            raise self.error


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, MemoryError])
@pytest.mark.parametrize("fails_in", [1, 2])
def test_a_build_that_fails_leaves_the_previous_data_set(tmp_path, fails_in, error):
    build(ROWS, tmp_path / "old")
    before = state(tmp_path)
    for folder in ("old", "new"):
        with pytest.raises(error):
            BinnedDataset.from_batches(Broken(fails_in, error), target="y", directory=tmp_path / folder)
    assert state(tmp_path) == before
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("name", ["fsync", "replace", "chmod"])
def test_a_disk_that_fails_leaves_the_previous_data_set(tmp_path, monkeypatch, name):
    build(ROWS, tmp_path)
    before = state(tmp_path)

    def fails(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, name, fails)
    with pytest.raises(OSError, match="No space left"):
        build(OTHER, tmp_path)
    assert state(tmp_path) == before


KILLED = """
import os, signal, sys
from tests.distributed.data.test_rebuild import OTHER, build
from permissible.distributed.data import store_writer
from pathlib import Path

def dies(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

target = {"add": store_writer.StoreWriter, "write": store_writer, "_discard_others": store_writer}[sys.argv[2]]
setattr(target, sys.argv[2], dies)
build(OTHER, Path(sys.argv[1]))
"""


@pytest.mark.parametrize(("place", "n_rows"), [("add", 40), ("write", 40), ("_discard_others", 60)])
def test_a_killed_build_leaves_one_whole_data_set_and_the_next_one_clears_up(tmp_path, place, n_rows):
    build(ROWS, tmp_path)
    killed = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path), place], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert len([*tmp_path.glob("blocks-*")]) == 2
    reopened = BinnedDataset.open(tmp_path)
    assert reopened.n_rows == n_rows
    assert len(reopened.store.codes(0)[0]) == n_rows
    build(ROWS, tmp_path)
    assert len([*tmp_path.glob("blocks-*")]) == 1


def test_blocks_of_a_build_that_runs_now_are_not_cleared_up(tmp_path):
    lock = store_writer._Lock(tmp_path)
    if not lock.held:
        pytest.skip("folders cannot be locked here")
    running = tmp_path / "blocks-0123456789abcdef"
    running.mkdir()
    lock = store_writer._Lock(running)
    build(ROWS, tmp_path)
    assert running.exists()
    lock.release()
    build(ROWS, tmp_path)
    assert not running.exists()


@pytest.mark.parametrize("content", ['{"my": "own"}', "[1]", "not json", ""])
def test_a_dataset_json_that_is_not_ours_is_refused_and_stays(tmp_path, content):
    (tmp_path / "dataset.json").write_text(content)
    before = state(tmp_path)
    with pytest.raises(
        ValueError, match=r"^`directory` must be a folder whose dataset.json describes a binned data set"
    ):
        build(ROWS, tmp_path)
    with pytest.raises(
        ValueError, match=r"^`directory` must be a folder whose dataset.json describes a binned data set"
    ):
        BinnedDataset.open(tmp_path)
    assert state(tmp_path) == before


def test_a_file_in_place_of_the_folder_is_refused_and_stays(tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(ValueError, match=r"^`directory` must be a folder, or the name of a new one"):
        build(ROWS, tmp_path / "file")
    assert state(tmp_path) == {"file": b"mine"}


def test_a_data_set_of_the_version_before_is_read_and_replaced(tmp_path):
    """Its files lay beside the description."""
    made = build(ROWS, tmp_path)
    for path in made.store.files.iterdir():
        path.rename(tmp_path / path.name)
    made.store.files.rmdir()
    text = (tmp_path / "dataset.json").read_text().replace('"version": 3', '"version": 2')
    (tmp_path / "dataset.json").write_text(text.replace(f'"blocks": "{made.store.files.name}",', ""))
    np.testing.assert_array_equal(BinnedDataset.open(tmp_path).store.codes(0)[0, :, 0], np.arange(40))
    build(OTHER, tmp_path)
    assert {path.name.split("-")[0] for path in tmp_path.iterdir()} == {"dataset.json", "blocks"}
