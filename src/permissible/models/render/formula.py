"""The inverse link of a loss as text, or as a tree that ONNX graphs and the report page evaluate."""

import ast
from collections.abc import Sequence
from typing import TypeAlias

from permissible.losses import MarginLoss, PermissibleLoss
from permissible.losses.entropy import LinkFormula

Tree: TypeAlias = "float | str | list[Tree]"
"""A number, "x", or an operation with its arguments: ["+", a, b], ["neg", a], ["exp", a]."""

_OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}


def formula(loss: object) -> LinkFormula | None:
    """The formula of a loss, None when its probability has no closed form (power, or a user's own phi)."""
    return loss.formula if isinstance(loss, PermissibleLoss | MarginLoss) else None


def formulas(losses: Sequence[object]) -> tuple[LinkFormula, ...] | None:
    """The formulas of several losses, None when there is no loss or one of them has no formula."""
    found = [formula(loss) for loss in losses]
    return tuple(known for known in found if known is not None) if found and None not in found else None


def tree_of(known: LinkFormula) -> Tree:
    """The formula for scores below 0 as a tree."""
    text = known.below.format(x="x", exp="exp", sqrt="sqrt", ln="ln")
    return _tree(ast.parse(text, mode="eval").body)


def _tree(node: ast.expr) -> Tree:
    match node:
        case ast.Constant(value=float(number)):
            return number
        case ast.Name(id=name):
            return name
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return ["neg", _tree(operand)]
        case ast.BinOp(left=left, op=operator, right=right):
            return [_OPERATORS[type(operator)], _tree(left), _tree(right)]
        case ast.Call(func=ast.Name(id=name), args=[argument]):
            return [name, _tree(argument)]
    raise ValueError(f"a link formula has floats, x, + - * /, exp, sqrt and ln only, got {ast.unparse(node)}.")
