"""A journal of the choices of a fit, so that a coordinator that was killed can go on where it was, to the identical model.

A fit is a fixed sequence of choices (a rule, its leverage, a whole run), each made from sums over the rows. A journal remembers
the choices in order. A resumed fit takes them from there instead of asking the rows again, and only tells the rows the steps;
after the last remembered choice it goes on as any fit. Plain JSON: reading one runs no code.
"""

import dataclasses
import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from permissible.bins.literal import Literal
from permissible.learners.mcboost.grown import Grown
from permissible.learners.uls_leverage import Leverage
from permissible.learners.uls_refit import Refit
from permissible.learners.uls_search import GrownRule
from permissible.learners.uls_trace import Round, Trace
from permissible.models.atomic import write
from permissible.validation import Words, refusal

Choice = TypeVar("Choice")
VERSION = 1
KINDS: dict[str, Any] = {kind.__name__: kind for kind in (Grown, GrownRule, Leverage, Literal, Refit, Round, Trace)}


@dataclass(slots=True)
class Journal:
    """The choices so far, on disk at `path` after every `every` rounds; `fit` names the data and the settings."""

    path: Path
    fit: str
    every: int = 10
    choices: list[Any] = field(default_factory=list)
    position: int = 0
    unwritten: int = 0

    @classmethod
    def open(cls, path: str | os.PathLike[str], fit: str, every: int = 10) -> "Journal":
        """Go on with the journal at `path`, or begin one."""
        file = Path(path)
        if not file.exists():
            return cls(file, fit, every)
        remedy = "fit with the data and settings it was made with, or remove the file"
        try:
            found = json.loads(file.read_bytes())
            version, told, choices = found["version"], found["fit"], [_read(c) for c in found["choices"]]
        except (ValueError, KeyError, TypeError) as error:
            raise refusal("checkpoint", "a file that a fit has left", Words(f"another file, {file}"), remedy) from error
        if (version, told) != (VERSION, fit):
            raise refusal("checkpoint", "the checkpoint of this very fit", Words("that of another one"), remedy)
        return cls(file, fit, every, choices)

    def recall(self, choose: Callable[[], Choice]) -> Choice:
        """The choice that was made here last time, or make it now and remember it."""
        if self.position < len(self.choices):
            choice: Choice = self.choices[self.position]
        else:
            choice = choose()
            self.choices.append(choice)
            self.unwritten += isinstance(choice, (Grown, GrownRule))
        self.position += 1
        if self.unwritten >= self.every:
            self.write()
        return choice

    def run(self, fit: Callable[[], Choice]) -> Choice:
        """A whole run of rounds: once it is finished, only its outcome is remembered."""
        start = self.position
        if start < len(self.choices) and isinstance(self.choices[start], Trace):
            self.position += 1
            outcome: Choice = self.choices[start]
            return outcome
        outcome = fit()
        self.choices[start:] = [outcome]
        self.position = start + 1
        self.write()
        return outcome

    def write(self) -> None:
        """Put what is known on disk, whole or not at all."""
        written = {"version": VERSION, "fit": self.fit, "choices": [_written(choice) for choice in self.choices]}
        write(self.path, json.dumps(written))
        self.unwritten = 0

    def finish(self) -> None:
        """The fit is done: the file goes."""
        self.path.unlink(missing_ok=True)


def fingerprint(*described: Any) -> str:
    """A name for data and settings, from their descriptions."""
    return hashlib.sha256("\n".join(map(repr, described)).encode()).hexdigest()


def _written(value: Any) -> Any:
    """A choice as JSON: dataclasses by name, numbers with all their digits."""
    if type(value).__name__ in KINDS:
        fields = {f.name: _written(getattr(value, f.name)) for f in dataclasses.fields(value)}
        return {"kind": type(value).__name__, "fields": fields}
    if isinstance(value, np.ndarray):
        return {"kind": "array", "values": value.tolist()}
    if isinstance(value, tuple):
        return {"kind": "tuple", "values": [_written(item) for item in value]}
    if isinstance(value, dict):
        return {"kind": "dict", "values": {str(key): _written(item) for key, item in value.items()}}
    return value.item() if isinstance(value, np.generic) else value


def _read(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    match value["kind"]:
        case "array":
            return np.array(value["values"])
        case "tuple":
            return tuple(_read(item) for item in value["values"])
        case "dict":
            return {key: _read(item) for key, item in value["values"].items()}
        case kind:
            return KINDS[kind](**{name: _read(item) for name, item in value["fields"].items()})
