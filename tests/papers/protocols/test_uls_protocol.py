"""The protocols of rules: F* is the fold's best in training, mu is Matsushita, the pages say so."""

import numpy as np
import pytest

from papers.datasets import suite
from papers.protocols import margins, uls
from papers.scope import Scope, binary_task, folds
from papers.store import unit

SCOPE = Scope(quick=True, network=False)


def units(protocol, names, methods, settings, count=2):
    return [
        unit(protocol, name, method, fold, {"folds": count, "seed": 0, "source": "made up", **setting})
        for name in names
        for setting in settings
        for fold in range(count)
        for method in methods
    ]


@pytest.fixture(scope="module")
def uls_results(small_folder_of_sets):
    planned = units("uls", ["glass", "iris"], uls.FITTED, [{"literals": 2, "rules": 5}])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PERMISSIBLE_DATA", str(small_folder_of_sets))
        return {one: uls.work(one) for one in planned}


def test_the_plan_is_that_of_the_paper(monkeypatch):
    monkeypatch.delenv("PERMISSIBLE_DATA", raising=False)
    assert len(suite("uls")) == 52
    scope = Scope(network=False)  # the sets that are made by a rule, without a folder
    for protocol, methods, size, expected in (
        (uls, uls.FITTED, "rules", {(2, 10), (3, 100)}),
        (margins, margins.METHODS, "rounds", {(1, 50), (2, 10), (10, 20)}),
    ):
        planned, _ = protocol.plan(scope)
        assert {(one.options["literals"], one.options[size]) for one in planned} == expected
        assert {one.fold for one in planned} == set(range(10))
        assert set(methods) <= {one.method for one in planned}


def test_eleven_algorithms_make_a_chapter(uls_results):
    chapter = uls.chapter(uls_results, SCOPE, {})
    tables = {block.name: block for block in chapter.blocks if hasattr(block, "rows")}
    assert {row[0] for row in tables["summary-l2-r5"].rows} == set(uls.METHODS)
    assert len(uls.METHODS) == 11
    assert all(0 <= row[1] < 0.5 for row in tables["summary-l2-r5"].rows)
    bars = next(block.figure for block in chapter.blocks if getattr(block, "name", "") == "figure-l2-r5")
    heights = sorted(bar.get_height() for bar in bars.axes[0].patches)
    assert heights == pytest.approx(sorted(row[1] for row in tables["summary-l2-r5"].rows))


def test_star_is_the_least_training_error_of_each_fold(uls_results):
    for one, payload in uls.with_star(uls_results).items():
        if one.method == "F*":
            bag = [
                v
                for k, v in uls_results.items()
                if (k.dataset, k.fold) == (one.dataset, one.fold) and k.method in uls.FIXED
            ]
            assert payload["train_error"] == min(v["train_error"] for v in bag)


def test_star_without_a_fit_is_the_estimators_own(uls_results, small_sets):
    from permissible import ULSClassifier

    whole = uls.with_star(uls_results)
    for one in [one for one in whole if one.method == "F*" and one.dataset == "glass"]:
        task = binary_task("glass")
        train, test = folds("glass", 2, 0)[one.fold]
        model = ULSClassifier.plain("F*", n_rules=5, max_literals=2).fit(task.rows(train), task.target[train])
        assert whole[one]["error"] == pytest.approx(np.mean(model.predict(task.rows(test)) != task.target[test]))


def test_mu_is_matsushita_on_every_fold(uls_results):
    for one, payload in uls_results.items():
        if one.method == "mu":
            twin = next(
                v for k, v in uls_results.items() if (k.dataset, k.fold, k.method) == (one.dataset, one.fold, "M")
            )
            assert payload == twin


def test_margins_chapter_draws_both_figures_and_finds_mu_equal(small_sets, monkeypatch):
    monkeypatch.setattr(margins, "FIGURE_8", (("glass", (2, 10)), ("iris", (1, 50))))
    settings = [{"literals": literals, "rounds": rounds} for literals, rounds in margins.SETTINGS]
    results = {one: margins.work(one) for one in units("margins", ["glass", "iris"], margins.METHODS, settings)}
    for payload in results.values():
        assert len(payload["margins"]) == payload["rows"]
        assert max(map(abs, payload["margins"])) <= 1
    chapter = margins.chapter(results, SCOPE, {})
    said = next(block for block in chapter.blocks if getattr(block, "name", "") == "claims")
    assert "largest difference of error 0" in said.rows[4][1]
    assert [block.name for block in chapter.blocks if hasattr(block, "figure")] == ["figure-7", "figure-8"]
