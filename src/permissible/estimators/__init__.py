"""The scikit-learn estimators: validate the input, call the learner, store the result. They hold no algorithm."""
