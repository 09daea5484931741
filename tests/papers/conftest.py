"""A small data folder, so that protocols run in a second without any file of others."""

from pathlib import Path

import numpy as np
import pytest


@pytest.fixture(scope="session")
def small_folder_of_sets(tmp_path_factory) -> Path:
    """Two binary domains under names of the `uls` suite, and two multiclass ones under names of `guess-averse`."""
    folder = tmp_path_factory.mktemp("data")
    generator = np.random.default_rng(5)
    header = "name,suite,file,format,rows,attrs,classes,target_column,train_rows,nominal_attrs,missing_values,bytes,source,note"
    index = [header]
    for name, suite, classes in (
        ("glass", "uls", 2),
        ("iris", "uls", 2),
        ("ecoli", "guess-averse", 3),
        ("vehicle", "guess-averse", 3),
    ):
        table = generator.standard_normal((90, 3))
        score = table[:, 0] + 0.5 * table[:, 1] + 0.3 * generator.standard_normal(90)
        label = np.digitize(score, np.quantile(score, np.arange(1, classes) / classes))
        rows = [
            ",".join([*(f"{value:.4f}" for value in row), f"c{code}"]) for row, code in zip(table, label, strict=True)
        ]
        (folder / f"{name}.csv").write_text("\n".join(["a,b,c,y", *rows]) + "\n")
        index.append(f"{name},{suite},{name}.csv,csv,90,3,{classes},y,,0,0,0,made up,")
    (folder / "index.csv").write_text("\n".join(index) + "\n")
    return folder


@pytest.fixture
def small_sets(small_folder_of_sets: Path, monkeypatch) -> Path:
    """The same, as the folder of this process."""
    monkeypatch.setenv("PERMISSIBLE_DATA", str(small_folder_of_sets))
    return small_folder_of_sets
