"""The kinds of rows by name (asked.py)."""

from typing import Any

from permissible.distributed.boundary_rows import LinearKind

KINDS: dict[str, Any] = {"linear": LinearKind()}
