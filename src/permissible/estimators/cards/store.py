"""ULSClassifier as a point card: it rounds what the rules found, and stores the cards."""

import time
from typing import TYPE_CHECKING

import numpy as np

from permissible.bins.describe import rule_words
from permissible.estimators.input.training import threads
from permissible.learners.doubts import Doubts, of_rules
from permissible.learners.points.certificate import certify
from permissible.learners.points.fit import CardOptions, FittedCard, fit_card
from permissible.learners.uls.certificate import history_of
from permissible.learners.uls.fit import FittedRules, Task
from permissible.learners.uls.trace import category_bins
from permissible.models.kinds.one_versus_rest import joined
from permissible.models.points.model import PointsModel
from permissible.rows.source import Source
from permissible.validation.numbers import count

if TYPE_CHECKING:
    from permissible.estimators.uls import ULSClassifier

FOR_POINTS = 0.95
"""Share of the time left that the search for the best points may use: what follows it takes time too."""


def store_cards(
    estimator: "ULSClassifier", source: Source, found: list[FittedRules], task: Task, begun: float, scale: float
) -> None:
    """Round the rules of each class to a card, stored in the estimator.

    `begun` is when the fit began, `scale` the factor on the weights of the rows.
    """
    labels = [1] if len(found) == 1 else list(range(len(found)))
    most = count("points", estimator.points)
    cards = []
    for number, (label, fitted) in enumerate(zip(labels, found, strict=True)):
        own = task.with_loss(fitted.evidence.chosen) if fitted.evidence is not None else task
        limit = task.candidates[0].max_seconds
        left = (begun + limit - time.monotonic()) / (len(found) - number) if limit else 0.0
        seconds = max(FOR_POINTS * left, 0.0)
        options = CardOptions(own.candidates[0], most, threads(estimator.n_jobs), seconds)
        cards.append(fit_card(source, label, fitted, options))
    estimator.model_ = joined(
        tuple(_model(source, card, fitted, scale) for card, fitted in zip(cards, found, strict=True))
    )
    estimator._remember_start(None)
    estimator._coverage = tuple(_coverage(card) for card in cards)
    histories = [history_of(fitted.trace, fitted.loss, 0) for fitted in found]
    pairs = zip(cards, found, strict=True)
    estimator._tell(found, histories, [certify(card, _doubts(fitted, source)) for card, fitted in pairs], scale)


def _model(source: Source, found: FittedCard, fitted: FittedRules, scale: float) -> PointsModel:
    card, binning = found.card, source.binning
    most = int(card.points.sum())
    return PointsModel(
        binning.schema,
        fitted.loss,
        found.scale * card.offset,
        found.scale * card.unit,
        found.rules,
        card.points,
        category_bins(binning),
        found.problem.cells.totals(card.points[None, :], most)[0] / scale,
        tuple(place for place, column in enumerate(binning.columns) if column.has_missing),
    )


def _doubts(fitted: FittedRules, source: Source) -> Doubts:
    """What is doubtful about the real coefficients that were rounded."""
    model = fitted.trace.model(source.binning, fitted.loss)

    def name(place: int) -> str:
        return f"the rule '{rule_words(model.rules[place], model)}'"

    return of_rules(fitted.trace, fitted.loss, model.intercept, model.coefficients, False, None, name)


def _coverage(found: FittedCard) -> list[tuple[float, float]]:
    """Support of each rule, and the fraction of positives in it."""
    cells = found.problem.cells
    inside = cells.bits.T.astype(np.int64) @ cells.weight / cells.grid
    return [(float(row.sum() / cells.total), float(row[1] / row.sum()) if row.sum() else np.nan) for row in inside]
