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

from permissible.bins.literal import Literal, Rule
from permissible.models.card.categories import Covered, covered
from permissible.models.model import Link
from permissible.table.schema import Schema
from permissible.types import Codes, FloatArray
from permissible.validation import refusal_type

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


Term: TypeAlias = RuleTerm | SlopeTerm | KernelTerm | TreeTerm | PointsTerm


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
        """The categories that a literal covers."""
        return covered(literal, self.schema.columns[literal.column], self.code_of_category.get(literal.column))

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
