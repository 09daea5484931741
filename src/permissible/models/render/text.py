"""A scorecard as text: what each rule adds, the heaviest first, and how the score becomes a probability."""

from typing import Any

from permissible.models.card.actions import Actions
from permissible.models.card.evaluate import literal_words, words
from permissible.models.card.scorecard import RuleTerm, Scorecard, SlopeTerm, Term, TreeTerm
from permissible.models.render.formula import formula


def text(card: Scorecard, actions: Actions, classes: tuple[object, ...]) -> str:
    """The model in words.

    One line a term: what it adds where it holds and elsewhere, one column for each score.
    """
    heads = ["adds"] if card.n_scores == 1 else [str(label) for label in classes]
    lines = [_start(card, classes)]
    if card.link.kind == "probabilities" and len(card.terms) == 1 and isinstance(card.terms[0], TreeTerm):
        return "\n".join([*lines, *_tree_lines(card.terms[0], 0, card, classes, "")])
    rows = [[*(_signed(value) for value in card.intercept), "always", ""]]
    rows += [row for term in _heaviest_first(card) for row in _rows(term, card)]
    widths = [max(len(row[k]) for row in [[*heads, "", ""], *rows]) for k in range(card.n_scores)]
    lines.append("  ".join(head.rjust(width) for head, width in zip(heads, widths, strict=True)))
    for row in rows:
        numbers = "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=False))
        lines.append(f"{numbers}  {row[-2]}{row[-1]}")
    return "\n".join(lines)


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
    return "probabilities of the classes " + ", ".join(map(str, classes))


def _link_words(loss: Any) -> str:
    """The probability of a score, as a formula where there is one."""
    known = formula(loss)
    if known is None:
        return getattr(loss, "name", "the given lines'") + " link"
    return known.shown or known.below.format(x="score", exp="exp", sqrt="sqrt", ln="ln")


def _heaviest_first(card: Scorecard) -> list[Term]:
    def weight(term: Term) -> float:
        if isinstance(term, RuleTerm):
            return max(abs(a - b) for a, b in zip(term.holds, term.fails, strict=True))
        return max(map(abs, term.slope)) if isinstance(term, SlopeTerm) else 0.0

    return sorted(card.terms, key=weight, reverse=True)


def _rows(term: Term, card: Scorecard) -> list[list[str]]:
    if isinstance(term, RuleTerm):
        if any(term.fails) and tuple(-value for value in term.holds) != term.fails:
            other = ", ".join(_signed(value) for value in term.fails)
            return [[*(_signed(value) for value in term.holds), f"if {words(term, card)}", f", else {other}"]]
        otherwise = ", else the opposite" if any(term.fails) else ""
        return [[*(_signed(value) for value in term.holds), f"if {words(term, card)}", otherwise]]
    if isinstance(term, SlopeTerm):
        x = words(term, card)
        moved = f"({x} - {term.center:.6g})" if term.center else x
        scaled = f"{moved} / {term.scale:.6g}" if term.scale != 1.0 else moved
        return [[*(_signed(value) for value in term.slope), f"times {scaled}", ""]]
    if isinstance(term, TreeTerm):
        return [row for leaf in term.leaves() for row in _rows(leaf, card)]
    return [[*("" for _ in range(card.n_scores)), words(term, card), ""]]


def _tree_lines(term: TreeTerm, node: int, card: Scorecard, classes: tuple[object, ...], indent: str) -> list[str]:
    literal = term.literals[node]
    if literal is None:
        shares = ", ".join(f"{label} {share:.3f}" for label, share in zip(classes, term.values[node], strict=True))
        return [f"{indent}{shares}"]
    return [
        f"{indent}if {literal_words(literal, card)}:",
        *_tree_lines(term, term.left[node], card, classes, indent + "    "),
        f"{indent}else:",
        *_tree_lines(term, term.right[node], card, classes, indent + "    "),
    ]


def _signed(value: float) -> str:
    return f"{value:+.4g}"
