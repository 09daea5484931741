"""Tables in files: CSV and similar formats, ARFF, Parquet, Arrow; read in chunks or at once."""

from permissible.table.files.errors import FileError
from permissible.table.files.opening import open_table
from permissible.table.files.reader import Chunk, FileReader, whole

__all__ = ["Chunk", "FileError", "FileReader", "open_table", "whole"]
