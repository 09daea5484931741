"""Bins x loss -> (model, trace): uls, udt, boundary, mcboost, and the parts they share (search, line search, stopping).

A learner knows nothing of scikit-learn, data frames or printing; its main loop reads as the algorithm in the paper.
"""
