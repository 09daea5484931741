"""monotonic_cst holds for every row there can be: probes of every learner and loss, gaps and categories included."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import log_loss

import permissible as pm
from permissible import losses
from tests.estimators.cards.probes import DIRECTIONS, labels, largest_violation, rows

pytestmark = [
    pytest.mark.filterwarnings("ignore::permissible.DoubtfulFitWarning"),
    pytest.mark.filterwarnings("ignore:categories never seen in fit"),
]
LEARNERS = {
    "classic": {"n_rounds": 25, "max_literals": 2},
    "corrective": {"n_rounds": 8, "scheme": "corrective", "max_literals": 2},
    "block": {"n_rounds": 12, "scheme": 3, "max_literals": 2},
    "plain": {"n_rounds": 12, "fit_intercept": False, "learning_rate": 1.0, "max_literals": 2},
    "long": {"n_rounds": 8, "max_literals": 4},
    "card": {"n_rounds": 5, "points": 5, "max_literals": 1},
    "card of conjunctions": {"n_rounds": 5, "points": 5, "max_literals": 2},
    "trees": {"learner": "tree", "n_rounds": 25, "max_leaf_nodes": 12},
    "exact trees": {"learner": "tree", "n_rounds": 8, "learning_rate": 1.0, "max_depth": 4},
}
OWN = losses.from_phi(lambda p: np.asarray(p) * (1 - np.asarray(p)), name="own")
LOSSES = {**{name: name for name in losses.names()}, "own": OWN}


MCBOOST = ("gll", "gel", "ls", "lt", "mc")


def fitted(learner, loss, **more):
    frame = rows(400, 0)
    if learner in ("coordinate", "gradient"):
        options = {"learner": "tree", "descent": learner, "n_rounds": 20, "max_leaf_nodes": 10, **more}
        return pm.MCBoostClassifier(loss, **options).fit(frame, labels(frame, 0))
    if learner == "tree":
        return pm.UDTClassifier(LOSSES[loss], max_leaf_nodes=25, **more).fit(frame, labels(frame, 0))
    options = {"early_stopping": False, **LEARNERS[learner], **more}
    return pm.ULSClassifier(LOSSES[loss], **options).fit(frame, labels(frame, 0))


def score_of(model):
    """The score where there is one: the probability of a row hides what is lost in rounding."""
    return getattr(model, "decision_function", lambda X: model.predict_proba(X)[:, 1])


def every(*learners):
    known = [(learner, loss) for learner in learners for loss in LOSSES]
    boosted = [(descent, loss) for descent in ("coordinate", "gradient") for loss in MCBOOST]
    return [pair for pair in known if pair not in REFUSED] + boosted


REFUSED = {("tree", name) for name in ("exponential", "least_squares")}
"""A tree needs an entropy, so a loss of two margins."""


@pytest.mark.parametrize(("learner", "loss"), every(*LEARNERS, "tree"))
def test_no_probe_violates_a_direction(learner, loss):
    model = fitted(learner, loss, monotonic_cst=DIRECTIONS)
    assert largest_violation(score_of(model), 6_000) == 0.0


@pytest.mark.parametrize("learner", [*LEARNERS, "tree", "coordinate", "gradient"])
def test_without_the_constraint_probes_violate_it(learner):
    loss = "gll" if learner in ("coordinate", "gradient") else "logistic"
    assert largest_violation(score_of(fitted(learner, loss)), 6_000) > 0.01


def test_an_exact_line_search_keeps_the_directions():
    model = fitted("coordinate", "gll", monotonic_cst=DIRECTIONS, line_search="exact")
    assert largest_violation(score_of(model), 6_000) == 0.0


@pytest.mark.parametrize("learner", ["trees", "coordinate", "gradient"])
def test_parts_obey_as_memory_does(learner):
    loss = "logistic" if learner == "trees" else "gll"
    frame, one = rows(400, 0), fitted(learner, loss, monotonic_cst=DIRECTIONS)
    whole = frame.assign(y=labels(frame, 0))
    dataset = pm.BinnedDataset.from_batches([whole[:150], whole[150:]], target="y")
    other = clone(one).fit(dataset)
    assert np.array_equal(one.decision_function(frame), other.decision_function(frame))


def test_directions_of_trees_cost_no_more_than_those_of_scikit_learn():
    """The same labels, directions, leaves and rate: the held-out loss of both growers."""
    frame, other = (rows(2000, seed).drop(columns="k") for seed in (0, 1))
    y, z = (labels(one.assign(k="v"), 3) for one in (frame, other))
    common = {"max_leaf_nodes": 15, "learning_rate": 0.1, "early_stopping": False, "l2_regularization": 1.0}
    ours = pm.ULSClassifier.trees(n_trees=60, **common, max_features=1.0, monotonic_cst=DIRECTIONS).fit(frame, y)
    peer = HistGradientBoostingClassifier(max_iter=60, monotonic_cst=DIRECTIONS, **common).fit(frame, y)
    assert log_loss(z, ours.predict_proba(other)) < log_loss(z, peer.predict_proba(other)) * 1.01


@pytest.mark.slow
@pytest.mark.parametrize(("learner", "loss"), every(*LEARNERS, "tree"))
def test_no_violation_among_a_million_probes(learner, loss):
    model = fitted(learner, loss, monotonic_cst=DIRECTIONS)
    assert largest_violation(score_of(model), 1_000_000) == 0.0
