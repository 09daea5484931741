"""The rule of the verdicts: every answer follows from the statistic, which stands beside it."""

import numpy as np
import pytest

from papers.pages.chapter import claims
from papers.pages.verdict import RULE, alike, below_zero, chain, counted, everywhere, holm, ordered, same

RNG = np.random.default_rng(0)
BASE = RNG.uniform(0.1, 0.4, 30)
NOISE = RNG.normal(0, 0.01, 30)


def test_an_order_needs_its_sign_and_its_p_value():
    clear, unclear = BASE + 0.03 + NOISE, BASE + NOISE - NOISE.mean()
    assert ordered("", ("A", BASE), {"B": clear}).verdict == "agrees"
    assert ordered("", ("A", clear), {"B": BASE}).verdict == "differs"
    assert ordered("", ("A", BASE), {"B": unclear}).verdict == "cannot be told"


def test_the_weakest_of_several_comparisons_counts():
    clear, unclear = BASE + 0.03 + NOISE, BASE + NOISE - NOISE.mean()
    assert ordered("", ("A", BASE), {"B": clear, "C": unclear}).verdict == "cannot be told"
    assert ordered("", ("A", BASE), {"B": clear, "C": BASE - 0.05 + NOISE}).verdict == "differs"
    assert chain("", [("A", BASE), ("B", clear), ("C", clear + 0.05 + NOISE[::-1])]).verdict == "agrees"
    assert chain("", [("A", BASE), ("C", clear + 0.05), ("B", clear + NOISE[::-1])]).verdict == "differs"


def test_below_in_every_cell_needs_every_cell():
    clear, unclear = BASE + 0.03 + NOISE, BASE + NOISE - NOISE.mean()
    assert everywhere("", {"a": (BASE, clear), "b": (BASE, clear + 0.1)}).verdict == "agrees"
    statement = everywhere("", {"a": (BASE, clear), "b": (BASE, unclear)})
    assert statement.verdict == "cannot be told"
    assert "open: b" in statement.found
    assert everywhere("", {"a": (BASE, clear), "b": (clear, BASE)}).verdict == "differs"


def test_alike_needs_the_whole_interval_within_the_margin():
    near = BASE + NOISE - NOISE.mean()
    assert alike("", ("A", "B"), BASE, near, 0.005).verdict == "agrees"
    assert alike("", ("A", "B"), BASE, near, 0.001).verdict == "cannot be told"
    assert alike("", ("A", "B"), BASE, near + 0.05, 0.005).verdict == "differs"


def test_the_other_questions():
    assert same("", "gap", 0.0).verdict == "agrees"
    assert same("", "gap", 1e-9).verdict == "differs"
    assert counted("", "so in", 8, 10, 0.8).verdict == "agrees"
    assert counted("", "so in", 0, 52, 0.66).verdict == "differs"
    assert counted("", "so in", 6, 10, 0.8).verdict == "cannot be told"  # not refuted, and not found either
    assert counted("", "so in", 5, 52, 0.1).verdict == "agrees"
    assert below_zero("", "slope", -0.1, 0.2).verdict == "cannot be told"


def test_p_values_are_on_the_page_and_so_is_the_rule():
    statement = ordered("A is below B", ("A", BASE), {"B": BASE + 0.03 + NOISE})
    assert "P = " in statement.found
    table = claims("claims", [statement])
    assert RULE in table.caption
    assert table.rows[0][2] == statement.verdict


def test_holm_is_that_of_statsmodels():
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    p = RNG.uniform(0, 0.2, 9)
    assert holm(p.tolist()) == pytest.approx(multitest.multipletests(p, method="holm")[1].tolist())
