"""One small cluster of real processes for each file of this folder; tests that kill workers start their own.

It ends with the file: its scheduler draws from `random` in the background, which hypothesis refuses in a test beside it.
"""

import pytest

from tests.dask.machines import workers


@pytest.fixture(scope="module")
def client():
    with workers(2) as client:
        yield client
