"""A true model file with parts replaced and the checksum made right again; what loads must also predict without a crash."""

import copy
import warnings
from typing import Any

import atheris
import numpy as np

import permissible as pm
from fuzz.target import allowed, run
from permissible.estimators.files.save_load import _checksum, document_of, read_document
from permissible.models.files.strict_json import dump, parse

ODD: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    1,
    -1,
    2,
    255,
    254,
    2**31,
    -(2**63),
    2**64,
    10**400,
    0.5,
    -0.0,
    1e308,
    "inf",
    "nan",
    "",
    "x0",
    "\ud800",
    [],
    {},
    [[]],
    [0],
    [1e308, -1],
    ["a"],
    {"type": "x"},
    "__class__",
    "../../etc/passwd",
    "logistic",
    "numeric",
    "categorical",
)


def _models() -> list[Any]:
    rng = np.random.default_rng(0)
    X, kinds = rng.normal(size=(60, 3)), np.arange(60) % 3
    y = (X[:, 0] > 0).astype(int)
    return [
        pm.UDTClassifier(max_leaf_nodes=4).fit(X, kinds),
        pm.UDTClassifier(max_leaf_nodes=3).fit({"a": X[:, 0], "b": np.array([*"rgb"], dtype=object)[kinds]}, y),
        pm.ULSClassifier(n_rounds=3, random_state=0).fit(X, y),
        pm.ULSClassifier(n_rounds=2, random_state=0).fit(X, kinds),
        pm.BoundaryClassifier((0.2, 0.8)).fit(X, y),
        pm.BoundaryClassifier(kernel="rbf", alpha=0.1).fit(X[:12], y[:12]),
        pm.MCBoostClassifier(n_rounds=2, learner="linear").fit(X, kinds),
        pm.MCBoostClassifier(n_rounds=2, learner="tree", max_leaf_nodes=3).fit(X, kinds),
    ]


def _seeds() -> list[tuple[Any, Any]]:
    seeds = []
    for model in _models():
        try:
            document = parse(dump(document_of(model)))
        except (ValueError, TypeError):
            continue
        names = list(getattr(model, "feature_names_in_", ())) or None
        rows = np.zeros((2, model.n_features_in_))
        seeds.append((document, {str(name): rows[:, j] for j, name in enumerate(names)} if names else rows))
    return seeds


SEEDS = _seeds()


def _places(item: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    children = item.items() if isinstance(item, dict) else enumerate(item) if isinstance(item, list) else ()
    return [path] * bool(path) + [place for key, child in children for place in _places(child, (*path, key))]


PLACES = [_places(document) for document, _ in SEEDS]


def one(data: bytes) -> None:
    """Replace one to three parts; loading refuses or gives a model that answers."""
    given = atheris.FuzzedDataProvider(data)
    number = given.ConsumeIntInRange(0, len(SEEDS) - 1)
    document, rows = copy.deepcopy(SEEDS[number][0]), SEEDS[number][1]
    for _ in range(given.ConsumeIntInRange(1, 3)):
        place = PLACES[number][given.ConsumeIntInRange(0, len(PLACES[number]) - 1)]
        _replace(document, place, given)
    document["checksum"] = _checksum({key: value for key, value in document.items() if key != "checksum"})
    try:
        model = read_document(document, "a file", {})
    except ValueError as error:
        allowed(error)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model.predict_proba(rows)
        except (ValueError, TypeError) as error:
            if not str(error).startswith(
                "The feature names should match"
            ):  # lines that scikit-learn fixes (docs/errors.md)
                allowed(error)


def _replace(document: Any, place: tuple[Any, ...], given: Any) -> None:
    item = document
    for key in place[:-1]:
        if not isinstance(item, dict | list) or (
            isinstance(item, list) and not (isinstance(key, int) and key < len(item))
        ):
            return
        if isinstance(item, dict) and key not in item:
            return
        item = item[key]
    if isinstance(item, dict) and isinstance(place[-1], str):  # a list may have become a mapping on the way
        if given.ConsumeBool():
            item[place[-1]] = _odd(given)
        else:
            item.pop(place[-1], None)
    elif isinstance(item, list) and isinstance(place[-1], int) and place[-1] < len(item):
        if given.ConsumeBool():
            item[place[-1]] = _odd(given)
        else:
            item.append(copy.deepcopy(item[place[-1]]))


def _odd(given: Any) -> Any:
    choice = given.ConsumeIntInRange(0, len(ODD) + 2)
    if choice < len(ODD):
        return copy.deepcopy(ODD[choice])
    if choice == len(ODD):
        return given.ConsumeIntInRange(-300, 300)
    return given.ConsumeRegularFloat() if choice == len(ODD) + 1 else given.ConsumeUnicodeNoSurrogates(8)


if __name__ == "__main__":
    run(
        one,
        "permissible.estimators.files.save_load",
        "permissible.models.files.elements",
        "permissible.models.files.json_node",
        "permissible.models.files.record",
        "permissible.estimators.files.fitted",
    )
