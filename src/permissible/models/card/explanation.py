"""Why a row got its scores: one `Explanation` for all estimators; the terms of an additive model as columns; importances.

The importances are those of the model alone; `permissible.evaluation.curves` measures them on rows.
"""

from dataclasses import dataclass

import numpy as np

from permissible.bins.describe import literal_words
from permissible.models.card.scorecard import (
    KernelTerm,
    PlainTerm,
    PointsTerm,
    RuleTerm,
    Scorecard,
    SlopeTerm,
    TreeTerm,
    adds,
    holds,
    reach,
    words,
)
from permissible.models.kinds.tree import TreeModel
from permissible.models.model import counted
from permissible.table.table import Table
from permissible.types import AnyArray, FloatArray


@dataclass(frozen=True, slots=True)
class Step:
    """What one term of the model, or one test of a tree, adds to each score; `holds` is None where it is not a rule.

    `said` is true of the row: the words of a rule that holds, those of its opposite otherwise.
    """

    words: str
    adds: tuple[float, ...]
    holds: bool | None = None
    opposite: str = ""

    @property
    def said(self) -> str:
        """What is true of the row."""
        return self.opposite or f"not ({self.words})" if self.holds is False else self.words

    def __str__(self) -> str:
        return self.said


@dataclass(frozen=True, slots=True)
class Explanation:
    """One row: the initial scores, what each step adds, and the resulting scores.

    There is one score for two classes and one per class otherwise; multiclass boosting always has one per class. Steps
    are sorted by their effect on the decision, those of a tree by the order of its tests. `probability` is that of each
    class; `cost` the expected cost of each class, where the estimator has costs.
    """

    classes: tuple[object, ...]
    start: tuple[float, ...]
    steps: tuple[Step, ...]
    scores: tuple[float, ...]
    probability: tuple[float, ...]
    cost: tuple[float, ...] | None = None

    def __str__(self) -> str:
        heads = [str(label) for label in self.classes] if len(self.scores) > 1 else []
        width = max(map(len, heads), default=0)

        def line(values: tuple[float, ...], text: str) -> str:
            return " ".join(f"{value:+.3f}".rjust(max(width, 9)) for value in values) + f"  {text}"

        lines = [" ".join(head.rjust(max(width, 9)) for head in heads)] if heads else []
        lines += [line(self.start, "at the start"), *(line(step.adds, str(step)) for step in self.steps)]
        lines.append(line(self.scores, "score"))
        if heads:
            lines.append(line(self.probability, "probability"))
            return "\n".join(lines if self.cost is None else [*lines, line(self.cost, "expected cost")])
        return "\n".join([*lines, line(self.probability[-1:], f"probability of {self.classes[-1]}")])


@dataclass(frozen=True, slots=True, eq=False)
class Outcomes:
    """What is known of the rows to be explained: the classes, the probability of each, and the costs of mistakes."""

    classes: AnyArray
    probabilities: FloatArray
    costs: FloatArray | None = None

    def expected(self) -> FloatArray:
        """The expected cost of each class; without costs that of a wrong class is 1."""
        return 1 - self.probabilities if self.costs is None else self.probabilities @ self.costs


def explain_card(card: Scorecard, table: Table, outcomes: Outcomes, n_steps: int | None = None) -> list[Explanation]:
    """One explanation a row; equal terms are added up, and those beyond `n_steps` are summed in one step."""
    terms = plain_terms(card)
    texts = [words(term, card) for term in terms]
    negated = {text: _opposite(term, card) for text, term in zip(texts, terms, strict=True)}
    held = [holds(term.rule, card, table) if isinstance(term, RuleTerm) else None for term in terms]
    added = np.array([adds(term, card, table) for term in terms]).reshape(len(terms), table.n_rows, card.n_scores)
    expected, start = outcomes.expected(), np.array(card.intercept)
    found = []
    for row in range(table.n_rows):
        first, second = np.argsort(expected[row], kind="stable")[:2] if card.n_scores > 1 else (0, None)
        merged: dict[str, FloatArray] = {}
        holding: dict[str, bool | None] = {}
        for text, values, covered in zip(texts, added[:, row], held, strict=True):
            if values.any():
                merged[text] = merged.get(text, 0.0) + values
                holding[text] = None if covered is None else bool(covered[row])
        effect = {text: v[first] - (0.0 if second is None else v[second]) for text, v in merged.items()}
        order = sorted(merged, key=lambda text, effect=effect: -abs(effect[text]))  # type: ignore[misc]
        steps = [Step(text, tuple(merged[text].tolist()), holding[text], negated[text]) for text in order[:n_steps]]
        rest = [merged[text] for text in order[len(steps) :]]
        if rest:
            steps.append(Step(counted(len(rest), "other term"), tuple(np.sum(rest, axis=0).tolist())))
        scores = start + added[:, row].sum(axis=0)
        found.append(_explanation(outcomes, row, start, tuple(steps), scores))
    return found


def _opposite(term: PlainTerm, card: Scorecard) -> str:
    """A rule of one test as the opposite test; longer ones have no shorter words than "not (...)"."""
    if isinstance(term, RuleTerm) and len(term.rule) == 1:
        return literal_words(term.rule[0].negated(), card)
    return ""


def explain_tree(
    tree: TreeModel, table: Table, outcomes: Outcomes, n_steps: int | None = None, n_threads: int = 1
) -> list[Explanation]:
    """One explanation a row: the tests that it passed (the linearised tree along one path), the weakest summed in one step."""
    scores = tree.node_score.reshape(tree.n_nodes, -1)
    known: dict[int, Explanation] = {}
    leaves = tree.apply(table, n_threads).tolist()
    for row, leaf in enumerate(leaves):
        if leaf not in known:
            nodes = [leaf]
            while nodes[-1]:
                nodes.append(int(tree.parent[nodes[-1]]))
            moved, path = np.diff(scores[nodes[::-1]], axis=0), tree.path(leaf)
            named = sorted(np.argsort(-np.abs(moved).max(axis=1, initial=0.0), kind="stable")[:n_steps].tolist())
            steps = [Step(literal_words(path[k], tree), tuple(moved[k].tolist()), True) for k in named]
            if len(named) < len(path):
                rest = np.delete(moved, named, axis=0).sum(axis=0)
                steps.append(Step(counted(len(path) - len(named), "other test"), tuple(rest.tolist())))
            known[leaf] = _explanation(outcomes, row, scores[0], tuple(steps), scores[leaf])
    return [known[leaf] for leaf in leaves]


def _explanation(
    outcomes: Outcomes, row: int, start: FloatArray, steps: tuple[Step, ...], scores: FloatArray
) -> Explanation:
    cost = None if outcomes.costs is None else tuple(outcomes.expected()[row].tolist())
    begin, end, share = (tuple(values.tolist()) for values in (start, scores, outcomes.probabilities[row]))
    return Explanation(tuple(outcomes.classes.tolist()), begin, steps, end, share, cost)


def plain_terms(card: Scorecard) -> list[PlainTerm]:
    """The terms with every tree written as its leaves, and every card as its rules."""
    found: list[PlainTerm] = []
    for term in card.terms:
        found.extend(term.leaves() if isinstance(term, TreeTerm | PointsTerm) else [term])
    return found


def effects(card: Scorecard) -> dict[str, FloatArray]:
    """What a rule adds to every score where it holds rather than not, and a column per unit; equal terms are added up."""
    found: dict[str, FloatArray] = {}
    for term in plain_terms(card):
        if not isinstance(term, KernelTerm):
            effect = np.array(term.holds) - term.fails if isinstance(term, RuleTerm) else np.array(term.slope)
            text = words(term, card)
            found[text] = found.get(text, 0.0) + effect
    return found


def terms_table(card: Scorecard, classes: AnyArray, costs: FloatArray) -> dict[str, list[object]]:
    """Terms as columns: words, what each adds to every class (times the attribute for a slope), and `cost`.

    `cost` is the importance of a term given the costs: the mean over pairs of classes of what it adds to the one
    against the other, each pair weighted by the cost of confusing them. The most important terms come first.
    """
    found = effects(card)
    weights = (costs + costs.T) / (costs + costs.T).sum()
    importance = {text: float((weights * np.abs(v[:, None] - v[None, :])).sum()) for text, v in found.items()}
    order = sorted(found, key=lambda text: -importance[text])
    table: dict[str, list[object]] = {"term": [*order]}
    for k, label in enumerate(classes.tolist()):
        table[f"score of {label}"] = [float(found[text][k]) for text in order]
    table["cost"] = [importance[text] for text in order]
    return table


def tree_importances(tree: TreeModel) -> FloatArray:
    """The decrease of the surrogate by the splits on each column, normalised to sum to 1."""
    surrogate = tree.impurities(tree.weight)
    found = np.zeros(len(tree.schema.columns))
    for node, literal in enumerate(tree.literals):
        if literal is not None:
            left, right = tree.left[node], tree.right[node]
            found[literal.column] += max(surrogate[node] - surrogate[left] - surrogate[right], 0.0)
    return _normalised(found)


def card_importances(card: Scorecard) -> FloatArray | None:
    """How much the terms change the scores, summed by column and normalised to sum to 1; None for a kernel.

    A rule counts half of the distance between the two values it adds, divided among the columns of its literals; so
    does each leaf of a tree. A literal gets twice as much as the next one, since a rule is grown literal by literal,
    the best one first. A slope counts its size for one unit of its column.
    """
    found = np.zeros(len(card.schema.columns))
    for term in plain_terms(card):
        if isinstance(term, KernelTerm):
            return None
        if isinstance(term, SlopeTerm):
            found[term.column] += reach(term)
            continue
        parts = 0.5 ** np.arange(len(term.rule))
        for literal, part in zip(term.rule, parts / parts.sum(), strict=True):
            found[literal.column] += reach(term) * part
    return _normalised(found)


def _normalised(found: FloatArray) -> FloatArray:
    return found / found.sum() if found.sum() > 0 else found
