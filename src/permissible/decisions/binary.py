"""The decisions of two classes: hard, weighted, reject, boundaries, soft, log loss ([K] sections 2, 3; mathematics section 8).

All are one family. K boundaries 0 < pi_1 < ... < pi_K < 1 cut [0, 1] into regions [0, pi_1], (pi_1, pi_2], ..., (pi_K,
1], right-closed; predicting region h costs (2/K) sum_{k > h} (1 - pi_k) on a positive example and (2/K) sum_{k <= h}
pi_k on a negative one ([K] (7)). The Bayes rule is the region of p(x) (Theorem 1). {1/2} is the 0/1 loss, {pi} the
weighted one, {d, 1 - d} rejection at cost d, and equally spaced boundaries become the Brier score as K grows.
"""

from dataclasses import dataclass

import numpy as np

from permissible.decisions.proba import by_class, codes, positive, probabilities
from permissible.decisions.scoring import Decision
from permissible.types import ArrayLike, FloatArray, IntArray
from permissible.validation import checked_boundaries, refusal
from permissible.validation.numbers import inside


@dataclass(frozen=True)
class Boundaries(Decision):
    """Assign each example to a region of probability between boundaries: risk groups ([K] (7)).

    Parameters
    ----------
    boundaries : sequence of float
        Increasing, in (0, 1).

    Examples
    --------
    >>> import permissible as pm
    >>> groups = pm.Boundaries([0.25, 0.5, 0.75])
    >>> groups.decide([0.1, 0.25, 0.6, 1.0])
    array([0, 0, 2, 3])
    >>> groups.risk([0, 1, 1, 1], [0.1, 0.25, 0.6, 1.0])
    0.2916666666666667
    """

    boundaries: tuple[float, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "boundaries", checked_boundaries(self.boundaries))

    def decide(self, proba: ArrayLike) -> IntArray:
        """Return the region 0 .. K of each probability; a probability on a boundary belongs to the lower region."""
        return np.searchsorted(self.boundaries, positive(proba), side="left").astype(np.int64)

    def action_losses(self, n_classes: int) -> FloatArray:
        """Return `region_losses`."""
        return self.region_losses()

    def region_losses(self) -> FloatArray:
        """Return the table of losses: row 0 for a negative example, row 1 for a positive, a column for each region.

        They are (2/K) sum_{k <= h} pi_k on negatives and (2/K) sum_{k > h} (1 - pi_k) on positives ([K] (7)).
        """
        pi = np.array(self.boundaries)
        missed = np.append(np.cumsum((1 - pi)[::-1])[::-1], 0.0)
        false_alarm = np.insert(np.cumsum(pi), 0, 0.0)
        return 2 / pi.size * np.stack([false_alarm, missed])

    def bayes_risk(self, proba: ArrayLike) -> FloatArray:
        """Return the least conditional risk at each probability, (2/K) sum_k min(p (1 - pi_k), (1 - p) pi_k)."""
        p, pi = positive(proba)[:, None], np.array(self.boundaries)
        least: FloatArray = 2 / pi.size * np.minimum(p * (1 - pi), (1 - p) * pi).sum(axis=1)
        return least


@dataclass(frozen=True)
class Hard(Decision):
    """Predict the most probable class; the 0/1 loss.

    A probability of exactly 1/2 is a positive (sigma(0) = +1, [T] section 2); with more than two classes the first of
    equally likely ones wins.

    Examples
    --------
    >>> import permissible as pm
    >>> pm.Hard().decide([0.4, 0.5, 0.9])
    array([0, 1, 1])
    """

    def decide(self, proba: ArrayLike) -> IntArray:
        """Return the code of the class."""
        array = by_class(proba)
        if array.shape[1] == 2:
            return np.where(positive(proba) >= 0.5, 1, 0)
        return np.asarray(array.argmax(axis=1), dtype=np.int64)

    def action_losses(self, n_classes: int) -> FloatArray:
        """Return 1 - the identity: 1 for a wrong class, 0 for the right one."""
        return 1.0 - np.eye(n_classes)

    def bayes_risk(self, proba: ArrayLike) -> FloatArray:
        """Return the least conditional risk, 1 - max_k p_k."""
        least: FloatArray = 1 - by_class(proba).max(axis=1)
        return least


@dataclass(frozen=True)
class Weighted(Decision):
    """Predict positive above probability pi: a miss costs 2 (1 - pi), a false alarm 2 pi ([K] section 2).

    Parameters
    ----------
    pi : float
        The boundary, cost of a false alarm over the sum of both costs.

    Examples
    --------
    >>> import permissible as pm
    >>> pm.Weighted(0.2).decide([0.1, 0.2, 0.3])
    array([0, 0, 1])
    """

    pi: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "pi", inside("pi", self.pi))

    def decide(self, proba: ArrayLike) -> IntArray:
        """Return 1 where p > pi."""
        return Boundaries((self.pi,)).decide(proba)

    def action_losses(self, n_classes: int) -> FloatArray:
        """Return the losses of not acting and of acting: 2 (1 - pi) for a miss, 2 pi for a false alarm."""
        return Boundaries((self.pi,)).region_losses()

    def bayes_risk(self, proba: ArrayLike) -> FloatArray:
        """Return the least conditional risk, 2 min(p (1 - pi), (1 - p) pi)."""
        return Boundaries((self.pi,)).bayes_risk(proba)


@dataclass(frozen=True)
class Reject(Decision):
    """Predict a class, or say "I don't know" at a cost d below 1/2 ([K] section 2; Bartlett and Wegkamp 2008).

    Parameters
    ----------
    cost : float
        Cost of rejecting, in (0, 1/2]; an error costs 1. Rejected are probabilities in (cost, 1 - cost].

    Examples
    --------
    >>> import permissible as pm
    >>> pm.Reject(0.2).decide([0.1, 0.5, 0.9])
    array([ 0, -1,  1])
    >>> pm.Reject(0.2).loss([1, 1, 1], [0.1, 0.5, 0.9])
    array([1. , 0.2, 0. ])
    """

    cost: float

    def __post_init__(self) -> None:
        cost = inside("cost", self.cost)
        if cost > 0.5:
            raise refusal("cost", "at most 1/2", cost, "at a higher cost a guess is always better than a rejection")
        object.__setattr__(self, "cost", cost)

    def decide(self, proba: ArrayLike) -> IntArray:
        """Return 0 where p <= d, 1 where p > 1 - d, else -1 (reject)."""
        p = positive(proba)
        return np.where(p <= self.cost, 0, np.where(p > 1 - self.cost, 1, -1)).astype(np.int64)

    def action_losses(self, n_classes: int) -> FloatArray:
        """Return the losses of both classes and of a rejection: 1 for an error, d for a rejection."""
        return np.array([[0.0, 1.0, self.cost], [1.0, 0.0, self.cost]])

    def bayes_risk(self, proba: ArrayLike) -> FloatArray:
        """Return the least conditional risk, min(p, 1 - p, d)."""
        p = positive(proba)
        least: FloatArray = np.minimum(np.minimum(p, 1 - p), self.cost)
        return least


@dataclass(frozen=True)
class Soft(Decision):
    """Report the probability itself; the Brier score ([K] section 2, boundaries growing dense).

    With more than two classes the loss is half the squared distance to the true class, so that both agree for two.

    Examples
    --------
    >>> import permissible as pm
    >>> pm.Soft().loss([1, 0], [0.75, 0.5])
    array([0.0625, 0.25  ])
    """

    def decide(self, proba: ArrayLike) -> FloatArray:
        """Return the probabilities, which are the action of this decision."""
        array = probabilities(proba)
        return array[:, 1] if array.ndim == 2 and array.shape[1] == 2 else array

    def loss(self, y: ArrayLike, proba: ArrayLike) -> FloatArray:
        """Return (1{Y=+1} - p)^2."""
        array = by_class(proba)
        truth = np.eye(array.shape[1])[codes(y, len(array), array.shape[1])]
        loss: FloatArray = ((truth - array) ** 2).sum(axis=1) / 2
        return loss

    def bayes_risk(self, proba: ArrayLike) -> FloatArray:
        """Return the least conditional risk, p (1 - p) for two classes."""
        array = by_class(proba)
        least: FloatArray = (array * (1 - array)).sum(axis=1) / 2
        return least


@dataclass(frozen=True)
class LogLoss(Decision):
    """Report the probability itself; the log loss, -ln of the probability of the true class ([N] section 5: the game of phi_Q).

    Parameters
    ----------
    floor : float
        A reported probability below it counts as this one, so that one certain mistake does not make the risk infinite;
        the default is scikit-learn's.

    Examples
    --------
    >>> import permissible as pm
    >>> pm.LogLoss().loss([1, 0], [0.75, 0.5]).round(6)
    array([0.287682, 0.693147])
    """

    floor: float = float(np.finfo(np.float64).eps)

    def __post_init__(self) -> None:
        object.__setattr__(self, "floor", inside("floor", self.floor))

    def decide(self, proba: ArrayLike) -> FloatArray:
        """Return the probabilities, which are the action of this decision."""
        return Soft().decide(proba)

    def loss(self, y: ArrayLike, proba: ArrayLike) -> FloatArray:
        """Return -ln of the probability of the true class."""
        array = by_class(proba)
        own = array[np.arange(len(array)), codes(y, len(array), array.shape[1])]
        return np.asarray(-np.log(np.maximum(own, self.floor)))

    def bayes_risk(self, proba: ArrayLike) -> FloatArray:
        """Return the least conditional risk, Shannon's entropy in nats."""
        array = by_class(proba)
        least: FloatArray = -(array * np.log(np.maximum(array, self.floor))).sum(axis=1)
        return least
