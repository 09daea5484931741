"""An independent referee for problem (18): the quadratic program of docs/mathematics.md 8.3, solved by Clarabel."""

import clarabel
import numpy as np
import pytest
from scipy import sparse


def quadratic_program(features, positive, weight, lines, alpha, *, free_intercept=True, fit_intercept=True):
    """Return (objective, w, b) of (18) written with xi_i >= 0, xi_i >= A_k + B_k y_i f_i, from the lines A, B+, B-."""
    intercepts, slopes_pos, slopes_neg = lines
    n, d = features.shape
    count = len(intercepts)
    sign = np.where(positive, 1.0, -1.0)
    slopes = np.where(positive[:, None], slopes_pos, slopes_neg)
    ridge = 0.0 if free_intercept else alpha
    quadratic = sparse.diags(np.r_[np.full(d, alpha), ridge, np.zeros(n)]).tocsc()
    linear = np.r_[np.zeros(d + 1), weight / weight.sum()]
    design = np.c_[features, np.full(n, float(fit_intercept))] * sign[:, None]
    blocks, bounds = [sparse.hstack([sparse.csc_matrix((n, d + 1)), -sparse.eye(n)])], [np.zeros(n)]
    for k in range(count):
        blocks.append(sparse.hstack([sparse.csc_matrix(design * slopes[:, [k]]), -sparse.eye(n)]))
        bounds.append(np.full(n, -intercepts[k]))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_rel = settings.tol_feas = 1e-11
    settings.tol_gap_abs = 1e-13
    solution = clarabel.DefaultSolver(
        quadratic,
        linear,
        sparse.vstack(blocks).tocsc(),
        np.concatenate(bounds),
        [clarabel.NonnegativeConeT(n * (count + 1))],
        settings,
    ).solve()
    return solution.obj_val, np.array(solution.x[:d]), solution.x[d]


def logistic_lines(boundaries):
    """Prop. 1 of [K], written out."""
    pi = np.asarray(boundaries, dtype=float)
    return -pi * np.log(pi) - (1 - pi) * np.log(1 - pi), pi - 1, -pi


def value_of(features, positive, weight, lines, alpha, w, b, *, free_intercept=True):
    """The objective (18) straight from its definition, max_k over the lines."""
    intercepts, slopes_pos, slopes_neg = lines
    margin = np.where(positive, 1.0, -1.0) * (features @ w + b)
    slopes = np.where(positive[:, None], slopes_pos, slopes_neg)
    losses = np.maximum((intercepts + slopes * margin[:, None]).max(axis=1), 0)
    return weight @ losses / weight.sum() + alpha / 2 * (w @ w + (0.0 if free_intercept else b * b))


@pytest.fixture(scope="session")
def referee():
    return quadratic_program


@pytest.fixture(scope="session")
def lines_of():
    return logistic_lines


@pytest.fixture(scope="session")
def objective_of():
    return value_of
