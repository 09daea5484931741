"""The compiled core (`_core`), and `reference`: a readable NumPy twin of every kernel."""
