"""Tables from files: CSV (also gz and bz2), ARFF, Parquet and Arrow, whole or in chunks of constant memory."""

from permissible.table.readers.files import infer_schema, iterate_file, read_file
from permissible.table.readers.source import FileError

__all__ = ["FileError", "infer_schema", "iterate_file", "read_file"]
