"""loss="auto" compares shapes of phi: equal shapes are judged equal whatever their scale, and fits are those of the end."""

import numpy as np
import pytest

import permissible as pm
from permissible import losses
from permissible.learners.uls import fit as uls_fit
from permissible.learners.uls import flavours
from permissible.learners.uls.flavours import equally_penalised


def table(seed, truth="logistic", n=300):
    """Boolean rows whose probabilities follow the link of a loss at the same scores."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, 6)).astype(float)
    score = (X - 0.5) @ rng.normal(size=6) * 2
    return X, (rng.random(n) < losses.get(truth).probability(score)).astype(int)


def test_the_penalty_is_in_proportion_to_the_curvature_at_zero():
    known = (("logistic", {}, 0.25), ("matsushita", {}, 0.5), ("squared", {}, 0.5), ("mu", {"mu": 0.5}, 1.0))
    for name, params, curvature in known:
        assert equally_penalised(losses.get(name, **params), 3.0) == pytest.approx(3.0 * curvature / 0.25, rel=1e-12)


@pytest.mark.parametrize("mu", [0.25, 0.9])
def test_two_phi_that_differ_in_scale_only_are_judged_equal(monkeypatch, mu):
    losses.register("rescaled", lambda: losses.get("mu", mu=mu).entropy)
    try:
        monkeypatch.setattr(flavours, "BAG", ("logistic", "matsushita", "rescaled"))
        X, y = table(3, "matsushita")
        evidence = pm.ULSClassifier("auto", n_rounds=20, l2_regularization=5.0).fit(X, y).loss_evidence_
    finally:
        losses.unregister("rescaled")
    np.testing.assert_allclose(evidence.scores[1], evidence.scores[2], rtol=1e-6)


def test_what_is_judged_is_what_the_final_fit_would_be(monkeypatch):
    X, y = table(5)
    seen = []
    original = uls_fit.fit_rules

    def spy(source, label, task):
        seen.append(task)
        return original(source, label, task)

    monkeypatch.setattr(uls_fit, "fit_rules", spy)
    model = pm.ULSClassifier("auto", n_rounds=15, l2_regularization=2.0).fit(X, y)
    asked, *tried, final = seen
    assert asked.loss == "auto"
    judged = [task for task in tried if task.loss.name == model.loss_evidence_.chosen]
    assert len(judged) == flavours.FOLDS
    for task in judged:
        assert task.candidates == final.candidates
        assert (task.stopping, task.validation, task.start) == (final.stopping, final.validation, final.start)
    assert all(task.candidates[0].l2 == equally_penalised(task.loss, 2.0) for task in [*tried, final])


def test_a_logistic_truth_keeps_the_logistic_loss():
    left = sum(
        pm.ULSClassifier("auto", n_rounds=8, max_literals=1).fit(*table(seed)).loss_evidence_.chosen != "logistic"
        for seed in range(8)
    )
    assert left <= 2  # at a level of 5%: P[more than 2 of 8] < 1%
