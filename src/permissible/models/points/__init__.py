"""Point cards: the frozen model, and the printed card."""
