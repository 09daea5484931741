"""Tables in files: CSV and similar formats, ARFF, Parquet, Arrow; read in chunks or at once."""

from permissible.table.files.opening import open_table
from permissible.table.files.reader import Chunk, FileReader, whole
from permissible.table.files.text import FileError

__all__ = ["Chunk", "FileError", "FileReader", "open_table", "whole"]
