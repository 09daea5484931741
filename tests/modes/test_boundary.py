"""BoundaryClassifier over the product of its modes: objective and gap against Clarabel (hinges) and scipy (soft)."""

from functools import cache
from itertools import product

import clarabel
import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize

import permissible as pm
from tests.modes.cases import fitted, in_parts, matrix, table
from tests.modes.referee import LOSSES, PERMISSIBLE

DECISIONS = {
    "hard": (pm.Hard(), (0.5,)),
    "weighted": (pm.Weighted(0.2), (0.2,)),
    "reject": (pm.Reject(0.15), (0.15, 0.85)),
    "groups": (pm.Boundaries([0.1, 0.25, 0.5, 0.9]), (0.1, 0.25, 0.5, 0.9)),
    "soft": (pm.Soft(), None),
}
KERNELS = ("none", "rbf", "precomputed")
INTERCEPTS = {"free": {}, "penalised": {"penalize_intercept": True}, "without": {"fit_intercept": False}}
CELLS = [
    cell
    for cell in product(PERMISSIBLE, DECISIONS, KERNELS, INTERCEPTS, (False, True), ("memory", "parts"))
    if cell[2] == "none" or cell[-1] == "memory"  # kernels are refused on parts
]
ALPHA = 1e-2


def gram(X, kernel):
    """The rows' kernel matrix, standardised rows first; None without a kernel."""
    if kernel == "none":
        return None
    squares = ((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2)
    return np.exp(-0.3 * squares)


def standardised(X):
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


@cache
def case(cell):
    """The fitted model, features whose squared norm is the penalty, labels, weights."""
    loss, decision, kernel, intercept, weighted, source, problem, seed = cell
    X, y, sample = table(problem, seed, weighted)
    X = standardised(X)
    options = {"loss": LOSSES[loss][0], "alpha": ALPHA, "tol": 1e-8, "max_iter": 5000, **INTERCEPTS[intercept]}
    if kernel == "rbf":
        options |= {"kernel": "rbf", "gamma": 0.3}
    if kernel == "precomputed":
        options |= {"kernel": "precomputed"}
    model = pm.BoundaryClassifier(DECISIONS[decision][0], **options)
    K = gram(X, kernel)
    if source == "parts":
        fitted(model, in_parts(X, y, sample, keep_values=True))
    else:
        fitted(model, K if kernel == "precomputed" else X, y, **({} if sample is None else {"sample_weight": sample}))
    features = X
    if K is not None:  # f = F w with F F' = K, so that |w|^2 is the norm of the kernel's space
        values, vectors = np.linalg.eigh(K)
        kept = values > 1e-12 * values.max()
        features = vectors[:, kept] * np.sqrt(values[kept])
    share = np.ones(len(y)) if sample is None else sample
    return model, features, y == 1, share / share.sum(), K, X


def quadratic_program(features, positive, share, loss, boundaries, intercept):
    """(18) of [K] with the tangents of b F at the boundaries: A = phi(pi) - phi(0), slopes -(1 - pi) and -pi."""
    pi = np.array(boundaries)
    height = LOSSES[loss][1].phi(pi) - 0.0
    slopes = np.where(positive[:, None], pi - 1, -pi)
    n, d = features.shape
    ridge = ALPHA if intercept == "penalised" else 0.0
    design = np.c_[features, np.full(n, float(intercept != "without"))] * np.where(positive, 1.0, -1.0)[:, None]
    blocks, bounds = [sparse.hstack([sparse.csc_matrix((n, d + 1)), -sparse.eye(n)])], [np.zeros(n)]
    for k in range(len(pi)):
        blocks.append(sparse.hstack([sparse.csc_matrix(design * slopes[:, [k]]), -sparse.eye(n)]))
        bounds.append(np.full(n, -height[k]))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_rel = settings.tol_feas = 1e-10
    settings.tol_gap_abs = 1e-12
    return (
        clarabel.DefaultSolver(
            sparse.diags(np.r_[np.full(d, ALPHA), ridge, np.zeros(n)]).tocsc(),
            np.r_[np.zeros(d + 1), share],
            sparse.vstack(blocks).tocsc(),
            np.concatenate(bounds),
            [clarabel.NonnegativeConeT(n * (len(pi) + 1))],
            settings,
        )
        .solve()
        .obj_val
    )


def smooth_optimum(features, positive, share, loss, intercept):
    """The least mean of b F plus the penalty, by scipy."""
    referee, sign = LOSSES[loss][1], np.where(positive, 1.0, -1.0)
    design = features if intercept == "without" else np.c_[features, np.ones(len(features))]
    ridge = np.full(design.shape[1], ALPHA)
    if intercept == "free":
        ridge[-1] = 0.0

    def value(point):
        return float(share @ referee.value(sign * (design @ point)) + ridge @ point**2 / 2)

    def gradient(point):
        return ridge * point - design.T @ (share * sign * referee.weight(sign * (design @ point)))

    def hessian(point):
        bend = share * referee.curvature(sign * (design @ point))
        return (design * bend[:, None]).T @ design + np.diag(ridge)

    start = np.zeros(design.shape[1])
    options = {"gtol": 1e-11, "maxiter": 500, "max_trust_radius": 1e6}
    point = minimize(value, start, jac=gradient, hess=hessian, method="trust-exact", options=options).x
    last = minimize(value, point, jac=gradient, method="L-BFGS-B", options={"ftol": 1e-16, "gtol": 1e-12}).x
    return min(value(point), value(last))


def objective_at(cell, model, features, positive, share, K, X):
    """The value of (18) from the model's own scores and norm."""
    loss, decision, kernel, intercept, _, source, *_ = cell
    given = (
        {f"x{j}": column for j, column in enumerate(X.T)} if source == "parts" else K if kernel == "precomputed" else X
    )
    margin = np.where(positive, 1.0, -1.0) * model.decision_function(given)
    boundaries = DECISIONS[decision][1]
    if boundaries is None:
        each = LOSSES[loss][1].value(margin)
    else:
        pi = np.array(boundaries)
        lines = LOSSES[loss][1].phi(pi) + np.where(positive[:, None], pi - 1, -pi) * margin[:, None]
        each = np.maximum(lines.max(axis=1), 0.0)
    if K is None:
        square = float(model.coef_[0] @ model.coef_[0])
    else:
        dual = np.zeros(len(margin))
        dual[model.support_] = model.dual_coef_[0]
        square = float(dual @ K @ dual)
    square += float(model.intercept_[0]) ** 2 if intercept == "penalised" else 0.0
    return float(share @ each) + ALPHA / 2 * square


@pytest.mark.parametrize("cell", list(matrix(CELLS, 2, many=2, thin=5)))
def test_objective_and_gap_are_those_of_the_optimum(cell):
    loss, decision, _, intercept, *_ = cell
    model, features, positive, share, K, X = case(cell)
    boundaries = DECISIONS[decision][1]
    if boundaries is None:
        optimum = smooth_optimum(features, positive, share, loss, intercept)
    else:
        optimum = quadratic_program(features, positive, share, loss, boundaries, intercept)
    found = objective_at(cell, model, features, positive, share, K, X)
    digits = LOSSES[loss][1].digits
    assert model.objective_ == pytest.approx(found, rel=max(digits, 1e-8)), "objective_ is not the value of the model"
    assert model.objective_ - optimum <= model.gap_ + 1e-8 * optimum, "the optimum is further away than gap_ says"
    assert model.objective_ >= optimum * (1 - 1e-7) - 1e-9, "objective_ lies below the optimum"
    assert model.gap_ <= 1e-6 * model.objective_
    assert model.certificate_.gap == model.gap_
