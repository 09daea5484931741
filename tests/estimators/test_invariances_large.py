"""The claims of test_invariances.py on more tables."""

import pytest

from tests.estimators import invariant_claims as claims


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 6))
@pytest.mark.parametrize("case", claims.CASES, ids=str)
def test_the_model_does_not_depend_on(case, seed):
    case.check(seed)
