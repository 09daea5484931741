"""Costs from what has a form of its own: a data frame, a hierarchy, a CSV file."""

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from os import PathLike
from typing import Any, TypeAlias

import numpy as np

from permissible.types import FloatArray
from permissible.validation import Words, refusal, refusal_type, shown
from permissible.validation.numbers import real_number

REJECT = "reject"
Path: TypeAlias = tuple[int, ...]
"""The branch taken at each node from the root down."""
CORALS = {
    "reef": {
        "ground": {"algae": ["CCA", "Turf", "Macro"], "Sand": None},
        "coral": ["Acropora", "Pavona", "Montipora", "Pocillopora", "Porites"],
    }
}
CORAL_COSTS = {"reef": 4.0, "ground": 2.0, "algae": 1.0, "coral": 1.0}


def named_costs(matrix: Any, classes: object) -> tuple[Any, Any]:
    """Return costs and classes; the labels of a data frame are its classes, its rows in the order of its columns."""
    labels = frame_labels(matrix)
    if labels is None or classes is not None:
        return matrix, classes
    index = list(matrix.index) if hasattr(matrix, "index") else []
    if set(index) == set(labels) and len(index) == len(labels):
        return matrix.to_numpy()[[index.index(name) for name in labels]], labels
    if index and index != list(range(len(index))):
        came = Words(f"rows {shown(index)} and columns {shown(labels)}")
        raise refusal("matrix", "a data frame that names the same classes in its rows as in its columns", came)
    return matrix.to_numpy(), labels


def frame_labels(table: object) -> list[object] | None:
    """The names of the columns of a data frame; None for an array, or where they are only numbered."""
    if not hasattr(table, "columns") or not hasattr(table, "to_numpy"):
        return None
    labels = np.asarray(table.columns).tolist()
    return None if labels == list(range(len(labels))) else labels


def hierarchy_costs(
    tree: object, node_costs: Mapping[Any, float] | None = None
) -> tuple[FloatArray, tuple[object, ...]]:
    """Return costs of confusing the leaves of a tree, and the leaves.

    Without `node_costs` the number of edges between them; else the cost of the inner node at which their paths part.
    """
    paths = list(_leaves(tree, ()))
    names = [name for name, _ in paths]
    if len(names) < 2 or len(set(names)) != len(names):
        raise refusal("tree", "a hierarchy of two or more different classes", Words(f"the leaves {names}"))
    if node_costs is None:
        cost: Callable[[Path, Path], float] = _distance
    else:
        cost = partial(_parting_cost, _named_nodes(tree, (), None), _checked_node_costs(node_costs))
    return np.array([[cost(first, second) for _, second in paths] for _, first in paths]), tuple(names)


def read_costs(path: "str | PathLike[str]") -> tuple[FloatArray, FloatArray | None, tuple[str, ...]]:
    """Return costs, the column of rejection if there is one, and the classes of a CSV file."""
    try:
        with open(path, newline="", encoding="utf-8") as file:
            rows = [[cell.strip() for cell in row] for row in csv.reader(file) if any(cell.strip() for cell in row)]
    except (UnicodeDecodeError, csv.Error) as error:
        came = Words(f"{path}, which cannot be read: {' '.join(str(error).split())}")
        raise refusal("path", "a CSV file of costs", came) from None
    if len(rows) < 3:
        came = Words(f"{len(rows)} lines in {path}")
        raise refusal("path", "a CSV file with a header and a row for each class", came)
    header, names = rows[0][1:], [row[0] for row in rows[1:]]
    predicted = header[:-1] if header[-1:] == [REJECT] else header
    if sorted(predicted) != sorted(names):
        came = Words(f"{shown(predicted)} in {path}")
        raise refusal("path", f"a file whose header names the classes of its rows, {shown(names)}", came)
    for row in rows[1:]:
        if len(row) != len(rows[0]):
            came = Words(f"{len(row) - 1} in the row of {shown(row[0])} of {path}")
            raise refusal("path", f"a file with {len(header)} costs in each row", came)
    table = np.array([[_cost(cell, row[0], path) for cell in row[1:]] for row in rows[1:]])
    order = [predicted.index(name) for name in names]
    return table[:, order], table[:, -1] if header[-1:] == [REJECT] else None, tuple(names)


def _leaves(tree: object, path: tuple[int, ...]) -> Iterator[tuple[object, tuple[int, ...]]]:
    """Yield each class with its path of branch numbers from the root."""
    if isinstance(tree, Mapping):
        for number, (name, branch) in enumerate(tree.items()):
            if branch is None or (
                isinstance(branch, Mapping | Sequence) and not isinstance(branch, str) and not branch
            ):
                yield name, (*path, number)
            else:
                yield from _leaves(branch, (*path, number))
    elif isinstance(tree, Sequence) and not isinstance(tree, str):
        for number, branch in enumerate(tree):
            yield from _leaves(branch, (*path, number))
    elif isinstance(tree, str | int | float | bool | np.generic):
        yield tree, path
    else:
        raise refusal_type("tree", "nested mappings and lists of class names", tree)


def _distance(first: Path, second: Path) -> float:
    return float(len(first) + len(second) - 2 * _shared(first, second))


def _shared(first: Path, second: Path) -> int:
    """How long two paths run together."""
    shared = 0
    while shared < min(len(first), len(second)) and first[shared] == second[shared]:
        shared += 1
    return shared


def _named_nodes(tree: object, path: Path, name: object) -> dict[Path, object]:
    """The name of each inner node by its path; None for the root and for branches of a list."""
    if not isinstance(tree, Mapping | Sequence) or isinstance(tree, str):
        return {}
    branches = tree.items() if isinstance(tree, Mapping) else ((None, branch) for branch in tree)
    found = {path: name}
    for number, (own, branch) in enumerate(branches):
        found.update(_named_nodes(branch, (*path, number), own))
    return found


def _checked_node_costs(node_costs: object) -> dict[object, float]:
    if not isinstance(node_costs, Mapping):
        raise refusal_type("node_costs", "a mapping from the names of inner nodes to costs", node_costs)
    found = {name: real_number("node_costs", value) for name, value in node_costs.items()}
    if not all(value > 0 for value in found.values()):
        raise refusal("node_costs", "positive costs", node_costs)
    return found


def _parting_cost(names: Mapping[Path, object], costs: Mapping[object, float], first: Path, second: Path) -> float:
    """The cost of the node at which two paths part; 0 for a class and itself."""
    if first == second:
        return 0.0
    name = names[first[: _shared(first, second)]]
    if name not in costs:
        came = Words(f"no cost of {'a node without a name' if name is None else shown(name)}")
        remedy = "put the tree under a name of its own, {'root': tree}, and name every inner node"
        raise refusal("node_costs", "a cost for each inner node at which classes part", came, remedy)
    return costs[name]


def _cost(cell: str, name: str, path: object) -> float:
    try:
        return float(cell)
    except ValueError:
        came = Words(f"{shown(cell)} in the row of {shown(name)} of {path}")
        raise refusal("path", "a file of numbers", came) from None
