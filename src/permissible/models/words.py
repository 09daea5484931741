"""Literals and rules of a model in words, with the names of its categories."""

from collections.abc import Mapping
from typing import Protocol

from permissible.bins.describe import describe, described
from permissible.bins.literal import Literal, Rule
from permissible.table.schema import Schema
from permissible.types import Codes


class Vocabulary(Protocol):
    """What a description of literals needs to know about a model; scorecards and trees provide it."""

    @property
    def schema(self) -> Schema:
        """The columns."""

    @property
    def code_of_category(self) -> Mapping[int, Codes]:
        """The bin of each category, by column, where it is not simply the category's position."""

    @property
    def seen_missing(self) -> tuple[int, ...] | None:
        """The columns that had missing values in training; None: all may."""


def literal_words(literal: Literal, about: Vocabulary) -> str:
    """A literal in words; missing values are mentioned only where training had some."""
    seen = about.seen_missing is None or literal.column in about.seen_missing
    return describe(literal, about.schema, about.code_of_category.get(literal.column), has_missing=seen)


def rule_words(rule: Rule, about: Vocabulary) -> str:
    """A rule in words; an "or missing" among other literals is bracketed."""
    parts = described(rule, about.schema, lambda literal: literal_words(literal, about))
    if len(parts) > 1:
        parts = [f"({part})" if part.endswith(" or missing") else part for part in parts]
    return " and ".join(parts) or "always"
