"""Any model as a scorecard: an intercept, terms that add up to one or several scores, and the link to probabilities.

It is the one form that the exports read. A boosted rule adds one number where it holds and another where not; the
leaves of a tree are disjoint rules; a linear model adds a slope times a column; a kernel model adds similarities to its
support vectors. SQL, Python, ONNX and the report's JavaScript are renderings of this, so they cannot disagree.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import singledispatch
from typing import TypeAlias

import numpy as np

from permissible.bins.describe import rule_words
from permissible.bins.literal import OTHER, Literal, Rule
from permissible.models.kinds.rules import passes
from permissible.models.model import Link
from permissible.table.schema import Category, Schema
from permissible.table.table import Table
from permissible.types import BoolArray, Codes, FloatArray
from permissible.validation import refusal_type


@dataclass(frozen=True, slots=True)
class Covered:
    """The covered categories; with `others`, every value outside of `named` is covered instead (unseen ones too)."""

    named: tuple[Category, ...]
    others: bool


Vector: TypeAlias = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class RuleTerm:
    """Adds `holds` to the scores where the rule covers the row, `fails` otherwise."""

    rule: Rule
    holds: Vector
    fails: Vector


@dataclass(frozen=True, slots=True)
class SlopeTerm:
    """Adds slope * (x - center), x a numeric column; `missing` instead where x is missing."""

    column: int
    slope: Vector
    center: float = 0.0
    missing: Vector | None = None


@dataclass(frozen=True, slots=True)
class KernelTerm:
    """Adds sum_v coefficients[v] * K(x, vectors[v]), x all columns of the row as numbers."""

    kernel: str
    gamma: float
    degree: float
    coef0: float
    vectors: FloatArray
    coefficients: FloatArray


@dataclass(frozen=True, slots=True)
class TreeTerm:
    """Adds the values of a row's leaf; children come after their parent, left where the literal holds."""

    literals: tuple[Literal | None, ...]
    left: tuple[int, ...]
    right: tuple[int, ...]
    values: tuple[Vector, ...]

    def leaves(self) -> list[RuleTerm]:
        """The same tree as disjoint rules, one per leaf."""
        paths: dict[int, Rule] = {0: ()}
        found = []
        for node, literal in enumerate(self.literals):
            path = paths.pop(node)
            if literal is None:
                found.append(RuleTerm(path, self.values[node], tuple(0.0 for _ in self.values[node])))
            else:
                paths[self.left[node]], paths[self.right[node]] = (*path, literal), (*path, literal.negated())
        return found


@dataclass(frozen=True, slots=True)
class PointsTerm:
    """Adds unit * (sum of the points of the rules that hold); the sum is one of whole numbers."""

    rules: tuple[Rule, ...]
    points: tuple[int, ...]
    unit: Vector

    def leaves(self) -> list[RuleTerm]:
        """What each rule adds to the scores."""
        nothing = tuple(0.0 for _ in self.unit)
        values = [tuple(one * points for one in self.unit) for points in self.points]
        return [RuleTerm(rule, value, nothing) for rule, value in zip(self.rules, values, strict=True)]


PlainTerm: TypeAlias = RuleTerm | SlopeTerm | KernelTerm
Term: TypeAlias = PlainTerm | TreeTerm | PointsTerm


def reach(term: Term) -> float:
    """How much a term can move a score: half the difference of the two values of a rule, the size of a slope."""
    if isinstance(term, RuleTerm):
        return max(abs(a - b) for a, b in zip(term.holds, term.fails, strict=True)) / 2
    if isinstance(term, SlopeTerm):
        return max(map(abs, term.slope))
    return max(abs(value) for row in term.values for value in row) if isinstance(term, TreeTerm) else 0.0


@dataclass(frozen=True, slots=True)
class Scorecard:
    """An additive model that any target can run."""

    schema: Schema
    intercept: Vector
    groups: tuple[tuple[Term, ...], ...]  # terms that are added to each other, first to last, before the scores
    link: Link
    code_of_category: Mapping[int, Codes] = field(default_factory=dict)
    seen_missing: tuple[int, ...] | None = None  # the columns whose missing values are mentioned in text; None: all

    def covered(self, literal: Literal) -> Covered:
        """The categories for which a literal of a categorical column holds, missing values aside."""
        categories, own = self.schema.columns[literal.column].categories, self.code_of_category.get(literal.column)
        codes = range(len(categories)) if own is None else own.tolist()
        membership = literal.membership()
        others = bool(membership[OTHER])
        pairs = zip(categories, codes, strict=True)
        return Covered(tuple(value for value, code in pairs if membership[min(code, OTHER)] != others), others)

    @property
    def terms(self) -> tuple[Term, ...]:
        """All terms in order."""
        return tuple(term for group in self.groups for term in group)

    @property
    def n_scores(self) -> int:
        """Number of scores a row gets: one for two classes, except where each class has its own."""
        return len(self.intercept)

    @property
    def needs_values(self) -> bool:
        """Whether missing values are not supported, as in linear and kernel models."""
        return any(
            isinstance(term, KernelTerm) or (isinstance(term, SlopeTerm) and term.missing is None)
            for term in self.terms
        )

    def used_columns(self) -> tuple[int, ...]:
        """The columns that some term uses, in order."""
        used: set[int] = set()
        for term in self.terms:
            if isinstance(term, RuleTerm):
                used |= {literal.column for literal in term.rule}
            elif isinstance(term, TreeTerm):
                used |= {literal.column for literal in term.literals if literal is not None}
            elif isinstance(term, PointsTerm):
                used |= {literal.column for rule in term.rules for literal in rule}
            elif isinstance(term, SlopeTerm):
                used.add(term.column)
            else:
                used |= set(range(len(self.schema.columns)))
        return tuple(sorted(used))


@singledispatch
def scorecard(model: object, schema: Schema) -> Scorecard:
    """The scorecard of a model over the columns of `schema`; each kind of model registers its own."""
    raise refusal_type("model", "a model of permissible that can be written as a scorecard", model)


def kernel_values(term: KernelTerm, rows: FloatArray) -> FloatArray:
    """K(x, v) for each row and support vector: the reference that the renderings are tested against."""
    inner = rows @ term.vectors.T
    match term.kernel:
        case "linear":
            return np.asarray(inner)
        case "rbf":
            distance = ((rows[:, None, :] - term.vectors[None, :, :]) ** 2).sum(axis=2)
            return np.asarray(np.exp(-term.gamma * distance))
        case "poly":
            return np.asarray((term.gamma * inner + term.coef0) ** term.degree)
        case "sigmoid":
            return np.asarray(np.tanh(term.gamma * inner + term.coef0))
    raise refusal_type("kernel", "one that can be written out", term.kernel)


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
