"""`permissible fit --points` and `--monotone`: the card is printed with its decisions, exported, and bad use is one sentence."""

import numpy as np
import pytest

import permissible as pm
from tests.cli.command import run


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    random = np.random.default_rng(0)
    age, debt, job = (
        random.normal(50, 10, 300).round(),
        random.exponential(2, 300).round(2),
        random.choice(["a", "b"], 300),
    )
    paid = np.where((age - 50) / 10 - debt + random.normal(size=300) > -1.5, "yes", "no")
    path = tmp_path_factory.mktemp("rows") / "rows.csv"
    cells = zip(age, debt, job, paid, strict=True)
    path.write_text("\n".join(["age,debt,job,paid", *(",".join(map(str, row)) for row in cells)]))
    return path


def test_a_card_with_directions_is_printed_saved_and_exported(rows, tmp_path):
    model, book = tmp_path / "card.json", tmp_path / "card.xlsx"
    options = ("--points", "4", "--rules", "3", "--monotone", "age:+,debt:-", "--reject-cost", ".2")
    told = run("fit", rows, "--target", "paid", *options, "-o", model)
    assert told.code == 0, told
    assert "Points for yes" in told.out
    assert "refer" in told.out
    card = pm.load(model)
    assert len(card.rules_) <= 3
    assert card.model_.points.max() <= 4
    tests = {(card.schema_.names[rule[0].column], rule[0].test) for rule in card.rules_}
    assert tests <= {("age", ">"), ("debt", "<="), ("job", "in"), ("job", "not in")}
    assert run("export", model, "--format", "excel", "-o", book).code == 0
    assert book.read_bytes()[:2] == b"PK"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--points", "0"), "--points"),
        (("--points", "3", "--model", "udt"), "--points is for a card of rules"),
        (("--points", "3", "--compact"), "got --compact"),
        (("--monotone", "age"), "must look like age:+,debt:-"),
        (("--monotone", "age:+,age:-"), "must name each column once"),
        (("--monotone", "height:+"), "unknown column 'height'"),
        (("--monotone", "job:+"), "0 for a column of categories"),
        (("--monotone", "age:+", "--model", "mcboost"), "--monotone is for --model uls, trees, udt"),
    ],
)
def test_bad_use_is_one_sentence(rows, options, words):
    told = run("fit", rows, "--target", "paid", *options)
    assert told.code in (1, 2)
    assert words in told.err
    assert len(told.err.strip().splitlines()) == 1
