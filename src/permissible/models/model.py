"""What every kind of model can do: score rows and give class probabilities. A model does not learn, print or decide."""

from dataclasses import dataclass, fields
from typing import Any, ClassVar, TypeAlias
from typing import Literal as OneOf

import numpy as np

from permissible.losses import Loss
from permissible.types import FloatArray, IntArray

LinkKind: TypeAlias = OneOf["loss", "one-versus-rest", "softmax", "probabilities"]
CHUNK = 16384
"""Rows whose probabilities are computed at once, few enough to stay in the processor's cache."""


@dataclass(frozen=True, slots=True)
class Link:
    """How scores become class probabilities.

    "loss": one score, P(positive) = loss.probability(score). "one-versus-rest": a score per class, each through its own
    loss (there are as many `losses`), then normalised. "softmax": exp(sharpness * score), normalised (33).
    "probabilities": the scores are the probabilities already.
    """

    kind: LinkKind
    losses: tuple[Loss, ...] = ()
    sharpness: float = 1.0

    @property
    def alike(self) -> bool:
        """Whether every score goes through the same loss, so that scores can be compared with each other."""
        return all(loss == self.losses[0] for loss in self.losses)

    def probabilities(self, scores: FloatArray) -> FloatArray:
        """The class probabilities, shape (n_rows, n_classes), of scores of shape (n_rows,) or (n_rows, n_scores)."""
        match self.kind:
            case "loss":
                return self._of_one_score(scores.reshape(len(scores)))
            case "one-versus-rest":
                each = np.column_stack([loss.probability(scores[:, k]) for k, loss in enumerate(self.losses)])
                total = each.sum(axis=1, keepdims=True)
                even = np.full_like(each, 1 / each.shape[1])
                return np.asarray(np.divide(each, total, out=even, where=total > 0))
            case "softmax":
                raised = np.exp(self.sharpness * (scores - scores.max(axis=1, keepdims=True)))
                return np.asarray(raised / raised.sum(axis=1, keepdims=True))
        return scores

    def _of_one_score(self, score: FloatArray) -> FloatArray:
        found = np.empty((len(score), 2))
        for start in range(0, len(score), CHUNK):
            part = slice(start, start + CHUNK)
            found[part, 1] = self.losses[0].probability(score[part])
            np.subtract(1.0, found[part, 1], out=found[part, 0])
        return found


class Frozen:
    """A result of a fit whose repr is one short line: its kind and its size, not its arrays."""

    __slots__ = ()

    def _size(self) -> str:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._size()})"


def counted(count: int, noun: str, several: str | None = None) -> str:
    """A count with its noun: "1 rule", "2 rules", "2 classes"."""
    return f"{count} {noun if count == 1 else several or noun + 's'}"


class Model(Frozen):
    """A model of a fit: it has scores and a link; probabilities and margins follow from them.

    Its rows are a table, or a matrix of numbers for linear and kernel models (`takes_matrix`).
    """

    __slots__ = ()
    takes_matrix: ClassVar[bool] = False
    loss: Any

    @property
    def link(self) -> Link:
        """How scores become probabilities: by the inverse link of the loss, unless a kind of model has another."""
        return Link("loss", (self.loss,))

    def scores(self, rows: Any, n_threads: int = 1) -> FloatArray:
        """The score of the positive class, shape (n_rows,), or one column per class."""
        raise NotImplementedError

    def probabilities(self, rows: Any, n_threads: int = 1) -> FloatArray:
        """The probability of each class, shape (n_rows, n_classes)."""
        return self.link.probabilities(self.scores(rows, n_threads))

    def margins(self, rows: Any, codes: IntArray, n_threads: int = 1) -> FloatArray:
        """The margin 2 Pr[own class] - 1 of each row, given the position of its class."""
        return probability_margins(self.probabilities(rows, n_threads), codes)


class Compiled(Model):
    """A frozen dataclass that keeps what the kernels need of it in cached properties; copies and files leave that out."""

    def __getstate__(self) -> dict[str, object]:
        """The fields alone."""
        return {field.name: self.__dict__[field.name] for field in fields(self)}  # type: ignore[arg-type]


def binary_margins(loss: Loss, scores: FloatArray, codes: IntArray) -> FloatArray:
    """The margins of two classes in [-1, 1], 2 ginv(y H) - 1 ((27) of [T])."""
    return np.asarray(loss.margin(np.where(codes == 1, scores, -scores)))


def probability_margins(probabilities: FloatArray, codes: IntArray) -> FloatArray:
    """The margins in [-1, 1] of several classes, 2 Pr[own class] - 1, which for two classes is (27) of [T]."""
    return np.asarray(2 * probabilities[np.arange(len(codes)), codes] - 1)


def lead(values: FloatArray, codes: IntArray) -> FloatArray:
    """By how much the value of each row's class exceeds the largest other one, for scores or probabilities by class."""
    rows, others = np.arange(len(codes)), values.copy()
    others[rows, codes] = -np.inf
    return np.asarray(values[rows, codes] - others.max(axis=1))
