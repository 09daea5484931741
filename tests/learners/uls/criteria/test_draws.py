"""The keys of columns, and what the default's draws promise: a continuation, a loss and an order change nothing."""

import numpy as np
import pytest

import permissible as pm
from permissible.learners.uls.criteria.draws import search_layout
from tests.learners.uls.cases import examples_of, noisy_table, source_of


def keys_of(columns, positive, weight=None, label=1):
    return search_layout(source_of(examples_of(columns, positive, weight)), label, drawn=True)[:, 3:].tolist()


def test_keys_do_not_depend_on_order_copies_units_and_the_order_of_classes():
    columns, positive = noisy_table()
    rng = np.random.default_rng(0)
    keys, order = keys_of(columns, positive), rng.permutation(len(positive))
    copies = rng.integers(1, 4, len(positive))
    twice = np.repeat(np.arange(len(positive)), copies)
    taken = {name: np.asarray(values)[twice].tolist() for name, values in columns.items()}
    shuffled = {name: np.asarray(values)[order].tolist() for name, values in columns.items()}
    assert len({tuple(key) for key in keys}) == len(columns)
    assert keys == keys_of(shuffled, positive[order])
    assert keys == keys_of(columns, ~positive)
    assert keys == keys_of(columns, positive, np.full(len(positive), 0.3))
    repeated = keys_of(taken, positive[twice])
    assert repeated == keys_of(columns, positive, copies.astype(float))
    assert repeated == keys_of(columns, positive, 0.7 * copies)
    again = dict(reversed([*columns.items(), ("copy", columns["a"])]))
    assert keys_of(again, positive) == [keys[0], *reversed(keys)]


@pytest.mark.parametrize("loss", ["logistic", "matsushita"])
def test_a_drawn_fit_in_two_pieces_is_the_fit_in_one(loss):
    columns, positive = noisy_table()
    X = np.column_stack([columns["a"], columns["b"], columns["c"]])
    options = {"early_stopping": False, "max_literals": 3}
    whole = pm.ULSClassifier(loss, n_rounds=40, **options).fit(X, positive)
    pieces = pm.ULSClassifier(loss, n_rounds=15, warm_start=True, **options).fit(X, positive)
    pieces.set_params(n_rounds=40).fit(X, positive)
    assert pieces.rules_ == whole.rules_
    np.testing.assert_allclose(pieces.predict_proba(X), whole.predict_proba(X), atol=1e-9)


def test_the_seed_changes_the_draws_and_plain_draws_nothing():
    columns, positive = noisy_table()
    X = np.column_stack([columns["a"], columns["b"], columns["c"]])
    drawn = [pm.ULSClassifier(n_rounds=10, early_stopping=False, random_state=k).fit(X, positive) for k in (0, 1)]
    plain = [pm.ULSClassifier.plain(random_state=k).fit(X, positive) for k in (0, 1)]
    assert drawn[0].rules_ != drawn[1].rules_
    assert plain[0].rules_ == plain[1].rules_
