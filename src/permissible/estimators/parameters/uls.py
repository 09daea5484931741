"""The parameters of ULSClassifier, checked, and every "auto" resolved; what a warm start needs. The defaults: docs/adr/0005."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from permissible import losses
from permissible.bins.binning import Binning
from permissible.bins.encoding import encode
from permissible.estimators.input.training import TrainingRows, codes_among
from permissible.estimators.input.weights import canonical, in_unit, row_weights
from permissible.estimators.parameters.constraints import rule_constraints
from permissible.learners.uls.fit import Task
from permissible.learners.uls.flavours import FLAVOURS
from permissible.learners.uls.options import ULSOptions
from permissible.losses import Loss
from permissible.rows.local import LocalSource
from permissible.rows.part import MemoryPart
from permissible.table.reading import read
from permissible.table.schema import Schema
from permissible.validation import Words, one_of, refusal
from permissible.validation.numbers import count, flag, fraction, is_auto, real_number

if TYPE_CHECKING:
    from permissible.estimators.uls import ULSClassifier
import numpy as np
from sklearn.base import BaseEstimator

from permissible.types import AnyArray

MOST_POINTS = 100
LEARNERS = ("rule", "column", "tree")
CRITERIA = ("newton", "exact", "impurity")
LENGTHS = (1, 2, 3)
"""The numbers of literals between which the folds choose when `max_literals="auto"`."""
STRENGTHS, STRENGTH = (30.0, 10.0, 3.0, 1.0, 0.3), 3.0
"""The penalties between which the folds choose with `l2_regularization="auto"`, and that where nothing chooses."""
WIDE = 2000
"""From more columns than this "auto" has rules of one literal: pairs of this many columns fit noise and take minutes. One
penalty, too."""
RATE, FAST_RATE = 0.2, 0.5
"""The learning rate of rules, and one that is tried where the rounds do not suffice for the first."""
NOISE = 0.25
"""Variance by which the search of shrunk rules varies the gain of a literal, for each unit of l2 (cpp/rules/search/draws.hpp)."""
SEARCH_ROWS = 100_000
"""Above this many rows, a round's search looks at a sample of them, drawn anew by the size of their weights."""
SEARCH_SHARE = 0.3
UNSEEN = 1e-8
"""Largest probability that a search samples no row, which would end the fit as if no rule existed."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to fit: the candidates between which the folds choose, and whether they do."""

    candidates: tuple[ULSOptions, ...]
    stopping: bool
    fast_rate: float | None = None
    ensemble: int | None = None

    def task(self, loss: str | Loss, held_out: LocalSource | None = None) -> Task:
        """What is to be learned by these candidates."""
        task = Task(loss, self.candidates, self.stopping, held_out)
        return replace(task, fast_rate=self.fast_rate, ensemble=self.ensemble)

    def in_unit(self, scale: float) -> "Plan":
        """The same where all weights are multiplied by a power of two: l2 and the variance of noise are weights too."""
        given = ((of, in_unit(of.l2, scale), in_unit(of.noise, scale)) for of in self.candidates)
        return replace(self, candidates=tuple(replace(of, l2=l2, noise=noise) for of, l2, noise in given))


def plan_rules(estimator: "ULSClassifier", n_rows: int, seed: int, schema: Schema, n_classes: int) -> Plan:
    """The plan of rules, with the constraints on the columns of a table."""
    asked = plan(estimator, n_rows, len(schema.columns), seed)
    constraints = rule_constraints(estimator, schema, n_classes)
    return replace(asked, candidates=tuple(replace(of, constraints=constraints) for of in asked.candidates))


def plan(estimator: "ULSClassifier", n_rows: int, n_columns: int, seed: int) -> Plan:
    """Check the parameters of an estimator and resolve its "auto"s for a table of this size."""
    scheme = scheme_of(estimator.scheme)
    if estimator.points is not None:
        count("points", estimator.points, 1, MOST_POINTS)
        scheme = 0  # a card rounds refitted coefficients
    learner = one_of("learner", estimator.learner, LEARNERS)
    rate = None
    if not is_auto("learning_rate", estimator.learning_rate, "a fraction in (0, 1]"):
        rate = fraction("learning_rate", estimator.learning_rate, also=', or "auto"')
    elif learner == "column":
        rate = 1.0
    if scheme != 1:  # refitted coefficients are exact: a shrunk one would be undone in the next round
        rate = 1.0
    two_values = flag("fit_intercept", estimator.fit_intercept)
    base = ULSOptions(
        n_rounds=count("n_rounds", estimator.n_rounds),
        fit_intercept=two_values,
        learning_rate=RATE if rate is None else rate,
        beam=count("beam", estimator.beam),
        scheme=scheme,
        search_fraction=_search_fraction(estimator.search_fraction, n_rows),
        tolerance=real_number("tol", estimator.tol),
        seed=seed,
        max_seconds=0.0 if estimator.max_time is None else real_number("max_time", estimator.max_time),
        edges=estimator.points is None,
        intervals=two_values,  # the +-1 rules of the papers name a column once
        criterion=_criterion(estimator, two_values, scheme),
    )
    stopping = is_auto("early_stopping", estimator.early_stopping, "True, False")
    stopping = learner != "column" if stopping else flag("early_stopping", estimator.early_stopping)
    shrunk = two_values and scheme == 1 and base.learning_rate < 1
    noise = NOISE if shrunk and base.search_fraction == 1 else 0.0  # gains on a sample vary by themselves
    lengths = _lengths(estimator.max_literals, stopping, n_columns)
    card: object = estimator.points
    several = stopping and card is None and n_columns <= WIDE
    strengths = _strengths(estimator.l2_regularization, several)
    candidates = tuple(
        replace(base, max_literals=length, l2=l2, noise=noise * l2) for length in lengths for l2 in strengths
    )
    ensemble = None if estimator.ensemble is None else count("ensemble", estimator.ensemble, 2, also=", or None")
    if ensemble is not None and not stopping:
        raise refusal("ensemble", "None without early stopping, since there are no folds", ensemble)
    return Plan(candidates, stopping, FAST_RATE if rate is None else None, ensemble)


def loss_of(given: str | Loss) -> str | Loss:
    """A loss object, the name of a flavour, or "auto"."""
    if isinstance(given, str) and (given in FLAVOURS or given == "auto"):
        return given
    try:
        return losses.get(given)
    except ValueError:
        names = ", ".join(losses.names())
        raise refusal("loss", f'one of {names}, {", ".join(FLAVOURS)}, "auto", or a loss object', given) from None


def validation_rows(validation: object, given: TrainingRows, binning: Binning) -> LocalSource:
    """The rows whose loss chooses in place of a hold-out."""
    expected = "a tuple (X, y) or (X, y, sample_weight)"
    if not isinstance(validation, tuple) or len(validation) not in (2, 3):
        raise refusal("validation", expected, Words(f"a {type(validation).__name__}"))
    table = read(validation[0], given.schema)
    place = codes_among(given.classes, validation[1], table.n_rows)
    weight = row_weights(validation[2], table.n_rows) if len(validation) == 3 else None
    if weight is not None and not weight.all():
        raise refusal("validation", f"{expected} with one positive weight per row", Words("a weight of 0"))
    weight = None if weight is None else canonical(weight)[0]  # its mean loss alone matters
    part = MemoryPart(encode(binning, table), place, weight)
    return LocalSource((part,), binning, given.classes, table.n_rows, weight is not None)


def refused_on_parts(estimator: "ULSClassifier", loss: object, validation: object) -> None:
    """Refuse what rows in parts cannot do, in one sentence."""
    if isinstance(loss, str):
        remedy = "choose the loss on a sample in memory, then fit that one here"
        raise refusal("loss", "one loss on data in parts", loss, remedy)
    if one_of("learner", estimator.learner, LEARNERS) != "rule":
        remedy = "fit rules or trees, or rows in memory"
        raise refusal("learner", '"rule" or "tree" for data in parts', estimator.learner, remedy)
    if validation is not None:
        raise refusal("validation", "None on data in parts", Words("rows"), "rows are held out by their content")
    if estimator.criterion != "newton":
        raise refusal("criterion", '"newton" on data in parts', estimator.criterion, "fit rows in memory")
    if estimator.warm_start:
        raise refusal("warm_start", "False on data in parts", True, "keep a checkpoint, or fit rows in memory")


def _lengths(max_literals: object, stopping: bool, n_columns: int) -> tuple[int, ...]:
    """The numbers of literals between which the folds choose; without a choice the middle one."""
    if is_auto("max_literals", max_literals, "an integer of at least 1"):
        if n_columns > WIDE:
            return LENGTHS[:1]
        return LENGTHS if stopping else LENGTHS[1:2]
    return (count("max_literals", max_literals),)


def _strengths(l2: object, several: bool) -> tuple[float, ...]:
    """The penalties between which the folds choose, the strongest first."""
    if is_auto("l2_regularization", l2, "a finite number of at least 0"):
        return STRENGTHS if several else (STRENGTH,)
    return (real_number("l2_regularization", l2),)


def scheme_of(scheme: object) -> int:
    """The number of coefficients that a round refits; 0 is all of them."""
    if isinstance(scheme, str):
        return 1 if one_of("scheme", scheme, ("classic", "corrective")) == "classic" else 0
    return count("scheme", scheme, also=', "classic" or "corrective"')


def _criterion(estimator: "ULSClassifier", two_values: bool, scheme: int) -> str:
    """The criterion of the rules; those of the papers are for their +-1 rules with one new coefficient a round."""
    name = one_of("criterion", estimator.criterion, CRITERIA)
    if name != "newton" and (two_values or scheme != 1 or estimator.search_fraction not in ("auto", 1, 1.0)):
        needed = 'fit_intercept=False, scheme="classic" and every row in the search'
        raise refusal("criterion", f'"newton", or {needed}', name, "see ULSClassifier.plain")
    return name


def _search_fraction(given: object, n_rows: int) -> float:
    if is_auto("search_fraction", given, "a fraction in (0, 1]"):
        return SEARCH_SHARE if n_rows > SEARCH_ROWS else 1.0
    found = fraction("search_fraction", given, also=', or "auto"')
    if (1.0 - found) ** n_rows > UNSEEN:
        why = "since a search might see none"
        raise refusal("search_fraction", f'1.0 or "auto" for {n_rows} rows, {why}', given)
    return found


KEPT = ("loss", "learner", "fit_intercept", "max_bins")
"""Parameters that the rounds so far depend on; the others hold for the rounds to come."""


def goes_on(estimator: BaseEstimator) -> bool:
    """Whether a fit continues from the last one; refused where that is not possible."""
    if not estimator.warm_start or not hasattr(estimator, "model_"):
        return False
    if getattr(estimator, "_traces", None) is None:
        came = Words("True for a model read from a file, which keeps no rounds")
        raise refusal("warm_start", "False for the first fit of an estimator", came)
    return True


def refuse_other_data(estimator: BaseEstimator, schema: Schema, classes: AnyArray) -> None:
    """Refuse other classes, columns, kinds, categories or settings than those of the last fit, and fewer rounds."""
    if not np.array_equal(estimator.classes_, classes):
        expected = f"made of the classes of the last fit, {estimator.classes_.tolist()}, with warm_start=True"
        raise refusal("y", expected, classes.tolist())
    last: Schema = estimator.schema_
    if schema != last:
        raise refusal("X", "of the columns of the last fit with warm_start=True", _difference(last, schema))
    for name, before in estimator._fitted_with.items():
        now = getattr(estimator, name)
        if now is not before and now != before:
            raise refusal(name, f"that of the last fit, {before!r}, with warm_start=True", now)
    done = max(len(trace.rounds) for trace in estimator._traces)
    if estimator.n_rounds < done:
        came = estimator.n_rounds
        raise refusal("n_rounds", f"at least the {done} rounds already fitted, with warm_start=True", came)


def _difference(last: Schema, now: Schema) -> Words:
    if len(last.columns) != len(now.columns):
        return Words(f"{len(now.columns)} columns for {len(last.columns)}")
    if last.named != now.named:
        return Words("columns with names for some without" if now.named else "columns without names")
    for before, after in zip(last.columns, now.columns, strict=True):
        if before.name != after.name:
            return Words(f"column {after.name!r} in the place of {before.name!r}")
        if before.kind != after.kind:
            return Words(f"a {after.kind} column {after.name!r} for a {before.kind} one")
        if before != after:
            return Words(f"other categories in column {after.name!r}")
    return Words("other columns")
