"""One display for each question, in scikit-learn's style."""
