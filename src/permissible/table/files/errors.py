"""Errors of files: one sentence with the file's name and the line."""

from os import PathLike


class FileError(ValueError):
    """The file does not exist, is not readable, or is not of the format of its name."""


def wrong(path: str | PathLike[str], line: int | None, sentence: str) -> FileError:
    """The error of a file: its name, the line where there is one, and a sentence without its full stop."""
    return FileError(f"{path}: {sentence}." if line is None else f"{path}, line {line}: {sentence}.")
