"""Writing replaces regular files only: a pipe gets the bytes, a device stays a device, links stay links."""

import os
import socket
import stat
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import permissible as pm
from permissible.cli.main import main
from permissible.models.files.atomic import replacing, write

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no pipes with a name")


@pytest.fixture(scope="module")
def subject(tmp_path_factory):
    """A fitted model in memory and on disk, and rows to ask it about."""
    folder = tmp_path_factory.mktemp("atomic")
    x = np.arange(40.0)
    y = (x > 20).astype(int)
    model = pm.UDTClassifier(max_leaf_nodes=2).fit({"x": x}, y)
    pm.save(model, folder / "model.json")
    (folder / "rows.csv").write_text("x,y\n" + "".join(f"{a},{b}\n" for a, b in zip(x, y, strict=True)))
    model.rows = {"x": x}, y
    return model, folder / "model.json", folder / "rows.csv"


def _command(*arguments: object) -> None:
    assert main([*map(str, arguments)]) == 0


WRITERS = {
    "write": lambda subject, path: write(path, "content"),
    "save": lambda subject, path: pm.save(subject[0], path),
    "report": lambda subject, path: pm.report(subject[0], *subject[0].rows, path),
    "predict": lambda subject, path: _command("predict", *subject[1:], "-o", path),
    "export": lambda subject, path: _command("export", subject[1], "-o", path),
    "fit": lambda subject, path: _command("fit", subject[2], "-t", "y", "-m", "udt", "-o", path),
}


def _kind(path: Path) -> int:
    return stat.S_IFMT(os.lstat(path).st_mode)


@pytest.mark.parametrize("kind", WRITERS)
def test_a_pipe_gets_what_a_file_would_get_and_stays_a_pipe(kind, subject, tmp_path):
    WRITERS[kind](subject, tmp_path / "file")
    pipe, got = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()), daemon=True)
    reader.start()
    WRITERS[kind](subject, pipe)
    assert _kind(pipe) == stat.S_IFIFO
    reader.join(10)
    assert got
    assert len(got[0]) == len((tmp_path / "file").read_bytes()) > 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "pipe"]


@pytest.mark.parametrize("kind", WRITERS)
def test_a_device_stays_a_device(kind, subject, tmp_path):
    device, link = tmp_path / "null", tmp_path / "link"
    try:
        os.mknod(device, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        device.open("wb").close()
    except OSError:
        pytest.skip("no device may be made or opened here")
    link.symlink_to(device)
    for path in (device, link):
        WRITERS[kind](subject, path)
    assert _kind(device) == stat.S_IFCHR
    assert _kind(link) == stat.S_IFLNK
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "null"]


@pytest.mark.parametrize("kind", WRITERS)
def test_a_folder_and_a_socket_are_refused_in_one_sentence(kind, subject, tmp_path, capsys, monkeypatch):
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)  # the name of a socket may have 100 characters at most
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket")
        for name in ("folder", "socket"):
            try:
                WRITERS[kind](subject, tmp_path / name)
                pytest.fail("it was written")
            except ValueError as error:
                said = str(error)
            except AssertionError:  # the command answered with an exit code
                said = capsys.readouterr().err
            assert (
                f"`path` must be a file, a pipe or a device that takes text, got a {name.replace('folder', 'dir')}"
                in said
            )
            assert len(said.strip().splitlines()) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "socket"]
    assert not list((tmp_path / "folder").iterdir())


def test_a_link_stays_a_link_and_its_file_is_replaced(tmp_path):
    (tmp_path / "file").write_text("old")
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "dangling").symlink_to("new")
    write(tmp_path / "link", "new")
    write(tmp_path / "dangling", "made")
    assert _kind(tmp_path / "link") == _kind(tmp_path / "dangling") == stat.S_IFLNK
    assert (tmp_path / "file").read_text() == "new"
    assert (tmp_path / "new").read_text() == "made"


def _child(code: str, **options: object) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-c", code], check=True, **options)


WRITE_OUT = """
from permissible.models.files.atomic import write
print('one', flush=True)
write('/dev/stdout', 'two\\n')
print('three')
"""


def test_the_standard_output_gets_the_text_where_it_stands(tmp_path):
    """Also where it is a file that another program has open: replaced, the lines before and after would be lost."""
    assert _child(WRITE_OUT, capture_output=True, text=True).stdout == "one\ntwo\nthree\n"
    log = tmp_path / "log"
    log.write_text("zero\n")
    with log.open("a") as file:
        _child(WRITE_OUT, stdout=file)
    assert log.read_text() == "zero\none\ntwo\nthree\n"


def _write_half(path: Path) -> None:
    with replacing(path) as file:
        file.write("half")
        raise RuntimeError


def test_an_error_in_the_middle_leaves_a_pipe_a_pipe(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = threading.Thread(target=pipe.read_bytes, daemon=True)
    reader.start()
    with pytest.raises(RuntimeError):
        _write_half(pipe)
    reader.join(10)
    assert _kind(pipe) == stat.S_IFIFO


def test_a_closed_descriptor_is_refused_in_one_sentence():
    with pytest.raises(ValueError, match=r"^`path` must be an open descriptor, got /dev/fd/987, which is closed.$"):
        write("/dev/fd/987", "content")
