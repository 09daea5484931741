"""What the user gave: columns with their kinds and categories, missing values, target and weights. Nothing is binned here."""
