"""`fit --out-of-core` writes the model file of a fit in memory."""

import numpy as np
import pytest

import permissible as pm
from tests.cli.command import refused, run
from tests.distributed.rows_in_parts import make


@pytest.fixture
def table(tmp_path):
    frame, y = make(600)
    frame.assign(label=y).to_parquet(tmp_path / "big.parquet")
    return tmp_path / "big.parquet"


@pytest.mark.parametrize(
    "model", [("uls",), ("udt",), ("mcboost", "--set", "learner=linear"), ("mcboost", "--set", "learner=tree")]
)
def test_a_fit_out_of_core_is_the_fit_in_memory(table, tmp_path, model):
    common = ("fit", table, "--target", "label", "--rules", 5, "--model", *model, "-o")
    on_disk = run(*common, tmp_path / "one.json", "--out-of-core", tmp_path / "folder")
    assert on_disk.code == 0, on_disk
    assert run(*common, tmp_path / "other.json").code == 0
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "other.json").read_bytes()
    assert (tmp_path / "folder" / "dataset.json").exists()


LABELS = {"integers": ("0", "1"), "truth": ("true", "false"), "text": ("no", "yes"), "numbers": ("0.0", "1.0")}


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize(
    "options", [(), ("--categorical", "k"), ("--id", "id"), ("--weight", "w", "--categorical", "id,k")]
)
def test_the_same_columns_and_classes_are_learnt_from(labels, options, tmp_path):
    """A text column that names the rows is left out of both, classes have one type, --categorical counts."""
    random = np.random.default_rng(0)
    cells = [
        f"id{i},{random.normal():.2f},{random.integers(0, 5)},{random.choice(['a', 'b'])},{random.integers(1, 4)},"
        f"{LABELS[labels][random.integers(0, 2)]}"
        for i in range(150)
    ]
    (tmp_path / "rows.csv").write_text("\n".join(["id,x,k,c,w,y", *cells]))
    common = ("fit", tmp_path / "rows.csv", "--target", "y", "--model", "udt", *options, "-o")
    memory, disk = (
        run(*common, tmp_path / "one"),
        run(*common, tmp_path / "other", "--out-of-core", tmp_path / "folder"),
    )
    assert memory.code == disk.code == 0, (memory, disk)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()
    told = "left out, since nearly every value differs (--categorical or --numeric keeps it): id"
    assert (told in memory.out) == (told in disk.out) == (options in ((), ("--categorical", "k")))
    if "k" in options:
        assert pm.load(tmp_path / "one").schema_.columns[1].categories == (0, 1, 2, 3, 4)


def test_what_needs_all_rows_is_refused_by_name(table, tmp_path):
    common = ("fit", table, "--target", "label", "--out-of-core", tmp_path / "folder")
    assert refused(run(*common, "--cv", 5), 2, "takes no --cv")
    assert refused(run(*common, "--model", "boundary"), 1, "columns of numbers for a linear classifier")
    assert refused(run(*common, "--model", "mcboost", "--set", "learner=auto"), 1, "`learner` must be")
    assert run(*common, "--model", "boundary", "--drop", "colour,real", "--json").code == 0
