"""`pm.save` and `pm.load`: a fitted estimator as one JSON file, documented in docs/model-file.md.

Loading reads data and executes nothing. A file that is truncated, changed, newer or of another format is refused in one
sentence; writing is atomic; numbers come back bit for bit, so a loaded estimator scores as the one that was saved, and
saves to the same bytes.
"""

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from permissible import decisions
from permissible.estimators.classifier import schema_of
from permissible.estimators.files.fitted import FILED, restored
from permissible.losses import Loss
from permissible.losses.multiclass.gamma_phi import GammaPhi
from permissible.losses.multiclass.losses import MULTICLASS
from permissible.models.files.atomic import write
from permissible.models.files.elements import (
    category_document,
    loss_document,
    own_loss,
    read_category,
    read_loss,
    read_schema,
    schema_document,
)
from permissible.models.files.json_node import Node
from permissible.models.files.models import model_document, read_model
from permissible.models.files.record import Shown, read_record, record_document
from permissible.models.files.strict_json import MAX_BYTES, Plain, dump, number, parse
from permissible.types import AnyArray
from permissible.validation import Words, refusal, refusal_type

FORMAT = "permissible model"
VERSION = 1


def save(estimator: BaseEstimator, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator to a file.

    Parameters
    ----------
    estimator : a fitted estimator of permissible
    path : str or path-like
        Conventionally `something.json`. The file is replaced atomically.

    Examples
    --------
    >>> import tempfile, os
    >>> import permissible as pm
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = pm.UDTClassifier(max_leaf_nodes=3).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pm.save(tree, os.path.join(folder, "iris.json"))
    ...     again = pm.load(os.path.join(folder, "iris.json"))
    >>> (again.predict_proba(X) == tree.predict_proba(X)).all()
    np.True_
    """
    write(path, text_of(estimator))


def load(path: str | os.PathLike[str], losses: Mapping[str, Loss] | None = None) -> BaseEstimator:
    """Read a fitted estimator from a file.

    Parameters
    ----------
    path : str or path-like
    losses : mapping from name to loss, optional
        The user's own losses, which a file only names: ``pm.load(path, losses={"mine": loss})``.

    Examples
    --------
    >>> import tempfile, numpy as np, permissible as pm
    >>> X, y = np.arange(8.0).reshape(-1, 1), np.arange(8) > 3
    >>> model = pm.UDTClassifier(max_leaf_nodes=2).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pm.save(model, f"{folder}/model.json")
    ...     again = pm.load(f"{folder}/model.json")
    >>> again.predict([[1.0], [6.0]]).tolist()
    [False, True]
    """
    name = os.fspath(path)
    size = os.path.getsize(name)
    if size > MAX_BYTES:
        raise refusal("path", f"a model file of at most {MAX_BYTES} bytes", Words(f"{name} of {size}"))
    try:
        document = parse(Path(name).read_bytes())
    except ValueError as error:
        raise refusal("path", "a model file of permissible", Words(f"{name}, which cannot be read: {error}")) from None
    return read_document(document, name, dict(losses or {}))


def text_of(estimator: BaseEstimator) -> str:
    """The content of the file that `save` writes."""
    document = document_of(estimator)
    return dump({**document, "checksum": _checksum(document)}) + "\n"


def document_of(estimator: BaseEstimator) -> dict[str, Plain]:
    """A fitted estimator as plain data."""
    from permissible import __version__

    kind = type(estimator).__name__
    if kind not in FILED:
        raise refusal_type("estimator", "a fitted estimator of permissible", estimator)
    check_is_fitted(estimator, "model_")
    decision = getattr(estimator, "decision_", None)
    return {
        "format": FORMAT,
        "version": VERSION,
        "library": __version__,
        "estimator": kind,
        "parameters": {key: _parameter(value) for key, value in sorted(estimator.get_params(deep=False).items())},
        "classes": _classes_document(np.asarray(estimator.classes_)),
        "columns": schema_document(schema_of(estimator)),
        "decision": None if decision is None else record_document(decision.to_document()),
        "model": model_document(estimator.model_),
        "fit": record_document({name: getattr(estimator, name) for name in FILED[kind] if hasattr(estimator, name)}),
        "notes": record_document(getattr(estimator, "notes_", {})),
    }


def read_document(document: Plain, name: str, own_losses: Mapping[str, Loss]) -> BaseEstimator:
    """The estimator that plain data describes; `name` is how errors call the file."""
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise refusal("path", "a model file of permissible", Words(f"{name}, which is something else"))
    version = document.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise refusal("path", "a model file with a version", Words(f"{name} with version {version!r}"))
    if version > VERSION:
        came = Words(f"{name} of version {version}, written by permissible {document.get('library')}")
        raise refusal("path", f"a model file of version {VERSION} or older", came, "install a newer permissible")
    body = {key: value for key, value in document.items() if key != "checksum"}
    if document.get("checksum") != _checksum(body):
        raise refusal("path", "a model file as it was written", Words(f"{name}, which was changed or damaged since"))
    try:
        return _read(Node(body, ""), own_losses)
    except ValueError as error:
        if "`losses`" in str(error):
            raise
        came = Words(f"{name}, in which {str(error).rstrip('.')}")
        raise refusal("path", "a model file of permissible", came) from None
    except (TypeError, AttributeError, LookupError, ArithmeticError) as error:
        # A value of a type that `save` never writes reached a constructor.
        came = Words(f"{name}, in which a value has the wrong kind ({' '.join(str(error).split())})")
        raise refusal("path", "a model file of permissible", came) from None


def _read(node: Node, own_losses: Mapping[str, Loss]) -> BaseEstimator:
    about = ("format", "version", "library", "estimator", "parameters")
    fields = node.fields(*about, "classes", "columns", "decision", "model", "fit", "notes")
    kind = fields["estimator"].one_of(tuple(FILED))
    schema = read_schema(fields["columns"])
    model = read_model(fields["model"], schema, own_losses)
    parameters = fields["parameters"]
    if not isinstance(parameters.value, dict):
        raise parameters.refused("an object")
    given = {
        key: value
        for key, item in parameters.fields(optional=tuple(parameters.value)).items()
        if not isinstance(value := _read_parameter(item, own_losses), Shown)
    }
    classes, kept = _read_classes(fields["classes"]), read_record(fields["fit"])
    estimator = restored(kind, given, model, schema, classes, kept, node)
    if not fields["decision"].is_null():
        decision = decisions.from_document(read_record(fields["decision"]))
        estimator.decision_ = decisions.decision_for(decision, estimator.classes_)
    notes = read_record(fields["notes"])
    if notes:
        estimator.notes_ = notes
    return estimator


def _parameter(value: Any) -> Plain:
    """A parameter of an estimator: a loss by name, a decision as its document, anything else as a record."""
    if type(value) in MULTICLASS.values():
        return {"multiclass": value.name}
    if isinstance(value, GammaPhi):
        return {"own multiclass": value.name}
    if hasattr(value, "weight") and hasattr(value, "probability") and hasattr(value, "name"):
        return {"loss": loss_document(value)}
    if isinstance(value, decisions.Decision):
        return {"decision": record_document(value.to_document())}
    return record_document(value)


def _read_parameter(node: Node, own_losses: Mapping[str, Loss]) -> object:
    if isinstance(node.value, dict) and "multiclass" in node.value:
        return MULTICLASS[node.fields("multiclass")["multiclass"].one_of(tuple(MULTICLASS))]()
    if isinstance(node.value, dict) and "own multiclass" in node.value:
        return own_loss(node.fields("own multiclass")["own multiclass"].text(), own_losses)
    if isinstance(node.value, dict) and "loss" in node.value:
        return read_loss(node.fields("loss")["loss"], own_losses)
    if isinstance(node.value, dict) and "decision" in node.value:
        return decisions.from_document(read_record(node.fields("decision")["decision"]))
    return read_record(node)


def _classes_document(classes: AnyArray) -> Plain:
    kind = str(classes.dtype) if classes.dtype.kind in "biuf" else ("text" if classes.dtype.kind == "U" else "object")
    values: list[Plain] = [
        number(value) if classes.dtype.kind == "f" else category_document(value) for value in classes.tolist()
    ]
    return {"type": kind, "values": values}


def _read_classes(node: Node) -> AnyArray:
    fields = node.fields("type", "values")
    kind, items = fields["type"].text(), fields["values"].items()
    if len(items) < 2:
        raise fields["values"].refused("a list of at least two classes")
    try:
        if kind in ("text", "object"):
            values: list[object] = [read_category(item) for item in items]
            if kind == "text":
                return np.array([item.text() for item in items])
            result = np.empty(len(values), dtype=object)
            result[:] = values
            return result
        floats = np.dtype(kind).kind == "f"
        return np.array([item.number() if floats else read_category(item) for item in items], dtype=kind)
    except (TypeError, OverflowError):
        raise fields["type"].refused("a type of labels") from None


def _checksum(document: Mapping[str, Plain]) -> str:
    """A digest of the content, whatever its layout: it detects accidents, not forgery."""
    return "sha256:" + hashlib.sha256(dump(dict(document)).encode("utf-8", "surrogatepass")).hexdigest()
