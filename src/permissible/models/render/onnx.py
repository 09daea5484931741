"""A model as an ONNX graph of plain operators: literals as one matrix of truth values, rules as a product with it.

A table of numbers is one input `X` (n, columns); a table with categories has one input per column, shape (n, 1), in which
a missing text is "", a missing integer the smallest one, and a missing number NaN. Outputs: `label`, `probabilities`
(where the loss has a formula for them) and `scores`. `onnx` is imported only here, on use.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from permissible.bins.literal import Literal
from permissible.models.card.actions import Actions
from permissible.models.card.scorecard import KernelTerm, PointsTerm, RuleTerm, Scorecard, SlopeTerm, TreeTerm
from permissible.models.render.formula import formulas
from permissible.models.render.onnx_graph import Graph
from permissible.table.schema import Column
from permissible.types import AnyArray, FloatArray
from permissible.validation import Words, refusal

REJECT = "reject"
SMALLEST, LARGEST = np.iinfo(np.int64).min, np.iinfo(np.int64).max


def to_graph(card: Scorecard, actions: Actions, dtype: str = "float32") -> Any:
    """The model as an `onnx.ModelProto`, with numbers of `dtype` ("float32" or "float64")."""
    graph = Graph(dtype)
    _refuse_empty_text(card)
    inputs = _Inputs(graph, card)
    scores = _scores(graph, card, inputs)
    probabilities = _probabilities(graph, card, scores)
    actions.check(probabilities is not None, card.link.alike)
    label = _label(graph, actions, scores, probabilities)
    kind = "number" if actions.shape == "soft" else "text" if _labels(actions).dtype.kind in "OU" else "integer"
    graph.output("label", label, kind, (None,))
    if probabilities is not None:
        width = 2 if card.link.kind == "loss" else card.n_scores
        graph.output("probabilities", probabilities, "number", (None, width))
    graph.output("scores", scores, "number", (None, card.n_scores))
    return graph.model()


def _refuse_empty_text(card: Scorecard) -> None:
    """Refuse a model with the empty text as a category: a tensor of texts uses it for missing values."""
    for place in card.used_columns():
        column = card.schema.columns[place]
        if "" in column.categories:
            came, remedy = Words(f"the category '' in column {column.name!r}"), "rename that category before fitting"
            expected = "without an empty text among the categories, which a graph takes for missing"
            raise refusal("X", expected, came, remedy)


class _Inputs:
    """The columns of a table as tensors of shape (n, 1), and (n, k) for several numeric ones at once."""

    def __init__(self, graph: Graph, card: Scorecard) -> None:
        self.graph, self.columns = graph, card.schema.columns
        self.together = all(column.kind != "categorical" for column in self.columns)
        if self.together:
            graph.input("X", "number", (None, len(self.columns)))
        else:
            self.names = _unique([column.name for column in self.columns])
            for column, name in zip(self.columns, self.names, strict=True):
                graph.input(name, _tensor_kind(column), (None, 1))

    def numbers(self, places: Sequence[int]) -> str:
        """Some numeric columns as one tensor."""
        if self.together:
            return self.graph.add("Gather", "X", self.graph.integers(places), axis=1)
        return self.graph.add("Concat", *(self.names[place] for place in places), axis=1)

    def column(self, place: int) -> str:
        """A categorical column."""
        return self.names[place]


def _tensor_kind(column: Column) -> str:
    """Text where a category is text; integers where all are; floats otherwise."""
    if column.kind != "categorical":
        return "number"
    if not column.categories or any(isinstance(value, str) for value in column.categories):
        return "text"
    whole = all(isinstance(value, int) and SMALLEST < value <= LARGEST for value in column.categories)
    return "integer" if whole else "number"


def _unique(names: Sequence[str]) -> list[str]:
    """Names that a graph can use: not empty, and none twice."""
    found: list[str] = []
    for place, name in enumerate(names):
        clean = name.encode("utf-8", "replace").decode("utf-8").replace("\0", " ") or f"column {place}"
        found.append(clean if clean not in found else f"{clean} ({place})")
    return found


# -- scores -----------------------------------------------------------------------------------------------------------


def _scores(graph: Graph, card: Scorecard, inputs: _Inputs) -> str:
    rules: list[RuleTerm] = []
    slopes: list[SlopeTerm] = []
    start = np.asarray(card.intercept, dtype=np.float64)
    parts = []
    for term in card.terms:
        if isinstance(term, RuleTerm):
            rules.append(term)
        elif isinstance(term, TreeTerm):
            rules += term.leaves()
        elif isinstance(term, SlopeTerm):
            slopes.append(term)
        elif isinstance(term, PointsTerm):
            parts += _points(graph, card, term, inputs)
        else:
            parts.append(_kernel(graph, term, inputs))
    start = start + sum((np.asarray(term.fails) for term in rules), np.zeros(card.n_scores))
    start = start + sum(
        (np.asarray(term.holds) - term.fails for term in rules if not term.rule), np.zeros(card.n_scores)
    )
    rules = [term for term in rules if term.rule]
    if rules:
        parts.append(_rules(graph, card, rules, inputs))
    if slopes:
        parts.append(_slopes(graph, slopes, inputs))
    if not parts:  # a constant, once for each row
        some = inputs.numbers([0]) if _tensor_kind(card.schema.columns[0]) == "number" else None
        parts.append(_nothing(graph, card, inputs, some))
    total = parts[0]
    for part in parts[1:]:
        total = graph.add("Add", total, part)
    return graph.add("Add", total, graph.numbers(start[None, :]))


def _points(graph: Graph, card: Scorecard, term: PointsTerm, inputs: _Inputs) -> list[str]:
    """The total of a card, exact in either precision, times the unit of each score."""
    if not term.rules:
        return []
    pairs = zip(term.rules, term.points, strict=True)
    total = _rules(graph, card, [RuleTerm(rule, (float(points),), (0.0,)) for rule, points in pairs], inputs)
    whole = graph.add("Round", total)  # a runtime may fuse a scalar into MatMul and round it to float32
    return [graph.add("Mul", whole, graph.numbers(np.array([term.unit])))]


def _nothing(graph: Graph, card: Scorecard, inputs: _Inputs, some: str | None) -> str:
    """Zeros of shape (n, n_scores)."""
    shape = graph.add("Shape", some if some is not None else inputs.column(0))
    rows = graph.add("Gather", shape, graph.integers([0]), axis=0)
    return graph.zeros(graph.add("Concat", rows, graph.integers([card.n_scores]), axis=0))


def _rules(graph: Graph, card: Scorecard, rules: list[RuleTerm], inputs: _Inputs) -> str:
    """A rule holds where the number of its literals that hold, a matrix product, equals its length."""
    literals = sorted(
        {literal for term in rules for literal in term.rule}, key=lambda one: (one.test, one.missing, *_key(one))
    )
    truths = [_numeric_truth(graph, group, inputs) for group in _numeric_groups(literals, card)]
    ordered = [literal for group in _numeric_groups(literals, card) for literal in group]
    for literal in literals:
        if card.schema.columns[literal.column].kind == "categorical":
            truths.append(_category_truth(graph, literal, card, inputs))
            ordered.append(literal)
    truth = graph.add("Concat", *truths, axis=1) if len(truths) > 1 else truths[0]
    place = {_key(literal): index for index, literal in enumerate(ordered)}
    member = np.zeros((len(ordered), len(rules)))
    for column, term in enumerate(rules):
        member[[place[_key(literal)] for literal in term.rule], column] = 1.0
    counts = graph.add("MatMul", graph.as_number(truth), graph.numbers(member))
    holds = graph.as_number(graph.add("GreaterOrEqual", counts, graph.numbers(member.sum(axis=0)[None, :] - 0.5)))
    return graph.add("MatMul", holds, graph.numbers(np.array([np.asarray(t.holds) - t.fails for t in rules])))


def _key(literal: Literal) -> tuple[object, ...]:
    return (literal.column, literal.test, repr(literal.threshold), literal.codes, literal.missing)


def _numeric_groups(literals: list[Literal], card: Scorecard) -> list[list[Literal]]:
    """Literals of numeric columns that one comparison evaluates together."""
    groups: dict[tuple[str, bool], list[Literal]] = {}
    for literal in literals:
        if card.schema.columns[literal.column].kind != "categorical":
            groups.setdefault((literal.test, literal.missing), []).append(literal)
    return list(groups.values())


def _numeric_truth(graph: Graph, literals: list[Literal], inputs: _Inputs) -> str:
    test, missing = literals[0].test, literals[0].missing
    x = inputs.numbers([literal.column for literal in literals])
    absent = graph.add("IsNaN", x)
    if test in ("missing", "present"):
        return absent if missing else graph.add("Not", absent)
    thresholds = graph.numbers(np.array([[literal.threshold for literal in literals]]))
    truth = graph.add("LessOrEqual" if test == "<=" else "Greater", x, thresholds)
    return graph.add("Or", truth, absent) if missing else truth


def _category_truth(graph: Graph, literal: Literal, card: Scorecard, inputs: _Inputs) -> str:
    x, kind = inputs.column(literal.column), _tensor_kind(card.schema.columns[literal.column])
    if kind == "number":
        absent = graph.add("IsNaN", x)
    else:
        absent = graph.add("Equal", x, graph.constant([[""]] if kind == "text" else [[SMALLEST]], kind))
    if literal.test in ("missing", "present"):
        return absent if literal.missing else graph.add("Not", absent)
    found = card.covered(literal)
    truth = graph.any_equal(x, [str(v) if kind == "text" else v for v in found.named], kind)
    if found.others:
        truth = graph.add("Not", truth)
    if literal.missing:
        return graph.add("Or", truth, absent)
    return graph.add("And", truth, graph.add("Not", absent))


def _slopes(graph: Graph, slopes: list[SlopeTerm], inputs: _Inputs) -> str:
    x = inputs.numbers([term.column for term in slopes])
    x = graph.add("Sub", x, graph.numbers(np.array([[term.center for term in slopes]])))
    weights = graph.numbers(np.array([term.slope for term in slopes]))
    if all(term.missing is None for term in slopes):
        return graph.add("MatMul", x, weights)
    absent = graph.add("IsNaN", x)
    present = graph.add("Where", absent, graph.numbers(np.zeros((1, 1))), x)
    instead = graph.numbers(np.array([term.missing or [np.nan] * len(term.slope) for term in slopes]))
    return graph.add(
        "Add", graph.add("MatMul", present, weights), graph.add("MatMul", graph.as_number(absent), instead)
    )


def _kernel(graph: Graph, term: KernelTerm, inputs: _Inputs) -> str:
    x = inputs.numbers(range(term.vectors.shape[1]))
    if term.kernel == "rbf":
        apart = graph.add(
            "Sub", graph.add("Unsqueeze", x, graph.integers([1])), graph.numbers(term.vectors[None, :, :])
        )
        distance = graph.add("ReduceSum", graph.add("Mul", apart, apart), graph.integers([2]), keepdims=0)
        value = graph.add("Exp", graph.add("Mul", distance, graph.numbers(np.array(-term.gamma))))
    else:
        # gamma multiplies the vectors: a runtime may fuse a scalar into MatMul and round it to float32
        steep = term.gamma if term.kernel in ("poly", "sigmoid") else 1.0
        value = graph.add("MatMul", x, graph.numbers(steep * term.vectors.T))
        if term.kernel in ("poly", "sigmoid"):
            value = graph.add("Add", value, graph.numbers(np.array(term.coef0)))
            if term.kernel == "poly":
                value = graph.add("Pow", value, graph.numbers(np.array(term.degree)))
            else:
                value = graph.add("Tanh", value)
    return graph.add("MatMul", value, graph.numbers(term.coefficients))


# -- probabilities and labels -----------------------------------------------------------------------------------------


def _probabilities(graph: Graph, card: Scorecard, scores: str) -> str | None:
    match card.link.kind:
        case "probabilities":
            return scores
        case "softmax":
            return graph.add("Softmax", graph.add("Mul", scores, graph.numbers(np.array(card.link.sharpness))), axis=1)
    known = formulas(card.link.losses)
    if known is None:
        return None
    if card.link.alike:
        each = graph.linked(scores, known[0])
    else:
        columns = [graph.add("Gather", scores, graph.integers([k]), axis=1) for k in range(card.n_scores)]
        linked = [graph.linked(x, one) for x, one in zip(columns, known, strict=True)]
        each = graph.add("Concat", *linked, axis=1)
    if card.link.kind == "loss":
        return graph.add("Concat", graph.add("Sub", graph.numbers(np.ones((1, 1))), each), each, axis=1)
    total = graph.add("ReduceSum", each, graph.integers([1]), keepdims=1)
    share = graph.add("Div", each, graph.add("Max", total, graph.numbers(np.array([[1e-30]]))))
    even = graph.numbers(np.full((1, card.n_scores), 1 / card.n_scores))
    return graph.add("Where", graph.add("Greater", total, graph.numbers(np.zeros((1, 1)))), share, even)


def _labels(actions: Actions) -> AnyArray:
    """The labels as a tensor: integers as such, anything else as text; no decision is "reject"."""
    if all(isinstance(label, int) and not isinstance(label, bool) for label in actions.labels):
        return np.array(actions.labels, dtype=np.int64)
    if None in actions.labels and REJECT in actions.labels:
        came, remedy = Words(f"a class called {REJECT!r}"), "rename that class before fitting"
        raise refusal("decision", f"one without rejection, which the graph calls {REJECT!r}", came, remedy)
    return np.array([REJECT if label is None else str(label) for label in actions.labels], dtype=object)


def _label(graph: Graph, actions: Actions, scores: str, probabilities: str | None) -> str:
    if actions.shape == "soft":
        return graph.add("Gather", str(probabilities), graph.constant(1, "integer"), axis=1)
    labels = _labels(actions)
    names = graph.constant(labels, "text" if labels.dtype == object else "integer")
    by_score = actions.by_score or probabilities is None
    values = scores if by_score else str(probabilities)
    if actions.shape == "cuts":
        x = graph.add("Gather", values, graph.integers([0 if by_score else 1]), axis=1)
        cuts: FloatArray = np.array([actions.score_cuts if by_score else actions.cuts])
        above = graph.add("GreaterOrEqual" if actions.cut_goes_up else "Greater", x, graph.numbers(cuts))
        count = graph.add("ReduceSum", graph.add_cast(above, "integer"), graph.integers([1]), keepdims=0)
        return graph.add("Gather", names, count, axis=0)
    if actions.shape == "costs":
        expected = graph.add("MatMul", str(probabilities), graph.numbers(np.array(actions.costs)))
        return graph.add("Gather", names, graph.add("ArgMin", expected, axis=1, keepdims=0), axis=0)
    return graph.add("Gather", names, graph.add("ArgMax", values, axis=1, keepdims=0), axis=0)
