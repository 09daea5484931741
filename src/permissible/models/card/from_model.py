"""The scorecard of each kind of model."""

from collections.abc import Sequence

import numpy as np

from permissible.bins.literal import Literal, Rule
from permissible.models.card.scorecard import (
    KernelTerm,
    PointsTerm,
    RuleTerm,
    Scorecard,
    SlopeTerm,
    Term,
    TreeTerm,
    Vector,
    scorecard,
)
from permissible.models.kinds.additive import AdditiveModel
from permissible.models.kinds.affine import AffineTerms, Attribute
from permissible.models.kinds.boosted import BoostedModel
from permissible.models.kinds.forest import Forest
from permissible.models.kinds.kernel import KINDS, KernelModel
from permissible.models.kinds.linear import LinearModel
from permissible.models.kinds.one_versus_rest import OneVersusRest
from permissible.models.kinds.rules import GROUP, RuleModel
from permissible.models.kinds.simplex import codewords
from permissible.models.kinds.tree import TreeModel
from permissible.models.points.model import PointsModel
from permissible.table.schema import Schema
from permissible.types import Codes, FloatArray
from permissible.validation import Words, refusal, refusal_type

__all__ = ["scorecard"]


@scorecard.register
def _(model: RuleModel, schema: Schema) -> Scorecard:
    terms = [RuleTerm(rule, (c,), (-c,)) for rule, c in zip(model.rules, model.coefficients.tolist(), strict=True)]
    return Scorecard(schema, (float(model.intercept),), grouped(terms), model.link, dict(model.code_of_category))


@scorecard.register
def _(model: PointsModel, schema: Schema) -> Scorecard:
    term = PointsTerm(model.rules, tuple(model.points.tolist()), (model.unit,))
    codes = dict(model.code_of_category)
    return Scorecard(schema, (model.offset,), ((term,),), model.link, codes, model.seen_missing)


@scorecard.register
def _(model: LinearModel, schema: Schema) -> Scorecard:
    slopes = tuple((SlopeTerm(column, (slope,)),) for column, slope in enumerate(model.coef.tolist()) if slope != 0.0)
    return Scorecard(schema, (float(model.intercept),), slopes, model.link)


@scorecard.register
def _(model: TreeModel, schema: Schema) -> Scorecard:
    values = tuple(tuple(row) for row in model.node_probability.tolist())
    term = TreeTerm(model.literals, tuple(model.left.tolist()), tuple(model.right.tolist()), values)
    start = tuple(0.0 for _ in range(model.n_classes))
    return Scorecard(schema, start, ((term,),), model.link, dict(model.code_of_category), model.seen_missing)


@scorecard.register
def _(model: AdditiveModel, schema: Schema) -> Scorecard:
    start = np.array(model.prior, dtype=np.float64)
    terms: list[Term] = []
    for part in model.parts:
        if isinstance(part, Forest):
            terms.extend(forest_terms(part, codewords(part.n_classes) / 2))
            continue
        if not isinstance(part, AffineTerms):
            raise refusal_type("model", "an additive model that can be written as a scorecard", part)
        coefficients, levels = part.coefficients()
        start += levels
        for attribute, slope in zip(part.attributes, coefficients.T, strict=True):
            if slope.any():
                terms.append(affine_term(attribute, slope))
    groups = tuple((term,) for term in terms)
    forests = [part for part in model.parts if isinstance(part, Forest)]
    return Scorecard(schema, tuple(start.tolist()), groups, model.link, *_bins(forests))


@scorecard.register
def _(model: BoostedModel, schema: Schema) -> Scorecard:
    groups = tuple((term,) for term in forest_terms(model.forest, np.eye(len(model.constant))))
    return Scorecard(schema, tuple(model.constant.tolist()), groups, model.link, *_bins([model.forest]))


@scorecard.register
def _(model: KernelModel, schema: Schema) -> Scorecard:
    if not model.kernel.compiled:
        name = "a function" if callable(model.kernel.name) else repr(model.kernel.name)
        raise refusal("kernel", f"one of {', '.join(KINDS)}, to be exported", Words(name))
    vectors = model.support.toarray() if hasattr(model.support, "toarray") else np.asarray(model.support)
    kernel = model.kernel
    shape = (str(kernel.name), float(kernel.gamma), float(kernel.degree), float(kernel.coef0))
    term = KernelTerm(*shape, vectors.astype(np.float64), model.coef[:, None])
    return Scorecard(schema, (float(model.intercept),), ((term,),), model.link)


@scorecard.register
def _(model: OneVersusRest, schema: Schema) -> Scorecard:
    cards = [scorecard(member, schema) for member in model.models]
    groups = [
        tuple(_widened(term, k, len(cards)) for term in group) for k, card in enumerate(cards) for group in card.groups
    ]
    codes = {column: codes for card in cards for column, codes in card.code_of_category.items()}
    start = tuple(card.intercept[0] for card in cards)
    return Scorecard(schema, start, tuple(groups), model.link, codes, cards[0].seen_missing)


def _bins(forests: Sequence[Forest]) -> tuple[dict[int, Codes], tuple[int, ...] | None]:
    """The bin of each category, and the columns with missing values, of forests that share one binning."""
    if not forests:
        return {}, None
    columns = forests[0].binning.columns
    codes = {place: column.code_of_category for place, column in enumerate(columns) if len(column.code_of_category)}
    return codes, tuple(place for place, column in enumerate(columns) if column.has_missing)


def forest_terms(forest: Forest, words: FloatArray) -> list[Term]:
    """Each tree, or rule, as a term on the scores; `words` has a row per score, by which the values of a leaf are multiplied."""
    found: list[Term] = []
    for tree in range(forest.n_trees):
        first, last = (int(place) for place in forest.arrays["first_node"][tree : tree + 2])
        coordinate = int(forest.arrays["coordinate"][tree])
        values = forest.arrays["value"][slice(*forest.arrays["first_value"][tree : tree + 2])]
        scores = (
            np.outer(values, words[:, coordinate]) if coordinate >= 0 else values.reshape(-1, words.shape[1]) @ words.T
        )
        leaves = [tuple(row) for row in scores.tolist()]
        if len(leaves) == 2:  # a stump or a rule
            found.append(RuleTerm(*_rule_of(forest, first, last, leaves)))
        else:
            found.append(_grown(forest, first, last, leaves))
    return found


def _rule_of(forest: Forest, first: int, last: int, leaves: list[Vector]) -> tuple[Rule, Vector, Vector]:
    """The path to the leaf that only one path reaches: leaf 1 of a rule, the left one of a stump."""
    left = forest.arrays["left"][first:last].tolist()
    wanted = 0 if last - first == 1 and left[0] == ~0 else 1
    rule: list[Literal] = []
    for place in range(last - first):
        goes_left = left[place] in (place + 1, ~wanted)
        literal = forest.literal(first + place)
        rule.append(literal if goes_left else literal.negated())
    return tuple(rule), leaves[wanted], leaves[1 - wanted]


def _grown(forest: Forest, first: int, last: int, leaves: list[Vector]) -> TreeTerm:
    """A tree: its tests first to last, then a node for every leaf."""
    children = [[int(child) for child in forest.arrays[side][first:last].tolist()] for side in ("left", "right")]
    literals: list[Literal | None] = [forest.literal(node) for node in range(first, last)]
    nothing = tuple(0.0 for _ in leaves[0])
    table: list[Vector] = [nothing] * (last - first)
    for side in children:
        for place, child in enumerate(side):
            if child < 0:
                side[place] = len(table)
                table.append(leaves[~child])
    if last == first:
        table = [leaves[0]]
    grown = len(table) - len(literals)
    links = [(*side, *([-1] * grown)) for side in children]
    return TreeTerm((*literals, *([None] * grown)), links[0], links[1], tuple(table))


def affine_term(attribute: Attribute, slope: FloatArray) -> Term:
    """Slope times (attribute - mean), nothing where the value is missing."""
    nothing = tuple(0.0 for _ in slope)
    if attribute.category < 0:
        return SlopeTerm(attribute.column, tuple(slope.tolist()), attribute.mean, nothing)
    missing = Literal(attribute.column, "missing", missing=True)
    equal = Literal(attribute.column, "in", codes=(attribute.category,))
    sides = (tuple((slope * (1 - attribute.mean)).tolist()), tuple((slope * -attribute.mean).tolist()))
    values = (nothing, nothing, nothing, *sides)
    return TreeTerm((missing, None, equal, None, None), (1, -1, 3, -1, -1), (2, -1, 4, -1, -1), values)


def grouped(terms: Sequence[Term]) -> tuple[tuple[Term, ...], ...]:
    """Terms in the groups of eight in which rule models add them up."""
    return tuple(tuple(terms[start : start + GROUP]) for start in range(0, len(terms), GROUP))


def _widened(term: Term, k: int, n_scores: int) -> Term:
    """A term of one score as a term of many scores that changes only the k-th."""

    def wide(values: Vector) -> Vector:
        return tuple(values[0] if j == k else 0.0 for j in range(n_scores))

    if isinstance(term, RuleTerm):
        return RuleTerm(term.rule, wide(term.holds), wide(term.fails))
    if isinstance(term, PointsTerm):
        return PointsTerm(term.rules, term.points, wide(term.unit))
    if isinstance(term, SlopeTerm):
        return SlopeTerm(term.column, wide(term.slope), term.center)
    raise refusal_type("model", "rules or columns, one model per class", term)
