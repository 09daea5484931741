"""`predict` streams: a file of many rows is answered in the memory of a small one."""

import contextlib
import io
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest

import permissible as pm
from permissible.cli.main import main

SCRIPT = """
import pathlib, sys
from permissible.cli.main import main
code = main(["predict", *sys.argv[1:]])
status = pathlib.Path("/proc/self/status").read_text().splitlines()  # ru_maxrss would begin with the peak of the tests
print(code, next(int(line.split()[1]) for line in status if line.startswith("VmHWM:")))
"""


def write_rows(path, n_rows):
    """A CSV file of three columns, written block by block."""
    generator = np.random.default_rng(0)
    block = 100_000
    with open(path, "w") as file:
        file.write("x,z,colour\n")
        for start in range(0, n_rows, block):
            size = min(block, n_rows - start)
            columns = zip(
                generator.normal(size=size).round(3),
                generator.normal(size=size).round(3),
                generator.integers(0, 3, size),
                strict=True,
            )
            file.writelines(f"{x},{z},{'rgb'[c]}\n" for x, z, c in columns)


def peak(model, data, out):
    """Megabytes at most, and whether it went well."""
    found = subprocess.run(
        [sys.executable, "-c", SCRIPT, model, data, "-o", out], capture_output=True, text=True, check=True
    )
    code, kilobytes = found.stdout.split()[-2:]
    assert code == "0", found
    return int(kilobytes) / 1024


@pytest.fixture
def model(tmp_path):
    generator = np.random.default_rng(1)
    X = {"x": generator.normal(size=500), "z": generator.normal(size=500), "colour": generator.choice(list("rgb"), 500)}
    y = (X["x"] + (X["colour"] == "r") > 0.3).astype(int)
    pm.save(pm.ULSClassifier(n_rounds=8, random_state=0).fit(X, y), tmp_path / "m.json")
    return str(tmp_path / "m.json")


def grows_by(model, folder, few, many):
    peaks = []
    for n_rows in (few, many):
        data, out = folder / f"{n_rows}.csv", folder / f"{n_rows}.out.csv"
        write_rows(data, n_rows)
        peaks.append(peak(model, str(data), str(out)))
        with open(out) as file:
            assert sum(1 for _ in file) == n_rows + 1
        data.unlink()
        out.unlink()
    return peaks[1] - peaks[0]


def traced(model, data, out):
    """Megabytes that Python and NumPy hold at most while a file is answered."""
    tracemalloc.start()
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            assert main(["predict", model, str(data), "-o", str(out)]) == 0
        return tracemalloc.get_traced_memory()[1] / 2**20
    finally:
        tracemalloc.stop()


def test_more_rows_take_no_more_memory(model, tmp_path):
    peaks = []
    for n_rows in (140_000, 140_000, 420_000):  # the first run also loads modules
        write_rows(tmp_path / "rows.csv", n_rows)
        peaks.append(traced(model, tmp_path / "rows.csv", tmp_path / "out.csv"))
        with open(tmp_path / "out.csv") as file:
            assert sum(1 for _ in file) == n_rows + 1
    assert peaks[2] < 1.1 * peaks[1] + 1


@pytest.mark.slow
def test_ten_million_rows_take_no_more_memory(model, tmp_path):
    assert grows_by(model, tmp_path, 200_000, 10_000_000) < 80  # the file has 150 megabytes
