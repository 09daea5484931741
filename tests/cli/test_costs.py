"""A file of costs means the same for every model of the command line: classes are found by name, in any order, as numbers too."""

import csv

import numpy as np
import pytest

from tests.cli.command import COMMAND, run

pytestmark = pytest.mark.skipif(not COMMAND.exists(), reason="the package is not installed with its command")


@pytest.mark.parametrize("model", ["uls", "udt", "boundary", "mcboost"])
def test_costs_in_another_order_decide_by_name(model, tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(80, 2)).round(3)
    y = (x[:, 0] + rng.normal(size=80) > 0).astype(int)
    lines = [f"{a},{b},{label}" for (a, b), label in zip(x.tolist(), y.tolist(), strict=True)]
    (tmp_path / "rows.csv").write_text("\n".join(["a,b,y", *lines]))
    (tmp_path / "costs.csv").write_text("true,1,0\n1,0,9\n0,1,0\n")  # missing a 1 costs 9
    files = [tmp_path / "rows.csv", "--target", "y", "--model", model, "--cost-matrix", tmp_path / "costs.csv"]
    size = [] if model == "boundary" else ["--rules", 3]
    outcome = run("fit", *files, *size, "-o", tmp_path / "model.json")
    assert outcome.code == 0, outcome
    outcome = run("predict", tmp_path / "model.json", tmp_path / "rows.csv", "-o", tmp_path / "said.csv")
    assert outcome.code == 0, outcome
    with open(tmp_path / "said.csv", newline="") as file:
        said = list(csv.DictReader(file))
    wanted = ["1" if float(row["probability_1"]) * 9 > float(row["probability_0"]) else "0" for row in said]
    assert [row["decision"] for row in said] == wanted
