"""One profile for all property tests: the same examples on every run, and no deadline on a busy machine."""

from hypothesis import settings

settings.register_profile("permissible", deadline=None, derandomize=True, max_examples=30, database=None)
settings.load_profile("permissible")
