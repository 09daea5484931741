"""A folder of files with an index.csv: the first place where a data set is looked for.

index.csv has a row per set: name, suite, file, format, rows, attrs, classes, target_column, train_rows, nominal_attrs,
missing_values, source, note. ARFF files say themselves which columns are nominal; for a CSV the index gives their number.
"""

import csv
import functools
import os
import re
from pathlib import Path

import numpy as np

from papers.datasets import text
from papers.datasets.dataset import Dataset, dataset
from permissible.validation import Words, refusal

# Columns that name the row or give the class away; the index says so in words.
DROPPED = {"splice": ("Instance_name",), "echocardiogram": ("survival", "still_alive")}
NEEDED = ("name", "file", "format", "target_column", "train_rows", "nominal_attrs", "source")
LICENCE = "as the index of the data folder says; the UCI sets are CC BY 4.0"


def folder(data: str | Path | None) -> Path | None:
    """Choose the folder: the one named, else the environment's PERMISSIBLE_DATA, else none."""
    named = data or os.environ.get("PERMISSIBLE_DATA")
    if not named:
        return None
    path = Path(named)
    if not (path / "index.csv").is_file():
        remedy = "name a folder that holds index.csv, or leave it out"
        raise refusal("data", "a folder with an index.csv", Words(f"{path} without one"), remedy)
    return path


@functools.lru_cache(maxsize=4)
def index(path: Path) -> dict[str, dict[str, str]]:
    """Read index.csv: name to row."""
    with (path / "index.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    lacking = [name for name in NEEDED for row in rows if row.get(name) is None]
    if lacking:
        raise refusal("data", f"a folder whose index.csv gives {lacking[0]} of every set", Words(f"{path} without it"))
    return {row["name"]: row for row in rows}


def load(name: str, path: Path) -> Dataset | None:
    """Load one set of the folder, or None when the index does not list it."""
    entry = index(path).get(name)
    if entry is None:
        return None
    lines = text.read_lines(_inside(path, entry["file"]))
    raw = text.parse_arff(lines) if entry["format"] == "arff" else text.parse_csv(lines)
    raw = _without_unlabelled(raw, entry["target_column"])
    dropped = (*DROPPED.get(name, ()), entry["target_column"])
    nominal = _nominal(raw, entry)
    columns = {
        column: text.categorical(raw.column(column)) if column in nominal else text.numeric(raw.column(column))
        for column in raw.names
        if column not in dropped
    }
    target = np.array(raw.column(entry["target_column"]), dtype=object)
    train_rows = int(entry["train_rows"]) if entry["train_rows"] else None
    return dataset(name, columns, target, source=entry["source"], licence=LICENCE, train_rows=train_rows)


def _inside(path: Path, file: str) -> Path:
    """A file of the folder; an index that points outside of it, by .., an absolute path or a link, is refused."""
    found = (path / file).resolve() if "\0" not in file else Path(os.sep)
    if not found.is_relative_to(path.resolve()):
        raise refusal("data", "a folder whose index.csv names files inside of it", Words(f"{file!r} in {path}"))
    return found


def _without_unlabelled(raw: text.Raw, target: str) -> text.Raw:
    place = raw.names.index(target)
    return text.Raw(raw.names, raw.nominal, [row for row in raw.rows if row[place] not in text.MISSING])


def _nominal(raw: text.Raw, entry: dict[str, str]) -> set[str]:
    """Say which columns are nominal: as the file declares, else as the index counts and notes."""
    if raw.nominal is not None:
        return {name for name, flag in zip(raw.names, raw.nominal, strict=True) if flag}
    attributes = [name for name in raw.names if name != entry["target_column"]]
    noted = re.search(r"numeric codes: ([\w ]+?) are nominal", entry.get("note") or "")
    if noted:
        return set(noted.group(1).split())
    count = int(entry["nominal_attrs"])
    if count == len(attributes):
        return set(attributes)
    if count == 0:
        return set()
    words = {name for name in attributes if not _all_numbers(raw.column(name))}
    # What remains of the count are codes: columns of two values, such as yes and no as 1 and 0.
    coded = [name for name in attributes if name not in words and len(set(raw.column(name)) - text.MISSING) <= 2]
    return words | set(coded) if len(words) < count else words


def _all_numbers(values: list[str]) -> bool:
    return all(text.is_number(value) for value in values if value not in text.MISSING)
