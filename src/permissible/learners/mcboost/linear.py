"""The weak learner of [B]: a x + b by weighted least squares, on the best single attribute, or on all of them ("full").

    min_g  sum_i |w_i| (g(x_i) + sign w_i)^2 = sum |w| g^2 + 2 dR + const

is the steepest direction in the |w|-weighted norm (for two classes and GEL, Gentle AdaBoost's fit); (30) alone has no
minimum over a linear class. The single attribute is the variant that reproduces the published table.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from permissible.kernels._core import mcboost as kernel
from permissible.learners.mcboost.rounds import Round, Sampling
from permissible.learners.mcboost.standardise import Space
from permissible.models.kinds.affine import AffineTerms
from permissible.models.kinds.attributes import Attribute, attribute_matrix
from permissible.models.kinds.simplex import codewords
from permissible.table.table import Table
from permissible.types import FloatArray, IntArray

Terms = tuple[IntArray, IntArray, FloatArray, FloatArray]
"""Coordinate, attribute (-1: none), slope and level of each affine term of a round."""
_COLUMN, _SLOPE, _LEVEL, _LEVERAGE, _CAPPED, _EXPLAINED = range(6)


@dataclass(frozen=True, slots=True, eq=False)
class AffineStep:
    """A chosen term as plain values, which travels to parts of the data and into checkpoints: a x + b for each output.

    `edge` is the share of the weight that it explains, `leverage` how far the rows go along it.
    """

    column: int
    slope: FloatArray
    level: FloatArray
    edge: float
    leverage: float = 1.0
    capped: bool = False


@dataclass(slots=True, eq=False)
class LinearLearner:
    """Affine terms on standardised attributes; `full` fits all attributes at once instead of the best one."""

    space: Space
    values: FloatArray
    n_classes: int
    descent: str = "coordinate"
    full: bool = False
    rate: float = 1.0
    sampling: Sampling = field(default_factory=Sampling)

    @classmethod
    def of(
        cls,
        table: Table,
        weight: FloatArray,
        n_classes: int,
        attributes: tuple[Attribute, ...] | None = None,
        **options: Any,
    ) -> "LinearLearner":
        """The learner of a training table: attributes are centred and scaled once, for safe arithmetic."""
        space = Space.of(table, weight, attributes)
        return cls(space, space.values(table), n_classes, **options)

    def step(self, state: kernel.State, number: int) -> Round:
        """One round: a step along every coordinate in turn, or one step along the gradient."""
        allowed = self.sampling.columns(len(self.space.attributes), number)
        share = self.sampling.rows(number)
        if self.full:
            from permissible.learners.mcboost.full import full_round

            return full_round(self, state, allowed, share)
        run = state.round_linear_gradient if self.descent == "gradient" else state.round_linear
        fitted = run(self.values, self.space.low, self.space.high, allowed, share, self.rate)
        blocks = [fitted] if self.descent == "gradient" else np.split(fitted, len(fitted))
        steps = [
            AffineStep(
                int(of[0, _COLUMN]), of[:, _SLOPE], of[:, _LEVEL], float(of[0, _EXPLAINED]), float(of[0, _LEVERAGE]),
                bool(of[0, _CAPPED]),
            )
            for of in blocks
        ]  # fmt: skip
        return affine_round(steps, self.rate, self.space.scale)

    def part(self, rounds: list[Round]) -> AffineTerms:
        """The rounds as one part of a model."""
        return affine_part(self.space.attributes, self.n_classes, rounds)

    def watch(self, table: Table) -> FloatArray:
        """What `scores` needs of other rows."""
        return attribute_matrix(self.space.attributes, table)

    def scores(self, made: Round, watched: FloatArray) -> FloatArray:
        """What a round adds to the scores of the watched rows."""
        return affine_scores(made.terms, watched, self.n_classes)


def affine_round(steps: Sequence[AffineStep], rate: float, scale: FloatArray) -> Round:
    """The steps of a round (one a coordinate, or one along all of them) as terms on the attributes' own scale."""
    column = np.concatenate([np.full(len(step.slope), step.column, dtype=np.int64) for step in steps])
    lever = np.concatenate([np.full(len(step.slope), rate * step.leverage) for step in steps])
    slopes, levels = (np.concatenate([getattr(step, name) for step in steps]) for name in ("slope", "level"))
    slope = np.where(column >= 0, slopes * lever / scale[column], 0.0) if len(scale) else np.zeros(len(column))
    terms: Terms = (np.arange(len(column)), column, slope, levels * lever)
    edge, capped = max(step.edge for step in steps), any(step.capped for step in steps)
    return Round(terms, float(edge), capped, bool(np.any(lever)))


def affine_part(attributes: tuple[Attribute, ...], n_classes: int, rounds: list[Round]) -> AffineTerms:
    """Rounds as one part of a model."""
    numbers = [np.full(len(r.terms[0]), t) for t, r in enumerate(rounds)]
    columns: list[Any] = [
        np.concatenate([r.terms[k] for r in rounds]) if rounds else np.zeros(0, dtype=np.int64) for k in range(4)
    ]
    round_ = np.concatenate(numbers) if rounds else np.zeros(0, dtype=np.int64)
    return AffineTerms(attributes, n_classes, round_, *columns)


def affine_scores(terms: Terms, values: FloatArray, n_classes: int) -> FloatArray:
    """What terms add to the scores of rows with these attributes, (n, M); a row's own arithmetic, wherever it stands."""
    words, scores = codewords(n_classes) / 2, np.zeros((len(values), n_classes))
    for coordinate, attribute, slope, level in zip(*terms, strict=True):
        step = slope * values[:, attribute] + level if attribute >= 0 else np.full(len(values), level)
        for label in np.flatnonzero(words[:, coordinate]):
            scores[:, label] += words[label, coordinate] * step
    return scores
