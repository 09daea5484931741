"""Constraints on columns: the direction in which a probability may move with each, and which may meet in one rule."""

from collections.abc import Collection, Mapping
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from permissible.learners.constraints.rules import Constraints
from permissible.table.schema import Schema
from permissible.types import AnyArray
from permissible.validation import Words, refusal

if TYPE_CHECKING:
    from permissible.estimators.uls import ULSClassifier


def monotone_directions(given: object, schema: Schema, n_classes: int) -> AnyArray | None:
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


def interaction_groups(given: object, schema: Schema) -> tuple[frozenset[int], ...] | None:
    """The groups of columns that may meet in one rule, checked; columns in no group form one more, as in scikit-learn."""
    if given is None:
        return None
    every = range(len(schema.columns))
    if isinstance(given, str):
        known = {"no_interactions": 1, "pairwise": 2}
        if given not in known:
            raise refusal("interaction_cst", 'groups of columns, "pairwise", "no_interactions" or None', given)
        return tuple(frozenset(group) for group in combinations(every, min(known[given], len(every))))
    expected = "a sequence of groups of columns, each by names or positions"
    if not isinstance(given, Collection) or isinstance(given, Mapping):
        raise refusal("interaction_cst", expected, Words(f"a {type(given).__name__}"))
    groups = []
    for group in given:
        if isinstance(group, str) or not isinstance(group, Collection) or not len(group):
            raise refusal("interaction_cst", expected, Words(f"{group!r} among them"))
        groups.append(frozenset(_position(column, schema) for column in group))
    for one, other in combinations(groups, 2):
        if one <= other or other <= one:
            names = sorted(schema.names[place] for place in min(one, other, key=len))
            came = Words(f"the group of {', '.join(names)} inside of another one")
            expected = "groups of which none lies in another, since the smaller one says nothing"
            raise refusal("interaction_cst", expected, came)
    rest = frozenset(every) - frozenset().union(*groups)
    return (*groups, rest) if rest else tuple(groups)


def _position(column: object, schema: Schema) -> int:
    if isinstance(column, str):
        if column not in schema.names:
            raise refusal("interaction_cst", "groups of columns of X", Words(f"the unknown column {column!r}"))
        return schema.names.index(column)
    if isinstance(column, bool) or not isinstance(column, int | np.integer) or not 0 <= column < len(schema.columns):
        expected = f"groups of names, or of positions below {len(schema.columns)}"
        raise refusal("interaction_cst", expected, Words(f"{column!r} among them"))
    return int(column)


def rule_constraints(estimator: "ULSClassifier", schema: Schema, n_classes: int) -> Constraints | None:
    """What the rules of a ULSClassifier must obey; conjunctions of a card cannot be negated, so they must raise the score."""
    directions = monotone_directions(estimator.monotonic_cst, schema, n_classes)
    groups = interaction_groups(estimator.interaction_cst, schema)
    positive = estimator.points is not None and estimator.max_literals != 1
    if directions is None and groups is None and not positive:
        return None
    named = (0,) * len(schema.columns) if directions is None else tuple(directions.tolist())
    return Constraints(named, groups, positive)
