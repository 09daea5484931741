"""The figures of the papers that show the theory, not results: drawn from the library's own losses, decisions and trees."""
