"""How much a rule model would differ on other rows of the same kind: it is fitted again on resamples of its own rows.

A resample gives each row a whole weight, drawn as in the bootstrap, so that a row drawn twice is a row of weight two and
stays in one fold. What is compared: the number of rules, the rules themselves, the columns that they test, the thresholds of
a rule that tests the same columns in the same directions, the labels and the probabilities of all rows.
"""

import warnings
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator, clone

from permissible.bins.describe import rule_words
from permissible.bins.literal import Rule
from permissible.estimators.fit_warning import DoubtfulFitWarning
from permissible.estimators.input.training import codes_among
from permissible.types import FloatArray, IntArray
from permissible.validation import Words, refusal
from permissible.validation.numbers import count

Found: TypeAlias = tuple[int, Rule, str, float]
"""Class, rule, words and size of the coefficient of a rule."""


@dataclass(frozen=True, slots=True, eq=False)
class Stability:
    """What survives resampling.

    Attributes
    ----------
    n_rules : array, the number of rules of each resampled model; `rules_of_model` is that of the model itself.
    rules : mapping of lists with one entry per rule, the heaviest first: `rule`, `same` (the share of the resampled models that
        hold it), `shape` (the share that hold a rule on the same columns in the same directions) and `spread` (the mean
        distance of their thresholds from the rule's own, in standard deviations of the column; NaN without a threshold).
    flipped : array, for each resample the share of rows whose label differs from the model's.
    probability : array, for each row the standard deviation of its largest probability over the resamples.
    """

    rules_of_model: int
    n_rules: IntArray
    rules: dict[str, list[Any]]
    flipped: FloatArray
    probability: FloatArray

    def __str__(self) -> str:
        """The main figures in three lines."""
        kept = float(np.mean(self.rules["shape"])) if self.rules["shape"] else float("nan")
        least, most, moved = self.n_rules.min(), self.n_rules.max(), self.probability.mean()
        return (
            f"{self.rules_of_model} rules; between {least} and {most} on {len(self.n_rules)} resamples.\n"
            f"A rule is found again, with the same columns and directions, on {kept:.0%} of them.\n"
            f"{self.flipped.mean():.1%} of the labels change, and a probability by {moved:.3f} (standard deviation)."
        )


def stability(estimator: BaseEstimator, X: object, y: object, n_resamples: int, seed: int) -> Stability:
    """Fit the estimator again on resamples of X and y, and compare with the fitted one."""
    count("n_resamples", n_resamples, 2)
    rng, labels, proba = np.random.default_rng(seed), estimator.predict(X), estimator.predict_proba(X)
    own, spreads = _rules(estimator), _spreads(X)
    others, flipped, largest = [], [], []
    codes = codes_among(estimator.classes_, y, len(labels))
    for _ in range(n_resamples):
        weight = _resample(rng, codes)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DoubtfulFitWarning)
            other = clone(estimator).fit(X, y, sample_weight=weight)
        others.append(_rules(other))
        flipped.append(float(np.mean(other.predict(X) != labels)))
        found = other.predict_proba(X)
        largest.append(found[np.arange(len(codes)), np.argmax(proba, axis=1)])
    counts = np.array([len(one) for one in others])
    return Stability(len(own), counts, _table(own, others, spreads), np.array(flipped), np.std(largest, axis=0))


def _resample(rng: np.random.Generator, codes: IntArray) -> FloatArray:
    """How often each row is drawn; drawn again where a class is left out, since the fit would have another set of classes."""
    n_rows, n_classes = len(codes), len(np.unique(codes))
    for _ in range(1000):
        weight = rng.multinomial(n_rows, np.full(n_rows, 1.0 / n_rows)).astype(np.float64)
        if len(np.unique(codes[weight > 0])) == n_classes:
            return weight
    raise refusal("y", "classes that occur in bootstrap resamples", Words("one that 1,000 resamples missed"))


def _rules(estimator: BaseEstimator) -> list[Found]:
    return [
        (k, rule, rule_words(rule, model), abs(float(coefficient)))
        for k, model in enumerate(estimator._members())
        for rule, coefficient in zip(model.rules, model.coefficients, strict=True)
    ]


def _shape(k: int, rule: Rule) -> tuple[int, frozenset[tuple[int, str]]]:
    return k, frozenset((literal.column, literal.test) for literal in rule)


def _table(own: list[Found], others: list[list[Found]], spreads: FloatArray) -> dict[str, list[object]]:
    table: dict[str, list[object]] = {"rule": [], "same": [], "shape": [], "spread": []}
    for k, rule, words, _ in sorted(own, key=lambda one: -one[3]):
        alike = [[there for j, there, *_ in other if _shape(j, there) == _shape(k, rule)] for other in others]
        table["rule"].append(words)
        table["same"].append(float(np.mean([rule in found for found in alike])))
        table["shape"].append(float(np.mean([bool(found) for found in alike])))
        nearest = [min(_distance(rule, there, spreads) for there in found) for found in alike if found]
        table["spread"].append(float(np.mean(nearest)) if nearest else float("nan"))
    return table


def _distance(rule: Rule, other: Rule, spreads: FloatArray) -> float:
    """The mean distance of the thresholds of two rules of one shape, in standard deviations of their columns."""
    there = {(literal.column, literal.test): literal.threshold for literal in other}
    apart = [
        abs(literal.threshold - there[literal.column, literal.test]) / spreads[literal.column]
        for literal in rule
        if literal.test in ("<=", ">")
    ]
    return float(np.mean(apart)) if apart else float("nan")


def _spreads(X: object) -> FloatArray:
    """The standard deviation of each column of numbers, 1 for the others."""
    from permissible.table.reading import read

    found = [
        float(np.nanstd(values)) if values.dtype == np.float64 else 1.0
        for values in (np.asarray(column) for column in read(X).columns)
    ]
    return np.array([spread if spread > 0 else 1.0 for spread in found])
