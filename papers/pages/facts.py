"""What a reader needs to judge a number: versions, machine, time. Nothing that identifies a person or a place."""

import importlib.metadata
import platform
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

PACKAGES = ("permissible", "numpy", "scipy", "scikit-learn", "lightgbm", "xgboost", "interpret-core", "imodels")


def facts(command: str, seconds: float, made_by: Mapping[str, int]) -> dict[str, str]:
    """Collect versions, machine, time and the command; `made_by` counts the units by the version that made them."""
    versions = [f"{name} {version}" for name in PACKAGES if (version := _version(name))]
    return {
        "command": command,
        "time": f"{seconds / 60:.1f} minutes of CPU, finished {_today()}",
        "made by": _made_by(made_by),
        "versions": f"Python {platform.python_version()}, {', '.join(versions)}",
        "machine": f"{platform.system()} {platform.machine()}, {_processor()}",
    }


def this_version() -> str:
    """The version of the package, and the commit where it is a checkout; a commit with changes says so."""
    here = Path(__file__).parent
    try:
        asked = ["git", "-C", str(here), "describe", "--always", "--dirty=, changed", "--exclude=*"]
        commit = subprocess.run(asked, capture_output=True, text=True, timeout=10, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        commit = ""
    return f"permissible {_version('permissible')}" + (f", commit {commit}" if commit else "")


def _made_by(counts: Mapping[str, int]) -> str:
    """The version of all units; of several versions the number of units of each.

    Examples
    --------
    >>> _made_by({"permissible 1.0, commit a1": 3}), _made_by({"permissible 1.0": 3, "": 2})
    ('permissible 1.0, commit a1', 'permissible 1.0 (3 units); a version that was not recorded (2 units)')
    """
    words = {name or "a version that was not recorded": count for name, count in counts.items()}
    if len(words) == 1:
        return next(iter(words))
    return "; ".join(f"{name} ({count} units)" for name, count in words.items())


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _today() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d")


def _processor() -> str:
    listing = Path("/proc/cpuinfo")
    lines = listing.read_text().splitlines() if listing.is_file() else []
    named = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return f"{len(named)} x {named[0]}" if named else platform.processor() or "processor unknown"
