"""The documents of the kept fits: made, stored, compared."""

import json
import math
import tempfile
import warnings
from pathlib import Path
from typing import Any

import permissible as pm
from tests.pinned.fits import FITS

FOLDER = Path(__file__).parent / "documents"
KEPT = ("model", "fit", "classes", "columns")


def made(name: str) -> dict[str, Any]:
    """The document of a fit as the code of today makes it, without parameters, version and checksum."""
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")
        pm.save(FITS[name].run(), Path(folder, "model.json"))
        document = json.loads(Path(folder, "model.json").read_text())
    return {key: document[key] for key in KEPT}


def path_of(name: str) -> Path:
    """Where the document of a fit is kept."""
    return FOLDER / f"{name.replace('*', 'star').replace(' ', '-')}.json"


def kept(name: str) -> dict[str, Any]:
    """The document of a fit as it was when it was last renewed."""
    return json.loads(path_of(name).read_text())


def renew(name: str) -> None:
    """Keep what the code of today makes."""
    FOLDER.mkdir(exist_ok=True)
    path_of(name).write_text(json.dumps(made(name), separators=(",", ":")) + "\n")


def differences(one: Any, other: Any, exact: bool, place: str = "") -> list[str]:
    """Where two documents differ: numbers to the last bit, or to nine digits where BLAS or NumPy's exp was at work."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        return [found for key in one for found in differences(one[key], other[key], exact, f"{place}.{key}")]
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return [
            found
            for i, pair in enumerate(zip(one, other, strict=True))
            for found in differences(*pair, exact, f"{place}[{i}]")
        ]
    numbers = isinstance(one, float) and isinstance(other, float)
    if one == other or (numbers and not exact and math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)):
        return []
    return [f"{place}: {str(one)[:80]} was {str(other)[:80]}"]
