"""Large-margin classifiers for K probability boundaries: problem (18) of [K], solved to a certified duality gap.

`segments` writes the piecewise-linear loss of each class as weighted hinges, `target` derives it from the boundaries;
`linear`, `kernel`, `objective` and `subgradient` solve, `fit` chooses among them; `certificate` bounds the distance to
the optimum.
"""
