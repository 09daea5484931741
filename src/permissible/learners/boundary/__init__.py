"""Large-margin classifiers for K probability boundaries: problem (18) of [K], solved to a certified duality gap.

`segments` writes the piecewise-linear loss of each class as weighted hinges, `linear`, `kernel` and `soft` solve, `certificate`
says how far from the optimum a fit can be at most.
"""

from permissible.learners.boundary.certificate import Certificate
from permissible.learners.boundary.linear import LinearFit, solve_linear
from permissible.learners.boundary.problem import Problem
from permissible.learners.boundary.segments import Segments
from permissible.learners.boundary.target import Target

__all__ = ["Certificate", "LinearFit", "Problem", "Segments", "Target", "solve_linear"]
