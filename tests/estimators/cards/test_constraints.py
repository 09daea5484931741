"""monotonic_cst and interaction_cst of ULSClassifier hold for every row, with gaps and categories, for rules and cards."""

import numpy as np
import pytest
from scipy.optimize import minimize

import permissible as pm
from permissible import losses
from permissible.estimators.classifier import card_of
from permissible.learners.constraints.signed import refit_signed
from permissible.learners.uls.rows import Patterns
from permissible.losses.surrogate import compiled
from permissible.models.kinds.one_versus_rest import members
from tests.estimators.cards.probes import DIRECTIONS, labels, rows

MODES = {
    "classic": {"n_rounds": 25},
    "corrective": {"n_rounds": 8, "scheme": "corrective"},
    "block": {"n_rounds": 12, "scheme": 3},
    "plain": {"n_rounds": 12, "fit_intercept": False, "learning_rate": 1.0},
    "long": {"n_rounds": 8, "max_literals": 4},
    "card": {"n_rounds": 5, "points": 5, "max_literals": 1},
    "card of conjunctions": {"n_rounds": 5, "points": 5, "max_literals": 2},
}


def fitted(mode, loss="logistic", **more):
    frame = rows(400, 0)
    options = {"early_stopping": False, "max_literals": 2, **MODES[mode], **more}
    return pm.ULSClassifier(loss, **options).fit(frame, labels(frame, 0))


@pytest.mark.parametrize("mode", MODES)
def test_every_literal_points_the_way_that_its_sign_asks_for(mode):
    """The proof for sums of rules: no rule by itself can move the score the wrong way."""
    model = fitted(mode, monotonic_cst=DIRECTIONS)
    assert all(
        _signed(rule, c) for one in members(model.model_) for rule, c in zip(one.rules, one.coefficients, strict=True)
    )


def _signed(rule, coefficient):
    for literal in rule:
        direction = DIRECTIONS.get("abcdk"[literal.column], 0)
        if direction and literal.test in (">", "<="):
            step = coefficient * direction * (1 if literal.test == ">" else -1)
            if step < 0:
                return False
    return True


@pytest.mark.parametrize("mode", ["classic", "corrective", "long", "card of conjunctions"])
def test_only_columns_of_one_group_meet_in_a_rule(mode):
    model = fitted(mode, interaction_cst=[["a", "b"], ["b", "c"]])
    met = [{"abcdk"[literal.column] for literal in rule} for rule in model.rules_]
    assert any(len(columns) > 1 for columns in met)
    assert all(columns <= {"a", "b"} or columns <= {"b", "c"} or columns <= {"d", "k"} for columns in met)


def test_no_interactions_and_pairwise():
    assert {len(rule) for rule in fitted("long", interaction_cst="no_interactions").rules_} == {1}
    assert max(len(rule) for rule in fitted("long", interaction_cst="pairwise").rules_) == 2


def test_parts_obey_as_memory_does():
    frame = rows(400, 0)
    whole = frame.assign(y=labels(frame, 0))
    dataset = pm.BinnedDataset.from_batches([whole[:150], whole[150:]], target="y")
    options = {"n_rounds": 5, "early_stopping": False, "max_literals": 2, "monotonic_cst": DIRECTIONS}
    one, other = pm.ULSClassifier(**options).fit(frame, labels(frame, 0)), pm.ULSClassifier(**options).fit(dataset)
    assert np.array_equal(one.decision_function(frame), other.decision_function(frame))


@pytest.mark.parametrize("mode", ["corrective", "card"])
def test_the_cost_of_constraints_is_told(mode):
    frame = rows(400, 0)
    model = fitted(mode, monotonic_cst={"a": -1})
    assert model.constraint_cost(frame, labels(frame, 0)) > 0.0


@pytest.mark.parametrize("seed", range(6))
def test_a_refit_with_signs_is_the_minimum_of_scipy(seed):
    random = np.random.default_rng(seed)
    bits = (random.random((60, 4)) < 0.5).astype(np.uint8)
    patterns = Patterns.merged([Patterns(bits, random.integers(0, 4, (60, 2)))])
    signs, l2 = np.array([0, 1, -1, 1, 0]), 0.3
    surrogate = compiled(losses.get("logistic")).function()
    found = refit_signed(patterns, 1.0, surrogate, np.zeros(5), np.ones(5, dtype=bool), l2, signs)
    design = np.column_stack((np.ones(len(patterns.bits)), 2.0 * patterns.bits - 1.0))

    def value(theta):
        score = design @ theta
        lost = patterns.weight[:, 1] @ np.logaddexp(0, -score) + patterns.weight[:, 0] @ np.logaddexp(0, score)
        return float(lost) + l2 * float((theta[1:] ** 2).sum())

    bounds = [(None, None), (0, None), (None, 0), (0, None), (None, None)]
    referee = minimize(value, np.zeros(5), bounds=bounds, options={"ftol": 1e-14, "gtol": 1e-10, "maxiter": 2000})
    assert (signs * found.theta >= 0).all()
    assert value(found.theta) <= referee.fun + 1e-9


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"monotonic_cst": {"k": 1}}, "0 for a column of categories"),
        ({"monotonic_cst": {"z": 1}}, "unknown column 'z'"),
        ({"monotonic_cst": [1, 2, 0, 0, 0]}, "-1, 0 or 1 for each"),
        ({"interaction_cst": [["a", "z"]]}, "unknown column 'z'"),
        ({"interaction_cst": [[0, 9]]}, "positions below 5"),
        ({"interaction_cst": [["a"], ["a", "b"]]}, "none lies in another"),
        ({"interaction_cst": [[]]}, "a sequence of groups"),
        ({"interaction_cst": "all"}, '"pairwise"'),
        ({"interaction_cst": [["a", "b"]], "max_literals": 1}, "no effect"),
        ({"interaction_cst": [["a", "b"]], "learner": "tree", "max_depth": 1}, "no effect"),
        ({"monotonic_cst": {"k": 1}, "learner": "tree"}, "0 for a column of categories"),
        ({"monotonic_cst": {"a": 1}, "loss": "F1"}, "no effect"),
    ],
)
def test_a_constraint_that_cannot_be_kept_is_refused_in_one_sentence(options, words):
    frame = rows(60, 0)
    with pytest.raises(ValueError, match=words):
        pm.ULSClassifier(**options).fit(frame, labels(frame, 0))


def test_more_than_two_classes_are_refused():
    frame = rows(90, 0)
    with pytest.raises(ValueError, match="None for more than two classes"):
        pm.ULSClassifier(monotonic_cst={"a": 1}).fit(frame, np.arange(90) % 3)
    with pytest.raises(ValueError, match="None for more than two classes"):
        pm.ULSClassifier(monotonic_cst={"a": 1}, learner="tree").fit(frame, np.arange(90) % 3)


@pytest.mark.parametrize("parts", [False, True])
def test_only_columns_of_one_group_meet_on_a_path_of_boosted_trees(parts):
    frame = rows(400, 0)
    whole = frame.assign(y=labels(frame, 0))
    dataset = pm.BinnedDataset.from_batches([whole[:150], whole[150:]], target="y")
    given = (dataset,) if parts else (frame, labels(frame, 0))
    options = {"n_trees": 20, "max_leaf_nodes": 8, "early_stopping": False, "learning_rate": 0.1, "max_features": 1.0}
    groups = {"interaction_cst": [["a", "b"], ["b", "c"]], "monotonic_cst": {"a": 1}}
    model = pm.ULSClassifier.trees(**options, **groups).fit(*given)
    paths = [
        {"abcdk"[literal.column] for literal in leaf.rule} for term in card_of(model).terms for leaf in term.leaves()
    ]
    assert any(len(columns) > 1 for columns in paths)
    assert all(columns <= {"a", "b"} or columns <= {"b", "c"} or columns <= {"d", "k"} for columns in paths)
    assert model.constraint_cost(frame, labels(frame, 0)) > 0.0


@pytest.mark.parametrize("parts", [False, True])
def test_only_columns_of_one_group_meet_on_a_path_of_a_tree(parts):
    frame = rows(400, 0)
    whole = frame.assign(y=labels(frame, 0))
    given = (
        (pm.BinnedDataset.from_batches([whole[:150], whole[150:]], target="y"),) if parts else (frame, labels(frame, 0))
    )
    tree = pm.UDTClassifier(max_leaf_nodes=20, interaction_cst=[["a", "b"], ["b", "c"]], monotonic_cst={"a": 1}).fit(
        *given
    )
    paths = [{"abcdk"[literal.column] for literal in tree.model_.path(leaf)} for leaf in tree.model_.leaves.tolist()]
    assert any(len(columns) > 1 for columns in paths)
    assert all(columns <= {"a", "b"} or columns <= {"b", "c"} or columns <= {"d", "k"} for columns in paths)


@pytest.mark.parametrize("learner", ["tree", "rule"])
@pytest.mark.parametrize("descent", ["coordinate", "gradient"])
def test_only_columns_of_one_group_meet_in_the_terms_of_mcboost(learner, descent):
    frame, options = rows(400, 0), {"max_literals": 3} if learner == "rule" else {"max_leaf_nodes": 8}
    target = labels(frame, 0) + (frame["d"] > 0.5)  # three classes: groups need no order of them
    groups = {"interaction_cst": [["a", "b"], ["b", "c"]]}
    model = pm.MCBoostClassifier(learner=learner, descent=descent, n_rounds=10, **options, **groups).fit(frame, target)
    leaves = [leaf for term in card_of(model).terms for leaf in getattr(term, "leaves", lambda term=term: [term])()]
    paths = [{"abcdk"[literal.column] for literal in leaf.rule} for leaf in leaves]
    assert any(len(columns) > 1 for columns in paths)
    assert all(columns <= {"a", "b"} or columns <= {"b", "c"} or columns <= {"d", "k"} for columns in paths)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"learner": "linear", "monotonic_cst": {"a": 1}}, "no effect"),
        ({"learner": "rule", "monotonic_cst": {"a": 1}}, "use learner='tree'"),
        ({"learner": "auto", "monotonic_cst": {"a": 1}}, "no effect"),
        ({"learner": "tree", "monotonic_cst": {"k": 1}}, "0 for a column of categories"),
        ({"learner": "tree", "max_depth": 1, "interaction_cst": [["a", "b"]]}, "no effect"),
    ],
)
def test_what_mcboost_cannot_keep_is_refused(options, words):
    frame = rows(60, 0)
    with pytest.raises(ValueError, match=words):
        pm.MCBoostClassifier(**options).fit(frame, labels(frame, 0))
    with pytest.raises(ValueError, match="None for more than two classes"):
        pm.MCBoostClassifier(learner="tree", monotonic_cst={"a": 1}).fit(frame, np.arange(60) % 3)


def test_a_tree_without_a_constraint_that_binds_is_the_compiled_one():
    frame = rows(400, 0)
    free, grouped = (
        pm.UDTClassifier(max_leaf_nodes=12, interaction_cst=groups).fit(frame, labels(frame, 0))
        for groups in (None, [["a", "b", "c", "d", "k"]])
    )
    assert np.array_equal(free.predict_proba(frame), grouped.predict_proba(frame))
