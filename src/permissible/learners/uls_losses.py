"""Which losses run compiled, and on what scale. A loss that is another one stretched (mu-Matsushita) shares its kernel.

A kernel works on x / scale, with psi = b F of the unstretched loss; a coefficient is `scale` times what the kernel finds.
So phi_mu gives the model of phi_M bit for bit, its coefficients times 1 - mu (mathematics.md E5).
"""

from dataclasses import dataclass

from permissible.kernels._core import boosting as kernels
from permissible.losses import Loss


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
    """

    name: str
    parameter: float = 0.0
    scale: float = 1.0

    def function(self) -> kernels.LossFunction:
        """The kernel's loss itself."""
        return kernels.LossFunction(self.name, self.parameter)


def compiled(loss: Loss) -> CompiledLoss | None:
    """The kernel for a loss of the registry; None for a user's own."""
    if loss.rebuild is not None:
        return None
    params = dict(loss.params)
    match loss.name:
        case "logistic" | "matsushita" | "squared" | "least_squares" | "exponential":
            return CompiledLoss(loss.name)
        case "mu":
            return CompiledLoss("matsushita", scale=1.0 - float(params["mu"]))
        case "power":
            return CompiledLoss("power", float(params["upsilon"]))
        case "logcosh":
            return CompiledLoss("logcosh", abs(float(params["zeta"])))
    return None
