"""Tables in files as streams of chunks: CSV and its relatives, ARFF, Parquet, Arrow. A chunk maps column names to arrays."""

from permissible.cli.files.opening import open_table
from permissible.cli.files.source import Chunk, Source
from permissible.cli.files.writing import open_output

__all__ = ["Chunk", "Source", "open_output", "open_table"]
