"""The least penalised surrogate over given features, by scipy: the referee of refitted coefficients."""

from dataclasses import replace

import numpy as np
from scipy.optimize import minimize

from permissible import losses
from permissible.losses.own.phi import from_phi
from permissible.losses.permissible_loss import PermissibleLoss


def sine():
    """phi = sin(pi p) of docs/losses.md, with the inverse of its link written out."""
    own = from_phi(lambda p: np.sin(np.pi * p), lambda p: np.pi * np.cos(np.pi * p), name="sine")
    return replace(own, entropy=replace(own.entropy, inverse=lambda x: np.arccos(-x / np.pi) / np.pi))


def boolean_table(seed):
    """Random yes-or-no columns and noisy labels of both kinds."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(30, 300)), int(rng.integers(3, 9))
    X = rng.integers(0, 2, (n, d)).astype(float)
    slope = rng.normal(size=d) * 1.5
    y = (rng.random(n) < 1 / (1 + np.exp(-(X - 0.5) @ slope * 2))).astype(int)
    return X, y


def penalised(loss, features, y, weight, l2, theta, free_first=True):
    """Sum of b F + l2 * sum of squares, and its gradient; the first coefficient is the constant and free."""
    sign = np.where(y, 1.0, -1.0)
    unit = loss.b if isinstance(loss, PermissibleLoss) else 1.0
    cost = np.full(features.shape[1], l2)
    cost[0] *= not free_first
    margin = sign * (features @ theta)
    value = float(weight @ (unit * np.asarray(loss.value(margin)))) + float(cost @ theta**2)
    return value, 2 * cost * theta - features.T @ (weight * sign * np.asarray(loss.weight(margin)))


def least(loss, features, y, weight, l2, start, free_first=True):
    """The least value that L-BFGS and a trust region find, from a start and from zero."""
    loss, size = losses.get(loss), np.abs(features).max(axis=0)

    def value(theta):
        found, slope = penalised(loss, features, y, weight, l2, theta / size, free_first)
        return found, slope / size

    best = np.inf
    for begin in (start * size, np.zeros(len(start))):
        for _ in range(2):
            found = minimize(
                value, begin, jac=True, method="L-BFGS-B", options={"maxiter": 3000, "ftol": 1e-16, "gtol": 1e-12}
            )
            best, begin = min(best, found.fun), found.x
    return best


def rule_features(model, X):
    """The constant and the rules of a fitted model as +-1 columns (numbers without missing values), and the coefficients."""
    fitted = model.model_
    columns = [np.ones(len(X))]
    for rule in fitted.rules:
        covered = np.ones(len(X), dtype=bool)
        for literal in rule:
            below = X[:, literal.column] <= literal.threshold
            covered &= below if literal.test == "<=" else ~below
        columns.append(np.where(covered, 1.0, -1.0))
    return np.column_stack(columns), np.concatenate(([fitted.intercept], fitted.coefficients))
