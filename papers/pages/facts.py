"""What a reader needs to judge a number: versions, machine, time. Nothing that identifies a person or a place."""

import importlib.metadata
import platform
from datetime import UTC, datetime
from pathlib import Path

PACKAGES = ("permissible", "numpy", "scipy", "scikit-learn", "lightgbm", "xgboost", "interpret-core", "imodels")


def facts(command: str, seconds: float, jobs: int) -> dict[str, str]:
    """Collect versions, machine, time and the command."""
    versions = [f"{name} {version}" for name in PACKAGES if (version := _version(name))]
    return {
        "command": command,
        "time": f"{seconds / 60:.1f} minutes of work, {jobs} process{'es' if jobs > 1 else ''}, finished {_today()}",
        "versions": f"Python {platform.python_version()}, {', '.join(versions)}",
        "machine": f"{platform.system()} {platform.machine()}, {_processor()}",
    }


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
