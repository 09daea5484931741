"""The input of a learner: thresholds, uint8 codes in blocks of 8 columns, and literals over them."""
