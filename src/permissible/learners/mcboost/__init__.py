"""Multiclass boosting with a cost matrix: MCBoost with GLL, GEL, L_s, L_t and MC ([B], Algorithm 1 and section 4.2).

`boost` is the algorithm; a base learner (affine terms or trees) gives the terms of each round; the passes over the rows
are compiled (`permissible.kernels._core.mcboost`), with a readable twin in `permissible.kernels.reference.mcboost`.
"""
