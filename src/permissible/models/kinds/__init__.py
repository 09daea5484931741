"""One file for each kind of model; it scores rows, it does not learn or print."""
