"""The page on training for the decision says what its costs say."""

from pathlib import Path

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

decision = pytest.importorskip("benchmarks.decision")
FOLDER = Path(__file__).parents[2] / "docs" / "results" / "decision"


def test_the_stored_page_is_made_from_the_stored_costs():
    assert decision.page(decision.lines(FOLDER / "costs.csv")) == (FOLDER / "decision.md").read_text()


def test_holm_is_that_of_statsmodels():
    p = np.random.default_rng(0).random(20) ** 3
    np.testing.assert_allclose(decision.holm(p), multipletests(p, method="holm")[1])


def test_verdicts_follow_the_corrected_p_values_and_the_sign():
    rows = [
        {"set": name, "decision": question, "model": model, "trained for": how, "relative cost": str(cost)}
        for place, name in enumerate(decision.SETS)
        for question in decision.DECISIONS
        for model, how in decision.MODELS
        for cost in [0.5 + 0.01 * place + (0.1 if "decision" in how and model == "ours, linear" else 0.0)]
        if how not in decision.ONLY_UNEQUAL or question == "unequal costs"
    ]
    page = decision.page(rows)
    assert page.count("| dearer |") == 3  # linear, in each decision; all others are equal
    assert "cheaper |" not in page
    assert f"+0.100 ± 0.000 | 0 / {len(decision.SETS)} / 0" in page
