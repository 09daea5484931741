"""What a model does not depend on, for every estimator in every mode: rows, columns, names, weights (docs/guarantees.md).

One seed here; several in the slow tests of test_invariances_large.py.
"""

import pytest

from tests.estimators import invariant_claims as claims

SEED = 0


@pytest.mark.parametrize("case", claims.CASES, ids=str)
def test_the_model_does_not_depend_on(case):
    case.check(SEED)


@pytest.mark.parametrize("kind", claims.KINDS)
@pytest.mark.parametrize("container", claims.CONTAINERS)
def test_tables_of_every_library_give_the_model_of_the_numpy_array(kind, container):
    claims.check_container(kind, container)
