"""The page on rules for a decision says what its table says."""

import csv

import numpy as np
import pytest

from benchmarks import boundary_rules


def lines(names, shift, seed=0):
    """Made-up costs: those of the rules lie `shift` below those of thresholds."""
    rng = np.random.default_rng(seed)
    for name in names:
        for label in boundary_rules.DECISIONS:
            base = rng.uniform(0.1, 0.3)
            for method in boundary_rules.METHODS:
                gap = 0.0 if method == "thresholds" else -shift * rng.uniform(0.5, 1)
                yield name, 100, label, method, base + gap, gap, 0.01 if gap else 1.0, 7, 2.0 if gap else 1.0


@pytest.mark.parametrize(("shift", "word"), [(0.02, "cheaper"), (-0.02, "dearer")])
def test_the_verdict_follows_from_the_costs(shift, word, tmp_path):
    (tmp_path / "tables").mkdir()
    with (tmp_path / "costs.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(boundary_rules.FIELDS)
        writer.writerows(lines([f"set {k}" for k in range(12)], shift))
    boundary_rules.page([tmp_path / "costs.csv"], tmp_path)
    page = (tmp_path / "boundary-rules.md").read_text()
    rows = [line for line in page.splitlines() if line.startswith("| hard | rules")]
    assert len(rows) == 1
    assert f"| {word} |" in rows[0]
    assert "| 12 / 0 |" in rows[0] or "| 0 / 12 |" in rows[0]
    assert page.count("**") == 2 * 2 * 12 * len(boundary_rules.DECISIONS) + 4
    with (tmp_path / "tables" / "boundary-rules.csv").open() as file:
        assert len(list(csv.DictReader(file))) == 12 * 18


def test_nothing_is_claimed_without_significance():
    assert boundary_rules.verdict(9, 3, 0.2) == "cannot be told"
    assert boundary_rules.verdict(9, 3, 0.01) == "cheaper"
    assert boundary_rules.verdict(3, 9, 0.01) == "dearer"
