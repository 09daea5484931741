"""Weak learning over the rounds: the edge of each round, its mean so far, and Theorem 2's bound against the rounds used."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from permissible.report.displays.axes import Axes, axes_or_new
from permissible.validation import Words, refusal


@dataclass(eq=False)
class WeakLearningDisplay:
    """How long the weak learning assumption held ([N] (22), [T] (42)) at a level gamma.

    Parameters
    ----------
    edge, mean_edge, rounds_bound : arrays, one value per round
        From ``history_`` of a :class:`.ULSClassifier`.
    gamma : float
        The edge that the assumption asks of every round.

    Attributes
    ----------
    fails_ : int or None
        The first round, counted from 1, whose edge is below `gamma`; None if there is none.

    Examples
    --------
    >>> import permissible as pm
    >>> display = pm.WeakLearningDisplay([0.5, 0.2, 0.05], [0.5, 0.35, 0.25], [8.0, 16.0, 32.0], gamma=0.1)
    >>> display.fails_
    3
    """

    edge: Sequence[float]
    mean_edge: Sequence[float]
    rounds_bound: Sequence[float]
    gamma: float = 0.1
    ax_: Any = field(default=None, repr=False)
    fails_: int | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        below = np.flatnonzero(np.asarray(self.edge) < self.gamma)
        self.fails_ = int(below[0]) + 1 if len(below) else None

    @classmethod
    def from_estimator(
        cls, estimator: ClassifierMixin, *, gamma: float = 0.1, ax: Axes | None = None
    ) -> "WeakLearningDisplay":
        """Draw the rounds of a fitted `ULSClassifier` of two classes, with rules or columns."""
        history = estimator.history_
        if "weak_edge" not in history or "class" in history:
            came = Words(f"a {type(estimator).__name__} without one history of edges")
            raise refusal("estimator", "a ULSClassifier of rules or columns and two classes", came)
        return cls(history["weak_edge"], history["mean_edge"], history["rounds_bound"], gamma).plot(ax=ax)

    def plot(self, ax: Axes | None = None) -> "WeakLearningDisplay":
        """Draw into `ax`, or into a new figure; the bound is on the right axis."""
        self.ax_ = axes_or_new(ax)
        rounds = np.arange(1, len(self.edge) + 1)
        self.ax_.plot(rounds, self.edge, ".", label="edge of the round")
        self.ax_.plot(rounds, self.mean_edge, label="mean so far")
        self.ax_.axhline(self.gamma, linestyle=":", color="grey", label=f"gamma = {self.gamma:g}")
        if self.fails_ is not None:
            self.ax_.axvline(self.fails_, linestyle="--", color="grey", label=f"fails in round {self.fails_}")
        self.ax_.set(xlabel="round", ylabel="edge", ylim=(0, None))
        right = self.ax_.twinx()
        right.plot(rounds, self.rounds_bound, color="tab:red", label="Theorem 2's bound")
        right.set(ylabel="rounds that Theorem 2 allows", yscale="log")
        lines = [*self.ax_.get_legend_handles_labels()[0], *right.get_legend_handles_labels()[0]]
        self.ax_.legend(lines, [line.get_label() for line in lines])
        return self
