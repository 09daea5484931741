"""The scikit-learn faces: validate the input, call the layers below, store the result. No algorithm lives here."""
