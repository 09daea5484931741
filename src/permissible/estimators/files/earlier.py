"""The current names of parameters in earlier model files."""

from collections.abc import Mapping

RENAMED = {
    "n_rules": "n_rounds",
    "features": "learner",
    "l2": "l2_regularization",
    "categorical": "categorical_features",
    "max_leaves": "max_leaf_nodes",
    "colsample": "max_features",
}
VALUES: dict[tuple[str, object], object] = {
    ("features", "rules"): "rule",
    ("features", "columns"): "column",
    ("early_stopping", None): False,
    ("pruning", "cv"): "auto",
}
GONE = ("random_tests",)
"""Parameters of learners that are no more; a fitted model does not need them."""


def parameters_of_today(given: Mapping[str, object]) -> dict[str, object]:
    """Rename parameters; the measure of MCBoost's early stopping, once its value, has a parameter of its own.

    >>> parameters_of_today({"features": "columns", "n_rules": 5, "early_stopping": "cost"})
    {'learner': 'column', 'n_rounds': 5, 'early_stopping': True, 'scoring': 'cost'}
    """
    found: dict[str, object] = {}
    for name, value in given.items():
        if name in GONE:
            continue
        plain = value is None or isinstance(value, str)
        found[RENAMED.get(name, name)] = VALUES.get((name, value), value) if plain else value
        if name == "early_stopping" and plain and value in ("cost", "surrogate"):
            found |= {name: True, "scoring": value}
    return found
