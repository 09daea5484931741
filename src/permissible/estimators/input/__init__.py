"""The input of fit and predict, by scikit-learn's conventions."""
