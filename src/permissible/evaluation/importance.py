"""The importance of columns (permutation of their values) and of terms (how much they change the score)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from permissible.evaluation.metrics import LOG_LOSS
from permissible.models.card.scorecard import Scorecard, scores
from permissible.table.table import Table
from permissible.types import FloatArray, IntArray

MAX_ROWS = 2000


@dataclass(frozen=True, slots=True)
class Importance:
    """How much something matters."""

    name: str
    value: float


def column_importance(card: Scorecard, table: Table, codes: IntArray) -> tuple[Importance, ...]:
    """Permutation importance: the increase of the log-loss, the largest first; unused columns are left out."""
    generator = np.random.default_rng(0)
    if table.n_rows > MAX_ROWS:
        kept = np.sort(generator.choice(table.n_rows, MAX_ROWS, replace=False))
        table = Table(table.schema, tuple(values[kept] for values in table.columns), MAX_ROWS)
        codes = codes[kept]
    proba = card.link.probabilities(scores(card, table))
    before = LOG_LOSS.risk(codes, proba)
    found = []
    for column in card.used_columns():
        order = generator.permutation(table.n_rows)
        dealt = tuple(values[order] if place == column else values for place, values in enumerate(table.columns))
        shuffled = card.link.probabilities(scores(card, Table(table.schema, dealt, table.n_rows)))
        found.append(Importance(card.schema.columns[column].name, LOG_LOSS.risk(codes, shuffled) - before))
    return tuple(sorted(found, key=lambda item: -item.value))


def term_importance(names: Sequence[str], contributions: Sequence[FloatArray]) -> tuple[Importance, ...]:
    """The standard deviation of what each term adds over the rows, the largest first."""
    found = [
        Importance(name, float(np.nanstd(added, axis=0).max()))
        for name, added in zip(names, contributions, strict=True)
    ]
    return tuple(sorted(found, key=lambda item: -item.value))
