"""Boundary classifiers over rules and leaves of trees: the l1 form of (1) of [K], by column generation.

`groups` joins equal rows, `master` solves the linear program over the rules found, `edges` and `leaves` find rules that violate
its dual, `rules` is the loop, `certificate` says how far the fit can be from the optimum.
"""
