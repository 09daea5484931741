"""Loading the model file of a verb."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from permissible.cli.errors import UseError

if TYPE_CHECKING:
    from permissible.estimators.classifier import Classifier


def load_model(path: Path) -> "Classifier":
    """Load a model file."""
    from permissible.estimators.files.save_load import load

    if not path.exists():
        raise UseError(f"the file {path} does not exist.")
    try:
        fitted: Classifier = load(path)
    except ValueError as error:
        raise UseError(str(error)) from None
    return fitted


def notes_of(model: object) -> dict[str, Any]:
    """What `permissible fit` wrote into the model file about its training file."""
    return dict(getattr(model, "notes_", {}))


def target_of(model: object, given: str | None) -> str:
    """The target column: as given, or as stored in the model file."""
    known = notes_of(model).get("target")
    if given is None and not known:
        raise UseError("--target must name the column with the truth: the model file does not know it.")
    return str(given or known)
