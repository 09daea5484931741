"""What a certificate says of the models of the folds, beside fits on the rows of each fold."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import permissible as pm
from permissible import losses
from permissible.bins.encoding import encode
from permissible.bins.find import find_bins
from permissible.learners.uls.fit import Task, fit_rules
from permissible.learners.uls.options import ULSOptions
from permissible.rows.local import LocalSource
from permissible.rows.part import MemoryPart
from permissible.rows.splits import evaluation_folds
from permissible.table import read


@pytest.fixture(scope="module")
def rows():
    """Columns of ten values each, all of which every fold has: its bins are those of all rows."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 10, size=(500, 5)).astype(float)
    return X, (X[:, 0] + (X[:, 1] > 4) * X[:, 2] + rng.normal(0, 3, 500) > 7).astype(int)


def source_of(X, y, weight=None, cuts=()):
    table = read(X)
    binned = encode(find_bins(table), table)
    starts, hashes, parts = [0, *cuts, len(y)], np.arange(len(y), dtype=np.uint64) << np.uint64(40), []
    for number, (first, last) in enumerate(pairwise(starts)):
        own = replace(binned, blocks=np.ascontiguousarray(binned.blocks[:, first:last]), n_rows=last - first)
        part_weight = None if weight is None else weight[first:last]
        parts.append(MemoryPart(own, y[first:last], part_weight, hashes[first:last], number=number))
    return LocalSource(tuple(parts), binned.binning, np.unique(y), len(y), weight is not None)


def shape(rule):
    return {(literal.column, literal.test) for literal in rule}


def test_the_folds_of_a_certificate_are_fits_on_their_rows(rows):
    X, y = rows
    model = pm.ULSClassifier.compact(n_rules=4).fit(X, y)
    (used,) = [one for one in model.selection_["candidates"] if one["used"]]
    told, source = model.certificate_.agreement, source_of(X, y)
    sizes, found, flipped, held_rows = [], [], 0, 0
    for split in evaluation_folds(source, 1, 0):
        training, held = (one.rows(source.parts[0]) for one in split)
        settings = {"early_stopping": False, "l2_regularization": used["l2_regularization"]}
        fold = pm.ULSClassifier.compact(n_rules=used["n_rounds"], **settings).fit(X[training], y[training])
        sizes.append(len(fold.rules_))
        found += [any(shape(rule) == shape(there) for there in fold.rules_) for rule in model.rules_]
        flipped += int((fold.predict(X[held]) != model.predict(X[held])).sum())
        held_rows += int(held.sum())
    assert told.n_rules == tuple(sizes)
    assert told.found == pytest.approx(np.mean(found))
    assert told.flipped == pytest.approx(flipped / held_rows)
    assert held_rows == len(y)
    assert str(told) in model.certificate_.statement
    assert f"{told.flipped:.1%} of the rows" in str(told)


@pytest.mark.parametrize("weighted", [False, True])
def test_parts_agree_as_the_whole_table_does(rows, weighted):
    X, y = rows
    weight = np.random.default_rng(1).uniform(0.5, 2, len(y)) if weighted else None
    task = Task(losses.get("logistic"), tuple(ULSOptions(n_rounds=3, scheme=0, l2=l2) for l2 in (10.0, 1.0)))
    whole, parts = (fit_rules(source_of(X, y, weight, cuts), 1, task) for cuts in ((), (120, 400)))
    told = [fitted.trace.evidence["agreement"] for fitted in (whole, parts)]
    assert told[0] is not None
    assert told[0] == told[1]


def test_without_models_of_the_folds_nothing_is_said(rows):
    X, y = rows
    for model in (
        pm.ULSClassifier(n_rounds=5, early_stopping=False),
        pm.ULSClassifier.compact(2, early_stopping=False),
    ):
        assert model.fit(X, y).certificate_.agreement is None
    given = pm.ULSClassifier.compact(2).fit(X[100:], y[100:], validation=(X[:100], y[:100]))
    assert given.certificate_.agreement is None


def test_a_continuation_keeps_the_penalty_that_the_folds_chose(rows):
    X, y = rows
    model = pm.ULSClassifier.compact(2, warm_start=True).fit(X, y)
    (used,) = [one["l2_regularization"] for one in model.selection_["candidates"] if one["used"]]
    n_rounds = len(model.history_["surrogate"]) + 2
    longer = model.set_params(n_rounds=n_rounds).fit(X, y)
    settings = {"early_stopping": False, "l2_regularization": used}
    assert longer.rules_ == pm.ULSClassifier.compact(n_rounds, **settings).fit(X, y).rules_
