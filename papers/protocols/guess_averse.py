"""[B] Table 2: six algorithms, ten UCI sets, 50 random symmetric cost matrices, 100 rounds of regression on one attribute.

A trial (costs and split, shared by all algorithms) and its risks are `papers.guess_averse`; here are the
plan, the printed table beside ours, tests and ranks. The hierarchy of Moorea Labeled Corals is in `corals`.
"""

from collections.abc import Mapping

import numpy as np

from papers import published
from papers.datasets import suite
from papers.guess_averse import ALGORITHMS, published_means, trial
from papers.guess_averse import risks as risks_of
from papers.pages import Chapter, Drawing, Prose, Table, claims
from papers.pages.chapter import Cell
from papers.protocols import comparison, corals, matrices, today
from papers.scope import Scope
from papers.store import Payload, Unit, unit
from permissible.evaluation import paired
from permissible.types import AnyArray

METHODS = ALGORITHMS


def plan(scope: Scope) -> tuple[list[Unit], dict[str, str]]:
    """List the units: data sets, trials, algorithms; then all matrices at once; today's methods; the corals."""
    found = scope.find(suite("guess-averse"))
    if scope.quick:
        found = found.at_most(rows=1000, count=5)
    trials, rounds = (5, 100) if scope.quick else (50, 100)
    units = [
        unit("guess-averse", name, method, number, {"rounds": rounds, "seed": scope.seed, "source": source})
        for name, source in found.sources.items()
        for number in range(trials)
        for method in METHODS
    ]
    more = matrices.plan(scope, found, rounds) + today.plan(scope, found) + corals.plan(scope)
    return units + more, found.missing


def work(one: Unit) -> Payload:
    """Fit one algorithm for one cost matrix and give its risk (5) on the test rows."""
    if one.dataset == corals.SET:
        return corals.work(one)
    if one.method in today.METHODS:
        return today.work(one)
    if one.method in matrices.METHODS:
        return matrices.work(one)
    options = one.options
    shared = trial(one.dataset, one.fold, options["seed"])
    return {"risk": risks_of(shared, [one.method], options["rounds"])[one.method]}


def chapter(results: Mapping[Unit, Payload], scope: Scope, missing: Mapping[str, str]) -> Chapter:
    """Set our Table 2 beside the printed one, with tests and ranks; then today's methods; then the corals."""
    own = {one: payload for one, payload in results.items() if one.dataset != corals.SET and one.method in METHODS}
    datasets = comparison.datasets_of(own)
    risks = {name: _risks(own, name) for name in datasets}
    counts = {name: len(risks[name][METHODS[0]]) for name in datasets}
    trials = max(counts.values())
    fewer = ", ".join(f"{name} {count}" for name, count in counts.items() if count < trials)
    means = np.array([[risks[name][method].mean() for method in METHODS] for name in datasets])
    blocks: list[Prose | Table | Drawing] = [
        Prose(
            f"{trials} random symmetric cost matrices a set, {next(iter(own)).options['rounds']} rounds, weak learner ax + b on "
            f"the best single attribute. {published.source('beijbom-table-2')}. The gradients of L_s and L_t are the corrected "
            "ones (erratum E17); the paper does not say whether x is one attribute or all of them."
            + (f" A run that was ended early; trials so far: {fewer}." if fewer else "")
        ),
        *comparison.left_out(missing),
        _beside(datasets, risks),
        _ranks(datasets, means),
    ]
    if len(datasets) > 1:
        blocks.append(comparison.friedman_sentence(METHODS, means))
    blocks += [_tests(datasets, risks), _claims(datasets, risks, means)]
    blocks += matrices.blocks(
        {one: payload for one, payload in results.items() if one.method in matrices.METHODS}, risks
    )
    blocks += today.blocks({one: payload for one, payload in results.items() if one.method in today.METHODS})
    blocks += corals.blocks({one: payload for one, payload in results.items() if one.dataset == corals.SET})
    blocks.append(comparison.sources(own))
    shown = {"trials": trials, "rounds": next(iter(own)).options["rounds"], "seed": scope.seed}
    return Chapter(
        "guess-averse",
        "Guess-averse losses with random costs ([B] Table 2 and Figure 4)",
        ("B",),
        blocks,
        shown,
        ("table-2", "ranks", "today", "corals"),
    )


def _risks(results: Mapping[Unit, Payload], name: str) -> dict[str, AnyArray]:
    own = sorted((one, payload) for one, payload in results.items() if one.dataset == name)
    return {method: np.array([payload["risk"] for one, payload in own if one.method == method]) for method in METHODS}


def _beside(datasets: list[str], risks: Mapping[str, dict[str, AnyArray]]) -> Table:
    printed = published_means()
    rows: list[list[Cell]] = []
    for name in datasets:
        cells = [risks[name][method] for method in METHODS]
        rows.append([name, "paper", *(f"{printed[name, m][0]:.2f} ± {printed[name, m][1]:.2f}" for m in METHODS)])
        rows.append([name, "here", *(f"{cell.mean():.2f} ± {paired.standard_error(cell):.2f}" for cell in cells)])
    return Table("table-2", "Risk (5): mean and standard error over the trials", ["data set", "", *METHODS], rows)


def _ranks(datasets: list[str], means: AnyArray) -> Table:
    printed = {row["algorithm"]: float(row["rank"]) for row in published.read("beijbom-ranks")}
    table = published_means()
    same = np.array([[table[name, method][0] for method in METHODS] for name in datasets])
    rows: list[list[Cell]] = [
        ["paper, ten sets", *(printed[method] for method in METHODS)],
        [f"paper, the {len(datasets)} sets here", *map(float, paired.average_ranks(same))],
        ["here", *map(float, paired.average_ranks(np.round(means, 4)))],
    ]
    return Table("ranks", "Average ranks", ["", *METHODS], rows, decimals=2)


def _tests(datasets: list[str], risks: Mapping[str, dict[str, AnyArray]]) -> Table:
    rows: list[list[Cell]] = []
    for name in datasets:
        best = min(METHODS, key=lambda method: float(risks[name][method].mean()))
        tests = [paired.paired_t(risks[name][best], risks[name][method]).p_value for method in METHODS]
        strongest = [method for method, p in zip(METHODS, tests, strict=True) if p >= 0.05 or method == best]
        rows.append([name, best, ", ".join(strongest), *tests])
    columns = ["data set", "least mean", "strongest (not beaten at 5%)", *(f"P, {method}" for method in METHODS)]
    return Table("tests", "Paired t-tests of each algorithm against the one of least mean risk", columns, rows)


def _claims(datasets: list[str], risks: Mapping[str, dict[str, AnyArray]], means: AnyArray) -> Table:
    printed = published_means()
    gaps = [abs(risks[n][m].mean() - printed[n, m][0]) / printed[n, m][0] for n in datasets for m in METHODS]
    errors = [
        abs(risks[n][m].mean() - printed[n, m][0])
        <= 2 * np.hypot(paired.standard_error(risks[n][m]), printed[n, m][1] + 0.005)
        for n in datasets
        for m in METHODS
    ]
    ranks = dict(zip(METHODS, paired.average_ranks(np.round(means, 4)), strict=True))
    averse = max(ranks[method] for method in ("MC", "P-MC", "GEL", "GLL"))
    blind = float(
        np.mean([abs(risks[n]["GEL"].mean() - risks[n]["MC"].mean()) / risks[n]["MC"].mean() for n in datasets])
    )
    return claims(
        "claims",
        [
            *_orders_of_losses(datasets, risks),
            (
                "the numbers of Table 2",
                f"typical (median) relative gap {np.median(gaps):.1%}; {sum(errors)} of {len(errors)} cells within two "
                "standard errors of the difference",
                bool(np.median(gaps) < 0.1),
                "other random matrices and, where the split is random, other rows",
            ),
            (
                "every guess-averse loss ranks before every other",
                f"worst guess-averse rank {averse:.2f}, L_s {ranks['Ls']:.2f}, L_t {ranks['Lt']:.2f}",
                bool(averse < min(ranks["Ls"], ranks["Lt"])),
                "",
            ),
            (
                "GLL consistently outperforms the others by a large margin",
                f"ranks GLL {ranks['GLL']:.2f}, P-MC {ranks['P-MC']:.2f}; printed 1.50 and 1.70",
                bool(ranks["GLL"] + 1 < min(rank for method, rank in ranks.items() if method != "GLL")),
                "the printed table itself shows no large margin over P-MC (erratum E19)",
            ),
            (
                "GEL performs on par with MC, being blind to symmetric costs",
                f"mean relative difference of their risks {blind:.1%}",
                bool(blind < 0.1),
                "",
            ),
        ],
    )


def _orders_of_losses(
    datasets: list[str], risks: Mapping[str, dict[str, AnyArray]]
) -> list[tuple[str, str, bool, str]]:
    """Is GLL below MC, and are L_s and L_t above the four others, on every set? The sets where not, with both sides."""
    above = [
        f"{name} ({mine['GLL'].mean():.3f} and {mine['MC'].mean():.3f}, "
        f"P = {paired.paired_t(mine['GLL'], mine['MC']).p_value:.2f})"
        for name, mine in ((name, risks[name]) for name in datasets)
        if mine["GLL"].mean() >= mine["MC"].mean()
    ]
    averse = METHODS[:4]
    mixed = [
        name
        for name in datasets
        if min(risks[name][method].mean() for method in METHODS[4:])
        <= max(risks[name][method].mean() for method in averse)
    ]
    return [
        (
            "GLL is below MC on every set",
            f"on {len(datasets) - len(above)} of {len(datasets)}" + (f"; not on {', '.join(above)}" if above else ""),
            not above,
            "the difference is within chance where P is not small" if above else "",
        ),
        (
            "L_s and L_t are worst on every set but breast tissue",
            f"on {len(datasets) - len(mixed)} of {len(datasets)}" + (f"; not on {', '.join(mixed)}" if mixed else ""),
            set(mixed) <= {"breast-tissue"},
            "",
        ),
    ]
