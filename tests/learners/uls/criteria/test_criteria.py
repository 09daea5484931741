"""The papers' own criteria for +-1 rules, against scipy's line search over every literal at every step of a greedy rule."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import permissible as pm
from permissible import losses
from permissible.losses.surrogate import natural_value

LOSSES = ("logistic", "matsushita", "squared", "exponential")


def boolean_rows(seed, n=120, d=5):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, d)).astype(float)
    y = (rng.random(n) < 1 / (1 + np.exp(-(X - 0.5) @ rng.normal(size=d) * 2))).astype(int)
    return X, y, rng.uniform(0.5, 2.0, n)  # real weights: no ties


class Referee:
    """The value of a mask under a criterion, by definition."""

    def __init__(self, criterion, loss, y, weight, l2=0.0):
        self.criterion, self.loss, self.weight, self.l2 = criterion, losses.get(loss), weight, l2
        self.sign, self.score = np.where(y == 1, 1.0, -1.0), np.zeros(len(y))

    def surrogate(self, h, step):
        return float(natural_value(self.loss, self.sign * (self.score + step * h)) @ self.weight) + self.l2 * step**2

    def step(self, mask):
        h = np.where(mask, 1.0, -1.0)
        return minimize_scalar(lambda step: self.surrogate(h, step), bracket=(-0.3, 0.3), tol=1e-12)

    def value(self, mask):
        if self.criterion == "exact":
            return self.step(mask).fun
        weight, found = self.weight * np.asarray(self.loss.weight(self.sign * self.score)), 0.0
        for side in (mask, ~mask):
            if weight[side].sum() > 0:
                share = weight[side & (self.sign > 0)].sum() / weight[side].sum()
                found += weight[side].sum() * float(np.asarray(self.loss.impurity(np.array([share])))[0])
        return found

    def greedy(self, X, most):
        """The mask of the greedy rule: the best literal and its negation, each extended while the value falls."""
        columns = range(X.shape[1])
        first = min(columns, key=lambda j: self.value(X[:, j] == 0))
        best = X[:, first] == 0
        for side in (0, 1):
            mask, used = X[:, first] == side, {first}
            while len(used) < most:
                longer = [(self.value(mask & (X[:, j] == b)), j, b) for j in columns if j not in used for b in (0, 1)]
                found, j, b = min(longer)
                if not found < self.value(mask) * (1 - 1e-9):
                    break
                mask, used = mask & (X[:, j] == b), used | {j}
            if self.value(mask) < self.value(best) * (1 - 1e-9):
                best = mask
        return best


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("criterion", "l2"), [("exact", 0.0), ("exact", 3.0), ("impurity", 0.0)])
def test_every_round_takes_the_greedy_rule_of_the_criterion(criterion, loss, l2):
    for seed in range(3):
        X, y, weight = boolean_rows(seed)
        more = {"criterion": criterion, "l2_regularization": l2}
        model = pm.ULSClassifier.plain(loss, n_rules=4, max_literals=3, **more).fit(X, y, weight)
        unit = len(y) / weight.sum()  # the fit counts l2 in the unit of the weights
        referee = Referee(criterion, loss, y, weight * unit, l2 * unit)
        for _ in range(4):
            mask = referee.greedy(X, 3)
            referee.score += np.where(mask, 1.0, -1.0) * referee.step(mask).x
        assert model.decision_function(X) == pytest.approx(referee.score, abs=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_exact_literal_of_numbers_categories_and_missing_values_is_the_least_of_all(loss):
    import pandas as pd

    rng = np.random.default_rng(7)
    n = 200
    table = pd.DataFrame({"a": rng.normal(size=n), "b": pd.Categorical(rng.choice(list("pqrs"), n))})
    table.loc[rng.random(n) < 0.2, "a"] = np.nan
    y = (rng.random(n) < np.where(table["a"].fillna(1.0) > 0.3, 0.8, 0.3)).astype(int)
    weight = rng.uniform(0.5, 2.0, n)
    model = pm.ULSClassifier.plain(loss, n_rules=6, max_literals=1, criterion="exact").fit(table, y, weight)
    a, absent, b = table["a"].to_numpy(), table["a"].isna().to_numpy(), table["b"].to_numpy()
    cuts = [a <= cut for cut in np.unique(a[~absent])[:-1]]
    masks = [*cuts, *(cut | absent for cut in cuts), absent, *(b == name for name in "pqrs")]
    referee = Referee("exact", loss, y, weight / weight.sum())
    for surrogate in model.history_["surrogate"]:
        least = min(masks, key=referee.value)
        referee.score += np.where(least, 1.0, -1.0) * referee.step(least).x
        at_zero = float(natural_value(referee.loss, np.zeros(1))[0])
        assert surrogate * at_zero == pytest.approx(referee.surrogate(np.zeros(n), 0.0), rel=1e-7)


def test_the_criteria_choose_other_rules_than_the_second_order():
    """So that the tests above can fail: on rows like these both differ from the second-order criterion."""
    other = dict.fromkeys(("exact", "impurity"), 0)
    for seed in range(6):
        X, y, weight = boolean_rows(seed, n=80)
        fit = pm.ULSClassifier.plain("matsushita", n_rules=8, max_literals=2).fit
        scores = fit(X, y, weight).decision_function(X)
        for criterion in other:
            own = pm.ULSClassifier.plain("matsushita", n_rules=8, max_literals=2, criterion=criterion).fit(X, y, weight)
            other[criterion] += not np.allclose(own.decision_function(X), scores, atol=1e-6)
    assert min(other.values()) > 0


@pytest.mark.parametrize("criterion", ["exact", "impurity"])
def test_order_of_rows_and_copies_of_columns_change_nothing(criterion):
    X, y, weight = boolean_rows(2)
    order = np.random.default_rng(0).permutation(len(y))
    fit = pm.ULSClassifier.plain("logistic", n_rules=6, criterion=criterion).fit
    scores = fit(X, y, weight).decision_function(X)
    assert fit(X[order], y[order], weight[order]).decision_function(X) == pytest.approx(scores, abs=1e-12)
    assert fit(np.hstack((X, X)), y, weight).decision_function(np.hstack((X, X))) == pytest.approx(scores, abs=1e-12)


@pytest.mark.parametrize("flavour", ["E1", "F2"])
def test_a_flavour_takes_the_best_proposal_by_the_criterion(flavour):
    X, y, weight = boolean_rows(4)
    model = pm.ULSClassifier.plain(flavour, n_rules=1, max_literals=2, criterion="exact").fit(X, y, weight)
    bag = {"E1": ("mu", "matsushita", "logistic", "squared"), "F2": ("mu", "matsushita", "logistic", "power")}[flavour]
    proposals = []
    for name in bag:  # in the first round every phi proposes the same rule: accuracy decides
        referee = Referee("exact", name, y, weight)
        mask = referee.greedy(X, 2)
        proposals.append(mask)
    assert all((mask == proposals[0]).all() or (mask != proposals[0]).all() for mask in proposals)
    covered = model.decision_function(X) > 0
    assert (covered == proposals[0]).all() or (covered != proposals[0]).all()


def test_what_the_criteria_cannot_do_is_refused():
    X, y, _ = boolean_rows(0)
    with pytest.raises(ValueError, match="`criterion` must be"):
        pm.ULSClassifier(criterion="exact").fit(X, y)
    with pytest.raises(ValueError, match="`criterion` must be"):
        pm.ULSClassifier.plain(scheme="corrective", criterion="impurity").fit(X, y)
    with pytest.raises(ValueError, match="`criterion` must be"):
        pm.ULSClassifier.plain(criterion="gini").fit(X, y)
    with pytest.raises(ValueError, match="monotonic_cst"):
        pm.ULSClassifier.plain(criterion="exact", monotonic_cst=[1, 0, 0, 0, 0]).fit(X, y)
