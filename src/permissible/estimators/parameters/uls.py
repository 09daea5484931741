"""The parameters of ULSClassifier, checked, and every "auto" resolved. Why these defaults: docs/adr on the defaults of ULS."""

from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np

from permissible import losses
from permissible.bins import Binning, encode
from permissible.estimators.input.source import memory_source
from permissible.estimators.input.target import codes_among
from permissible.estimators.input.training import TrainingRows
from permissible.estimators.input.weights import canonical, in_unit, row_weights
from permissible.learners.uls.flavours import FLAVOURS
from permissible.learners.uls.options import ULSOptions
from permissible.rows.local import LocalSource
from permissible.table.reading import read
from permissible.validation import Words, refusal, refusal_type
from permissible.validation.numbers import real_number, whole_number

SHORT, LONG = (2, 0.3), (6, 0.5)
"""The two (literals, learning rate) between which the data choose when `max_literals="auto"`."""
SEARCH_ROWS = 100_000
"""Above this many rows, a round's search looks at a rotating part of them."""
SEARCH_SHARE = 0.3
RUN_ROWS = 512
"""Rows that a sampled search takes or leaves together (kRunRows of the compiled core)."""
UNSEEN = 1e-8
"""Largest chance allowed that a search sees no row: it would find no rule, and the fit would end as if there were none."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to fit: the candidates between which a hold-out chooses, and whether there is one."""

    candidates: tuple[ULSOptions, ...]
    stopping: bool
    features: str

    def in_unit(self, scale: float) -> "Plan":
        """The same where all weights are multiplied by a power of two: l2 is a weight too."""
        return replace(self, candidates=tuple(replace(of, l2=in_unit(of.l2, scale)) for of in self.candidates))


def plan(estimator: Any, n_rows: int, seed: int) -> Plan:
    """Check the parameters of an estimator and resolve its "auto"s for a table of so many rows."""
    scheme = _scheme(estimator.scheme)
    rate = estimator.learning_rate
    if isinstance(rate, str):
        if rate != "auto":
            raise refusal("learning_rate", 'a number in (0, 1], or "auto"', rate)
    elif not 0 < real_number("learning_rate", rate) <= 1:
        raise refusal("learning_rate", 'a number in (0, 1], or "auto"', rate)
    columns = _features(estimator.features) == "columns"
    lengths = _lengths(estimator.max_literals, 1.0 if columns and isinstance(rate, str) else rate, scheme)
    base = ULSOptions(
        n_rules=whole_number("n_rules", estimator.n_rules, 1) or 1,
        fit_intercept=_flag("fit_intercept", estimator.fit_intercept),
        l2=real_number("l2", estimator.l2),
        beam=whole_number("beam", estimator.beam, 1) or 1,
        scheme=scheme,
        search_fraction=_fraction(estimator.search_fraction, n_rows),
        tolerance=real_number("tol", estimator.tol),
        seed=seed,
        max_seconds=0.0 if estimator.max_time is None else real_number("max_time", estimator.max_time),
    )
    candidates = tuple(_with(base, literals, chosen) for literals, chosen in lengths)
    return Plan(candidates, _stopping(estimator), _features(estimator.features))


def loss_of(given: Any) -> Any:
    """A loss object, the name of a flavour, or "auto"."""
    if isinstance(given, str) and (given in FLAVOURS or given == "auto"):
        return given
    try:
        return losses.get(given)
    except ValueError:
        names = ", ".join(losses.names())
        raise refusal("loss", f'one of {names}, {", ".join(FLAVOURS)}, "auto", or a loss object', given) from None


def validation_rows(validation: Any, given: TrainingRows, binning: Binning) -> LocalSource:
    """The rows whose loss chooses in place of a hold-out."""
    expected = "a tuple (X, y) or (X, y, sample_weight)"
    if not isinstance(validation, tuple) or len(validation) not in (2, 3):
        raise refusal("validation", expected, Words(f"a {type(validation).__name__}"))
    table = read(validation[0], given.schema)
    place = codes_among(given.classes, validation[1], table.n_rows)
    weight = row_weights(validation[2], table.n_rows) if len(validation) == 3 else None
    if weight is not None and not weight.all():
        raise refusal("validation", f"{expected} with one positive weight a row", Words("a weight of 0"))
    weight = None if weight is None else canonical(weight)[0]  # its mean loss alone matters
    return memory_source(encode(binning, table), place, given.classes, weight)


def refused_on_parts(estimator: Any, loss: Any, validation: Any) -> None:
    """Refuse what rows in parts cannot do, in one sentence."""
    if isinstance(loss, str):
        remedy = "choose the loss on a sample in memory, then fit that one here"
        raise refusal("loss", "one loss on data in parts", loss, remedy)
    if _features(estimator.features) != "rules":
        remedy = "fit a UDTClassifier, or rows in memory"
        raise refusal("features", '"rules" for data in parts', estimator.features, remedy)
    if validation is not None:
        raise refusal("validation", "None on data in parts", Words("rows"), "rows are held out by their content")
    if estimator.warm_start:
        raise refusal("warm_start", "False on data in parts", True, "keep a checkpoint, or fit rows in memory")


def _with(base: ULSOptions, literals: int, rate: float) -> ULSOptions:
    return replace(base, max_literals=literals, learning_rate=rate)


def _lengths(max_literals: Any, rate: Any, scheme: int) -> tuple[tuple[int, float], ...]:
    auto = isinstance(rate, str)
    if isinstance(max_literals, str):
        if max_literals != "auto":
            raise refusal("max_literals", 'an integer of at least 1, or "auto"', max_literals)
        found: tuple[tuple[int, float], ...] = (SHORT, LONG)
    else:
        literals = whole_number("max_literals", max_literals, 1) or 1
        found = ((literals, SHORT[1] if literals <= 3 else LONG[1]),)
    if scheme != 1:  # refitted coefficients are exact: a shrunk one would be undone in the next round
        return tuple((literals, 1.0) for literals, _ in found)
    return found if auto else tuple((literals, float(rate)) for literals, _ in found)


def _scheme(scheme: Any) -> int:
    expected = '"classic", "corrective" or a block size of at least 1'
    if isinstance(scheme, str):
        if scheme not in ("classic", "corrective"):
            raise refusal("scheme", expected, scheme)
        return 1 if scheme == "classic" else 0
    if isinstance(scheme, bool) or not isinstance(scheme, Integral):
        raise refusal_type("scheme", expected, scheme)
    if scheme < 1:
        raise refusal("scheme", expected, int(scheme))
    return int(scheme)


def _fraction(given: Any, n_rows: int) -> float:
    expected = 'a share in (0, 1], or "auto"'
    if isinstance(given, str):
        if given != "auto":
            raise refusal("search_fraction", expected, given)
        return SEARCH_SHARE if n_rows > SEARCH_ROWS else 1.0
    share = real_number("search_fraction", given)
    if not 0 < share <= 1:
        raise refusal("search_fraction", expected, given)
    if (1.0 - share) ** -(-n_rows // RUN_ROWS) > UNSEEN:
        expected = (
            f'1.0 or "auto" for {n_rows} rows, since a search takes them in runs of {RUN_ROWS} and might see none'
        )
        raise refusal("search_fraction", expected, given)
    return share


def _stopping(estimator: Any) -> bool:
    given = estimator.early_stopping
    if isinstance(given, str):
        if given != "auto":
            raise refusal("early_stopping", 'True, False or "auto"', given)
        return bool(estimator.features in ("rules", "tree"))
    return _flag("early_stopping", given)


def _features(features: Any) -> str:
    if not isinstance(features, str) or features not in ("rules", "columns", "tree"):
        raise refusal("features", '"rules", "columns" or "tree"', features)
    return features


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise refusal_type(name, "True or False", value)
    return bool(value)
