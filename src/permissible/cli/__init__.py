"""The command line: one file per verb. It parses, calls the library and prints; errors are one plain sentence."""
