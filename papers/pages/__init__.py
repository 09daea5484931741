"""Results to files: a chapter is plain data; tables become CSV and Markdown, figures SVG and PNG, papers one page each."""

from papers.pages.chapter import Chapter, Drawing, Prose, Table, claims
from papers.pages.write import write

__all__ = ["Chapter", "Drawing", "Prose", "Table", "claims", "write"]
