"""Other readings of a loss: its Bregman geometry, the exponential family, the game."""
