"""Side information of a fit (certificate, history, notes, parameters) <-> plain data that keeps types.

Models themselves are written field by field (models.py). What is stored here is for reading: dataclasses and mappings
come back as a `Record`, a mapping whose entries are attributes too; arrays come back as arrays.
"""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from permissible.models.files.json_node import Node
from permissible.models.files.strict_json import Plain, number, number_of_word

_KINDS = (
    "object",
    "bool",
    "float32",
    "float64",
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
)


class Record(dict[str, Any]):
    """A mapping whose entries can be read as attributes.

    >>> Record(gap=0.5).gap
    0.5
    """

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


def record_document(value: object) -> Plain:
    """Plain data for anything a fit may store; an object without a plain form is stored as its repr."""
    if value is None or isinstance(value, bool | str):
        return value if not isinstance(value, str) or number_of_word(value) is None else {"text": value}
    if isinstance(value, np.generic):
        return record_document(value.item())
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return number(value)
    if isinstance(value, np.ndarray):
        return {
            "array": str(value.dtype) if value.dtype.kind in "biuf" else "object",
            "values": _nested(value.tolist()),
        }
    if isinstance(value, list):
        return [record_document(item) for item in value]
    if isinstance(value, tuple):
        return {"tuple": [record_document(item) for item in value]}
    if isinstance(value, Mapping):
        return {"record": {str(key): record_document(item) for key, item in value.items()}}
    if is_dataclass(value) and not isinstance(value, type):
        return {"record": {field.name: record_document(getattr(value, field.name)) for field in fields(value)}}
    return {"shown": repr(value)}


def read_record(node: Node) -> Any:
    """The value that a document stores."""
    value = node.value
    if isinstance(value, str):
        known = number_of_word(value)
        return value if known is None else known
    if isinstance(value, list):
        return [read_record(item) for item in node.items()]
    if not isinstance(value, dict):
        return value
    if "array" in value:
        inner = node.fields("array", "values")
        kind = inner["array"].one_of(_KINDS)
        return _array(_read_nested(inner["values"]), kind, node)
    if "tuple" in value:
        return tuple(read_record(item) for item in node.fields("tuple")["tuple"].items())
    if "text" in value:
        return node.fields("text")["text"].text()
    if "shown" in value:
        return Shown(node.fields("shown")["shown"].text())
    entry = node.fields("record")["record"]
    if not isinstance(entry.value, dict):
        raise entry.refused("an object")
    return Record({key: read_record(item) for key, item in entry.fields(optional=tuple(entry.value)).items()})


class Shown:
    """An object that a file stores only as its repr."""

    def __init__(self, words: str) -> None:
        self.words = words

    def __repr__(self) -> str:
        return self.words


def _nested(values: object) -> Plain:
    if isinstance(values, list):
        return [_nested(value) for value in values]
    return number(values) if isinstance(values, float) else record_document(values)


def _read_nested(node: Node) -> Any:
    return [_read_nested(item) for item in node.items()] if isinstance(node.value, list) else read_record(node)


def _array(values: Any, kind: str, node: Node) -> Any:
    try:
        if kind != "object":
            return np.array(values, dtype=kind)
        result = np.empty(len(values), dtype=object)
        result[:] = values
        return result
    except (ValueError, TypeError, OverflowError):
        raise node.refused(f"an array of {kind}") from None
