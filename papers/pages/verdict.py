"""Verdicts by one rule, from the numbers on the page: agrees, differs, or cannot be told.

Every statement of a paper is put as one of four questions, each with its statistic:

| the paper says | statistic | agrees | differs |
|---|---|---|---|
| A is below B | difference of the means, paired t-test | A below, P < .05 | A above, P < .05 |
| A and B are alike | 90% interval of the difference against a margin | it lies inside | P < .05, mean outside |
| A and B are the same | largest difference | 0 | not 0 |
| it is so in k of n cases | exact binomial test of our count against theirs | the count nearest to theirs | P < .05 |

Several comparisons at once (A is below all others) agree where the weakest of them does, by Holm's correction, and differ
where one does. Whatever neither agrees nor differs cannot be told.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy import stats

from permissible.evaluation.paired import paired_t, standard_error
from permissible.types import AnyArray

LEVEL = 0.05
AGREES, DIFFERS, UNTOLD = "agrees", "differs", "cannot be told"
RULE = (
    'Rule of the verdicts. "A is below B": the paired t-test of the means over the data sets (or trials) here, two-sided; '
    "agrees where A is below with P < .05, differs where A is above with P < .05. Several comparisons, by Holm's correction: "
    "agrees where all do, differs where one does. "
    '"Alike": agrees where the 90% interval of the difference lies within the margin named, differs where '
    'the mean lies outside of it with P < .05. "The same": agrees where the largest difference is 0. "In k of n cases": '
    "agrees where no other count is nearer to the share in print, differs with P < .05 by the exact binomial test of our count "
    "against that share. Otherwise: cannot be told. "
    "Trials of one set share rows, so that P values over them are too small."
)


@dataclass(frozen=True, slots=True)
class Statement:
    """What a paper says, what is found here with its statistic, the verdict, and a remark."""

    said: str
    found: str
    verdict: str
    why: str = ""


def ordered(said: str, low: tuple[str, AnyArray], others: Mapping[str, AnyArray], why: str = "") -> Statement:
    """The paper says that the mean of `low` is below those of all `others`, over the same data sets.

    Examples
    --------
    >>> a, b = np.array([0.1, 0.2, 0.3, 0.1]), np.array([0.2, 0.29, 0.41, 0.2])
    >>> ordered("A is below B", ("A", a), {"B": b}).verdict, ordered("B is below A", ("B", b), {"A": a}).verdict
    ('agrees', 'differs')
    """
    name, values = low
    tests = {other: paired_t(values, table) for other, table in others.items()}
    adjusted = holm([test.p_value for test in tests.values()])
    parts = [
        f"{name} - {other} = {test.difference:+.4f} (P = {p:.2g})"
        for (other, test), p in zip(tests.items(), adjusted, strict=True)
    ]
    verdict = _ordered_verdict([test.difference for test in tests.values()], adjusted)
    return Statement(said, "; ".join(parts), verdict, why)


def everywhere(said: str, cells: Mapping[str, tuple[AnyArray, AnyArray]], why: str = "") -> Statement:
    """The paper says that one of two methods is below the other in every one of several cells.

    Examples
    --------
    >>> a = np.array([0.1, 0.2, 0.3, 0.1])
    >>> everywhere("below", {"one": (a, a + 0.1), "two": (a, a + [0.1, -0.1, 0.1, -0.1])}).verdict
    'cannot be told'
    """
    tests = {name: paired_t(*pair) for name, pair in cells.items()}
    differences, adjusted = [test.difference for test in tests.values()], holm([t.p_value for t in tests.values()])
    found = list(zip(tests, differences, adjusted, strict=True))
    below = [name for name, difference, p in found if difference < 0 and p < LEVEL]
    above = [name for name, difference, p in found if difference > 0 and p < LEVEL]
    rest = [f"{name} {difference:+.4f} (P = {p:.2g})" for name, difference, p in found if p >= LEVEL]
    words = f"below with P < .05 in {len(below)} of {len(cells)}, above in {len(above)}"
    words += "".join(f"; {name}" for name in above) + (f"; open: {', '.join(rest)}" if rest else "")
    return Statement(said, words, _ordered_verdict(differences, adjusted), why)


def chain(said: str, steps: Sequence[tuple[str, AnyArray]], why: str = "") -> Statement:
    """The paper says that the means rise along the chain: each is below the next.

    Examples
    --------
    >>> a = np.array([0.1, 0.2, 0.3, 0.1])
    >>> chain("A, then B, then C", [("A", a), ("B", a + 0.1), ("C", a + 0.2)]).verdict
    'agrees'
    """
    tests = [paired_t(one, other) for (_, one), (_, other) in pairwise(steps)]
    adjusted = holm([test.p_value for test in tests])
    found = "; ".join(
        f"{one} - {other} = {test.difference:+.4f} (P = {p:.2g})"
        for ((one, _), (other, _)), test, p in zip(pairwise(steps), tests, adjusted, strict=True)
    )
    return Statement(said, found, _ordered_verdict([test.difference for test in tests], adjusted), why)


def below_zero(said: str, what: str, value: float, p_value: float, why: str = "") -> Statement:
    """The paper says that a quantity is below 0; `p_value` is two-sided, of the quantity being 0."""
    return Statement(said, f"{what} (P = {p_value:.2g})", _ordered_verdict([value], [p_value]), why)


def _ordered_verdict(differences: Sequence[float], p_values: Sequence[float]) -> str:
    pairs = list(zip(differences, p_values, strict=True))
    if all(difference < 0 and p < LEVEL for difference, p in pairs):
        return AGREES
    return DIFFERS if any(difference > 0 and p < LEVEL for difference, p in pairs) else UNTOLD


def alike(
    said: str, pair: tuple[str, str], first: AnyArray, second: AnyArray, margin: float, why: str = ""
) -> Statement:
    """The paper says that two means differ by nothing that matters: less than `margin`.

    Examples
    --------
    >>> a = np.array([0.10, 0.20, 0.30, 0.15])
    >>> alike("A as B", ("A", "B"), a, a + [0.001, -0.001, 0.002, -0.001], 0.01).verdict
    'agrees'
    """
    gap = np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)
    test, error = paired_t(first, second), standard_error(gap) if gap.size > 1 else float("inf")
    reach = float(stats.t.ppf(0.95, max(gap.size - 1, 1))) * error
    inside = abs(test.difference) + reach <= margin
    outside = abs(test.difference) > margin and test.p_value < LEVEL
    words = f"{pair[0]} - {pair[1]} = {test.difference:+.4f}, 90% interval ±{reach:.4f}"
    found = f"{words}, margin {margin:g} (P = {test.p_value:.2g})"
    return Statement(said, found, AGREES if inside else DIFFERS if outside else UNTOLD, why)


def same(said: str, what: str, gap: float, why: str = "", *, claimed: bool = True) -> Statement:
    """The paper says that two things are the same; with `claimed` False, that they are not.

    Examples
    --------
    >>> same("they are the same", "largest difference", 0.0).verdict
    'agrees'
    >>> same("they are two", "largest difference", 0.0, claimed=False).verdict
    'differs'
    """
    return Statement(said, f"{what}: {gap:.2g}", AGREES if (gap == 0) == claimed else DIFFERS, why)


def counted(said: str, what: str, ours: int, total: int, printed: float, why: str = "") -> Statement:
    """The paper says that something is so in a share of cases; `printed` is that share.

    Examples
    --------
    >>> counted("in 8 of 10", "so in", 8, 10, 0.8).verdict, counted("in 6% of them", "so in", 12, 40, 0.06).verdict
    ('agrees', 'differs')
    >>> counted("in 8 of 10", "so in", 6, 10, 0.8).verdict
    'cannot be told'
    """
    p = float(stats.binomtest(ours, total, printed).pvalue)
    found = f"{what} {ours} of {total}; {printed:.0%} in print (P = {p:.2g})"
    nearest = abs(ours - printed * total) <= 0.5
    return Statement(said, found, AGREES if nearest else DIFFERS if p < LEVEL else UNTOLD, why)


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's adjusted P values, in the order given.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values, kind="stable")
    found = np.empty(len(p_values))
    reached = 0.0
    for place, index in enumerate(order):
        reached = max(reached, min(1.0, (len(p_values) - place) * p_values[index]))
        found[index] = reached
    return [float(p) for p in found]
