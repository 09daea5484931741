"""Learners: each fits a model and a trace to rows under a loss (uls, udt, boundary, mcboost, and what they share).

A learner does not depend on scikit-learn, data frames or printing; its main loop reads as the algorithm in the paper.
"""
