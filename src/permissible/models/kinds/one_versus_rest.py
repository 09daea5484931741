"""One binary model per class, each with its own loss: the frozen result of ULS for more than two classes."""

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from permissible.models.kinds.linear import LinearModel
from permissible.models.kinds.rules import RuleModel
from permissible.models.model import Link, Model
from permissible.models.points.model import PointsModel
from permissible.types import FloatArray

BinaryModel: TypeAlias = RuleModel | LinearModel | PointsModel


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class OneVersusRest(Model):
    """The models of each class against the others, all of one kind.

    The probabilities of the models are normalised to sum to 1.
    """

    models: tuple[BinaryModel, ...]

    def _size(self) -> str:
        return f"{len(self.models)} classes, the first {self.models[0]!r}"

    @property
    def takes_matrix(self) -> bool:  # type: ignore[override]
        """Whether its rows are a matrix: the features are the columns themselves."""
        return self.models[0].takes_matrix

    @property
    def link(self) -> Link:
        """Each score through the loss of its own model (``loss="auto"`` and ``"F*"`` choose one for each class)."""
        return Link("one-versus-rest", tuple(model.loss for model in self.models))

    def scores(self, rows: Any, n_threads: int = 1) -> FloatArray:
        """One score per class, shape (n_rows, n_classes)."""
        return np.column_stack([model.scores(rows, n_threads) for model in self.models])


def joined(models: tuple[BinaryModel, ...]) -> BinaryModel | OneVersusRest:
    """The one model of two classes, or one model per class."""
    return models[0] if len(models) == 1 else OneVersusRest(models)


def members(model: BinaryModel | OneVersusRest) -> tuple[BinaryModel, ...]:
    """The binary models that a model is made of."""
    return model.models if isinstance(model, OneVersusRest) else (model,)
