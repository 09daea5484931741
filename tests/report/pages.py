"""Models and rows for the tests of the report page, with names that try to break out of it."""

import numpy as np

import permissible as pm

EVIL = "<script>window.hacked=1</script>"
EVIL_CATEGORY = "</script><img src=x onerror=window.hacked=2>"


def mixed_rows(n_rows=240, seed=3):
    """Numeric, boolean and categorical columns with missing values, and two classes."""
    generator = np.random.default_rng(seed)
    age = generator.normal(50, 12, n_rows).round(1)
    age[generator.random(n_rows) < 0.1] = np.nan
    colour = generator.choice(np.array(["red", EVIL_CATEGORY, "blue"], dtype=object), n_rows)
    colour[generator.random(n_rows) < 0.1] = None
    smoker = generator.random(n_rows) < 0.4
    risk = np.nan_to_num(age, nan=58) + 9 * (colour == "red") + 12 * smoker + generator.normal(0, 5, n_rows)
    y = np.where(risk > 60, "sick", "well")
    return {EVIL: age, "colour": colour, "smoker": smoker}, y


def models():
    """A model of each kind with rows: name -> (estimator, X, y)."""
    X, y = mixed_rows()
    generator = np.random.default_rng(0)
    numbers = generator.normal(size=(150, 4))
    kinds = np.array(["a", "b", "c"])[np.clip((numbers[:, 0] + 0.5 * numbers[:, 1]).round().astype(int) + 1, 0, 2)]
    two = np.where(numbers[:, 0] - numbers[:, 2] + generator.normal(0, 0.6, 150) > 0, 1, 0)
    return {
        "rules": (pm.ULSClassifier(n_rounds=8, max_literals=2, random_state=0).fit(X, y), X, y),
        "rules, matsushita": (pm.ULSClassifier(loss="matsushita", n_rounds=8, random_state=0).fit(X, y), X, y),
        "rules of three classes": (pm.ULSClassifier(n_rounds=5, random_state=0).fit(numbers, kinds), numbers, kinds),
        "tree": (pm.UDTClassifier(max_leaf_nodes=6).fit(X, y), X, y),
        "boundary rules": (
            pm.BoundaryClassifier((0.3, 0.7), learner="rule", n_rounds=8).fit(numbers, two),
            numbers,
            two,
        ),
        "linear": (pm.BoundaryClassifier(boundaries=(0.3, 0.7)).fit(numbers, two), numbers, two),
        "point card": (pm.ULSClassifier.points(n_rules=4).fit(X, y), X, y),
        "additive": (pm.MCBoostClassifier(n_rounds=15, learner="linear").fit(numbers, kinds), numbers, kinds),
    }
