"""Other interpretations of a loss: Bregman geometry, exponential family, game."""
