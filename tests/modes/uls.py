"""Fits of ULSClassifier over the product of its modes, their features as a matrix, and the problem that their refit solves."""

from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise

import numpy as np

import permissible as pm
from tests.modes.cases import fitted, in_parts, table
from tests.modes.referee import LOSSES, Objective

ROUNDS = {
    ("rule", "classic"): 40,
    ("column", "classic"): 300,
    ("rule", "corrective"): 8,
    ("column", "corrective"): 8,
    ("tree", "classic"): 9,
}
BLOCK = "block of 2"


@dataclass(frozen=True)
class Mode:
    """One fit: where in the product of modes it stands, and on which table."""

    loss: str
    learner: str
    scheme: str
    intercept: bool
    l2: float
    weighted: bool
    source: str
    problem: str
    seed: int

    @property
    def referee(self):
        return LOSSES[self.loss][1]

    def rows(self):
        return table(self.problem, self.seed, self.weighted)

    def estimator(self, **more):
        scheme = 2 if self.scheme == BLOCK else self.scheme
        options = {"learning_rate": 1.0} if scheme == "classic" else {}
        options |= {"max_literals": 2} if self.learner == "rule" else {}
        rounds = ROUNDS.get((self.learner, self.scheme), 60)
        return pm.ULSClassifier(
            LOSSES[self.loss][0],
            n_rounds=min(rounds, 15) if self.source == "parts" else rounds,
            learner=self.learner,
            scheme=scheme,
            fit_intercept=self.intercept,
            l2_regularization=self.l2,
            early_stopping=False,
            **options,
            **more,
        )


class Fit:
    """A fitted model with what is recomputed from its rows: features, scores after each round, weights, objective."""

    def __init__(self, mode):
        X, y, sample = mode.rows()
        self.mode, self.X, self.table = mode, X, X
        self.sign, self.sample = np.where(y == 1, 1.0, -1.0), np.ones(len(y)) if sample is None else sample
        if mode.source == "parts":
            self.model = fitted(mode.estimator(), in_parts(X, y, sample))
            self.table = {f"x{j}": column for j, column in enumerate(X.T)}
        else:
            self.model = fitted(mode.estimator(), X, y, **({} if sample is None else {"sample_weight": sample}))
        self.certificate = self.model.certificate_

    @cached_property
    def design(self):
        """The features of the model as a matrix, the constant first where there is one."""
        if self.mode.learner == "column":
            features = self.X
        else:
            inside = [covered(rule, self.X) for rule in self.model.rules_]
            features = np.where(np.array(inside).reshape(-1, len(self.X)), 1.0, -1.0).T
        return np.column_stack([np.ones(len(features)), features]) if self.mode.intercept else features

    @cached_property
    def theta(self):
        coefficients = np.asarray(self.model.coefficients_, dtype=float)
        return np.append(self.model.intercept_, coefficients) if self.mode.intercept else coefficients

    @cached_property
    def objective(self):
        """The sum of b F and l2 times the squared coefficients; the constant costs nothing."""
        cost = np.full(self.design.shape[1], float(self.mode.l2))
        cost[: int(self.mode.intercept)] = 0.0
        return Objective(self.mode.referee, self.design, self.sign, self.sample, cost)

    @cached_property
    def scores(self):
        return self.model.decision_function(self.table)

    @cached_property
    def staged(self):
        return np.array(list(self.model.staged_decision_function(self.table))).reshape(-1, len(self.sign))

    @cached_property
    def start(self):
        """The score before the first round: rules begin with the best constant, columns with none."""
        if not self.mode.intercept or self.mode.learner == "column":
            return 0.0
        constant = Objective(self.mode.referee, np.ones((len(self.sign), 1)), self.sign, self.sample, np.zeros(1))
        low, high = -1e9, 1e9
        for _ in range(90):
            middle = (low + high) / 2
            low, high = (middle, high) if constant.gradient(np.array([middle]))[0] < 0 else (low, middle)
        return (low + high) / 2

    def surrogate(self, scores):
        """Mean F at scores."""
        value = self.mode.referee.value(self.sign * scores)
        return float(self.sample @ value) / self.sample.sum() / self.mode.referee.unit

    @cached_property
    def surrogates(self):
        """Mean F before the first round and after each."""
        return np.array([self.surrogate(scores) for scores in (np.full(len(self.sign), self.start), *self.staged)])

    def weight(self, scores):
        return self.sample * self.mode.referee.weight(self.sign * scores)

    def unsure(self, score):
        """1 - p at a score: the probability of the other class."""
        away, near = (np.maximum(self.mode.referee.weight(np.atleast_1d(x)), 0.0) for x in (score, -score))
        return away / np.maximum(away + near, 1e-300)

    def saturated(self):
        """The share of the rows whose probability is 0 or 1 to the last digit."""
        last = 1e-9 if self.mode.referee.ends else 2.0**-53  # a score at the end of its range has no digits beyond
        return float(np.mean(self.unsure(np.abs(self.scores)) <= last))

    @cached_property
    def path(self):
        """The coefficients after each round, the constant first where there is one; before it all are 0."""
        stages = []
        for stage in range(len(self.staged)):
            intercept, found = self.model._traces[0].terms(stage + 1)
            if self.mode.learner != "column":
                found = [found.get(rule, 0.0) for rule in self.model.rules_]
            stages.append(np.append(intercept, found) if self.mode.intercept else np.asarray(found))
        return np.array(stages).reshape(len(self.staged), len(self.theta))

    @cached_property
    def separated(self):
        """Rows whose loss has no finite minimiser over the features of the model."""
        return self.objective.separated()


@cache
def fit_of(mode):
    return Fit(mode)


def covered(rule, X):
    """Which rows a rule covers, from the words of its literals."""
    inside = np.ones(len(X), dtype=bool)
    for literal in rule:
        values = X[:, literal.column]
        below = values <= literal.threshold
        inside &= {"<=": below, ">": ~below, "present": np.ones(len(X), bool), "missing": np.zeros(len(X), bool)}[
            literal.test
        ]
    return inside


def largest_edge(fit):
    """The largest edge of a rule of one literal, over every threshold of every column.

    Where coefficients are refitted, what the penalty takes from a rule of the model is part of its edge.
    """
    weight, best, cost = fit.weight(fit.scores), 0.0, {}
    if fit.mode.scheme != "classic":
        for rule, coefficient in zip(fit.model.rules_, fit.model.coefficients_, strict=True):
            if len(rule) == 1:
                below = rule[0].test == "<="
                place = rule[0].column, float(rule[0].threshold)
                cost[place] = cost.get(place, 0.0) + 2 * fit.mode.l2 * (coefficient if below else -coefficient)
    for column, values in enumerate(fit.X.T):
        known = np.unique(values)
        for low, high in pairwise(known):
            edge = float(weight @ (fit.sign * np.where(values <= low, 1.0, -1.0)))
            taken = sum(
                paid for (place, threshold), paid in cost.items() if place == column and low <= threshold < high
            )
            best = max(best, abs(edge - taken))
    return best / np.abs(weight).sum()
