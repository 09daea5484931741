"""placeholder"""

from typing import Any


def write_report(*a: Any, **k: Any) -> None: ...
def report(*a: Any, **k: Any) -> None: ...
