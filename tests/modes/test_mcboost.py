"""MCBoostClassifier over the product of its modes: surrogates by hand, rounds that lower them, steps of exact length."""

from functools import cache
from itertools import pairwise, product

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import permissible as pm
from permissible.losses.multiclass.losses import MULTICLASS
from tests.modes.cases import documented, fitted, in_parts, matrix, table


def differences(scores, y):
    return scores - scores[np.arange(len(y)), y][:, None]


FORMULAS = {
    "gll": lambda S, y, C: np.log1p((C[y] * np.exp(differences(S, y))).sum(axis=1)),
    "gel": lambda S, y, C: (C[y] * np.exp(differences(S, y))).sum(axis=1),
    "mc": lambda S, y, C: np.exp(differences(S, y)).sum(axis=1),
    "ls": lambda S, y, C: (C[y] * np.exp(S)).sum(axis=1),
    "lt": lambda S, y, C: (C[y] * np.exp(S)).sum(axis=1) * np.exp(-S).sum(axis=1),
}
"""(20), (21), (22), (12) and (14) of [B]."""
LEARNERS = [learner for learner in documented(pm.MCBoostClassifier, "learner") if learner != "auto"]
CELLS = [
    cell
    for cell in product(
        documented(pm.MCBoostClassifier, "loss"),
        LEARNERS,
        documented(pm.MCBoostClassifier, "descent"),
        ("exact", "newton"),
        (2, 3, 4),
        (False, True),
        ("memory", "parts"),
    )
    if not (cell[1].startswith("linear") and cell[3] == "newton")  # affine terms always use the exact step
    and not (cell[1] == "linear-full" and cell[-1] == "parts")  # refused there
]
MATRIX = list(matrix(CELLS, 2, many=2, thin=2))
ROUNDS = 6


def test_every_documented_loss_has_a_formula_and_every_learner_is_in_the_matrix():
    assert set(documented(pm.MCBoostClassifier, "loss")) == set(FORMULAS) == set(MULTICLASS) - {"structured_hinge"}
    assert set(LEARNERS) == {"linear", "linear-full", "rule", "tree"}


def codewords(size):
    """The regular simplex as Helmert's matrix: unit rows that sum to 0 (section 10 of the mathematics)."""
    words = np.zeros((size, size - 1))
    for r in range(1, size):
        words[:r, r - 1] = 1 / np.sqrt(r * (r + 1))
        words[r, r - 1] = -r / np.sqrt(r * (r + 1))
    return np.sqrt(size / (size - 1)) * words


def _own_options(learner, line_search):
    """The options that the learner uses."""
    if learner in ("linear", "linear-full"):
        return {}
    return {"line_search": line_search, "l2_regularization": 0.5} | ({"max_leaf_nodes": 4} if learner == "tree" else {})


@cache
def case(cell):
    """The model, its scores before and after each round, and its surrogate as a function of scores."""
    loss, learner, descent, line_search, size, weighted, source, problem, seed = cell
    X, y, sample = table(problem, seed, weighted)
    random = np.random.default_rng(seed)
    y = y if size == 2 else (y + random.integers(0, size - 1, len(y))).astype(int)
    y[:size] = np.arange(size)
    costs = random.uniform(0.5, 4.0, (size, size)) * (1 - np.eye(size))
    model = pm.MCBoostClassifier(
        loss,
        cost_matrix=costs,
        n_rounds=ROUNDS,
        learner=learner,
        descent=descent,
        learning_rate=1.0,
        tol=0.0,
        calibration=None,
        **_own_options(learner, line_search),
    )
    given = X
    if source == "parts":
        given = {f"x{j}": column for j, column in enumerate(X.T)}
        fitted(model, in_parts(X, y, sample, **({"keep_values": True} if learner == "linear" else {})))
    else:
        fitted(model, X, y, **({} if sample is None else {"sample_weight": sample}))
    share = np.ones(len(y)) if sample is None else sample
    share = share / share.sum()
    scores = [
        np.tile(model.model_.prior, (len(y), 1)),
        *(stage.scores(model._rows(given)) for stage in model._stages()),
    ]
    return model, y, costs, share, scores, lambda S: float(share @ FORMULAS[loss](S, y, costs))


@pytest.mark.parametrize("cell", MATRIX)
def test_history_gives_the_surrogate_the_cost_and_the_error_of_the_scores(cell):
    model, y, costs, share, scores, surrogate = case(cell)
    history = model.history_
    # The logarithm of a sum near 1 (GLL of separated rows) is right to the last digit of 1, not to its own.
    np.testing.assert_allclose(history["surrogate"], [surrogate(S) for S in scores[1:]], rtol=1e-6, atol=1e-15)
    clear = [np.diff(np.partition(S, -2, axis=1)[:, -2:], axis=1).min() > 1e-9 for S in scores[1:]]
    chosen = [S.argmax(axis=1) for S in scores[1:]]
    wanted = np.array([[share @ costs[y, labels], share @ (labels != y)] for labels in chosen]).reshape(-1, 2)
    np.testing.assert_allclose(history["train_cost"][clear], wanted[clear, 0], rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(history["train_error"][clear], wanted[clear, 1], atol=1e-9)
    others = scores[-1].copy()
    others[np.arange(len(y)), y] = -np.inf
    margin = float((scores[-1][np.arange(len(y)), y] - others.max(axis=1)).min())
    certificate = model.certificate_
    assert certificate.smallest_margin == pytest.approx(margin, rel=1e-6, abs=1e-9)
    assert certificate.separable == (certificate.smallest_margin > 0)
    assert certificate.decrease_of_last_round == pytest.approx(
        surrogate(scores[-2]) - surrogate(scores[-1]), rel=1e-4, abs=1e-9
    )


@pytest.mark.parametrize("cell", MATRIX)
def test_every_round_lowers_the_surrogate(cell):
    surrogates = np.array([case(cell)[-1](S) for S in case(cell)[-2]])
    falls = -np.diff(surrogates)
    assert (falls >= -1e-9 * surrogates[0]).all(), f"round {int(np.argmin(falls)) + 1} raised it by {-falls.min():.3g}"


@pytest.mark.parametrize("cell", MATRIX)
def test_every_doubt_is_true(cell):
    model, _, _, _, scores, surrogate = case(cell)
    kinds = {doubt.kind for doubt in model.certificate_.doubts}
    path = [surrogate(S) for S in scores]
    if "coefficient explodes" in kinds:  # larger scores of the same direction are better still
        assert surrogate(1.5 * scores[-1]) <= path[-1]
    assert ("surrogate rises" in kinds) == (np.diff(path).max(initial=-1.0) > 1e-9 * path[0])


@pytest.mark.parametrize("cell", [param for param in MATRIX if param.values[0][3] == "exact"])
def test_the_last_step_of_a_round_has_the_length_that_scipy_finds(cell):
    model, _, _, _, scores, surrogate = case(cell)
    words = codewords(scores[0].shape[1])
    for number, (before, after) in enumerate(pairwise(scores)):
        step = after - before
        if (
            cell[2] == "coordinate"
        ):  # one step per coordinate of the simplex: only the last one starts where it is known to
            step = np.outer(step @ words[:, -1], words[:, -1]) * (len(words) - 1) / len(words)
        if np.abs(step).max() < 1e-9:
            continue
        base = after - step
        # Within twice the step: far ahead, where a bracket would be looked for, exponentials are infinite.
        found = minimize_scalar(
            lambda t, base=base, step=step: surrogate(base + t * step),
            bounds=(0.0, 2.0),
            method="bounded",
            options={"xatol": 1e-12},
        )
        if model.certificate_.capped_steps and found.x > 1:
            continue  # no finite step, or an outlying row that may not move further
        least = min(found.fun, surrogate(after))
        assert surrogate(after) - least <= 1e-7 * surrogate(scores[0]), (
            f"round {number + 1}: scipy goes {found.x:.6g} of it"
        )
