"""Large-margin classifiers for K probability boundaries: problem (18) of [K], solved to a certified duality gap.

`segments` writes the piecewise-linear loss of each class as weighted hinges, `target` derives it from the boundaries; `linear`,
`kernel`, `soft` and `subgradient` solve; `certificate` says how far from the optimum a fit can be at most.
"""

from permissible.learners.boundary.certificate import Certificate
from permissible.learners.boundary.kernel import KernelFit, solve_kernel
from permissible.learners.boundary.linear import LinearFit, solve_linear
from permissible.learners.boundary.problem import Problem
from permissible.learners.boundary.segments import Segments
from permissible.learners.boundary.soft import solve_soft
from permissible.learners.boundary.target import Target, decision_of

__all__ = [
    "Certificate", "KernelFit", "LinearFit", "Problem", "Segments", "Target", "decision_of", "solve_kernel", "solve_linear",
    "solve_soft",
]  # fmt: skip
