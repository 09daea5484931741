"""The kept results belong to the models of today: a few small fits give the scores that were kept beside the results."""

import json
import re
from functools import partial

import pytest

from papers.fingerprint import EARLIER, KEPT, fits, scores

FITS = fits()


def test_every_fit_is_kept_and_its_pages_exist():
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    assert kept.keys() == FITS.keys()
    for entry in kept.values():
        assert all((KEPT.parent / f"{page}.md").is_file() for page in entry["pages"])
    pages = {page for entry in kept.values() for page in entry["pages"]}
    made = re.findall(r"\]\((?!decision)([a-z0-9-]+)\.md\)", (KEPT.parent / "index.md").read_text(encoding="utf-8"))
    assert pages == set(made)


@pytest.mark.parametrize("page", EARLIER)
def test_numbers_of_an_earlier_version_are_said_to_be(page):
    assert EARLIER[page] in (KEPT.parent / f"{page}.md").read_text(encoding="utf-8")


def test_a_change_of_the_models_is_seen():
    """Another number of literals, smoothing or alpha: the kept scores are not met."""
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    changed = {
        "uls matsushita": {"max_literals": 1},
        "trees logistic": {"smoothing": 1.0},
        "boundaries": {"alpha": 0.02},
    }
    for name, settings in changed.items():
        _, make, classes = FITS[name]
        assert scores(partial(make, **settings), classes) != pytest.approx(kept[name]["scores"], rel=1e-7, abs=1e-7)


@pytest.mark.parametrize("name", FITS)
def test_the_scores_are_those_that_were_kept(name):
    entry = json.loads(KEPT.read_text(encoding="utf-8"))[name]
    _, make, classes = FITS[name]
    said = f"run {', '.join(entry['pages'])} again, then python -m papers.fingerprint"
    assert scores(make, classes) == pytest.approx(entry["scores"], rel=1e-7, abs=1e-7), said
