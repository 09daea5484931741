"""A tree as an SVG picture: root at the left, leaves at the right with a bar of class fractions."""

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap

from markupsafe import escape

from permissible.bins.describe import literal_words
from permissible.models.card.scorecard import Scorecard, TreeTerm

_COLOURS = ("#e8a878", "#0072b2", "#009e73", "#cc79a7", "#f0e442", "#56b4e9", "#999999")
_ROW, _BAR, _TEXT = 46, 110, 150
_PAGE = 960


def tree_drawing(term: TreeTerm, card: Scorecard, classes: Sequence[str]) -> str:
    """The picture, with a title and a description for screen readers."""
    height_of: dict[int, float] = {}
    depth_of = {0: 0}
    order: list[int] = []
    stack = [0]
    while stack:
        node = stack.pop()
        if term.literals[node] is None:
            height_of[node] = _ROW * (len(order) + 0.5)
            order.append(node)
        else:
            for child in (term.right[node], term.left[node]):
                depth_of[child] = depth_of[node] + 1
                stack.append(child)
    for node in range(len(term.literals) - 1, -1, -1):  # children come after their parents
        if term.literals[node] is not None:
            height_of[node] = (height_of[term.left[node]] + height_of[term.right[node]]) / 2
    deepest = max(depth_of.values())
    step = min(220.0, max(130.0, (_PAGE - _BAR - _TEXT) / max(deepest, 1)))
    width = round(step * deepest + _BAR + _TEXT + 20)
    height = _ROW * len(order) + 10
    at = _Places(height_of, depth_of, deepest, step)
    parts = [_branch(term, node, card, at) for node in range(len(term.literals))]
    leaves = [_leaf(term.values[node], height_of[node], step * deepest + 10, classes) for node in order]
    legend = "".join(
        f'<tspan fill="{_COLOURS[k % len(_COLOURS)]}" font-weight="700"> ■ </tspan><tspan>{escape(name)} </tspan>'
        for k, name in enumerate(classes)
    )
    return (
        f'<svg class="treedraw" xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height + 26}" '
        f'viewBox="0 0 {width} {height + 26}" role="img" aria-label="Decision tree with {len(order)} leaves; its text is below">'
        f'{"".join(parts)}{"".join(leaves)}<text x="6" y="{height + 18}">{legend}</text></svg>'
    )


@dataclass(frozen=True, slots=True)
class _Places:
    """The positions of the nodes: their height and depth, the largest depth, and the width of one."""

    height_of: dict[int, float]
    depth_of: dict[int, int]
    deepest: int
    step: float


def _branch(term: TreeTerm, node: int, card: Scorecard, at: _Places) -> str:
    literal = term.literals[node]
    if literal is None:
        return ""
    x, y = at.step * at.depth_of[node] + 6, at.height_of[node]
    lines = []
    for child, said, beside in ((term.left[node], "yes", -5), (term.right[node], "no", 14)):
        end = at.step * (at.deepest if term.literals[child] is None else at.depth_of[child]) + 6
        below = at.height_of[child]
        lines.append(f'<path d="M{x},{y} V{below} H{end}" fill="none" stroke="#9aa5b1" stroke-width="1.5"/>')
        lines.append(f'<text x="{x + 5}" y="{below + beside}" class="soft" font-size="12">{said}</text>')
    words = literal_words(literal, card)
    shown = wrap(words, max(14, int((at.step - 20) / 6.6)), max_lines=2, placeholder=" …") or [words[:14]]
    width, height = 6.8 * max(map(len, shown)) + 14, 16 * len(shown) + 6
    lines.append(f'<rect x="{x - 4}" y="{y - height / 2}" width="{width}" height="{height}" rx="5" class="box"/>')
    for place, line in enumerate(shown):
        baseline = y + 4 + 16 * (place - (len(shown) - 1) / 2)
        lines.append(f'<text x="{x + 3}" y="{baseline}"><title>{escape(words)}</title>{escape(line)}</text>')
    return "".join(lines)


def _leaf(shares: Sequence[float], y: float, x: float, classes: Sequence[str]) -> str:
    bars, start = [], x
    for k, share in enumerate(shares):
        bars.append(
            f'<rect x="{start:.1f}" y="{y - 9}" width="{_BAR * share:.1f}" height="18" fill="{_COLOURS[k % len(_COLOURS)]}"/>'
        )
        start += _BAR * share
    best = max(range(len(shares)), key=lambda k: shares[k])
    text = f"{classes[best]} {100 * shares[best]:.1f} %"
    return "".join(bars) + f'<text x="{x + _BAR + 8}" y="{y + 4}">{escape(text)}</text>'
