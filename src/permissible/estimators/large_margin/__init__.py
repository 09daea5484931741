"""Large-margin machines of several classes."""
