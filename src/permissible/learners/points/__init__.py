"""Point cards: rules with small whole-number points, one unit and one offset (docs/how-to/point-cards.md)."""
