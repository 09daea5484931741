"""`predict` streams: a file of many rows is answered in the memory of a small one."""

import subprocess
import sys

import numpy as np
import pytest

import permissible as pm

SCRIPT = """
import resource, sys
from permissible.cli.main import main
code = main(["predict", *sys.argv[1:]])
print(code, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
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
    pm.save(pm.ULSClassifier(n_rules=8, random_state=0).fit(X, y), tmp_path / "m.json")
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


def test_four_times_the_rows_take_no_more_memory(model, tmp_path):
    assert grows_by(model, tmp_path, 140_000, 560_000) < 25


@pytest.mark.slow
def test_ten_million_rows_take_no_more_memory(model, tmp_path):
    assert grows_by(model, tmp_path, 200_000, 10_000_000) < 40
