"""A journal of the choices of a fit, so that a fit that was interrupted can continue, to the identical model.

A fit is a fixed sequence of choices (a rule, its leverage, a whole run), each made from sums over the rows. A journal keeps the
choices in order. A resumed fit takes them from the journal instead of asking the rows again, and only applies the steps to the
rows; after the last recorded choice it continues as any fit. The file is plain JSON: reading one runs no code.
"""

import dataclasses
import hashlib
import json
import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from permissible.losses import Loss
from permissible.models.files.atomic import write
from permissible.validation import Words, refusal

Choice = TypeVar("Choice")
VERSION = 2


@dataclass(frozen=True, slots=True)
class Records:
    """The dataclasses that a journal may hold.

    `rounds` says how many rounds a choice of each class completes (None: it was expensive, and is written at once);
    `outcomes` are the results of whole runs.
    """

    rounds: Mapping[type, int | None]
    outcomes: tuple[type, ...] = ()

    @property
    def by_name(self) -> dict[str, type]:
        """The classes by their names in the file."""
        return {kind.__name__: kind for kind in self.rounds}


@dataclass(slots=True)
class FileJournal:
    """The choices so far, on disk at `path` after every `every` rounds; `fit` names the data and the settings."""

    path: Path
    fit: str
    records: Records
    every: int = 10
    choices: list[Any] = field(default_factory=list)
    position: int = 0
    unwritten: int = 0
    sections: dict[str, "FileJournal"] = field(default_factory=dict)
    whole: "FileJournal | None" = None
    name: str = ""
    writing: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def open(cls, path: str | os.PathLike[str], fit: str, records: Records, every: int = 10) -> "FileJournal":
        """Continue the journal at `path`, or begin one."""
        file = Path(path)
        if not file.exists():
            return cls(file, fit, records, every)
        if not file.is_file():  # reading a pipe would block, and the file is deleted when the fit is done
            raise refusal("checkpoint", "the name of a file", Words(f"{file}, a folder, device or pipe"))
        remedy = "fit with the data and settings it was made with, or remove the file"
        try:
            found = json.loads(file.read_bytes())
            version, told = found["version"], found["fit"]
            choices = {name: [_read(c, records.by_name) for c in kept] for name, kept in found["choices"].items()}
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise refusal("checkpoint", "a file that a fit has left", Words(f"another file, {file}"), remedy) from error
        if (version, told) != (VERSION, fit):
            raise refusal("checkpoint", "the checkpoint of this very fit", Words("that of another one"), remedy)
        journal = cls(file, fit, records, every, choices.pop("", []))
        for name, kept in choices.items():
            journal.section(name).choices = kept
        return journal

    def section(self, name: str) -> "FileJournal":
        """A section of the journal for one of several simultaneous fits; a section has sections of its own."""
        if self.whole is not None:
            return self.whole.section(f"{self.name}/{name}")
        with self.writing:
            if name not in self.sections:
                self.sections[name] = FileJournal(self.path, self.fit, self.records, self.every, whole=self, name=name)
            return self.sections[name]

    def recall(self, choose: Callable[[], Choice]) -> Choice:
        """The recorded choice, or make it now and record it."""
        if self.position < len(self.choices):
            choice: Choice = self.choices[self.position]
        else:
            choice = choose()
            self.choices.append(choice)
            rounds = self.records.rounds.get(type(choice), 0)
            self.unwritten += self.every if rounds is None else rounds
        self.position += 1
        if self.unwritten >= self.every:
            self.write()
        return choice

    def run(self, fit: Callable[[], Choice]) -> Choice:
        """A whole run of rounds: once it is finished, only its outcome is kept."""
        start = self.position
        if start < len(self.choices) and isinstance(self.choices[start], self.records.outcomes):
            self.position += 1
            outcome: Choice = self.choices[start]
            return outcome
        outcome = fit()
        self.choices[start:] = [outcome]
        self.position = start + 1
        self.write()
        return outcome

    def write(self) -> None:
        """Write the journal to disk atomically."""
        self.unwritten = 0
        if self.whole is not None:
            self.whole.write()
            return
        with self.writing:  # additions of other sections go into this file or the next
            known = {"": self.choices, **{name: section.choices for name, section in self.sections.items()}}
            choices = {
                name: [_written(choice, self.records.by_name) for choice in list(kept)] for name, kept in known.items()
            }
            write(self.path, json.dumps({"version": VERSION, "fit": self.fit, "choices": choices}))

    def finish(self) -> None:
        """The fit is done: delete the file."""
        self.path.unlink(missing_ok=True)


def fingerprint(*named: object) -> str:
    """A name for data and settings, equal exactly if everything in them is equal."""
    return hashlib.sha256(repr([described(value) for value in named]).encode()).hexdigest()


def described(value: Any) -> Any:
    """A value as plain data with a unique repr: arrays in full, losses and functions by their content."""
    if isinstance(value, np.generic | np.ndarray):
        return (str(value.dtype), value.shape, repr(value.tolist()))
    if isinstance(value, Mapping):
        return [(repr(key), described(item)) for key, item in value.items()]
    if isinstance(value, list | tuple):
        return [type(value).__name__, *map(described, value)]
    if isinstance(value, Loss):  # a user's own phi has only a name
        return repr(value), np.asarray(value.value(MARGINS)).tolist()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return type(value).__name__, [(f.name, described(getattr(value, f.name))) for f in dataclasses.fields(value)]
    code = getattr(value, "__code__", None)
    return repr(value) if code is None else (value.__qualname__, code.co_code, repr(code.co_consts), code.co_names)


MARGINS = np.linspace(-4.0, 4.0, 33)


def _written(value: Any, kinds: Mapping[str, type]) -> Any:
    """A choice as JSON: dataclasses by name, numbers with all their digits."""
    if type(value).__name__ in kinds:
        fields = {f.name: _written(getattr(value, f.name), kinds) for f in dataclasses.fields(value)}
        return {"kind": type(value).__name__, "fields": fields}
    if isinstance(value, np.ndarray):
        return {"kind": "array", "values": value.tolist()}
    if isinstance(value, tuple):
        return {"kind": "tuple", "values": [_written(item, kinds) for item in value]}
    if isinstance(value, dict):
        return {"kind": "dict", "values": {str(key): _written(item, kinds) for key, item in value.items()}}
    return value.item() if isinstance(value, np.generic) else value


def _read(value: object, kinds: Mapping[str, type]) -> Any:
    if not isinstance(value, dict):
        return value
    match value["kind"]:
        case "array":
            return np.array(value["values"])
        case "tuple":
            return tuple(_read(item, kinds) for item in value["values"])
        case "dict":
            return {key: _read(item, kinds) for key, item in value["values"].items()}
        case kind:
            return kinds[kind](**{name: _read(item, kinds) for name, item in value["fields"].items()})
