"""One meaning everywhere: Python, files, SQL, ONNX, Python source and the page give the same score, probability and action.

The rows try every corner of a model (thresholds exactly, huge, tiny and missing values, unseen categories), the decisions name
their classes in another order than the model. Actions are compared where no rounding can decide: a row whose two best actions
differ by less than 1e-9 is left out, unless it is decided by a score that the place has computed to the last bit.
"""

import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import permissible as pm
from permissible.decisions import CostMatrix, decision_for
from permissible.estimators.classifier import card_of, table_of
from permissible.estimators.files.save_load import text_of
from permissible.models.card.scorecard import KernelTerm, kernel_values
from permissible.models.kinds.one_versus_rest import members
from permissible.table.match import UnseenCategoryWarning
from tests.meaning import targets
from tests.meaning.models import awkward_rows, decisions_for, fitted, kinds
from tests.models.render.test_postgres import Server

QUICK, EVERY = kinds(False), kinds(True)
PLACES = ["python", "sqlite", "duckdb", "onnx", "page"]
NEAR = 1e-9

pytestmark = [pytest.mark.filterwarnings("ignore::permissible.DoubtfulFitWarning"), pytest.mark.needs("node")]


@pytest.fixture(scope="module")
def server():
    with tempfile.TemporaryDirectory(prefix="pg") as folder:
        started = Server(Path(folder))
        started.start()
        yield started
        started.stop()


def asked(place: str, estimator: Any, rows: Any, decision: Any, server: Any = None) -> targets.Answer:
    """The answer of a place."""
    if place in ("sqlite", "duckdb"):
        return targets.in_database(estimator, rows, decision, place)
    if place == "postgres":
        return targets.in_postgres(estimator, rows, decision, server)
    run = {"python": targets.in_python, "onnx": targets.in_onnx, "page": targets.in_browser_script}[place]
    return run(estimator, rows, decision)


def scores_of(estimator: Any, rows: Any) -> Any:
    """The scores by the model itself; a tree's are its probabilities."""
    if isinstance(estimator, pm.MCBoostClassifier):
        return estimator.model_.scores(table_of(estimator, rows))
    if isinstance(estimator, pm.UDTClassifier):
        return estimator.predict_proba(rows)
    return estimator.decision_function(rows).reshape(len(rows), -1)


def expected_actions(estimator: Any, rows: Any, decision: Any) -> list[str | None]:
    """What the estimator itself does, as text: a label, the number of a region, None for no decision."""
    if decision is None:
        return [targets.spoken(label) for label in estimator.predict(rows).tolist()]
    actions = estimator.decide(rows, decision).tolist()
    if isinstance(decision, pm.Boundaries):
        return [targets.spoken(action) for action in actions]
    labels = [*estimator.classes_.tolist(), None]
    return [targets.spoken(labels[action]) for action in actions]


def sure(estimator: Any, proba: Any, decision: Any) -> Any:
    """The rows whose action does not hang on the last digits of a probability."""
    if decision is None and isinstance(estimator, pm.MCBoostClassifier) and estimator.decision == "bayes":
        decision = CostMatrix(estimator.cost_matrix_.matrix)
    if decision is None and len(getattr(estimator, "deltas_", ())) == 1:
        decision = pm.Boundaries(tuple(estimator.model_.boundaries))
    chosen = pm.Hard() if decision is None else decision_for(decision, estimator.classes_)
    if isinstance(chosen, CostMatrix):
        ranked = np.sort(chosen.expected(proba), axis=1)
        return ranked[:, 1] - ranked[:, 0] > NEAR
    cuts = {
        pm.Weighted: lambda d: [d.pi],
        pm.Reject: lambda d: [d.cost, 1 - d.cost],
        pm.Boundaries: lambda d: d.boundaries,
    }
    if type(chosen) in cuts:
        return np.all([np.abs(proba[:, 1] - cut) > NEAR for cut in cuts[type(chosen)](chosen)], axis=0)
    ranked = np.sort(proba, axis=1)
    return ranked[:, -1] - ranked[:, -2] > NEAR


def table_link(estimator: Any) -> bool:
    """Whether the page has to interpolate a probability."""
    from permissible.models.render.formula import formulas

    link = card_of(estimator).link
    return bool(link.losses) and formulas(link.losses) is None


def rounding(estimator: Any, rows: Any) -> Any:
    """How far two ways of adding up a kernel's terms may differ: they can be large and cancel. Nothing for other models."""
    (term, *_) = card_of(estimator).terms or (None,)
    if not isinstance(term, KernelTerm):
        return np.zeros(len(rows))
    sizes = np.abs(kernel_values(term, rows.to_numpy(dtype=np.float64))) @ np.abs(term.coefficients[:, 0])
    return np.asarray(1e-12 * sizes)


def refusal_of(place: str, estimator: Any, decision: Any) -> str:
    """Why a place cannot have this model and decision, "" when it can."""
    card = card_of(estimator)
    if place == "onnx" and any("" in card.schema.columns[column].categories for column in card.used_columns()):
        return "an empty text among the categories"
    by_probability = isinstance(decision, CostMatrix | np.ndarray) or (
        len(estimator.classes_) > 2 and not card.link.alike
    )
    return (
        "a loss whose probability has a formula" if place != "page" and table_link(estimator) and by_probability else ""
    )


def compare(place: str, estimator: Any, rows: Any, decision: Any, server: Any = None) -> int:
    """Compare a place with the estimator; return how many actions were compared."""
    proba, scores = estimator.predict_proba(rows), scores_of(estimator, rows)
    wanted = expected_actions(estimator, rows, decision)
    refused = refusal_of(place, estimator, decision)
    if refused:
        with pytest.raises(ValueError, match=refused):
            asked(place, estimator, rows, decision, server)
        return 0
    found = asked(place, estimator, rows, decision, server)
    exact = rounding(estimator, rows)
    if found.scores.shape == scores.shape:
        np.testing.assert_array_less(np.abs(found.scores - scores), 1e-9 * np.abs(scores) + 1e-11 + exact[:, None])
    compared = sure(estimator, proba, decision) & (exact < NEAR / 10)
    if table_link(estimator):
        assert place == "page" or found.probabilities is None
        if place == "page":
            np.testing.assert_allclose(found.probabilities, proba, atol=2e-3)
        if not (decision is None and len(estimator.classes_) == 2):
            compared = compared & (place != "page")
    else:
        close = exact < NEAR / 10
        np.testing.assert_allclose(np.asarray(found.probabilities)[close], proba[close], rtol=1e-7, atol=NEAR)
    if decision is None and card_of(estimator).link.kind == "loss":
        compared = compared | (found.scores[:, 0] == scores[:, 0])
    differing = [(i, found.actions[i], wanted[i]) for i in np.flatnonzero(compared) if found.actions[i] != wanted[i]]
    assert not differing, (place, decision, differing[:3])
    return int(compared.sum())


def everywhere(kind: Any, seed: int, places: list[str], server: Any = None, n_decisions: int | None = None) -> None:
    estimator = fitted(kind, seed)
    rows = awkward_rows(estimator, kind, seed)
    given = decisions_for(estimator, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenCategoryWarning)
        assert text_of(reloaded(estimator)) == text_of(estimator) if storable(estimator) else True
        for number, decision in enumerate(given):
            if n_decisions is not None and number and (number + seed) % n_decisions:
                continue
            for place in places:
                compare(place, estimator, rows, decision, server)


def storable(estimator: Any) -> bool:
    return not table_link(estimator) or isinstance(estimator, pm.ULSClassifier)


def reloaded(estimator: Any) -> Any:
    """The estimator after a journey through a file."""
    with tempfile.TemporaryDirectory() as folder:
        pm.save(estimator, Path(folder) / "model.json")
        own = (
            {model.loss.name: model.loss for model in members(estimator.model_)}
            if isinstance(estimator, pm.ULSClassifier)
            else {}
        )
        return pm.load(Path(folder) / "model.json", losses=own)


@pytest.mark.parametrize("kind", QUICK, ids=lambda kind: kind.name)
def test_every_place_says_what_the_model_says(kind):
    everywhere(kind, 0, PLACES, n_decisions=3)


@pytest.mark.needs("postgresql")
def test_postgres_says_what_the_models_say(server):
    for seed, kind in enumerate(QUICK):
        everywhere(kind, seed, ["postgres"], server, n_decisions=8)


@pytest.mark.slow
@pytest.mark.needs("postgresql")
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", EVERY, ids=lambda kind: kind.name)
def test_every_place_says_what_every_model_says(kind, seed, server):
    everywhere(kind, seed + 1, [*PLACES, "postgres"], server)
