"""Fits on tampered folders of a data set, in a process of its own: `python tampering.py FOLDER STEP [unchecked]`.

Each change of a field of dataset.json or of bytes of the blocks is followed by fits of every estimator. Prints the change before
it is tried, and afterwards how it ended; only a refusal in one sentence or a fit may follow.
"""

import copy
import json
import shutil
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import permissible as pm
from permissible.distributed.data import store_checks
from permissible.distributed.data.dataset import BinnedDataset

ODD = (-1, 0, 1, 3, 254, 255, 256, 10**6, 2**70, 0.5, 1e308, "nan", "inf", "", "blocks-..", True, None, [], {})
BYTES = (b"\xff", b"\x00", b"\x07", b"\xfe", b"\x80")
WORDS = (np.nan, np.inf, -1.0, 0.0, 1e308, -0.0, 5e-324)
ESTIMATORS: dict[str, Callable[[], Any]] = {
    "uls": lambda: pm.ULSClassifier(n_rounds=3, max_literals=2, random_state=0),
    "udt": lambda: pm.UDTClassifier(max_leaf_nodes=4, random_state=0),
    "mcboost rule": lambda: pm.MCBoostClassifier(learner="rule", n_rounds=2, random_state=0),
    "mcboost tree": lambda: pm.MCBoostClassifier(learner="tree", n_rounds=2, random_state=0),
    "mcboost linear": lambda: pm.MCBoostClassifier(learner="linear", n_rounds=2, random_state=0),
    "boundary": lambda: pm.BoundaryClassifier(alpha=0.1),
}


def make(folder: Path, numeric: bool) -> None:
    """A small data set with weights and values: numbers alone for the linear learners, or columns of every kind."""
    random = np.random.default_rng(0)
    x = random.normal(size=90).round(1)
    columns: dict[str, Any] = {
        "x": x,
        "count": random.integers(0, 5, 90),
        "y": (x + random.normal(size=90) > 0).astype(int),
    }
    if not numeric:
        columns["x"] = np.where(random.random(90) < 0.1, np.nan, x)
        columns["colour"] = random.choice(["red", "green", "blue"], 90)
        columns["truth"] = random.random(90) < 0.5
    columns["w"] = random.integers(1, 4, 90) * 0.5
    BinnedDataset.from_batches([columns], target="y", weight="w", directory=folder, keep_values=True)


def places(document: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every value of a document; of a long list the first and the last item."""
    yield path
    if isinstance(document, dict):
        for key, value in document.items():
            yield from places(value, (*path, key))
    elif isinstance(document, list) and document:
        for index in sorted({0, len(document) - 1}):
            yield from places(document[index], (*path, index))


def changed(document: Any, path: tuple[Any, ...], change: Callable[[Any, Any], None]) -> Any:
    """The document after a change of one place, given its holder and its key there."""
    new = copy.deepcopy(document)
    holder = new
    for key in path[:-1]:
        holder = holder[key]
    change(holder, path[-1])
    return new


def documents(document: Any) -> Iterator[tuple[str, Any]]:
    """Every change of the description."""
    for path in [*places(document)][1:]:
        for value in ODD:
            yield (
                f"{path} = {value!r}",
                changed(document, path, lambda at, key, value=value: at.__setitem__(key, value)),
            )
        yield f"del {path}", changed(document, path, lambda at, key: at.__delitem__(key))
        value = document
        for key in path:
            value = value[key]
        if isinstance(value, list) and value:
            for words, new in (("shorter", value[:-1]), ("longer", [*value, value[-1]]), ("turned", value[::-1])):
                yield f"{path} {words}", changed(document, path, lambda at, key, new=new: at.__setitem__(key, new))
        if isinstance(value, int) and not isinstance(value, bool):
            for new in (value - 1, value + 1):
                yield f"{path} = {new}", changed(document, path, lambda at, key, new=new: at.__setitem__(key, new))


def blocks(files: Path) -> Iterator[tuple[str, Path, bytes]]:
    """Every change of bytes that is tried."""
    for path in sorted(files.iterdir()):
        whole = path.read_bytes()
        for place in sorted({0, 1, 2, 3, 7, len(whole) // 2, len(whole) - 1}):
            for byte in BYTES:
                yield f"{path.name}[{place}] = {byte!r}", path, whole[:place] + byte + whole[place + 1 :]
        for byte in BYTES:
            yield f"{path.name} all {byte!r}", path, byte * len(whole)
        if path.suffix == ".f8":
            for word in WORDS:
                yield f"{path.name} begins with {word}", path, np.float64(word).tobytes() + whole[8:]
        yield f"{path.name} shorter", path, whole[:-1]
        yield f"{path.name} longer", path, whole + b"\0"


def tried(folder: Path, kinds: list[str]) -> str:
    """How the fits on a folder ended."""
    ends = []
    for kind in kinds:
        try:
            dataset = BinnedDataset.open(folder)
            model = ESTIMATORS[kind]().fit(dataset)
            proba = model.predict_proba(
                {name: [1.0] for name in dataset.schema.names} if kind == "boundary" else rows(dataset)
            )
            assert np.isfinite(proba).all(), f"{kind}: {proba}"
            ends.append("fit")
        except (ValueError, TypeError) as error:
            ends.append("refused in lines" if "\n" in str(error) else "refused")
    return " ".join(ends)


def rows(dataset: BinnedDataset) -> dict[str, list[Any]]:
    return {column.name: ["red"] if column.kind == "categorical" else [1.0] for column in dataset.schema.columns}


def main(folder: Path, step: int, unchecked: bool) -> None:
    """Try every `step`-th change."""
    warnings.simplefilter("ignore")
    if unchecked:  # what the compiled core makes of it alone
        store_checks.check_codes = lambda *_: None
    for numeric in (False, True):
        home, copied = folder / f"home-{numeric}", folder / f"copy-{numeric}"
        make(home, numeric)
        kinds = ["boundary", "mcboost linear"] if numeric else [*ESTIMATORS][:5]
        document = json.loads((home / "dataset.json").read_text())
        (files,) = home.glob("blocks-*")
        changes: list[tuple[str, Path, bytes]] = [
            (words, home / "dataset.json", json.dumps(new).encode()) for words, new in documents(document)
        ]
        changes += [*blocks(files)]
        shutil.copytree(home, copied)
        for words, path, content in [("none", files / "hash.u8", (files / "hash.u8").read_bytes()), *changes[::step]]:
            there = copied / path.relative_to(home)
            before = there.read_bytes()
            there.write_bytes(content)
            print(words, end=": ", flush=True)
            print(tried(copied, kinds), flush=True)
            there.write_bytes(before)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), "unchecked" in sys.argv)
