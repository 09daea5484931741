"""ULS: boosted rules, columns and leaves."""
