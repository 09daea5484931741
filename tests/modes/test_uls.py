"""ULSClassifier over the product of its modes: the optimum of scipy over the same features, and a certificate that is true."""

from itertools import product

import numpy as np
import pytest

import permissible as pm
from tests.modes.cases import documented, matrix
from tests.modes.referee import LOSSES
from tests.modes.uls import BLOCK, Mode, fit_of, largest_edge

SCHEMES = (*documented(pm.ULSClassifier, "scheme"), BLOCK)
FLAGS = (True, False), (0.0, 1.0), (False, True), ("memory", "parts")
CELLS = [
    cell
    for cell in product(LOSSES, ("rule", "column"), SCHEMES, *FLAGS)
    if cell[1] == "rule" or cell[-1] == "memory"  # columns are refused on parts
]
MATRIX = list(matrix(CELLS, len(FLAGS)))
REFITS = [param for param in MATRIX if param.values[0][2] != "classic"]
CLASSIC = [param for param in MATRIX if param.values[0][2] == "classic"]


def close(found, wanted, digits=1e-7):
    return found == wanted or abs(found - wanted) <= digits * max(1.0, abs(wanted))


def test_every_documented_way_to_boost_is_in_the_matrix():
    assert set(documented(pm.ULSClassifier, "scheme")) == {"classic", "corrective"}
    assert set(documented(pm.ULSClassifier, "learner")) == {"rule", "column", "tree"}
    assert {loss.name for loss, _ in LOSSES.values()} >= set(pm.losses.names())


@pytest.mark.parametrize("cell", MATRIX)
def test_history_and_certificate_give_the_surrogate_of_the_scores(cell):
    fit = fit_of(Mode(*cell))
    wanted = fit.surrogates[1:]
    np.testing.assert_allclose(fit.model.history_["surrogate"], wanted, rtol=1e-7, atol=1e-8)
    assert close(fit.certificate.surrogate, fit.surrogate(fit.scores))
    assert fit.certificate.rounds == len(wanted)
    wrong = [float(fit.sample @ ((scores >= 0) != (fit.sign > 0))) / fit.sample.sum() for scores in fit.staged]
    away = np.abs(fit.staged).min(axis=1, initial=np.inf) > 1e-9  # a score of rounding size may have either sign
    np.testing.assert_allclose(fit.model.history_["train_error"][away], np.array(wrong)[away], atol=1e-9)


@pytest.mark.parametrize("cell", REFITS)
def test_refitted_coefficients_are_the_minimiser_over_their_features(cell):
    fit = fit_of(Mode(*cell))
    before = np.vstack([np.zeros(len(fit.theta)), fit.path])
    told = any(doubt.kind == "not converged" for doubt in fit.certificate.doubts)
    for number, (old, new) in enumerate(zip(before, fit.path, strict=False)):
        moved = np.flatnonzero(old != new)
        if not fit.separated.any() and len(moved):
            worst = fit.objective.relative_gradient(new)[moved].max()
            # Where the curvature has no bound, the last digit of a score decides more of the gradient.
            most = 1e-6 if np.isfinite(fit.mode.referee.steepest) else 1e-4
            in_force = any((fit.path[number:, place] == new[place]).all() for place in moved)
            if told or not in_force:  # the certificate is about the last refit of every coefficient
                most = 1e-3
            assert worst <= most, f"round {number + 1}: a gradient of {worst:.2g} over what was refitted"
    if fit.mode.scheme == "corrective" or fit.certificate.stopped == "no edge":
        nears_the_infimum(fit, 1e-7 if fit.mode.scheme == "corrective" else 1e-5)


def nears_the_infimum(fit, digits):
    """No point that scipy finds has a lower objective; rows without a finite minimiser are right by far, the rest at theirs."""
    rest = fit.objective.of_rows(~fit.separated)
    found, least = rest.value(fit.theta), rest.least(fit.theta)
    scale = fit.sample.sum() * fit.mode.referee.unit
    if fit.separated.any():  # they still pull a little, as much as their weights at the cap
        digits = 1e-4
        margins = (fit.sign * fit.scores)[fit.separated]
        assert margins.min() > 0, "a row that can be separated from the rest is not"
    assert found - least <= digits * scale, f"{found:.9g} where {least:.9g} is reached"


@pytest.mark.parametrize("cell", CLASSIC)
def test_a_classic_step_is_exact_and_lowers_the_surrogate(cell):
    mode = Mode(*cell)
    fit = fit_of(mode)
    before = np.vstack([np.full(len(fit.sign), fit.start), fit.staged])
    if mode.l2 == 0:
        falls = -np.diff(fit.surrogates)
        assert (falls >= -1e-9).all()
        idle, left = int(np.sum(falls <= 1e-14)), fit.certificate.largest_edge
        assert idle <= 1 or left < 1e-4, f"{idle} of {len(falls)} rounds changed nothing, an edge of {left:.2g} is left"
    steps = len(fit.staged) - fit.certificate.separable  # a step without a finite end is the last one
    if mode.learner == "column":
        _exact_along_columns(fit, steps)
    else:
        _exact_along_rules(fit, before, steps)
    if fit.certificate.stopped == "no edge" and (mode.l2 == 0 or mode.learner == "column"):
        nears_the_infimum(fit, 1e-4)


def _exact_along_columns(fit, steps):
    """After a step along a column its penalised gradient is 0; the column is the one whose coefficient moved."""
    before = np.vstack([np.zeros(len(fit.theta)), fit.path])
    digits = 1e-4 if fit.separated.any() else 1e-6  # a step without a finite end stops where little pull is left
    for number in range(steps):
        moved = np.flatnonzero(before[number] != before[number + 1])
        assert len(moved) <= 1
        if len(moved):
            assert fit.objective.relative_gradient(before[number + 1])[moved[0]] <= digits, f"round {number + 1}"


def _exact_along_rules(fit, before, steps):
    """A step moves scores by v inside and u outside; each is the minimiser with its cost l2 v^2 / 2, or both are +-v.

    No step is longer than the cap of the loss: a side without a finite minimiser ends there.
    """
    l2, total, first = fit.mode.l2, fit.sample.sum() * fit.mode.referee.unit, int(fit.mode.intercept)
    start = np.zeros(len(fit.theta))
    start[:first] = fit.start
    longest = max(
        (abs(side) for step in fit.model._traces[0].rounds for side in (step.value_in, step.value_out)), default=0
    )
    for number, change in enumerate(np.diff(np.vstack([start, fit.path]), axis=0)[:steps]):
        moved = first + fit.model.rules_.index(fit.model._traces[0].rounds[number].rule)
        constant, value = change[0] if first else 0.0, change[moved]
        inside = fit.design[:, moved] > 0
        pull = fit.sign * fit.weight(before[number + 1])
        edges = [pull[inside].sum() - l2 * (constant + value), pull[~inside].sum() - l2 * (constant - value)]
        if fit.separated.any():
            sides = abs(constant + value), abs(constant - value)
            edges = [0.0 if close(side, longest) else edge for edge, side in zip(edges, sides, strict=True)]
        left = abs(edges[0] - edges[1]) if abs(constant) <= 1e-9 * abs(value) + 1e-12 else max(np.abs(edges))
        assert left <= 1e-6 * total, f"round {number + 1}: edges {edges[0]:.2g} and {edges[1]:.2g}"


@pytest.mark.parametrize("cell", MATRIX)
def test_what_the_certificate_says_is_left_to_gain_is_so(cell):
    mode = Mode(*cell)
    fit = fit_of(mode)
    weight, first = np.abs(fit.weight(fit.scores)).sum(), np.abs(fit.weight(np.zeros(len(fit.sign)))).sum()
    if weight <= 0.9e-9 * first:  # every weight has vanished: nothing is left
        assert fit.certificate.gradient_norm == fit.certificate.largest_edge == 0.0
    if weight <= 1.1e-9 * first:
        return
    # The last digit of a score decides so much of the weights.
    bend = fit.sample * mode.referee.curvature(fit.sign * fit.scores) * np.abs(fit.scores)
    digits = 1e-5 + 10 * np.finfo(float).eps * bend.sum() / weight
    if mode.learner == "rule":
        assert close(fit.certificate.largest_edge, largest_edge(fit), digits)
    gradient = fit.objective.gradient(fit.theta)
    if mode.learner == "rule" and mode.scheme == "classic":  # steps have costs there, coefficients have not
        gradient = gradient - 2 * fit.objective.cost * fit.theta
    assert close(fit.certificate.gradient_norm, np.linalg.norm(gradient) / weight, digits)


@pytest.mark.parametrize("cell", MATRIX)
def test_no_finite_minimiser_is_said_where_there_is_none_and_only_there(cell):
    fit = fit_of(Mode(*cell))
    words = [fit.certificate.statement, *(doubt.words for doubt in fit.certificate.doubts)]
    said = any("no finite minimiser" in sentence for sentence in words)
    if said or fit.certificate.separable:
        assert fit.separated.any(), fit.certificate.statement
    if not said and fit.mode.scheme == "corrective":
        assert not fit.separated.any(), fit.certificate.statement
    assert fit.certificate.separable == (fit.certificate.stopped == "separable")
    assert fit.certificate.separable == ("separate the classes" in fit.certificate.statement)
    if fit.certificate.separable:
        assert fit.separated.all(), fit.certificate.statement
    vanished = fit.certificate.surrogate <= 1e-10  # then nothing is left to lower, whatever the shares of the weights
    if fit.certificate.stopped == "no edge" and fit.mode.l2 == 0 and not (fit.separated.any() or vanished):
        assert fit.certificate.gradient_norm <= 1e-3, fit.certificate.statement


@pytest.mark.parametrize("cell", MATRIX)
def test_every_doubt_is_true_and_none_is_missing(cell):
    fit = fit_of(Mode(*cell))
    kinds = {doubt.kind: doubt for doubt in fit.certificate.doubts}
    if "surrogate rises" in kinds:
        assert np.diff(fit.surrogates).max() > 1e-10, kinds["surrogate rises"].words
    share = fit.saturated()
    if "probabilities saturate" in kinds:
        assert kinds["probabilities saturate"].figure == pytest.approx(share, abs=0.02)
    elif fit.mode.source == "memory" and not fit.mode.referee.ends:
        assert share < 0.26, f"{share:.0%} of the rows have a probability of 0 or 1"
    if fit.certificate.separable:
        assert "coefficient explodes" in kinds
    elif "coefficient explodes" in kinds and fit.mode.learner == "rule":
        certain = fit.unsure(np.abs(fit.model.coefficients_).max()) <= 2.0**-52
        assert fit.separated.any() or certain, kinds["coefficient explodes"].words
    assert ("stopped early" in kinds) == (fit.certificate.stopped in ("time", "interrupted"))


@pytest.mark.parametrize("cell", MATRIX)
def test_theorem_2_is_computed_from_its_ingredients(cell):
    mode = Mode(*cell)
    fit = fit_of(mode)
    if not len(fit.staged):
        assert fit.certificate.bound == np.inf
        return
    before = np.vstack([np.full(len(fit.sign), fit.start), fit.staged[:-1]])
    totals = np.array([np.abs(fit.weight(scores)).sum() for scores in before])
    columns = fit.design if mode.learner == "column" else np.ones((len(fit.sign), 1))
    wanted = {
        "examples": fit.sample.sum(),
        "b": mode.referee.unit,
        "a_m": np.sqrt((fit.sample @ columns**2).max()),
        "a_v": 1 / mode.referee.steepest,
        "a_Z": totals.min(),
        "a_gamma": fit.model.history_["edge"].mean(),
    }
    for name, value in wanted.items():
        assert fit.certificate.ingredients[name] == pytest.approx(value, rel=1e-4, abs=1e-12), name
    curved = wanted["a_v"] * wanted["a_Z"] ** 2 * wanted["a_gamma"] ** 2
    bound = 2 * wanted["examples"] * wanted["b"] * wanted["a_m"] ** 2 / curved if curved > 0 else np.inf
    assert fit.certificate.bound == pytest.approx(bound, rel=1e-2)
