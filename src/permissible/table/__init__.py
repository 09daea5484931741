"""The user's table: columns with their kinds and categories, missing values, labels. Nothing is binned here."""

from permissible.table.match import UnseenCategoryWarning
from permissible.table.reading import names_of, read
from permissible.table.schema import Category, Column, Kind, Schema
from permissible.table.table import MISSING_CATEGORY, UNSEEN_CATEGORY, Table

__all__ = [
    "MISSING_CATEGORY",
    "UNSEEN_CATEGORY",
    "Category",
    "Column",
    "Kind",
    "Schema",
    "Table",
    "UnseenCategoryWarning",
    "names_of",
    "read",
]
