"""What a learner sees: thresholds, uint8 codes in blocks of 8 columns, and literals over them."""
