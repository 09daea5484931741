"""Large-margin classifiers for K probability boundaries: problem (18) of [K], solved to a certified duality gap.

`segments` writes the piecewise-linear loss of each class as weighted hinges, `target` derives it from the boundaries; `linear`,
`kernel`, `objective` and `subgradient` solve, `fit` chooses among them; `certificate` bounds the distance to the optimum.
"""

from permissible.learners.boundary.certificate import Certificate
from permissible.learners.boundary.kernel import solve_kernel
from permissible.learners.boundary.linear import solve_linear
from permissible.learners.boundary.objective import solve_soft
from permissible.learners.boundary.problem import Options, Problem, Solution
from permissible.learners.boundary.segments import Segments
from permissible.learners.boundary.target import Target, decision_of

__all__ = [
    "Certificate",
    "Options",
    "Problem",
    "Segments",
    "Solution",
    "Target",
    "decision_of",
    "solve_kernel",
    "solve_linear",
    "solve_soft",
]
