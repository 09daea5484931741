"""One small cluster of real processes for the tests of this folder; those that kill workers start their own."""

import pytest

from tests.cluster.machines import workers


@pytest.fixture(scope="session")
def client():
    with workers(2) as client:
        yield client
