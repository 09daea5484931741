"""Arguments of the estimators, checked; "auto" resolved."""
