"""Questions to workers that may be lost."""
