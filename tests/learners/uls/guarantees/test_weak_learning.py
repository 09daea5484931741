"""The weak learning assumption round by round, and separability by linear programming, by definition and by brute force."""

import itertools

import numpy as np
import pytest

import permissible as pm
from permissible import losses
from permissible.learners.uls.guarantees.separability import separation

RNG = np.random.default_rng(2)
X = RNG.normal(size=(80, 4))
Y = (X[:, 0] - 0.5 * X[:, 1] + RNG.normal(0, 1.0, 80) > 0).astype(int)
SIGN = np.where(Y == 1, 1.0, -1.0)


def weights(model, loss, rounds):
    """The weights before each round, from the staged scores."""
    scores = [np.zeros(len(Y)), *model.staged_decision_function(X)]
    return [loss.weight(SIGN * score) for score in scores[:rounds]]


@pytest.mark.parametrize("scheme", ["classic", "corrective"])
def test_the_weak_edge_is_the_mean_over_the_features_of_the_round(scheme):
    settings = {"l2_regularization": 0.0, "fit_intercept": False, "tol": 0.0}
    model = pm.ULSClassifier("logistic", learner="column", scheme=scheme, n_rounds=6, **settings).fit(X, Y)
    loss, history = losses.get("logistic"), model.history_
    coefficients = [np.zeros(4), *(coef for _, coef in model._traces[0].path)]
    seen = []
    for number, weight in enumerate(weights(model, loss, len(history["weak_edge"]))):
        edges = (SIGN * weight) @ X / weight.sum()  # of every column, by definition
        moved = np.flatnonzero(coefficients[number + 1] != coefficients[number]).tolist()
        seen = moved if scheme == "classic" else list(dict.fromkeys([*seen, *moved]))
        assert history["weak_edge"][number] == pytest.approx(abs(edges[seen].mean()), rel=1e-5, abs=1e-9)
    assert history["mean_edge"] == pytest.approx(
        np.cumsum(history["weak_edge"]) / np.arange(1, len(history["edge"]) + 1)
    )


def test_the_last_bound_is_that_of_the_certificate_and_no_round_exceeds_its_bound():
    model = pm.ULSClassifier.plain("logistic", 25, 1).fit(X, Y)
    bound = model.history_["rounds_bound"]
    assert bound[-1] == pytest.approx(model.certificate_.bound, rel=1e-12)
    assert (np.arange(1, len(bound) + 1) <= bound).all()  # Theorem 2


def test_the_display_names_the_round_in_which_the_assumption_fails():
    pytest.importorskip("matplotlib").use("Agg")
    model = pm.ULSClassifier.plain("logistic", 25, 1).fit(X, Y)
    edge = model.history_["weak_edge"]
    gamma = float(np.sort(edge)[5])
    display = pm.WeakLearningDisplay.from_estimator(model, gamma=gamma)
    assert display.fails_ == int(np.flatnonzero(edge < gamma)[0]) + 1
    assert pm.WeakLearningDisplay.from_estimator(model, gamma=0.0).fails_ is None
    with pytest.raises(ValueError, match="`estimator` must be a ULSClassifier"):
        pm.WeakLearningDisplay.from_estimator(pm.UDTClassifier().fit(X, Y))


def by_enumeration(table, positive):
    """Separation of rows over {-1, 0, 1} columns by trying small integer directions."""
    signed = np.where(positive, 1, -1)[:, None] * table
    products = [signed @ np.array(d) for d in itertools.product(range(-4, 5), repeat=table.shape[1])]
    if any((p > 0).all() for p in products):
        return "complete"
    return "partial" if any((p >= 0).all() and (p > 0).any() for p in products) else "none"


@pytest.mark.parametrize("seed", range(40))
def test_the_program_decides_separability(seed):
    rng = np.random.default_rng(seed)
    table = rng.integers(-1, 2, (int(rng.integers(3, 9)), 3)).astype(float)
    positive = rng.random(len(table)) < 0.5
    found = separation(table, positive, constant=False)
    assert found.kind == by_enumeration(table, positive)
    if found.direction is not None:
        margins = np.where(positive, 1, -1) * (table @ found.direction[:3])
        assert margins.min() > -1e-7
        assert margins.max() > 0.5


def test_majority_of_three_is_separable_although_no_column_is():
    # E3: the papers' lemma says that a finite solution exists here
    table = np.array(list(itertools.product([-1.0, 1.0], repeat=3)))
    y = (table.sum(axis=1) > 0).astype(int)
    model = pm.ULSClassifier(learner="column", n_rounds=5, l2_regularization=0.0, fit_intercept=False).fit(table, y)
    assert model.certificate_.separation == "complete"
    assert all(separation(table[:, [k]], y == 1, constant=False).kind == "none" for k in range(3))


def test_noise_has_a_finite_minimiser_and_bounded_scores_are_not_asked():
    model = pm.ULSClassifier(learner="column", n_rounds=5).fit(X, Y)
    assert model.certificate_.separation == "none"
    assert pm.ULSClassifier("squared", learner="column", n_rounds=5).fit(X, Y).certificate_.separation is None


@pytest.mark.parametrize("flavour", ["F1", "E1", "E2"])
def test_a_flavour_gives_probabilities_by_the_phi_of_its_last_round(flavour):
    table = (X > 0).astype(float)
    model = pm.ULSClassifier.plain(flavour, 7, 1).fit(table, Y)
    last = losses.get(str(model.history_["loss"][-1]))
    assert model.predict_proba(table)[:, 1] == pytest.approx(
        last.probability(model.decision_function(table)), rel=1e-12
    )
