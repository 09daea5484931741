"""The papers' own criteria for a rule beside the second-order decrease by which the rules of the pages are found.

[N] and [I] minimise the surrogate greedily: `criterion="exact"`. [T] follows the induction of trees: `criterion="impurity"`.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from papers import statistics
from papers.pages import Drawing, Prose, Table
from papers.pages.chapter import Cell
from papers.protocols import comparison
from papers.store import Payload, Unit
from permissible.evaluation import paired

EXACT = {"M, exact": "M", "Q, exact": "Q", "B, exact": "B"}
IMPURITY = {"M, impurity": "M", "Q, impurity": "Q"}


def name_of(method: str) -> str:
    """The criterion of a method."""
    return "exact" if method in EXACT else "impurity" if method in IMPURITY else "newton"


def exact_blocks(
    results: Mapping[Unit, Payload], extra: Mapping[Unit, Payload], label: str
) -> list[Prose | Table | Drawing]:
    """Compare the errors of the two criteria over the domains that have both."""
    if not extra:
        return []
    datasets = comparison.datasets_of(extra)
    rows: list[list[Cell]] = []
    exact = comparison.error_table(extra, datasets, tuple(EXACT))
    second = comparison.error_table(_same_settings(results, extra), datasets, tuple(EXACT.values()))
    for place, method in enumerate(EXACT.values()):
        test = paired.paired_t(exact[:, place], second[:, place])
        means = float(exact[:, place].mean()), float(second[:, place].mean())
        equal = int(np.sum(np.abs(exact[:, place] - second[:, place]) < 1e-12))
        rows.append([method, *means, test.difference, test.p_value, f"{equal} of {len(datasets)}"])
    columns = ["phi", "exact", "second order", "difference", "P (t)", "domains of equal error"]
    said = (
        f"The exact greedy criterion of [N] and the second-order one: mean error over {len(datasets)} domains, {label}"
    )
    return [Table("criteria", said, columns, rows, decimals=4)]


def impurity_blocks(
    extra: Mapping[Unit, Payload], settings: Sequence[tuple[int, int]]
) -> list[Prose | Table | Drawing]:
    """The regressions of [T] where rules are found by the weighted impurity."""
    rows: list[list[Cell]] = []
    for literals, rounds in settings:
        own = {k: v for k, v in extra.items() if (k.options["literals"], k.options["rounds"]) == (literals, rounds)}
        if not own:
            continue
        datasets = comparison.datasets_of(own)
        table = comparison.error_table(own, datasets, tuple(IMPURITY))
        fit = statistics.regression(100 * table[:, 1], 100 * table[:, 0])
        means = float(table[:, 0].mean()), float(table[:, 1].mean())
        rows.append([f"({literals}, {rounds})", len(datasets), *means, fit.slope, fit.intercept, fit.paired.p_value])
    if not rows:
        return []
    columns = ["(l, J)", "domains", "error, M", "error, Q", "slope", "intercept", "P"]
    said = "Rules by the weighted impurity of their two sides, as in the induction of trees of [T]: M against Q"
    words = (
        "The tables above have rules of the largest second-order decrease. [T] induces them like trees, by (49); its "
        "two-sided impurity also rewards rules whose sides differ in purity but not in sign, which a +-1 rule cannot use."
    )
    return [Prose(words), Table("impurity", said, columns, rows)]


def _same_settings(results: Mapping[Unit, Payload], extra: Mapping[Unit, Payload]) -> dict[Unit, Payload]:
    settings = {(one.dataset, one.fold, one.settings) for one in extra}
    return {one: payload for one, payload in results.items() if (one.dataset, one.fold, one.settings) in settings}
