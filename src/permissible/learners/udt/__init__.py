"""UDT: decision trees for any phi."""
