"""What the verbs read and write."""
