"""Which losses run compiled, and on what scale. A loss that is another one stretched (mu-Matsushita) shares its kernel.

The loss of a user's own phi runs compiled by its table (losses/own/tabulation.py), unless that would be too large.

A kernel works on x / scale, with psi = b F of the unstretched loss; a coefficient is `scale` times what the kernel finds.
So phi_mu gives the model of phi_M bit for bit, its coefficients times 1 - mu (mathematics.md E5).
"""

import math
from dataclasses import dataclass

import numpy as np

from permissible.kernels._core import boosting as kernels
from permissible.losses import Loss, PermissibleLoss


@dataclass(frozen=True, slots=True)
class CompiledLoss:
    """A built-in loss as the kernels name it.

    Parameters
    ----------
    name : str
        The kernel's name.
    parameter : float
        Its parameter, 0 where it has none.
    scale : float
        The kernel sees margins divided by this.
    table : LossTable, optional
        That of a user's own phi; `parameter` is then the cap of a step.
    """

    name: str
    parameter: float = 0.0
    scale: float = 1.0
    table: kernels.LossTable | None = None

    def function(self) -> kernels.LossFunction:
        """The kernel's loss itself."""
        return kernels.LossFunction(self.name, self.parameter, self.table)


def compiled(loss: Loss) -> CompiledLoss | None:
    """The kernel for a loss; None for a user's own psi, and for an own phi that cannot be tabulated."""
    params = dict(loss.params)
    match loss.name if loss.rebuild is None else "":
        case "logistic" | "matsushita" | "squared" | "least_squares" | "exponential":
            return CompiledLoss(loss.name)
        case "mu":
            return CompiledLoss("matsushita", scale=1.0 - float(params["mu"]))
        case "power":
            return CompiledLoss("power", float(params["upsilon"]))
        case "logcosh":
            return CompiledLoss("logcosh", abs(float(params["zeta"])))
    return by_table(loss) if isinstance(loss, PermissibleLoss) else None


def by_table(loss: PermissibleLoss) -> CompiledLoss | None:
    """The kernel that looks a loss up in its table; None where the table would be too large."""
    from permissible.losses.own.tabulation import tabulated  # loaded only for a user's own loss

    table = tabulated(loss)
    if table is None:
        return None
    made = kernels.LossTable(table.breaks, table.weight, table.value, table.unit, table.largest_curvature)
    return CompiledLoss("table", longest_step(loss), table=made)


def longest_step(loss: Loss) -> float:
    """A step at least this long means that there is no finite minimiser: the weight has faded there."""
    if not math.isinf(loss.score_limit):
        return 1e8
    doublings = np.ldexp(1.0, np.arange(21)).astype(np.float64)
    faded = np.abs(loss.weight(doublings)) <= 1e-9 * np.abs(loss.weight(np.zeros(1)))
    return float(doublings[int(np.argmax(faded)) if faded.any() else -1])
