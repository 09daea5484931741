"""A model as SQL: one SELECT that adds score, probability and decision to the rows of a table.

The query has up to three levels: scores of the rows, probabilities of the scores, decision of the probabilities. Every
name and value goes through the dialect, which quotes it; there is no other way for a user's text to get into the query.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from permissible.bins.literal import Literal, Rule
from permissible.losses.entropy import LinkFormula
from permissible.models.card.actions import Actions
from permissible.models.card.scorecard import KernelTerm, PointsTerm, RuleTerm, Scorecard, SlopeTerm, Term, TreeTerm
from permissible.models.render.dialects import Dialect, dialect
from permissible.models.render.formula import formulas
from permissible.table.schema import Column
from permissible.validation import refusal

MAX_SUPPORT = 200
TINY = 1e-130
"""Below it the square of a number may be too small for a double, which some databases call an error."""
_FUNCTIONS = {"exp": "exp", "sqrt": "sqrt", "ln": "ln"}


def literal_sql(literal: Literal, card: Scorecard, target: Dialect) -> str:
    """The condition under which a literal holds; NULL counts as false, as in CASE WHEN and WHERE."""
    column = card.schema.columns[literal.column]
    x = target.column(column.name)
    nan = target.is_nan.format(x=x) if target.is_nan and _may_be_nan(column) else None
    absent = f"{x} IS NULL" if nan is None else f"({x} IS NULL OR {nan})"
    if literal.test == "missing":
        return absent
    if literal.test == "present":
        return f"{x} IS NOT NULL" if nan is None else f"({x} IS NOT NULL AND NOT {nan})"
    if column.kind == "categorical":
        condition, holds_for_nan = _among(literal, card, target), card.covered(literal).others
    else:
        operand = f"CAST({x} AS INTEGER)" if column.kind == "boolean" else x
        condition = f"{operand} {literal.test} {target.double(literal.threshold)}"
        holds_for_nan = literal.test == ">"  # NaN is larger than any number to these databases
    if nan and not literal.missing and holds_for_nan:
        return f"({condition} AND NOT {nan})"
    return f"({condition} OR {absent})" if literal.missing else condition


def _may_be_nan(column: Column) -> bool:
    """Whether a column may hold NaN: one of numbers, also where the numbers are categories."""
    if column.kind != "categorical":
        return column.kind == "numeric"
    return all(isinstance(value, int | float) and not isinstance(value, bool) for value in column.categories)


def rule_sql(rule: Rule, card: Scorecard, target: Dialect) -> str:
    """The condition under which a rule holds: all of its literals do."""
    return " AND ".join(literal_sql(literal, card, target) for literal in rule) or "1 = 1"


def select(
    card: Scorecard,
    actions: Actions,
    *,
    table: str = "data",
    dialect_name: str = "ansi",
    keep: Sequence[str] | None = None,
    prefix: str = "",
    more: Callable[[Dialect], Mapping[str, str]] | None = None,
) -> str:
    """The query.

    `actions` say what to call the classes and how to decide. In `table`, `schema.table` is two names. `keep` lists the
    columns to return beside the answer (all unless given); `prefix` is put before the names score, probability and
    decision, for a table that has such columns itself; `more` makes further columns: from a dialect to their names and
    expressions of the rows.
    """
    target = dialect(dialect_name)
    names = _OutputNames(card, target, prefix)
    listed = [keep] if isinstance(keep, str) else keep
    kept = ["t.*"] if listed is None else [f"t.{target.name_of(name)}" for name in listed]
    shown = _shown_scores(card)
    added = {} if more is None else more(target)
    named = [f"{text} AS {names.free(name)}" for name, text in added.items()]
    scores = [f"{_score(card, k, target)} AS {name}" for k, name in zip(shown, names.scores, strict=True)]
    source = ".".join(target.name_of(part) for part in table.split("."))
    query = _select([*kept, *scores, *named], f"{source} AS t")
    probabilities = _probabilities(card, names, target)
    if probabilities and probabilities != names.scores:
        listed = [f"{text} AS {name}" for text, name in zip(probabilities, names.probabilities, strict=True)]
        query = _select(["s.*", *listed], f"(\n{query}{target.fence}\n) AS s")
    actions.check(bool(probabilities), card.link.alike)
    decision = decision_sql(actions, names.scores, names.probabilities if probabilities else [], target)
    if card.needs_values:
        decision = f"CASE WHEN {names.scores[0]} IS NULL THEN NULL ELSE {decision} END"
    return _select(["d.*", f"{decision} AS {names.decision}"], f"(\n{query}{target.fence}\n) AS d")


class _OutputNames:
    """The names of the answer's columns, distinct from those of the model's columns."""

    def __init__(self, card: Scorecard, target: Dialect, prefix: str) -> None:
        taken = {name.casefold() for name in card.schema.names}
        self._target, self._prefix, self._taken = target, prefix, taken
        shown = _shown_scores(card)
        suffixes = [""] if len(shown) == 1 else [f"_{k}" for k in shown]
        if card.link.kind == "probabilities":
            self.scores = self.probabilities = [self.free(f"probability{suffix}") for suffix in suffixes]
        else:
            self.scores = [self.free(f"score{suffix}") for suffix in suffixes]
            self.probabilities = [self.free(f"probability{suffix}") for suffix in suffixes]
        self.decision = self.free("decision")

    def free(self, wanted: str) -> str:
        """A name that no column has, quoted."""
        name = self._prefix + wanted
        while name.casefold() in self._taken:
            name += "_"
        self._taken.add(name.casefold())
        return self._target.name_of(name)


def _shown_scores(card: Scorecard) -> list[int]:
    """The scores that the query computes: of two probabilities one is enough."""
    return [1] if card.link.kind == "probabilities" and card.n_scores == 2 else list(range(card.n_scores))


def _among(literal: Literal, card: Scorecard, target: Dialect) -> str:
    column = card.schema.columns[literal.column]
    x = target.column(column.name)
    found = card.covered(literal)
    if not found.named:
        return f"{x} IS NOT NULL" if found.others else "1 = 0"
    listed = ", ".join(target.value(value) for value in found.named)
    if len(found.named) == 1:
        return f"{x} {'<>' if found.others else '='} {listed}"
    return f"{x} {'NOT IN' if found.others else 'IN'} ({listed})"


def _score(card: Scorecard, k: int, target: Dialect) -> str:
    parts = [target.double(card.intercept[k])]
    for group in card.groups:
        texts = [text for term in group if (text := _term(term, k, card, target))]
        parts += texts if len(texts) < 2 else ["(" + "\n    + ".join(texts) + ")"]
    if len(parts) > 1 and card.intercept[k] == 0.0:
        del parts[0]
    return "\n  + ".join(parts)


def _term(term: Term, k: int, card: Scorecard, target: Dialect) -> str:
    if isinstance(term, RuleTerm):
        if term.holds[k] == 0.0 and term.fails[k] == 0.0:
            return ""
        condition = rule_sql(term.rule, card, target)
        return f"CASE WHEN {condition} THEN {target.double(term.holds[k])} ELSE {target.double(term.fails[k])} END"
    if isinstance(term, PointsTerm):
        return f"{target.double(term.unit[k])} * {points_sql(term, card, target)}" if term.unit[k] != 0.0 else ""
    if isinstance(term, TreeTerm):
        return _branch(term, 0, k, card, target)
    if isinstance(term, SlopeTerm):
        return _slope(term, k, card, target)
    return _kernel(term, k, card, target)


def points_sql(term: PointsTerm, card: Scorecard, target: Dialect) -> str:
    """The total of a card, a sum of whole numbers."""
    each = [
        f"CASE WHEN {rule_sql(rule, card, target)} THEN {points} ELSE 0 END"
        for rule, points in zip(term.rules, term.points, strict=True)
    ]
    return "(" + "\n    + ".join(each or ["0"]) + ")"


def _branch(term: TreeTerm, node: int, k: int, card: Scorecard, target: Dialect) -> str:
    literal = term.literals[node]
    if literal is None:
        return target.double(term.values[node][k])
    left, right = (_branch(term, child, k, card, target) for child in (term.left[node], term.right[node]))
    return f"CASE WHEN {literal_sql(literal, card, target)} THEN {left} ELSE {right} END"


def _slope(term: SlopeTerm, k: int, card: Scorecard, target: Dialect) -> str:
    if term.slope[k] == 0.0 and term.missing is None:
        return ""
    x = _centred(term.column, term.center, card, target, term.missing is None)
    product = f"{target.double(term.slope[k])} * {x}"
    if term.missing is None:
        return product
    absent = literal_sql(Literal(term.column, "missing", missing=True), card, target)
    return f"CASE WHEN {absent} THEN {target.double(term.missing[k])} ELSE {product} END"


def _centred(column: int, center: float, card: Scorecard, target: Dialect, needed: bool) -> str:
    """A column as a number, centred; where it is `needed` NaN is made NULL, and the answer is NULL too."""
    x = target.column(card.schema.columns[column].name)
    if card.schema.columns[column].kind == "boolean":
        x = f"CAST({x} AS INTEGER)"
    else:
        x = target.number.format(x=f"NULLIF({x}, {target.nan})" if needed and target.nan else x)
    return f"({x} - {target.double(center)})" if center != 0.0 else x


def _kernel(term: KernelTerm, k: int, card: Scorecard, target: Dialect) -> str:
    if len(term.vectors) > MAX_SUPPORT:
        expected = f"a kernel model with at most {MAX_SUPPORT} support vectors, to be written as SQL"
        raise refusal("model", expected, len(term.vectors), "export it as ONNX, or fit without a kernel")
    points = [_centred(column, 0.0, card, target, True) for column in range(len(card.schema.columns))]
    parts = []
    vectors = np.where(np.abs(term.vectors) < TINY, 0.0, term.vectors)
    for vector, weight in zip(vectors, term.coefficients[:, k], strict=True):
        inner = " + ".join(f"{target.double(float(v))} * {x}" for v, x in zip(vector, points, strict=True))
        shifted = f"{target.double(term.gamma)} * ({inner}) + {target.double(term.coef0)}"
        match term.kernel:
            case "linear":
                value = f"({inner})"
            case "poly":
                value = f"power({shifted}, {target.double(term.degree)})"
            case "sigmoid":
                value = f"tanh({shifted})"
            case _:
                squares = " + ".join(
                    f"({x} - {target.double(float(v))}) * ({x} - {target.double(float(v))})"
                    for v, x in zip(vector, points, strict=True)
                )
                value = target.exp.format(x=f"-{target.double(term.gamma)} * ({squares})")
        parts.append(f"{target.double(float(weight))} * {value}")
    return "\n  + ".join(parts)


def _probabilities(card: Scorecard, names: "_OutputNames", target: Dialect) -> list[str]:
    link = card.link
    if link.kind == "probabilities":
        return names.scores
    if link.kind == "softmax":
        return [_softmax_share(k, names.scores, link.sharpness, target) for k in range(card.n_scores)]
    known = formulas(link.losses)
    if known is None:
        return []
    each = [_linked(one, name, target) for one, name in zip(known, names.scores, strict=True)]
    if link.kind == "loss":
        return each
    total = " + ".join(each)
    even = target.double(1.0 / card.n_scores)
    return [f"CASE WHEN {total} > 0 THEN {text} / ({total}) WHEN {total} <= 0 THEN {even} END" for text in each]


def _linked(known: LinkFormula, x: str, target: Dialect) -> str:
    limit = target.double(known.limit)
    below = known.below.format(x=x, **_FUNCTIONS)
    above = known.below.format(x=f"-{x}", **_FUNCTIONS)
    return f"CASE WHEN {x} >= {limit} THEN 1.0 WHEN {x} <= -{limit} THEN 0.0 WHEN {x} < 0 THEN {below} ELSE 1.0 - ({above}) END"


def _softmax_share(k: int, scores: Sequence[str], sharpness: float, target: Dialect) -> str:
    # 1 / sum_j exp(s (S_j - S_k)); an exponent beyond 700 makes the probability 0
    def clipped(j: int) -> str:
        gap = f"{target.double(sharpness)} * ({scores[j]} - {scores[k]})"
        return f"CASE WHEN {gap} > 700 THEN exp(700) WHEN {gap} < -700 THEN 0.0 ELSE exp({gap}) END"

    return "1.0 / (" + " + ".join("1.0" if j == k else clipped(j) for j in range(len(scores))) + ")"


def decision_sql(actions: Actions, scores: Sequence[str], probabilities: Sequence[str], target: Dialect) -> str:
    """The decision as an SQL expression of the columns named in `scores` and `probabilities`."""
    labels = ["NULL" if label is None else target.value(label) for label in actions.labels]
    by_score = actions.by_score or not probabilities
    if actions.shape == "cuts":
        x, cuts = (scores[0], actions.score_cuts) if by_score else (probabilities[-1], actions.cuts)
        test = f"WHEN {x} {'<' if actions.cut_goes_up else '<='}"
        whens = [f"{test} {target.double(cut)} THEN {label}" for cut, label in zip(cuts, labels, strict=False)]
        return f"CASE {' '.join(whens)} ELSE {labels[-1]} END"
    if actions.shape == "largest":
        return _first_best(scores if by_score else probabilities, labels, ">=")
    if actions.shape == "soft":
        return probabilities[-1]
    if len(probabilities) == 1:
        probabilities = [f"(1.0 - {probabilities[0]})", probabilities[0]]

    def expected(k: int) -> str:
        costs = zip(actions.costs, probabilities, strict=True)
        return "(" + " + ".join(f"{target.double(row[k])} * {p}" for row, p in costs) + ")"

    return _first_best([expected(k) for k in range(len(labels))], labels, "<=")


def _first_best(values: Sequence[str], labels: Sequence[str], compare: str) -> str:
    whens = []
    for k in range(len(values) - 1):
        rivals = " AND ".join(f"{values[k]} {compare} {values[j]}" for j in range(len(values)) if j != k)
        whens.append(f"WHEN {rivals} THEN {labels[k]}")
    return f"CASE {' '.join(whens)} ELSE {labels[-1]} END"


def _select(columns: Sequence[str], source: str) -> str:
    # nothing is re-indented after it was written: a column name or a category may contain a line break
    return "SELECT\n  " + ",\n  ".join(columns) + f"\nFROM {source}"
