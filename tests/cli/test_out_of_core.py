"""`fit --out-of-core` writes the model file of a fit in memory."""

import json

import pytest

from tests.cli.command import refused, run
from tests.distributed.rows_in_parts import make


@pytest.fixture
def table(tmp_path):
    frame, y = make(600)
    frame.assign(label=y).to_parquet(tmp_path / "big.parquet")
    return tmp_path / "big.parquet"


@pytest.mark.parametrize("model", [("uls",), ("udt",), ("mcboost",), ("mcboost", "--set", "learner=tree")])
def test_a_fit_out_of_core_is_the_fit_in_memory(table, tmp_path, model):
    common = ("fit", table, "--target", "label", "--rules", 5, "--model", *model, "-o")
    on_disk = run(*common, tmp_path / "one.json", "--out-of-core", tmp_path / "folder")
    assert on_disk.code == 0, on_disk
    assert run(*common, tmp_path / "other.json").code == 0
    one, other = (json.loads((tmp_path / name).read_text()) for name in ("one.json", "other.json"))
    for document in (one, other):
        del document["checksum"], document["notes"]  # notes tell of the rows as they lay in memory
    assert one == other
    assert (tmp_path / "folder" / "dataset.json").exists()


def test_what_needs_all_rows_is_refused_by_name(table, tmp_path):
    common = ("fit", table, "--target", "label", "--out-of-core", tmp_path / "folder")
    assert refused(run(*common, "--cv", 5), 2, "takes no --cv")
    assert refused(run(*common, "--model", "boundary"), 1, "columns of numbers for a linear classifier")
    assert refused(run(*common, "--model", "mcboost", "--set", "learner=auto"), 1, "`learner` must be")
    assert run(*common, "--model", "boundary", "--drop", "colour,real", "--json").code == 0
