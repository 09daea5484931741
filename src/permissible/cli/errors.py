"""Errors of the command line: wrong use (exit code 2) and failure (exit code 1), each with one sentence."""


class CommandError(Exception):
    """A failure, described in one sentence; exit code 1."""

    exit_code = 1


class UseError(CommandError):
    """Wrong usage of a file, a column or an option; exit code 2."""

    exit_code = 2
