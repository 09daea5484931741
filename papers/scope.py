"""What a run was asked for, and the two things every protocol needs of it: which data sets can be had, and the folds."""

import functools
import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from papers.datasets import Dataset, Found, as_binary, find, load
from permissible.types import AnyArray


@dataclass(frozen=True, slots=True)
class Scope:
    """A request: quick or the paper's settings, the data folder, the seed, whether OpenML may be asked, which sets alone."""

    quick: bool = False
    data: str | None = None
    seed: int = 0
    network: bool = True
    only: tuple[str, ...] = ()

    def find(self, wanted: Sequence[str]) -> Found:
        """Look for the sets wanted, or those of them that were asked for alone."""
        asked = [name for name in wanted if not self.only or name in self.only]
        found = find(asked, self.data, network=self.network)
        found.missing.update({name: "not asked for" for name in wanted if name not in asked})
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """A binary task: the data set, its labels (1: first label in sorted order), and the frame the estimators take."""

    dataset: Dataset
    target: AnyArray
    frame: Any

    def rows(self, picked: AnyArray) -> Any:
        """Give these rows of the frame."""
        return self.frame.iloc[picked] if hasattr(self.frame, "iloc") else self.frame[picked]


def loaded(name: str) -> Dataset:
    """Load a set from the folder of this run (PERMISSIBLE_DATA), keeping the last few: units of one set follow each other."""
    return _loaded(name, os.environ.get("PERMISSIBLE_DATA"))


def binary_task(name: str) -> Task:
    """Load a set as a binary task, keeping the last few."""
    return _binary_task(name, os.environ.get("PERMISSIBLE_DATA"))


def one_hot(name: str) -> AnyArray:
    """Give a set as numbers only, a 0/1 column per category, keeping the last few."""
    return _one_hot(name, os.environ.get("PERMISSIBLE_DATA"))


def folds(name: str, count: int, seed: int) -> list[tuple[AnyArray, AnyArray]]:
    """Split a binary task into stratified folds: (training rows, test rows)."""
    return _folds(name, os.environ.get("PERMISSIBLE_DATA"), count, seed)


def constant(target: AnyArray) -> bool:
    """Tell whether a training part holds one class only, so that the constant is all there is to predict."""
    return bool(np.ptp(target) == 0)


# The folder is part of the keys, so that a process that is asked about two folders mixes nothing up.
@functools.lru_cache(maxsize=6)
def _loaded(name: str, data: str | None) -> Dataset:
    return load(name, data)


@functools.lru_cache(maxsize=3)
def _binary_task(name: str, data: str | None) -> Task:
    found = _loaded(name, data)
    return Task(found, as_binary(found), found.frame())


@functools.lru_cache(maxsize=3)
def _one_hot(name: str, data: str | None) -> AnyArray:
    return _loaded(name, data).matrix()


@functools.lru_cache(maxsize=6)
def _folds(name: str, data: str | None, count: int, seed: int) -> list[tuple[AnyArray, AnyArray]]:
    from sklearn.model_selection import StratifiedKFold

    target = _binary_task(name, data).target
    if np.max(np.bincount(target)) < count:
        return _dealt(target, count, seed)
    with warnings.catch_warnings():  # a few domains have fewer examples of a class than folds, in the papers as here
        warnings.simplefilter("ignore", UserWarning)
        splits = StratifiedKFold(count, shuffle=True, random_state=seed).split(np.zeros(len(target)), target)
        return [(np.asarray(train), np.asarray(test)) for train, test in splits]


def _dealt(target: AnyArray, count: int, seed: int) -> list[tuple[AnyArray, AnyArray]]:
    """Deal the rows to the folds class by class, as cards: for sets so small that no class has a row for each fold."""
    order = np.random.default_rng(seed).permutation(len(target))
    by_class = order[np.argsort(target[order], kind="stable")]
    fold = np.empty(len(target), dtype=np.int64)
    fold[by_class] = np.arange(len(target)) % count
    return [(np.flatnonzero(fold != number), np.flatnonzero(fold == number)) for number in range(count)]
