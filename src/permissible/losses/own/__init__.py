"""A user's own functions, checked and completed to losses."""
