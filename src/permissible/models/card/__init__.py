"""The one form of a model that every rendering reads."""
