"""What can be wrong with a file, told in one sentence."""


class FileError(ValueError):
    """The file is not there, not readable, or not what its name says."""
