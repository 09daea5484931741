"""The weak learner of [B]: a x + b by weighted least squares, on the best single attribute or on all of them.

    min_g  sum_i |w_i| (g(x_i) + sign w_i)^2 = sum |w| g^2 + 2 dR + const

is the steepest direction in the |w|-weighted norm (for two classes and GEL, Gentle AdaBoost's fit); (30) alone has no
minimum over a linear class. The single attribute reproduces the published table. All attributes at once,
learner="linear-full", is the other reading of "a x + b" in [B].
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from permissible.kernels._core import mcboost as kernel
from permissible.learners.mcboost.linear.own import OwnState, best_attribute
from permissible.learners.mcboost.linear.standardise import Standardised
from permissible.learners.mcboost.rounds import AffineArrays, CostRound, Sampling
from permissible.models.kinds.affine import AffineTerms, Attribute
from permissible.models.kinds.simplex import codewords
from permissible.types import Codes, FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class AffineStep:
    """A chosen term as plain values, sent to workers and kept in journals: a x + b for each output.

    `edge` is the fraction of the weight that it explains, `leverage` the step length.
    """

    column: int
    slope: FloatArray
    level: FloatArray
    edge: float
    leverage: float = 1.0
    capped: bool = False

    @classmethod
    def of(cls, step: kernel.AffineStep) -> "AffineStep":
        """The step that the compiled core chose."""
        return cls(step.column, step.slope, step.level, step.edge, step.leverage, step.capped)

    def record(self) -> kernel.AffineStep:
        """The step as the compiled core takes it."""
        return kernel.AffineStep(self.column, self.slope, self.level)


@dataclass(frozen=True, slots=True, eq=False)
class AffineLearner:
    """Rounds of affine terms on rows in one part, compiled; `full` fits all attributes instead of the best one.

    `l2` / 2 times the mean square of the change of a score is added to the surrogate of a built-in loss along the step.
    """

    state: kernel.State
    standardised: Standardised
    values: FloatArray
    n_classes: int
    descent: str = "coordinate"
    full: bool = False
    rate: float = 1.0
    sampling: Sampling = field(default_factory=Sampling)
    l2: float = 0.0

    def begin_round(self) -> tuple[float, float, float]:
        """Sums of the surrogate, the cost and the errors of all rows."""
        surrogate, cost, error = self.state.begin_round()
        return surrogate, cost, error

    def step(self, number: int) -> CostRound:
        """One round: a step along every coordinate in turn, or one step along the gradient."""
        of, drawn = self.standardised, self.sampling.rows(number)
        allowed = self.sampling.columns(len(of.attributes), number)
        if self.full:
            return _full_round(self, allowed, drawn)
        own: object = self.state
        if isinstance(own, OwnState):
            return affine_round(list(_own_steps(self, own, allowed, drawn)), self.rate, of.scale)
        attributes, gradient = of.record(self.values), self.descent == "gradient"
        steps = self.state.round_affine(attributes, allowed, drawn, self.rate, gradient, self.l2)
        return affine_round([AffineStep.of(step) for step in steps], self.rate, of.scale)


def affine_round(steps: Sequence[AffineStep], rate: float, scale: FloatArray) -> CostRound:
    """The steps of a round (one per coordinate, or one in all) as terms on the original scale of the attributes."""
    column = np.concatenate([np.full(len(step.slope), step.column, dtype=np.int64) for step in steps])
    lever = np.concatenate([np.full(len(step.slope), rate * step.leverage) for step in steps])
    slopes, levels = (np.concatenate([getattr(step, name) for step in steps]) for name in ("slope", "level"))
    slope = np.where(column >= 0, slopes * lever / scale[column], 0.0) if len(scale) else np.zeros(len(column))
    terms: AffineArrays = (np.arange(len(column)), column, slope, levels * lever)
    edge, capped = max(step.edge for step in steps), any(step.capped for step in steps)
    return CostRound(terms, float(edge), capped, bool(np.any(lever)))


def affine_component(attributes: tuple[Attribute, ...], n_classes: int, rounds: list[AffineArrays]) -> AffineTerms:
    """Rounds as one component of a model."""
    none = np.zeros(0, dtype=np.int64)
    round_ = np.concatenate([none, *(np.full(len(terms[0]), number) for number, terms in enumerate(rounds))])
    columns: list[Any] = [np.concatenate([terms[k] for terms in rounds]) if rounds else none for k in range(4)]
    return AffineTerms(attributes, n_classes, round_, *columns)


def affine_scores(terms: AffineArrays, values: FloatArray, n_classes: int) -> FloatArray:
    """What terms add to the scores of rows with these attributes, (n, M); each row is computed independently."""
    words, scores = codewords(n_classes) / 2, np.zeros((len(values), n_classes))
    for coordinate, attribute, slope, level in zip(*terms, strict=True):
        step = slope * values[:, attribute] + level if attribute >= 0 else np.full(len(values), level)
        for label in np.flatnonzero(words[:, coordinate]):
            scores[:, label] += words[label, coordinate] * step
    return scores


def _own_steps(
    learner: AffineLearner, state: OwnState, allowed: Codes, drawn: FloatArray | None
) -> Iterator[AffineStep]:
    """The steps of a round of a loss of one's own: one per coordinate, or one along the gradient."""
    for r in range(learner.n_classes - 1) if learner.descent == "coordinate" else (-1,):
        gradient = state.derive_all() if r < 0 else state.derive(r)[0][None, :]
        column, slope, level, edge = best_attribute(learner.values, allowed, gradient, drawn)
        step = level[:, None] + (np.outer(slope, learner.values[:, column]) if column >= 0 else 0.0)
        step = np.broadcast_to(step, gradient.shape)
        leverage, capped, _ = state.take_all(step, learner.rate) if r < 0 else state.take(r, step[0], learner.rate)
        yield AffineStep(column, slope, level, edge, leverage, capped)


def _full_round(learner: AffineLearner, allowed: Codes, drawn: FloatArray | None) -> CostRound:
    """One round of full-vector steps, along each coordinate in turn or along the gradient."""
    state = learner.state
    used = np.flatnonzero(allowed)
    values = np.column_stack([learner.values[:, used], np.ones(len(learner.values))])
    outputs = learner.n_classes - 1
    if learner.descent == "gradient":
        gradient = state.derive_all()
        norm = np.sqrt((gradient**2).sum(axis=0))
        fit, edge = _least_squares(values, gradient.T, norm, drawn)
        leverage, capped, _ = state.take_all(np.ascontiguousarray((values @ fit).T), learner.rate)
        return _full_terms(learner, used, fit * leverage, edge, capped)
    fits = np.zeros((len(used) + 1, outputs))
    edges, any_capped = [], False
    for r in range(outputs):
        gradient, _ = state.derive(r)
        fit, edge = _least_squares(values, gradient[:, None], np.abs(gradient), drawn)
        leverage, capped, _ = state.take(r, np.ascontiguousarray((values @ fit)[:, 0]), learner.rate)
        fits[:, r] = fit[:, 0] * leverage
        edges.append(edge)
        any_capped |= capped
    state.finish_round()
    return _full_terms(learner, used, fits, max(edges), any_capped)


def _least_squares(
    values: FloatArray, gradient: FloatArray, norm: FloatArray, drawn: FloatArray | None
) -> tuple[FloatArray, float]:
    """The least-squares fit of -w/|w| with row weights |w|, of least norm if not unique; its explained fraction."""
    if drawn is not None:
        gradient, norm = gradient * drawn[:, None], norm * drawn
    total = float(norm.sum())
    if not total > 0:
        return np.zeros((values.shape[1], gradient.shape[1])), 0.0
    root = np.sqrt(norm)
    inverse = np.where(root > 0, 1.0 / np.where(root > 0, root, 1.0), 0.0)
    fit, *_ = np.linalg.lstsq(values * root[:, None], -gradient * inverse[:, None], rcond=1e-6)
    return np.asarray(fit, dtype=np.float64), float(-((values @ fit) * gradient).sum() / total)


def _full_terms(learner: AffineLearner, used: np.ndarray, fits: FloatArray, edge: float, capped: bool) -> CostRound:
    """The fits as affine terms: one per attribute and coordinate, and one constant per coordinate."""
    outputs = fits.shape[1]
    lever = learner.rate * fits
    slope = lever[:-1] / learner.standardised.scale[used][:, None]
    attribute = np.concatenate([np.repeat(used, outputs), np.full(outputs, -1)]).astype(np.int64)
    coordinate = np.tile(np.arange(outputs), len(used) + 1)
    slopes = np.concatenate([slope.ravel(), np.zeros(outputs)])
    levels = np.concatenate([np.zeros(slope.size), lever[-1]])
    return CostRound((coordinate, attribute, slopes, levels), edge, capped, bool(np.any(lever)))
