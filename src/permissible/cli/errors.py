"""What can go wrong on the command line: bad use (exit code 2) and failure (exit code 1), each with one plain sentence."""


class CommandError(Exception):
    """A failure that is told in one sentence; exit code 1."""

    exit_code = 1


class UseError(CommandError):
    """The command was not used as it can be: a file, a column or an option is wrong; exit code 2."""

    exit_code = 2
