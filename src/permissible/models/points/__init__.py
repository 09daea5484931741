"""Point cards: the frozen model, and the card as people print it."""
