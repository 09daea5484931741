"""A scorecard as an HTML table: a row per rule, with a bar for what it adds. Everything is escaped.

The bars use blue and orange, which are colour-blind safe, and each bar's number is next to it as text.
"""

from html import escape

from permissible.bins.describe import literal_words
from permissible.models.card.scorecard import PointsTerm, RuleTerm, Scorecard, SlopeTerm, Term, TreeTerm, reach, words

_STYLE = """<style>
.permissible{font-family:system-ui,sans-serif;font-size:13px;max-width:60rem}
.permissible table{border-collapse:collapse;width:100%}
.permissible th,.permissible td{padding:3px 10px 3px 0;text-align:left;vertical-align:top;border-bottom:1px solid #d5d9e0}
.permissible td.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
.permissible .bar{display:inline-block;height:.8em;border-radius:1px}
.permissible ul{list-style:none;margin:.1em 0;padding-left:1.2em;border-left:1px solid #b9c0cb}
.permissible .b0{background:#d1700e}.permissible .b1{background:#1f6fb4}
</style>"""


def table(card: Scorecard, classes: tuple[object, ...], max_terms: int = 200) -> str:
    """The model as HTML.

    >>> import numpy as np
    >>> from permissible import losses
    >>> from permissible.bins.literal import Literal
    >>> from permissible.models.card.from_model import scorecard
    >>> from permissible.models.kinds.rules import RuleModel
    >>> from permissible.table import Column, Schema
    >>> schema = Schema((Column("<b>age</b>"),))
    >>> model = RuleModel(schema, losses.get("logistic"), 0.1, ((Literal(0, ">", 41.5, (3,)),),), np.array([0.7]))
    >>> "&lt;b&gt;age&lt;/b&gt; &gt; 41.5" in table(scorecard(model, schema), ("no", "yes"))
    True
    """
    if len(card.terms) == 1 and isinstance(card.terms[0], TreeTerm) and card.link.kind == "probabilities":
        body = _tree(card.terms[0], 0, card, classes)
        return f'{_STYLE}<div class="permissible">{body}</div>'
    flat = [one for term in card.terms for one in (term.leaves() if isinstance(term, PointsTerm) else [term])]
    terms: list[Term] = sorted(flat, key=reach, reverse=True)
    largest = max((reach(term) for term in terms), default=0.0) or 1.0
    heads = ["adds"] if card.n_scores == 1 else [escape(str(label)) for label in classes]
    head = "".join(f'<th scope="col">{name}</th>' for name in heads)
    rows = [_row(tuple(card.intercept), "always", 0.0, largest)]
    rows += [_row(_values(term), words(term, card), reach(term), largest) for term in terms[:max_terms]]
    rest = len(terms) - max_terms
    more = f"<p>and {rest} lighter terms</p>" if rest > 0 else ""
    what = escape(str(classes[-1])) if card.n_scores == 1 else "each class"
    return (
        f'{_STYLE}<div class="permissible"><table><caption>What is added to the score of {what}, the largest first</caption>'
        f'<thead><tr>{head}<th scope="col"></th><th scope="col">where</th></tr></thead><tbody>{"".join(rows)}</tbody></table>'
        f"{more}</div>"
    )


def _values(term: Term) -> tuple[float, ...]:
    if isinstance(term, RuleTerm):
        return term.holds
    return term.slope if isinstance(term, SlopeTerm) else ()


def _row(values: tuple[float, ...], text: str, size: float, largest: float) -> str:
    cells = "".join(f'<td class="n">{value:+.4g}</td>' for value in values)
    sign = 1 if values and values[0] >= 0 else 0
    bar = f'<span class="bar b{sign}" style="width:{100 * size / largest:.0f}px" aria-hidden="true"></span>'
    return f"<tr>{cells}<td>{bar}</td><td>{escape(text)}</td></tr>"


def _tree(term: TreeTerm, node: int, card: Scorecard, classes: tuple[object, ...]) -> str:
    literal = term.literals[node]
    if literal is None:
        shares = zip(classes, term.values[node], strict=True)
        return "<em>" + ", ".join(f"{escape(str(label))} {share:.3f}" for label, share in shares) + "</em>"
    left, right = (_tree(term, child, card, classes) for child in (term.left[node], term.right[node]))
    return f"<ul><li>if {escape(literal_words(literal, card))}: {left}</li><li>else: {right}</li></ul>"
