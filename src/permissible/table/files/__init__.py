"""Tables in files as streams of chunks: CSV and its relatives, ARFF, Parquet, Arrow. A chunk maps column names to arrays."""

from permissible.table.files.opening import open_table
from permissible.table.files.source import Chunk, Source

__all__ = ["Chunk", "Source", "open_table"]
