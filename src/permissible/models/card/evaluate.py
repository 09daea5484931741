"""A scorecard evaluated in NumPy, term by term: the reference for every rendering."""

import numpy as np

from permissible.bins.describe import rule_words
from permissible.bins.literal import Rule
from permissible.models.card.scorecard import PointsTerm, RuleTerm, Scorecard, SlopeTerm, Term, TreeTerm, kernel_values
from permissible.models.kinds.rules import passes
from permissible.table.table import Table
from permissible.types import BoolArray, FloatArray


def holds(rule: Rule, card: Scorecard, table: Table) -> BoolArray:
    """Whether a rule covers each row."""
    covered = np.ones(table.n_rows, dtype=bool)
    for literal in rule:
        covered &= passes(literal, table.columns[literal.column], card.code_of_category.get(literal.column))
    return covered


def adds(term: Term, card: Scorecard, table: Table) -> FloatArray:
    """What a term adds to the scores of each row, shape (n_rows, n_scores)."""
    if isinstance(term, RuleTerm):
        return np.where(holds(term.rule, card, table)[:, None], term.holds, term.fails)
    if isinstance(term, PointsTerm):
        held = zip(term.points, (holds(rule, card, table) for rule in term.rules), strict=True)
        total = sum((points * covered for points, covered in held), np.zeros(table.n_rows, dtype=np.int64))
        return np.asarray(total[:, None] * np.asarray(term.unit))
    if isinstance(term, TreeTerm):
        return np.asarray(sum(adds(leaf, card, table) for leaf in term.leaves()))
    if isinstance(term, SlopeTerm):
        x = np.asarray(table.columns[term.column], dtype=np.float64) - term.center
        missing = np.full(len(term.slope), np.nan) if term.missing is None else np.asarray(term.missing)
        return np.where(np.isnan(x)[:, None], missing, np.nan_to_num(x)[:, None] * np.asarray(term.slope))
    rows = np.column_stack([np.asarray(column, dtype=np.float64) for column in table.columns])
    return np.asarray(kernel_values(term, rows) @ term.coefficients)


def scores(card: Scorecard, table: Table) -> FloatArray:
    """The scores of each row, shape (n_rows, n_scores), added up as the model does."""
    total = np.tile(np.asarray(card.intercept), (table.n_rows, 1))
    for group in card.groups:
        part = np.zeros_like(total)
        for term in group:
            part += adds(term, card, table)
        total += part
    return total


def words(term: Term, card: Scorecard) -> str:
    """A term in words."""
    if isinstance(term, RuleTerm):
        return rule_words(term.rule, card)
    if isinstance(term, TreeTerm):
        return f"a tree of {sum(literal is None for literal in term.literals)} leaves"
    if isinstance(term, PointsTerm):
        return f"a card of {len(term.rules)} rules"
    if isinstance(term, SlopeTerm):
        return card.schema.columns[term.column].name
    return f"similarity to {len(term.vectors)} training rows ({term.kernel} kernel)"
