"""Small models are the same as when they were kept: a change of the code that changes a model is seen, and has to be meant.

A model that a change improves is renewed by name (``python -m tests.pinned NAME``), with the reason in the commit.
"""

import pytest

from tests.pinned.documents import FOLDER, differences, kept, made, path_of
from tests.pinned.fits import FITS


@pytest.mark.parametrize("name", FITS)
def test_the_model_is_the_one_that_was_kept(name):
    today, before = made(name), kept(name)
    assert differences(today.pop("model"), before.pop("model"), FITS[name].exact) == []
    assert differences(today, before, exact=False) == []  # history, choice and certificate are computed with NumPy


def test_every_kept_document_belongs_to_a_fit():
    assert sorted(FOLDER.glob("*.json")) == sorted(map(path_of, FITS))
