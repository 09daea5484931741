"""A scorecard as text: what each rule adds, the largest first, and how the score becomes a probability."""

from collections.abc import Sequence

import numpy as np

from permissible.bins.describe import literal_words, number
from permissible.losses import Loss
from permissible.models.card.scorecard import RuleTerm, Scorecard, SlopeTerm, Term, TreeTerm, reach, words
from permissible.models.kinds.tree import TreeModel
from permissible.models.render.formula import formula
from permissible.validation import refusal_type

MOST_LEAVES = 500
"""Trees with more leaves than this in total are written one line per tree."""


def text(card: Scorecard, classes: tuple[object, ...], max_rules: int | None = None) -> str:
    """The model in words.

    One line per term: what it adds where it holds and where not, one column for each score. Of more rules than `max_rules` the
    lightest are only counted.
    """
    heads = ["adds"] if card.n_scores == 1 else [str(label) for label in classes]
    lines = [_start(card, classes)]
    rows = [[*(_signed(value) for value in card.intercept), "always", ""]]
    leaves = sum(len(term.literals) // 2 + 1 for term in card.terms if isinstance(term, TreeTerm))
    terms = _heaviest_first(card)
    cut = max_rules is not None and len(terms) > max_rules and all(isinstance(term, RuleTerm) for term in terms)
    shown = terms[:max_rules] if cut else terms
    rows += [row for term in shown for row in _rows(term, card, short=leaves > MOST_LEAVES)]
    widths = [max(len(row[k]) for row in [[*heads, "", ""], *rows]) for k in range(card.n_scores)]
    lines.append("  ".join(head.rjust(width) for head, width in zip(heads, widths, strict=True)))
    for row in rows:
        numbers = "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=False))
        lines.append(f"{numbers}  {row[-2]}{row[-1]}")
    if cut:
        hidden = [term for term in terms[max_rules:] if isinstance(term, RuleTerm)]
        most = max(max(map(abs, (*term.holds, *term.fails))) for term in hidden)
        lines.append(f"and {len(hidden)} more rules, each of which adds at most {most:.2g}")
    return "\n".join(lines)


def tree_text(tree: TreeModel, classes: Sequence[object], predicted: Sequence[object]) -> str:
    """The tree as text, with the label that is predicted at each node.

    A score followed by `*` is cut off: the leaf is pure, its probability is not smoothed, and its score is infinite in theory.
    """
    lines: list[str] = []
    stack: list[tuple[int, str, str]] = [(0, "", "")]
    while stack:
        node, indent, lead = stack.pop()
        literal = tree.literals[node]
        if literal is None:
            lines.append(f"{indent}{lead}{_leaf_words(tree, node, classes, predicted[node])}")
            continue
        words = [literal_words(side, tree) for side in (literal, literal.negated())]
        if lead:
            lines.append(f"{indent}{lead}")
            indent += "  "
        for child, text in zip((tree.right[node], tree.left[node]), reversed(words), strict=True):
            stack.append((int(child), indent, f"if {text}: "))
    if tree.n_classes == 2 and any(_is_cut_off(tree, leaf) for leaf in tree.leaves):
        lines.append("(* a pure leaf: its score is infinite in theory and cut off here)")
    return "\n".join(line.rstrip() for line in lines)


def _is_cut_off(tree: TreeModel, node: int) -> bool:
    return bool(tree.is_pure[node]) and not tree.smoothing and not np.isfinite(tree.loss.score_limit)


def _leaf_words(tree: TreeModel, node: int, classes: Sequence[object], label: object) -> str:
    """The text of a leaf."""
    probability = tree.node_probability[node]
    weight = number(round(float(tree.weight[node].sum()), 6))
    if tree.n_classes > 2:
        own = probability[list(classes).index(label)]
        return f"{label} (probability {own:.3f}; {weight} examples)"
    star = "*" if _is_cut_off(tree, node) else ""
    score = f"{tree.node_score[node]:+.3f}{star}"
    return f"{label} (Pr[{classes[1]}] = {probability[1]:.3f}, score {score}; {weight} examples)"


def _start(card: Scorecard, classes: tuple[object, ...]) -> str:
    positive = classes[-1]
    match card.link.kind:
        case "loss":
            return f"P({positive}) = {_link_words(card.link.losses[0])}, where score is the sum of"
        case "one-versus-rest":
            if card.link.alike:
                return "each class has a score; the class of the largest is predicted. The scores are the sums of"
            each = ", ".join(
                f"{label}: {_link_words(loss)}" for label, loss in zip(classes, card.link.losses, strict=True)
            )
            return f"P(class) is proportional to ({each}), where score is the class's own, the sum of"
        case "softmax":
            return f"P(class) is proportional to exp({card.link.sharpness:g} * its score); the scores are the sums of"
    raise refusal_type("model", "a model whose scores add up, since a tree is written by tree_text", card.link)


def _link_words(loss: Loss) -> str:
    """The probability of a score, as a formula where there is one."""
    known = formula(loss)
    if known is None:
        return getattr(loss, "name", "the given lines'") + " link"
    return known.shown or known.below.format(x="score", exp="exp", sqrt="sqrt", ln="ln")


def _heaviest_first(card: Scorecard) -> list[Term]:
    return sorted(card.terms, key=lambda term: 0.0 if isinstance(term, TreeTerm) else reach(term), reverse=True)


def _rows(term: Term, card: Scorecard, short: bool = False) -> list[list[str]]:
    if isinstance(term, RuleTerm):
        if any(term.fails) and tuple(-value for value in term.holds) != term.fails:
            other = ", ".join(_signed(value) for value in term.fails)
            return [[*(_signed(value) for value in term.holds), f"if {words(term, card)}", f", else {other}"]]
        otherwise = ", else the opposite" if any(term.fails) else ""
        return [[*(_signed(value) for value in term.holds), f"if {words(term, card)}", otherwise]]
    if isinstance(term, SlopeTerm):
        x = words(term, card)
        moved = f"({x} - {term.center:.6g})" if term.center else x
        return [[*(_signed(value) for value in term.slope), f"times {moved}", ""]]
    if isinstance(term, TreeTerm) and short:
        tested = dict.fromkeys(literal.column for literal in term.literals if literal is not None)
        names = ", ".join(card.schema.columns[column].name for column in tested)
        ends = [f"{least:+.2g}..{most:+.2g}" for least, most in _ranges(term)]
        return [[*ends, words(term, card), f" on {names}" if names else ""]]
    if isinstance(term, TreeTerm):
        return [row for leaf in term.leaves() for row in _rows(leaf, card)]
    return [[*("" for _ in range(card.n_scores)), words(term, card), ""]]


def _ranges(term: TreeTerm) -> list[tuple[float, float]]:
    """The least and the largest value that the leaves of a tree add to each score."""
    added = [value for value, literal in zip(term.values, term.literals, strict=True) if literal is None]
    return [(min(column), max(column)) for column in zip(*added, strict=True)]


def _signed(value: float) -> str:
    return f"{value:+.4g}"
