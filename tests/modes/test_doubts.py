"""A doubt or warning that is false is a defect too: for each kind, fits that must raise it and fits that must not.

The kinds are those of learners/doubts.py and the warnings those that the source gives: a new one without a pair fails by name.
"""

import ast
import warnings
from pathlib import Path
from typing import get_args

import numpy as np
import pandas as pd
import pytest

import permissible as pm
from permissible.cli.io.notices import Notices
from permissible.learners import doubts as honesty
from permissible.learners.doubts import of_rounds
from permissible.table.schema import Column, Schema
from tests.modes.cases import documented, in_parts, limit
from tests.modes.problems import quasi_separable
from tests.modes.referee import LOSSES

SOURCE = Path(pm.__file__).parent
ENDLESS = [label for label, (_, referee) in LOSSES.items() if not referee.ends]
ENDING = [label for label, (_, referee) in LOSSES.items() if referee.ends]
SEPARABLE = np.arange(40.0)[:, None] * [1.0, 0.5], (np.arange(40) >= 20).astype(int)


def noisy(n_rows=200, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n_rows, 3)).round(1)
    return X, (X @ [1.0, -0.5, 0.0] + random.normal(size=n_rows) > 0).astype(int)


def mixed():
    """Every pattern of two columns has rows of both classes, so that nothing separates any of them."""
    patterns = np.repeat([[a, b] for a in range(4) for b in range(4)], 12, axis=0).astype(float)
    positives = np.clip(2 + 2 * patterns[::12, 0] + patterns[::12, 1], 1, 11)
    return patterns, (np.tile(np.arange(12), 16) < np.repeat(positives, 12)).astype(int)


def three(n_rows=200):
    X, y = noisy(n_rows)
    return X, y + (X[:, 2] > 0.3)


def rules(loss="logistic", **options):
    given = {"n_rounds": 15, "early_stopping": False, "random_state": 0}
    given |= {} if options.get("learner") in ("column", "tree") else {"max_literals": 2}
    return pm.ULSClassifier(LOSSES[loss][0], **given | options)


def columns(loss="logistic", **options):
    return rules(loss, learner="column", **options)


def partly_separable():
    """Where the first column is 1 every label is 1."""
    X, y = quasi_separable(4)
    return columns(l2_regularization=0.0, scheme="classic", learning_rate=1.0, n_rounds=300), X, y


def turn_rounds(monkeypatch):
    """No step of any learner is known that raises the surrogate: here the rounds are read backwards."""
    backwards = lambda start, surrogate, *more: of_rounds(surrogate[-1], [*surrogate[::-1], start], *more)  # noqa: E731
    monkeypatch.setattr("permissible.learners.mcboost.certificate.of_rounds", backwards)


def cut_newton(monkeypatch):
    monkeypatch.setattr("permissible.learners.uls.refit.MAX_STEPS", 1)


MUST = {
    "surrogate rises": {
        "rounds read backwards": lambda: (
            pm.MCBoostClassifier("gll", learner="rule", n_rounds=5, line_search="exact"),
            *noisy(),
            turn_rounds,
        ),
    },
    "coefficient explodes": {
        **{
            f"rules that separate, {label}": lambda label=label: (rules(label, l2_regularization=0.0), *SEPARABLE)
            for label in ENDLESS
        },
        "columns that separate": lambda: (
            columns(l2_regularization=0.0, scheme="corrective", n_rounds=100),
            *SEPARABLE,
        ),
        "leaves that separate": lambda: (rules(l2_regularization=0.0, learner="tree", learning_rate=1.0), *SEPARABLE),
        "rules that separate, in parts": lambda: (rules(l2_regularization=0.0), in_parts(*SEPARABLE, None)),
        "soft, without a penalty": lambda: (pm.BoundaryClassifier("soft", alpha=1e-17), *SEPARABLE),
        "soft, without a penalty, in parts": lambda: (
            pm.BoundaryClassifier("soft", alpha=1e-17),
            in_parts(*SEPARABLE, None, keep_values=True),
        ),
        "affine terms that separate": lambda: (
            pm.MCBoostClassifier("mc", n_rounds=500, tol=0.0, learner="linear"),
            *SEPARABLE,
        ),
    },
    "probabilities saturate": {
        "a column that separates some rows": partly_separable,
        "columns that separate": lambda: (
            columns(l2_regularization=0.0, scheme="corrective", n_rounds=100),
            *SEPARABLE,
        ),
        "affine terms that separate": lambda: (
            pm.MCBoostClassifier(n_rounds=2000, tol=0.0, learner="linear"),
            *SEPARABLE,
        ),
        "soft, without a penalty": lambda: (pm.BoundaryClassifier("soft", alpha=1e-17), *SEPARABLE),
        "soft, without a penalty, in parts": lambda: (
            pm.BoundaryClassifier("soft", alpha=1e-17),
            in_parts(*SEPARABLE, None, keep_values=True),
        ),
    },
    "stopped early": {
        "time of rules": lambda: (rules(n_rounds=10**6, max_time=1e-3), *noisy(3000)),
        "time of columns": lambda: (
            columns(n_rounds=10**6, l2_regularization=1e-3, max_time=1e-3, tol=0.0),
            *noisy(3000),
        ),
        "time of leaves": lambda: (rules(learner="tree", n_rounds=10**6, max_time=1e-3), *noisy(3000)),
        "steps of hinges": lambda: (
            pm.BoundaryClassifier(kernel="rbf", alpha=1e-5, max_iter=1, tol=1e-12),
            *noisy(400),
        ),
        "steps of the soft loss": lambda: (
            pm.BoundaryClassifier("soft", alpha=1e-6, max_iter=1, tol=1e-12),
            *noisy(400),
        ),
        "steps in parts": lambda: (
            pm.BoundaryClassifier("soft", alpha=1e-6, max_iter=1, tol=1e-12),
            in_parts(*noisy(400), None, keep_values=True),
        ),
    },
    "not converged": {
        "rules": lambda: (rules("power(0.1)", scheme="corrective"), *noisy(), cut_newton),
        "columns": lambda: (columns("power(0.1)", scheme="corrective"), *noisy(), cut_newton),
    },
}


def _everywhere():
    """Ordinary fits of every estimator in every mode: none of them is doubtful."""
    for label in LOSSES:
        yield f"rules, {label}", lambda label=label: (rules(label), *noisy())
        yield (
            f"rules without penalty, {label}",
            lambda label=label: (rules(label, l2_regularization=0.0, n_rounds=6), *mixed()),
        )
        yield f"columns, {label}", lambda label=label: (columns(label), *noisy())
        yield f"trees, {label}", lambda label=label: (pm.UDTClassifier(LOSSES[label][0], max_leaf_nodes=6), *noisy())
        if label not in ("own psi", "own exp"):  # refused: trees need a compiled loss
            yield f"leaves, {label}", lambda label=label: (rules(label, learner="tree"), *noisy())
        for scheme in ("corrective", 3):
            for l2 in (0.0, 1.0):
                options = {"scheme": scheme, "l2_regularization": l2, "n_rounds": 6}
                yield (
                    f"rules, {label}, {scheme}, {l2}",
                    lambda label=label, options=options: (rules(label, **options), *mixed()),
                )
    for label in ENDING:
        yield f"rules, penalised and separated, {label}", lambda label=label: (rules(label), *SEPARABLE)
    yield "rules in parts", lambda: (rules(), in_parts(*noisy(), None))
    yield "rules, a share of the rows searched", lambda: (rules(search_fraction=0.7), *noisy(8200))
    yield "rules, stopped by a hold-out", lambda: (rules(early_stopping=True, n_rounds=100), *noisy())
    yield "separated rules with a penalty", lambda: (rules(), *SEPARABLE)
    yield "separated columns with a penalty", lambda: (columns(), *SEPARABLE)
    yield "a pure tree", lambda: (pm.UDTClassifier(), *SEPARABLE)
    for flavour in ("F1", "F2", "E1", "E2", "F*"):
        yield f"flavour {flavour}", lambda flavour=flavour: (pm.ULSClassifier.plain(flavour, n_rules=5), *noisy())
    for learner in ("linear", "linear-full", "rule", "tree"):
        for loss in documented(pm.MCBoostClassifier, "loss"):
            yield (
                f"mcboost {learner} {loss}",
                lambda learner=learner, loss=loss: (
                    pm.MCBoostClassifier(loss, n_rounds=10, learner=learner, random_state=0),
                    *three(),
                ),
            )
    yield (
        "mcboost, samples of rows",
        lambda: (pm.MCBoostClassifier(n_rounds=10, learner="tree", subsample=0.5), *three()),
    )
    for boundaries in ((0.5,), (0.2, 0.8), "soft"):
        for kernel in (None, "rbf"):
            yield (
                f"boundary {boundaries} {kernel}",
                lambda boundaries=boundaries, kernel=kernel: (
                    pm.BoundaryClassifier(boundaries, kernel=kernel, alpha=1e-2),
                    *noisy(),
                ),
            )
        yield (
            f"boundary {boundaries} in parts",
            lambda boundaries=boundaries: (
                pm.BoundaryClassifier(boundaries),
                in_parts(*noisy(), None, keep_values=True),
            ),
        )


ORDINARY = dict(_everywhere())
MUST_NOT = {
    "surrogate rises": {
        "a fit that goes on": lambda: (rules(warm_start=True).fit(*noisy()).set_params(n_rounds=30), *noisy()),
        "MCBoost that goes on": lambda: (
            pm.MCBoostClassifier(n_rounds=3, warm_start=True, learner="linear").fit(*three()).set_params(n_rounds=6),
            *three(),
        ),
    },
    "coefficient explodes": {
        **{
            f"rules that separate, {label}": lambda label=label: (rules(label, l2_regularization=0.0), *SEPARABLE)
            for label in ENDING
        },
        **{
            f"columns that separate, {label}": lambda label=label: (
                columns(label, l2_regularization=0.0, scheme="corrective"),
                *SEPARABLE,
            )
            for label in ENDING
        },
        "columns in units of a million": lambda: (columns(n_rounds=50), noisy()[0] * 1e6, noisy()[1]),
        "columns in units of a millionth": lambda: (
            columns(n_rounds=50, l2_regularization=0.0),
            noisy()[0] * 1e-6,
            noisy()[1],
        ),
    },
    "probabilities saturate": {
        **{f"rules that separate, {label}": lambda label=label: (rules(label), *SEPARABLE) for label in LOSSES},
        "an outlying value": lambda: (
            columns(l2_regularization=0.0),
            np.vstack([noisy()[0], [[1e4, 0, 0]]]),
            np.append(noisy()[1], 1),
        ),
    },
    "stopped early": {
        "a generous limit": lambda: (rules(max_time=600.0), *noisy()),
        "one step that suffices": lambda: (pm.BoundaryClassifier(alpha=10.0, max_iter=200, tol=1e-3), *noisy()),
    },
    "not converged": {
        "separated rules": lambda: (rules(l2_regularization=0.0, scheme="corrective"), *SEPARABLE),
        "separated columns": lambda: (columns(l2_regularization=0.0, scheme="corrective"), *SEPARABLE),
    },
}
KINDS = get_args(honesty.Kind)


def doubts_of(made, monkeypatch):
    """Fit; the kinds of doubt in the certificate, which are those that were warned of."""
    model, *given = made
    if callable(given[-1]):
        given.pop()(monkeypatch)
    with limit(60), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(*given)
    doubts = list(model.certificate_.doubts)
    said = [warning for warning in caught if issubclass(warning.category, pm.DoubtfulFitWarning)]
    assert len(said) == bool(doubts)
    assert all(doubt.words in str(said[0].message) for doubt in doubts)
    return [doubt.kind for doubt in doubts]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_doubt_has_a_pair(kind):
    assert MUST.get(kind), f"no fit is known that must raise the doubt {kind!r}"
    assert MUST_NOT.get(kind), f"no fit is known that must not raise the doubt {kind!r}"


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind in KINDS for name in MUST.get(kind, ())])
def test_a_doubtful_fit_says_so(kind, name, monkeypatch):
    assert kind in doubts_of(MUST[kind][name](), monkeypatch)


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind in KINDS for name in MUST_NOT.get(kind, ())])
def test_what_is_not_so_is_not_said(kind, name, monkeypatch):
    assert kind not in doubts_of(MUST_NOT[kind][name](), monkeypatch)


@pytest.mark.parametrize("name", ORDINARY)
def test_an_ordinary_fit_raises_no_doubt(name, monkeypatch):
    assert doubts_of(ORDINARY[name](), monkeypatch) == []


# -- warnings ------------------------------------------------------------------------------------------------------------


def given_warnings():
    """The categories of every `warnings.warn` in the source, and every class of warning that it defines."""
    found = set()
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "warnings.warn":
                found.add(ast.unparse(node.args[1]) if len(node.args) > 1 else "UserWarning")
                found.discard("category")  # a warning that was caught and is given once more
            if isinstance(node, ast.ClassDef) and any(ast.unparse(base).endswith("Warning") for base in node.bases):
                found.add(node.name)
    return sorted(found)


FRAME = pd.DataFrame({"colour": ["red", "blue"] * 20, "size": np.arange(40.0)})
LABELS = np.arange(40) % 3 // 2


def predicted(model, train, test):
    return lambda: model.fit(train, LABELS).predict(test)


def told_of_sizes(sizes):
    """What the command line says of a chunk of rows whose column `size` was between 0 and 39 in fit."""

    def tell():
        notices = Notices(Schema((Column("size"),)), {"size": (0.0, 39.0)})
        with notices.chunk({"size": np.array(sizes)}):
            pass
        notices.tell()

    return tell


WARNINGS = {
    "DoubtfulFitWarning": (
        {"rules that separate": lambda: rules(l2_regularization=0.0).fit(*SEPARABLE)},
        {"noisy rows": lambda: rules().fit(*noisy())},
    ),
    "UnseenCategoryWarning": (
        {
            "rules": predicted(rules(), FRAME, FRAME.assign(colour="green")),
            "a tree": predicted(pm.UDTClassifier(), FRAME, FRAME.assign(colour="green")),
            "mcboost": predicted(
                pm.MCBoostClassifier(n_rounds=3, learner="linear"), FRAME, FRAME.assign(colour="green")
            ),
        },
        {
            "the same colours": predicted(rules(), FRAME, FRAME[::-1]),
            "a missing colour": predicted(rules(), FRAME, FRAME.assign(colour=[None, *FRAME["colour"][1:]])),
            "one of the colours only": predicted(pm.UDTClassifier(), FRAME, FRAME[FRAME["colour"] == "red"]),
        },
    ),
    "UserWarning": (
        {
            "names are gone": predicted(rules(), FRAME[["size"]], FRAME[["size"]].to_numpy()),
            "names are new": predicted(rules(), FRAME[["size"]].to_numpy(), FRAME[["size"]]),
        },
        {
            "names": predicted(rules(), FRAME[["size"]], FRAME[["size"]]),
            "no names": predicted(rules(), FRAME[["size"]].to_numpy(), FRAME[["size"]].to_numpy()),
        },
    ),
    "OutOfRangeWarning": (
        {"a larger size": told_of_sizes([0.0, 50.0])},
        {"sizes of fit": told_of_sizes([0.0, 39.0]), "a missing size": told_of_sizes([np.nan, 3.0])},
    ),
    "DataConversionWarning": (
        {"a column of labels": lambda: rules().fit(noisy()[0], noisy()[1][:, None])},
        {
            "a row of labels": lambda: rules().fit(*noisy()),
            "a series": lambda: rules().fit(noisy()[0], pd.Series(noisy()[1])),
        },
    ),
}


def caught_by(run):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run()
    return [warning.category.__name__ for warning in caught]


@pytest.mark.parametrize("category", given_warnings())
def test_every_warning_has_a_pair(category):
    assert category in WARNINGS, f"no call is known that must give {category}, and none that must not"


@pytest.mark.parametrize(("category", "name"), [(c, name) for c, (yes, _) in WARNINGS.items() for name in yes])
def test_a_warning_is_given_once_where_it_is_due(category, name):
    assert caught_by(WARNINGS[category][0][name]) == [category]


@pytest.mark.parametrize(("category", "name"), [(c, name) for c, (_, no) in WARNINGS.items() for name in no])
def test_a_warning_is_not_given_where_it_is_not_due(category, name):
    assert caught_by(WARNINGS[category][1][name]) == []


def test_a_doubt_names_the_categories_of_its_rule():
    """Of more than 254 categories the bins are not in the order of the categories."""
    codes = np.concatenate([np.repeat(np.arange(300), 4), np.full(100, 298)])
    y = (codes == 298) | (np.arange(len(codes)) % 2 == 0)
    X = {"shop": np.array([f"shop {code:03d}" for code in codes], dtype=object)}
    with pytest.warns(pm.DoubtfulFitWarning, match="along the rule 'shop = shop 298'"):
        rules(n_rounds=1, max_literals=1, l2_regularization=0.0, learning_rate=1.0).fit(X, y)
