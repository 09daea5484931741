"""The kept results belong to the models of today: a few small fits give the scores that were kept beside the results."""

import json

import pytest

from papers.fingerprint import KEPT, fits, scores

FITS = fits()


def test_every_fit_is_kept_and_its_pages_exist():
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    assert kept.keys() == FITS.keys()
    for entry in kept.values():
        assert all((KEPT.parent / f"{page}.md").is_file() for page in entry["pages"])
    pages = {page for entry in kept.values() for page in entry["pages"]}
    assert pages == {"nips-2008", "icpr-2008", "tpami-2009", "beijbom-2014", "kimes"}


@pytest.mark.parametrize("name", FITS)
def test_the_scores_are_those_that_were_kept(name):
    entry = json.loads(KEPT.read_text(encoding="utf-8"))[name]
    _, make, classes = FITS[name]
    said = f"run {', '.join(entry['pages'])} again, then python -m papers.fingerprint"
    assert scores(make, classes) == pytest.approx(entry["scores"], rel=1e-7, abs=1e-7), said
