"""What was passed to fit and predict, by scikit-learn's conventions."""
