"""The rows, one file per area. Each file has ``rows(full: bool) -> Iterable[Row]``; data is made when a row runs."""
