"""Interruption: whatever stops the work, no file is left half-written, the previous one is intact, and Ctrl-C is heard.

Signals are sent to real processes while they fit, save, report or run the command; a full disk is a process that may write no
more than a kB and, where one may be mounted, a small file system without a free block; a read-only folder is one without
permission to write.
"""

import errno
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import permissible as pm
from permissible.models.files.atomic import replacing, write
from tests.faults.subjects import ESTIMATORS, good

BLOCK = 4096
# What a shell starts in the background ignores Ctrl-C, and so do its children: these hear it whoever runs the tests.
LISTEN = "import signal, sys, time\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
START = LISTEN + "import numpy as np, permissible as pm\n"
LONG_FITS = {
    "uls": "pm.ULSClassifier(n_rounds=200000, early_stopping=False, max_literals=4, random_state=0)",
    "uls-tree": "pm.ULSClassifier(n_rounds=200000, learner='tree', early_stopping=False, random_state=0)",
    "udt": "pm.UDTClassifier(max_leaf_nodes=None, pruning='auto', pruning_folds=200)",
    "boundary": "pm.BoundaryClassifierCV(alphas=np.geomspace(1e-9, 1, 400), cv=10, tol=1e-14, max_iter=100000)",
    "boundary-kernel": "pm.BoundaryClassifier(kernel='rbf', alpha=1e-9, tol=1e-15, max_iter=10**8)",
    "mcboost": "pm.MCBoostClassifier(n_rounds=10**6, learner='rule', tol=0.0)",
    "mcboost-tree": "pm.MCBoostClassifier(n_rounds=10**6, learner='tree', tol=0.0)",
}
DATA = """
rng = np.random.default_rng(0)
X = rng.normal(size=(20000, 10)) if {wide} else rng.normal(size=(3000, 6))
y = (X[:, 0] + rng.normal(size=len(X)) > 0).astype(int)
"""


def process(code: str, **options) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-c", START + code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        **options,
    )


def begun(child: subprocess.Popen) -> None:
    line = child.stdout.readline()
    assert line == "ready\n", line + child.stderr.read()
    time.sleep(0.3)


@pytest.mark.parametrize("kind", LONG_FITS)
def test_ctrl_c_stops_a_long_fit_and_leaves_the_estimator_usable(kind):
    wide = kind in ("uls", "uls-tree", "udt", "mcboost", "mcboost-tree")
    code = (
        DATA.format(wide=wide)
        + f"""
model = {LONG_FITS[kind]}
before = sorted(vars(model))
print("ready", flush=True)
try:
    model.fit(X, y)
    print("ended too early")
except KeyboardInterrupt:
    heard = time.process_time()
    print("stopped", sorted(vars(model)) == before, flush=True)
    short = dict(n_rounds=2, pruning_folds=2, alphas=[0.1], cv=2, tol=1e-3, max_iter=100, alpha=0.1)
    if {kind == "boundary-kernel"}:
        del short["n_rounds"]  # of rules
    model.set_params(**{{name: value for name, value in short.items() if name in model.get_params()}})
    model.fit(X[:200], y[:200]).predict(X[:5])
    print("usable", flush=True)
"""
    )
    child = process(code)
    try:
        begun(child)
        before = _cpu(child.pid)
        child.send_signal(signal.SIGINT)
        answer = child.stdout.readline()
        used = _cpu(child.pid) - before
        assert answer == "stopped True\n", answer + child.stderr.read()
        assert child.stdout.readline() == "usable\n", child.stderr.read()
        assert used <= 1.5, f"it took {used} s of processor time to hear Ctrl-C"
    finally:
        child.kill()
        child.communicate()


def _cpu(pid: int) -> float:
    """Processor seconds of a process: what a second means on a machine that others use too."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except FileNotFoundError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


SAVE_AGAIN = (
    DATA.format(wide=True)
    + """
path = sys.argv[1]
model = pm.ULSClassifier(n_rounds=400, early_stopping=False, max_literals=2, random_state=0).fit(X[:2000], y[:2000])
pm.save(model, path)
print("ready", flush=True)
while True:
    pm.save(model, path)
"""
)


@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM", "SIGINT"])
def test_a_process_killed_while_saving_leaves_a_whole_file(tmp_path, name):
    path = tmp_path / "model.json"
    for delay in (0.0, 0.013, 0.029) if name == "SIGKILL" else (0.007,):
        arguments = [sys.executable, "-c", START + SAVE_AGAIN, str(path)]
        child = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True, stderr=subprocess.DEVNULL)
        try:
            assert child.stdout.readline() == "ready\n"
            time.sleep(delay)
            child.send_signal(getattr(signal, name))
            child.wait(timeout=30)
        finally:
            child.kill()
            child.communicate()
        assert len(pm.load(path).rules_) > 100  # the checksum tells a whole file
        if name == "SIGINT":  # a Ctrl-C that Python hears cleans up after itself
            assert [file.name for file in tmp_path.iterdir()] == ["model.json"]


def _fitted():
    X, y = good()
    return ESTIMATORS["uls"]().fit(X, y), X, y


def test_a_save_that_fails_midway_leaves_the_old_file_and_no_other(tmp_path, monkeypatch):
    model, *_ = _fitted()
    path = tmp_path / "model.json"
    pm.save(model, path)
    before = path.read_bytes()
    for name in ("fsync", "replace", "chmod"):
        with monkeypatch.context() as patched:
            patched.setattr(os, name, _broken)
            with pytest.raises(OSError, match="No space left"):
                pm.save(model, path)
        assert path.read_bytes() == before
        assert [file.name for file in tmp_path.iterdir()] == ["model.json"]


def _broken(*_):
    raise OSError(28, "No space left on device")


def _write_half(path, error):
    with replacing(path) as file:
        file.write("half")
        raise error


def test_an_error_in_the_middle_of_writing_leaves_the_old_file(tmp_path):
    path = tmp_path / "table.csv"
    write(path, "old")
    for error in (RuntimeError, KeyboardInterrupt, SystemExit, MemoryError):
        with pytest.raises(error):
            _write_half(path, error)
        assert path.read_text() == "old"
        assert [entry.name for entry in tmp_path.iterdir()] == ["table.csv"]


NO_MORE_THAN = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, ({0}, {0}))
"""
COMMAND = "import permissible.cli.main as cli; sys.exit(cli.main("
WRITERS = {
    "save": "pm.save(model, path)",
    "report": "pm.report(model, X, y, path)",
    "command": COMMAND + "['fit', sys.argv[2], '--target', 'y', '-m', 'udt', '-o', path]))",
    "predictions": COMMAND + "['predict', sys.argv[3], sys.argv[2], '-o', path]))",
}


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inputs")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 3))
    y = (X[:, 0] + rng.normal(size=3000) > 0).astype(int)  # noise, so that no model is smaller than a block of the disk
    rows = "\n".join(",".join(map(str, [*row, label])) for row, label in zip(X.tolist(), y.tolist(), strict=True))
    (folder / "rows.csv").write_text("a,b,c,y\n" + rows + "\n")
    columns = {name: X[:, j] for j, name in enumerate("abc")}
    pm.save(pm.UDTClassifier(max_leaf_nodes=64).fit(columns, y), folder / "model.json")
    return folder


def _write_with(
    kind: str, inputs: Path, path: Path, limit: int | None = None, **options
) -> subprocess.CompletedProcess:
    code = (
        START
        + f"""
path = sys.argv[1]
model = pm.load(sys.argv[3])
rng = np.random.default_rng(0)
X = {{name: rng.normal(size=200) for name in "abc"}}
y = (X["a"] > 0).astype(int)
{NO_MORE_THAN.format(limit) if limit else ""}
{WRITERS[kind]}
"""
    )
    arguments = [sys.executable, "-c", code, str(path), str(inputs / "rows.csv"), str(inputs / "model.json")]
    return subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=120, **options)


@pytest.mark.parametrize("kind", WRITERS)
def test_a_disk_that_is_full_leaves_the_old_file_and_says_so(kind, inputs, tmp_path):
    path = tmp_path / "out"
    path.write_text("old")
    answer = _write_with(kind, inputs, path, limit=1024)
    assert answer.returncode != 0
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["out"]
    assert "File too large" in answer.stderr or "file too large" in answer.stderr
    if kind in ("command", "predictions"):
        assert answer.stderr.count("\n") == 1
        assert "Traceback" not in answer.stderr


@pytest.mark.parametrize("kind", WRITERS)
def test_a_folder_that_may_not_be_written_is_named_in_one_sentence(kind, inputs, tmp_path):
    path = tmp_path / "no-such-folder" / "out" if os.geteuid() == 0 else tmp_path / "out"
    if os.geteuid() != 0:
        tmp_path.chmod(0o500)
    answer = _write_with(kind, inputs, path)
    assert answer.returncode != 0
    assert not path.exists()
    assert "Permission denied" in answer.stderr or "no such file" in answer.stderr.lower() or "denied" in answer.stderr
    if kind in ("command", "predictions"):
        assert answer.stderr.count("\n") == 1
        assert "Traceback" not in answer.stderr


def _fill(path: Path, free: int) -> None:
    """Write to a file until the file system has no block left, then give some back."""
    with open(path, "wb", buffering=0) as filler:
        try:
            while True:
                filler.write(b"x" * BLOCK)
        except OSError as error:
            assert error.errno == errno.ENOSPC  # noqa: PT017 - the loop ends in no other way
        filler.truncate(os.fstat(filler.fileno()).st_size - free * BLOCK)


@pytest.mark.slow
@pytest.mark.parametrize("free", [0, 1])
@pytest.mark.parametrize("kind", WRITERS)
def test_a_file_system_that_is_full_leaves_the_old_file(kind, free, inputs, tmp_path):
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(tmp_path)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("no file system may be mounted here")
    try:
        path = tmp_path / "out"
        path.write_text("old")
        _fill(tmp_path / "filler", free)
        answer = _write_with(kind, inputs, path)
        assert answer.returncode != 0
        assert path.read_text() == "old"
        assert sorted(file.name for file in tmp_path.iterdir()) == ["filler", "out"]
        assert "no space left" in answer.stderr.lower()
    finally:
        subprocess.run(["umount", str(tmp_path)], check=False)


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGKILL"])
def test_the_command_interrupted_while_it_learns_leaves_the_old_model(name, inputs, tmp_path):
    path = tmp_path / "model.json"
    path.write_text("old")
    code = (
        LISTEN + "import permissible.cli.main as cli\nimport permissible.estimators.uls\n"
        "print('ready', flush=True)\n"
        "asked = ['--target', 'y', '--rules', '300000', '--set', 'early_stopping=False', '-o', sys.argv[2]]\n"
        "sys.exit(cli.main(['fit', sys.argv[1], *asked]))"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", code, str(inputs / "rows.csv"), str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert child.stdout.readline() == "ready\n"
        time.sleep(2.5)
        child.send_signal(getattr(signal, name))
        _, told = child.communicate(timeout=30)
    finally:
        child.kill()
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["model.json"]
    if name == "SIGINT":
        assert child.returncode == 130
        assert told == "permissible: stopped.\n"
    else:
        assert child.returncode == -getattr(signal, name)


REPRODUCE = (
    LISTEN
    + """
import permissible.cli.main as cli
sys.exit(cli.main(["reproduce", "boundaries", "--quick", "--jobs", sys.argv[2], "-o", sys.argv[1]]))
"""
)


def _units(folder: Path) -> int:
    try:
        with sqlite3.connect(f"file:{folder / 'results.sqlite'}?mode=ro", uri=True, timeout=5) as connection:
            return connection.execute("SELECT COUNT(*) FROM results").fetchone()[0]
    except sqlite3.OperationalError:
        return 0


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_ctrl_c_stops_reproduce_with_a_word_and_keeps_what_was_done(jobs, tmp_path):
    """The signal of a terminal: to the command and all processes that it started."""
    folder = tmp_path / "results"
    child = subprocess.Popen(
        [sys.executable, "-c", REPRODUCE, str(folder), str(jobs)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    try:
        deadline = time.monotonic() + 200
        while _units(folder) < 2 and time.monotonic() < deadline:
            assert child.poll() is None, child.stderr.read()
            time.sleep(0.02)
        os.killpg(child.pid, signal.SIGINT)
        _, told = child.communicate(timeout=60)
    finally:
        child.kill()
    assert (child.returncode, told) == (130, "permissible: stopped.\n")
    with sqlite3.connect(folder / "results.sqlite") as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert _units(folder) >= 2
    assert not [path.name for path in folder.rglob("*") if path.suffix in (".md", ".html", ".tmp")]
