"""Which losses run compiled, and on what scale. A loss that is another one stretched (mu-Matsushita) shares its kernel.

The loss of a user's own phi runs compiled by its table (losses/own/tabulation.py), unless that would be too large.

A kernel works on x / scale, with psi = b F of the unstretched loss; a coefficient is `scale` times what the kernel finds.
So phi_mu gives the model of phi_M bit for bit, its coefficients times 1 - mu (mathematics.md E5).
"""

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from permissible.bins.binning import Binning
from permissible.kernels._core import boosting as kernels
from permissible.losses import Loss, PermissibleLoss
from permissible.types import AnyArray, FloatArray


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
    return _by_table(loss) if isinstance(loss, PermissibleLoss) else None


def _by_table(loss: PermissibleLoss) -> CompiledLoss | None:
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


def natural_value(loss: Loss, margin: FloatArray) -> FloatArray:
    """The loss whose derivative is minus the weight: b F for a permissible one, psi itself otherwise."""
    unit = loss.b if isinstance(loss, PermissibleLoss) else 1.0
    return unit * np.asarray(loss.value(margin))


def layout_of(binning: Binning) -> AnyArray:
    """Of each column: categorical or not, number of bins, missing values or not."""
    kinds = [column.kind == "categorical" for column in binning.schema.columns]
    return np.array(
        [(kind, bins.n_bins, bins.has_missing) for kind, bins in zip(kinds, binning.columns, strict=True)],
        dtype=np.int32,
    ).reshape(-1, 3)


class Surrogate(Protocol):
    """The loss as the coordinator knows it: bounds over the states that a step can reach, and how to search for a root."""

    def bounds(self, low_state: float, high_state: float, reach: float) -> tuple[float, float, float]:
        """Largest weight, curvature and loss."""
        ...

    def state_of(self, margin: float) -> float:
        """The state of a margin."""
        ...

    def at(self, margin: FloatArray) -> FloatArray:
        """Loss, weight, curvature and slope of the curvature at margins, one row each."""
        ...

    @property
    def smooth(self) -> bool:
        """Whether the slope of the curvature is known, so that Halley's method applies."""
        ...

    @property
    def cap(self) -> float:
        """A step at least this long means that there is no finite minimiser."""
        ...

    @property
    def attained(self) -> bool:
        """Whether some finite margin has weight 0, so that a finite minimiser always exists (mathematics.md 4.1)."""
        ...


class PythonSurrogate:
    """Any loss as the loops see it: the state is the margin itself."""

    smooth = False

    def __init__(self, loss: Loss) -> None:
        self.loss = loss
        self.cap, self.attained = longest_step(loss), not math.isinf(loss.score_limit)

    def state_of(self, margin: float) -> float:
        """The margin."""
        return margin

    def at(self, margin: FloatArray) -> FloatArray:
        """Loss, weight, curvature and 0 at margins."""
        loss = self.loss
        return np.column_stack(
            (natural_value(loss, margin), loss.weight(margin), loss.curvature(margin), np.zeros(len(margin)))
        )

    def bounds(self, low_state: float, high_state: float, reach: float) -> tuple[float, float, float]:
        """Largest weight, curvature (with room, since only a grid of margins is looked at) and loss."""
        low, high = low_state - reach, high_state + reach
        ends = np.array([low, high])
        looked = np.append(np.linspace(low, high, 65), np.clip(0.0, low, high))
        weight = np.abs(np.asarray(self.loss.weight(ends))).max()
        curvature = 4.0 * np.asarray(self.loss.curvature(looked)).max()
        return float(weight), float(curvature), float(natural_value(self.loss, ends).max())
