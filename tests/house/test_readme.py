"""What README says in figures: the table is that of the stored results, and the sentences about the demo are what it computes."""

import re
from pathlib import Path

import pytest

from tools import readme_facts

README = Path(__file__).parents[2] / "README.md"


def test_the_table_is_that_of_the_stored_results():
    text = README.read_text()
    assert readme_facts.replaced(text) == text, "run python -m tools.readme_facts"
    assert len(readme_facts.table().splitlines()) > 6


@pytest.mark.slow
def test_the_sentences_about_the_demo_have_its_figures():
    pytest.importorskip("lightgbm")
    from permissible import datasets
    from permissible.cli.verbs.demo import compared

    ways, _, _ = compared(*datasets.german_credit(), 0, lambda done, total: None)
    said = README.read_text().split("What it shows:")[1].split("##")[0]
    costs = {f"{way.cost:.3f}" for way in ways}
    figures = set(re.findall(r"\b0\.\d{3}\b", said))
    assert figures <= costs
    named = ("refuse everybody", "logistic regression, by the costs", "permissible, by the costs", "permissible, short")
    assert all(f"{way.cost:.3f}" in figures for way in ways if way.name.startswith(named))
    referred = [round(way.cost, 2) for way in ways if way.name.endswith("may refer")]
    assert f"all of them cost {min(referred)} to {max(referred)}" in " ".join(said.split())
