"""Constraints on the columns of a model: the direction in which a probability may move with each."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from permissible.table.schema import Schema
from permissible.types import AnyArray
from permissible.validation import Words, refusal


def monotone_directions(given: Any, schema: Schema, n_classes: int) -> AnyArray | None:
    """The direction of each column, checked: -1, 0 or 1 for each, or a mapping from names."""
    if given is None:
        return None
    expected = f"-1, 0 or 1 for each of the {len(schema.columns)} columns, or a mapping from column names to these"
    if isinstance(given, Mapping):
        unknown = [name for name in given if name not in schema.names]
        if unknown:
            raise refusal("monotonic_cst", expected, Words(f"a mapping with the unknown column {unknown[0]!r}"))
        given = [given.get(name, 0) for name in schema.names]
    directions = np.asarray(given)
    if directions.shape != (len(schema.columns),) or not np.isin(directions, (-1, 0, 1)).all():
        raise refusal("monotonic_cst", expected, given)
    if not directions.any():
        return None
    if n_classes > 2:
        raise refusal("monotonic_cst", "None for more than two classes", given)
    for column, direction in zip(schema.columns, directions, strict=True):
        if direction and column.kind == "categorical":
            raise refusal("monotonic_cst", "0 for a column of categories", Words(f"{direction} for {column.name!r}"))
    return directions
