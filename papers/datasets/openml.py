"""Data sets from OpenML through scikit-learn: the last place to look, cached on disk, retried, and optional.

A set is taken only when its number of rows is the registry's, so that a renumbered or changed entry is refused, not used.
"""

import importlib
import socket
import warnings

import numpy as np

from papers.datasets import text
from papers.datasets.dataset import Dataset, dataset
from permissible.types import AnyArray

HOST = "api.openml.org"
LICENCE = "as OpenML states for the set; mostly public or CC BY 4.0"
_OFFLINE: list[str] = []


class UnavailableError(Exception):
    """The set cannot be had now; the message says why in one sentence."""


def load(name: str, data_id: int, rows: int) -> Dataset:
    """Fetch set `data_id`, at most three attempts, or raise `UnavailableError`."""
    if _OFFLINE:
        raise UnavailableError(_OFFLINE[0])
    fetch = importlib.import_module("sklearn.datasets").fetch_openml
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(20.0)
    try:
        with warnings.catch_warnings():  # a retry is not worth a word, a failure is said once by the error
            warnings.simplefilter("ignore", UserWarning)
            bunch = fetch(data_id=data_id, as_frame=False, parser="liac-arff", n_retries=3, delay=1.0)
    except OSError as error:
        # One dead connection answers for all the sets of this run.
        _OFFLINE.append(f"OpenML ({HOST}) cannot be reached from here ({type(error).__name__})")
        raise UnavailableError(_OFFLINE[0]) from error
    except ValueError as error:
        raise UnavailableError(f"OpenML set {data_id} is not readable ({error})") from error
    finally:
        socket.setdefaulttimeout(before)
    if len(bunch.target) != rows:
        raise UnavailableError(f"OpenML set {data_id} has {len(bunch.target)} rows where {rows} were expected")
    categories = bunch.categories or {}
    columns = {key: _column(bunch.data[:, place], categories.get(key)) for place, key in enumerate(bunch.feature_names)}
    target = np.array([str(label) for label in bunch.target], dtype=object)
    return dataset(name, columns, target, source=f"OpenML {data_id}", licence=LICENCE)


def _column(values: AnyArray, categories: list[str] | None) -> AnyArray:
    if categories is None:
        return values.astype(np.float64)
    codes = values.astype(np.float64)
    return text.categorical(["?" if np.isnan(code) else str(categories[int(code)]) for code in codes])
