"""The weak learner of [B]: a x + b by weighted least squares, on the best single attribute, or on all of them ("full").

    min_g  sum_i |w_i| (g(x_i) + sign w_i)^2 = sum |w| g^2 + 2 dR + const

is the steepest direction in the |w|-weighted norm (for two classes and GEL, Gentle AdaBoost's fit); (30) alone has no
minimum over a linear class. The single attribute is the variant that reproduces the published table.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from permissible.kernels._core import mcboost as kernel
from permissible.learners.mcboost.rounds import Round, Sampling
from permissible.models.affine import AffineTerms
from permissible.models.attributes import Attribute, attribute_matrix, attributes_of
from permissible.table.table import Table
from permissible.types import FloatArray

_COLUMN, _SLOPE, _LEVEL, _LEVERAGE, _CAPPED, _EXPLAINED = range(6)


@dataclass(slots=True, eq=False)
class LinearLearner:
    """Affine terms on standardised attributes; `full` fits all attributes at once instead of the best one."""

    attributes: tuple[Attribute, ...]
    scale: FloatArray
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
        attributes = attributes_of(table, weight) if attributes is None else attributes
        values = attribute_matrix(attributes, table)
        scale = np.sqrt(np.average(values**2, axis=0, weights=weight)) if len(values) else np.ones(len(attributes))
        scale = np.where((scale > 0) & np.isfinite(scale), scale, 1.0)
        return cls(attributes, scale, np.ascontiguousarray(values / scale), n_classes, **options)

    def step(self, state: kernel.State, number: int) -> Round:
        """One round: a step along every coordinate in turn, or one step along the gradient."""
        allowed = self.sampling.columns(len(self.attributes), number)
        share = self.sampling.rows(number)
        if self.full:
            from permissible.learners.mcboost.full import full_round

            return full_round(self, state, allowed, share)
        run = state.round_linear_gradient if self.descent == "gradient" else state.round_linear
        fitted = run(self.values, allowed, share, self.rate)
        attribute = fitted[:, _COLUMN].astype(np.int64)
        lever = self.rate * fitted[:, _LEVERAGE]
        slope = np.where(attribute >= 0, fitted[:, _SLOPE] * lever / self.scale[attribute], 0.0)
        coordinate = np.arange(self.n_classes - 1)
        terms = (coordinate, attribute, slope, fitted[:, _LEVEL] * lever)
        return Round(terms, float(fitted[:, _EXPLAINED].max()), bool(fitted[:, _CAPPED].any()), bool(np.any(lever)))

    def part(self, rounds: list[Round]) -> AffineTerms:
        """The rounds as one part of a model."""
        numbers = [np.full(len(r.terms[0]), t) for t, r in enumerate(rounds)]
        columns: list[Any] = [
            np.concatenate([r.terms[k] for r in rounds]) if rounds else np.zeros(0, dtype=np.int64) for k in range(4)
        ]
        round_ = np.concatenate(numbers) if rounds else np.zeros(0, dtype=np.int64)
        return AffineTerms(self.attributes, self.n_classes, round_, *columns)

    def watch(self, table: Table) -> FloatArray:
        """What `scores` needs of other rows."""
        return attribute_matrix(self.attributes, table)

    def scores(self, made: Round, watched: FloatArray) -> FloatArray:
        """What a round adds to the scores of the watched rows."""
        part = self.part([made])
        coefficients, levels = part.coefficients()
        return np.asarray(watched @ coefficients.T + levels)
