"""A model as Python source that imports only `math`: functions `score(row)`, `probability(row)` and `decide(row)`.

A row is a mapping from column name to value; None and NaN are missing. The text contains the user's names and
categories only as `repr` of plain values, so the source can do nothing but arithmetic and comparisons.
"""

from collections.abc import Sequence

from permissible.bins.literal import Literal, Rule
from permissible.models.card.actions import Actions
from permissible.models.card.scorecard import KernelTerm, PointsTerm, RuleTerm, Scorecard, SlopeTerm, Term, TreeTerm
from permissible.models.render.formula import formulas

_HEAD = '''"""A classifier written out by permissible. A row is a mapping from column name to value."""

import math


def _missing(value):
    return value is None or value != value

'''
_PRESENT = """
def _present(row, name):
    if _missing(row[name]):
        raise ValueError(f"`row` must hold a number in {name!r}, got {row[name]!r}; this model takes no missing values.")
    return row[name]

"""
_FUNCTIONS = {"exp": "math.exp", "sqrt": "math.sqrt", "ln": "math.log"}


def literal_python(literal: Literal, card: Scorecard) -> str:
    """The condition under which a literal holds, over a mapping `row`."""
    column = card.schema.columns[literal.column]
    x = f"row[{column.name!r}]"
    if literal.test in ("missing", "present"):
        return f"_missing({x})" if literal.test == "missing" else f"not _missing({x})"
    if column.kind == "categorical":
        found = card.covered(literal)
        condition = f"{x} {'not in' if found.others else 'in'} {tuple(found.named)!r}"
    else:
        condition = f"{x} {literal.test} {_number(literal.threshold)}"
    return f"(_missing({x}) or {condition})" if literal.missing else f"(not _missing({x}) and {condition})"


def rule_python(rule: Rule, card: Scorecard) -> str:
    """The condition under which a rule holds: all of its literals do."""
    return " and ".join(literal_python(literal, card) for literal in rule) or "True"


def module(card: Scorecard, actions: Actions, more: Sequence[str] = ()) -> str:
    """The source of a module with the three functions; `more` are lines after them."""
    actions.check(_has_probability(card), card.link.alike)
    body = [_HEAD, *([_PRESENT] if card.needs_values else []), *_scores(card), *_probabilities(card)]
    body += ["", "", "def decide(row):", '    """The decision for a row; None means: do not decide."""']
    body += ["    s = scores(row)"]
    body += ["    p = probabilities(row)" if _has_probability(card) else "    p = []", *_decision(actions, card)]
    return "\n".join([*body, *more]) + "\n"


def _number(value: float) -> str:
    text = repr(float(value))
    return text if text.lstrip("-")[0].isdigit() else f'float("{text}")'


def _vector(values: Sequence[float]) -> str:
    return "(" + ", ".join(_number(value) for value in values) + ("," if len(values) == 1 else "") + ")"


def _scores(card: Scorecard) -> list[str]:
    lines = ["", "def scores(row):", '    """The scores of a row, one for each score of the model."""']
    lines += [f"    s = [{', '.join(_number(value) for value in card.intercept)}]"]
    for group in card.groups:
        # each group is summed first, as the library does, so that the last digit agrees
        total = "s" if len(group) == 1 else "g"
        lines += [f"    g = [0.0] * {card.n_scores}"] if total == "g" else []
        lines += [f"    {line}" for term in group for line in _term(term, total, card)]
        lines += ["    s = [a + b for a, b in zip(s, g)]"] if total == "g" else []
    lines += ["    return s", "", "", "def score(row):", '    """The score of a row."""']
    return [*lines, "    return scores(row)[0]" if card.n_scores == 1 else "    return scores(row)"]


def _term(term: Term, total: str, card: Scorecard) -> list[str]:
    if isinstance(term, RuleTerm):
        values = [
            f"{total}[{k}] += {_number(holds)} if holds else {_number(fails)}"
            for k, (holds, fails) in enumerate(zip(term.holds, term.fails, strict=True))
            if holds != 0.0 or fails != 0.0
        ]
        return [f"holds = {rule_python(term.rule, card)}", *values]
    if isinstance(term, PointsTerm):
        return _points(term, total, card)
    if isinstance(term, TreeTerm):
        return _tree(term, total, card)
    if isinstance(term, SlopeTerm):
        return _slope(term, total, card)
    return _kernel(term, total, card)


def _points(term: PointsTerm, total: str, card: Scorecard) -> list[str]:
    lines = ["points = 0"]
    for rule, points in zip(term.rules, term.points, strict=True):
        lines += [f"if {rule_python(rule, card)}:", f"    points += {points}"]
    return [*lines, *(f"{total}[{k}] += {_number(unit)} * points" for k, unit in enumerate(term.unit) if unit != 0.0)]


def _tree(term: TreeTerm, total: str, card: Scorecard) -> list[str]:
    """One pass over the nodes: a child comes after its parent, so no nesting and no loop is needed."""
    lines, leaves = ["n = 0"], []
    for node, literal in enumerate(term.literals):
        if literal is None:
            leaves.append(f"{node}: {_vector(term.values[node])}")
        else:
            condition = literal_python(literal, card)
            lines += [f"if n == {node}:", f"    n = {term.left[node]} if {condition} else {term.right[node]}"]
    lines.append("v = {" + ", ".join(leaves) + "}[n]")
    return [*lines, *(f"{total}[{k}] += v[{k}]" for k in range(card.n_scores))]


def _slope(term: SlopeTerm, total: str, card: Scorecard) -> list[str]:
    x = f"row[{card.schema.columns[term.column].name!r}]"
    value = _centred(term.column, term.center, card, term.missing is None)
    if term.missing is None:
        return [f"x = {value}", *(f"{total}[{k}] += {_number(slope)} * x" for k, slope in enumerate(term.slope))]
    both = enumerate(zip(term.slope, term.missing, strict=True))
    return [
        f"x = None if _missing({x}) else {value}",
        *(f"{total}[{k}] += {_number(missing)} if x is None else {_number(slope)} * x" for k, (slope, missing) in both),
    ]


def _centred(column: int, center: float, card: Scorecard, needed: bool) -> str:
    name = repr(card.schema.columns[column].name)
    x = f"_present(row, {name})" if needed else f"row[{name}]"
    return f"({x} - {_number(center)})" if center != 0.0 else x


def _kernel(term: KernelTerm, total: str, card: Scorecard) -> list[str]:
    points = [_centred(column, 0.0, card, True) for column in range(len(card.schema.columns))]
    inner = "sum(a * b for a, b in zip(x, v))"
    value = {
        "linear": inner,
        "poly": f"({_number(term.gamma)} * {inner} + {_number(term.coef0)}) ** {_number(term.degree)}",
        "sigmoid": f"math.tanh({_number(term.gamma)} * {inner} + {_number(term.coef0)})",
        "rbf": f"math.exp(-{_number(term.gamma)} * sum((a - b) ** 2 for a, b in zip(x, v)))",
    }[term.kernel]
    pairs = [
        f"    ({_vector(vector.tolist())}, {_vector(coefficients.tolist())}),"
        for vector, coefficients in zip(term.vectors, term.coefficients, strict=True)
    ]
    lines = [f"x = [{', '.join(points)}]", "for v, c in [", *pairs, "]:", f"    k = {value}"]
    return [*lines, *(f"    {total}[{k}] += c[{k}] * k" for k in range(card.n_scores))]


def _has_probability(card: Scorecard) -> bool:
    return card.link.kind in ("softmax", "probabilities") or formulas(card.link.losses) is not None


def _probabilities(card: Scorecard) -> list[str]:
    if not _has_probability(card):
        return []
    lines: list[str] = []
    known = formulas(card.link.losses) or ()
    links = {one: "_link" if place == 0 else f"_link{place}" for place, one in enumerate(dict.fromkeys(known))}
    for one, name in links.items():
        lines += ["", "", f"def {name}(x):", '    """The probability that belongs to a score."""']
        lines += [f"    if x <= -{_number(one.limit)}:", "        return 0.0"]
        lines += ["    if x > 0.0:", f"        return 1.0 - {name}(-x)"]
        lines += [f"    return {one.below.format(x='x', **_FUNCTIONS)}"]
    lines += ["", "", "def probabilities(row):", '    """The probability of each class, in order."""']
    lines += ["    s = scores(row)"]
    match card.link.kind:
        case "loss":
            lines += ["    p = _link(s[0])", "    return [1.0 - p, p]"]
        case "one-versus-rest":
            each = ", ".join(f"{links[one]}(s[{k}])" for k, one in enumerate(known))
            lines += [f"    p = [{each}]", "    total = sum(p)"]
            lines += ["    return [x / total for x in p] if total > 0.0 else [1.0 / len(p)] * len(p)"]
        case "softmax":
            lines += ["    top = max(s)", f"    e = [math.exp({_number(card.link.sharpness)} * (x - top)) for x in s]"]
            lines += ["    return [x / sum(e) for x in e]"]
        case _:
            lines += ["    return s"]
    lines += ["", "", "def probability(row):"]
    binary = card.link.kind == "loss" or card.n_scores == 2
    which = "the positive class" if binary else "each class, in order"
    lines += [f'    """The probability of {which}."""']
    return [*lines, "    return probabilities(row)[1]" if binary else "    return probabilities(row)"]


def _decision(actions: Actions, card: Scorecard) -> list[str]:
    labels = f"    labels = {actions.labels!r}"
    if actions.shape == "cuts":
        by_score = actions.by_score or not _has_probability(card)
        x, cuts = ("s[0]", actions.score_cuts) if by_score else ("p[-1]", actions.cuts)
        compare = ">=" if actions.cut_goes_up else ">"
        return [labels, f"    return labels[sum({x} {compare} cut for cut in {_vector(cuts)})]"]
    if actions.shape == "largest":
        values = "s" if actions.by_score else "p or s"
        return [labels, f"    values = {values}", "    return labels[values.index(max(values))]"]
    if actions.shape == "soft":
        return ["    return p[-1]"]
    rows = "(" + " ".join(f"{_vector(row)}," for row in actions.costs) + ")"
    return [
        labels,
        f"    costs = {rows}",
        "    expected = [sum(row[k] * q for row, q in zip(costs, p)) for k in range(len(labels))]",
        "    return labels[expected.index(min(expected))]",
    ]
