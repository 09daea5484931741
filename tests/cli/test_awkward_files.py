"""Files as people have them, end to end: what each column is taken for, what is warned of, and what is predicted.

Each file hides the same rule (x above one half, or group "b", is mostly "yes") in another way of writing it.
"""

import csv
import json

import numpy as np
import pandas as pd
import pytest

import permissible as pm
from tests.cli.command import COMMAND, refused, run, run_process

pytestmark = pytest.mark.skipif(not COMMAND.exists(), reason="the package is not installed with its command")
N = 240
RNG = np.random.default_rng(0)
VALUE = RNG.random(N).round(3)
GROUP = RNG.choice(["a", "b", "c"], N)
LABEL = np.where((VALUE > 0.5) ^ (RNG.random(N) < 0.05), "yes", "no")
DAYS = (VALUE * 1000).astype(int)
DATES = pd.Timestamp("2020-01-01") + pd.to_timedelta(DAYS, unit="D")
MODEL = ("--rules", 6, "-m", "udt", "-o", "model.json")


def written(path, columns, delimiter=",", encoding="utf-8", quoting=csv.QUOTE_MINIMAL):
    with path.open("w", newline="", encoding=encoding) as file:
        writer = csv.writer(file, delimiter=delimiter, quoting=quoting)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


def comma(values, digits=3):
    return [f"{value:.{digits}f}".replace(".", ",") for value in values]


FILES = {
    "semicolon and decimal comma": (
        {"x": comma(VALUE), "group": GROUP, "y": LABEL},
        {"delimiter": ";"},
        ("--decimal", ","),
        {"x": "numeric (decimal comma)", "group": "categorical"},
    ),
    "decimal comma found by itself": (
        {"x": comma(VALUE, 2), "group": GROUP, "y": LABEL},
        {"delimiter": ";"},
        (),
        {"x": "numeric (decimal comma)", "group": "categorical"},
    ),
    "byte-order mark": ({"x": VALUE, "y": LABEL}, {"encoding": "utf-8-sig"}, (), {"x": "numeric"}),
    "latin-1": (
        {"größe": VALUE, "y": LABEL},
        {"encoding": "latin-1"},
        ("--encoding", "latin-1"),
        {"größe": "numeric"},
    ),
    "dates": (
        {"seen": DATES.strftime("%Y-%m-%d"), "group": GROUP, "y": LABEL},
        {},
        (),
        {"seen": "date, as days since 1970-01-01", "group": "categorical"},
    ),
    "dates with slashes": (
        {"seen": DATES.strftime("%d/%m/%Y"), "y": LABEL},
        {},
        (),
        {"seen": "date with the day first, as days since 1970-01-01"},
    ),
    "thousands": (
        {"x": [f"{value * 1e6:,.2f}" for value in VALUE], "y": LABEL},
        {},
        (),
        {"x": "numeric (thousands separator)"},
    ),
    "amounts of money and percentages": (
        {
            "price": [f"-${1e4 * (1 - value):,.2f}" for value in VALUE],
            "rate": [f"{v} %" for v in comma(1 - VALUE, 1)],
            "y": LABEL,
        },
        {},
        (),
        {"price": "numeric ($ and decimal point)", "rate": "numeric (% and decimal comma)"},
    ),
    "ids": (
        {"PatientId": np.arange(N) * 7 + 3, "name": [f"p{i}" for i in range(N)], "x": VALUE, "y": LABEL},
        {},
        (),
        {"PatientId": "left out", "name": "left out", "x": "numeric"},
    ),
    "integer categories": (
        {"ward": np.where(LABEL == "yes", RNG.choice([1, 5], N), RNG.choice([2, 7], N)), "y": LABEL},
        {},
        ("--categorical", "ward"),
        {"ward": "categorical"},
    ),
    "quoted newlines": (
        {"x": VALUE, "note": [f"first\nsecond, {g}" for g in GROUP], "y": LABEL},
        {"quoting": csv.QUOTE_ALL},
        (),
        {"x": "numeric", "note": "categorical"},
    ),
    "a constant column": ({"x": VALUE, "site": ["one"] * N, "y": LABEL}, {}, (), {"site": "constant", "x": "numeric"}),
    "three classes": (
        {"x": VALUE, "y": np.where(VALUE < 0.3, "low", np.where(VALUE < 0.6, "mid", "top"))},
        {},
        (),
        {"x": "numeric"},
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_an_awkward_file_goes_from_fit_to_predict(name, tmp_path):
    columns, how, options, kinds = FILES[name]
    written(tmp_path / "rows.csv", columns, **how)
    fitted = run("fit", "rows.csv", "-t", "y", *options, *MODEL, "--json", cwd=tmp_path)
    assert fitted.code == 0, fitted
    assert fitted.err == ""
    said = json.loads(fitted.out)
    assert set(said["columns"]) == set(kinds)
    for column, words in kinds.items():
        assert said["columns"][column].startswith(words), said["columns"]
    assert said["baseline"]["error"] > 0.3
    encoding = options[:2] if "--encoding" in options else ()
    told = run("predict", "model.json", "rows.csv", *encoding, "--json", cwd=tmp_path)
    assert told.code == 0, told
    assert told.err == ""
    rows = json.loads(told.out)
    right = np.mean([row["prediction"] == str(label) for row, label in zip(rows, columns["y"], strict=True)])
    assert right > 0.9
    assert ("PatientId" in rows[0]) == (name == "ids")
    judged = json.loads(run("evaluate", "model.json", "rows.csv", *encoding, "--json", cwd=tmp_path).out)
    assert judged["metrics"]["error"]["value"] == pytest.approx(1 - right)


def test_one_percent_positives_have_their_base_rate_told(tmp_path):
    rare = np.where(np.argsort(np.argsort(VALUE)) >= N - 3, "yes", "no")
    written(tmp_path / "rows.csv", {"x": VALUE, "group": GROUP, "y": rare})
    told = run("fit", "rows.csv", "-t", "y", *MODEL, cwd=tmp_path)
    assert told.code == 0, told
    assert "base rates: no 98.8%, yes 1.2%; the positive class is yes" in told.out
    assert "without a model" in told.out
    assert "0.0125" in told.out  # the error of saying no to everybody


def test_an_export_says_how_its_columns_must_be_given(tmp_path):
    dates = DATES.strftime("%Y-%m-%d")
    written(tmp_path / "rows.csv", {"seen": dates, "rate": [f"{value}%" for value in VALUE], "y": LABEL})
    assert run("fit", "rows.csv", "-t", "y", *MODEL, cwd=tmp_path).code == 0
    told = run("export", "model.json", "-f", "sql", cwd=tmp_path)
    assert told.code == 0
    assert "'seen' as days since 1970-01-01, 'rate' as plain numbers" in told.err
    assert run("export", "model.json", "-f", "text", cwd=tmp_path).err == ""


def test_another_currency_than_in_fit_is_refused(tmp_path):
    written(tmp_path / "rows.csv", {"x": [f"${value:.2f}" for value in VALUE], "group": GROUP, "y": LABEL})
    assert run("fit", "rows.csv", "-t", "y", *MODEL, cwd=tmp_path).code == 0
    written(tmp_path / "later.csv", {"x": [f"{value:.2f} €" for value in VALUE], "group": GROUP, "y": LABEL})
    words = ("'x'", "numbers with $ and decimal point as in fit", "€")
    assert refused(run("predict", "model.json", "later.csv", cwd=tmp_path), 2, *words)


def test_what_could_mean_two_things_is_refused_with_the_remedy(tmp_path):
    written(tmp_path / "rows.csv", {"x": comma(VALUE + 1), "y": LABEL}, delimiter=";")
    words = ("'x'", "three decimals", "--decimal")
    assert refused(run("fit", "rows.csv", "-t", "y", cwd=tmp_path), 2, *words)
    early = pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(N) % 12 * 31, unit="D")
    written(tmp_path / "dates.csv", {"seen": early.strftime("%d/%m/%Y"), "y": LABEL})
    short = [f"{1 + i % 12}/{1 + i % 11}/2020" for i in range(N)]
    written(tmp_path / "short.csv", {"seen": short, "x": VALUE, "y": LABEL})
    assert refused(run("fit", "short.csv", "-t", "y", cwd=tmp_path), 2, "'seen'", "--dates day-first")
    assert run("fit", "short.csv", "-t", "y", "--dates", "day-first", *MODEL, cwd=tmp_path).code == 0
    text = run("fit", "short.csv", "-t", "y", "--dates", "text", *MODEL, cwd=tmp_path)
    assert "categorical: seen" in text.out
    assert refused(run("fit", "short.csv", "-t", "y", "--encoding", "klingon", cwd=tmp_path), 2, "--encoding")
    assert refused(run("fit", "short.csv", "-t", "y", "--decimal", "x", cwd=tmp_path), 2, "--decimal")


def test_new_rows_must_be_written_as_those_of_fit(tmp_path):
    written(tmp_path / "rows.csv", {"x": comma(VALUE, 2), "y": LABEL}, delimiter=";")
    assert run("fit", "rows.csv", "-t", "y", *MODEL, cwd=tmp_path).code == 0
    (tmp_path / "new.csv").write_text("x\n0.25\n")
    assert refused(run("predict", "model.json", "new.csv", cwd=tmp_path), 2, "'x'", "decimal comma as in fit", "0.25")


def test_the_positive_label_is_chosen(tmp_path):
    written(tmp_path / "rows.csv", {"x": VALUE, "y": LABEL})
    (tmp_path / "costs.csv").write_text(",no,yes\nno,0,5\nyes,1,0\n")
    common = ("fit", "rows.csv", "-t", "y", "--cost-matrix", "costs.csv", "--cv", 3)
    told = run(*common, *MODEL, "--positive", "no", cwd=tmp_path)
    assert told.code == 0, told
    assert "the positive class is no" in told.out
    plain = run(*common, "-m", "udt", "--rules", 6, "-o", "plain.json", cwd=tmp_path)
    assert plain.code == 0
    chosen, other = pm.load(tmp_path / "model.json"), pm.load(tmp_path / "plain.json")
    assert chosen.classes_.tolist() == ["yes", "no"]
    rows = {"x": VALUE}
    np.testing.assert_allclose(chosen.predict_proba(rows)[:, 1], other.predict_proba(rows)[:, 0])
    assert chosen.decide_labels(rows, chosen.decision_).tolist() == other.decide_labels(rows, other.decision_).tolist()
    explained = json.loads(run("explain", "model.json", "rows.csv", "--json", cwd=tmp_path).out)
    assert explained["decision"] == chosen.decide_labels({"x": VALUE[:1]}, chosen.decision_)[0]
    costs = [
        [line.split()[1:3] for line in said.splitlines() if line.split()[:1] == ["cost"]]
        for said in (told.out, plain.out)
    ]
    assert costs[0] == costs[1] != []
    assert refused(run("fit", "rows.csv", "-t", "y", "--positive", "maybe", cwd=tmp_path), 2, "--positive", "no, yes")


def test_a_file_without_rows_is_refused_in_one_sentence(tmp_path):
    (tmp_path / "rows.csv").write_text("x,y\n")
    outcome = run("fit", "rows.csv", "-t", "y", cwd=tmp_path)
    assert refused(outcome, 2, "rows.csv must have rows")
    assert outcome.out == ""


def test_each_warning_comes_once_with_its_count(tmp_path):
    written(tmp_path / "rows.csv", {"x": VALUE, "group": GROUP, "y": LABEL})
    assert run("fit", "rows.csv", "-t", "y", *MODEL, cwd=tmp_path).code == 0
    strange = {"x": VALUE + np.where(np.arange(N) < 7, 9, 0), "group": np.where(np.arange(N) % 2, "z", "a"), "y": LABEL}
    written(tmp_path / "new.csv", strange)
    for verb in ("predict", "evaluate"):
        lines = run_process(verb, "model.json", "new.csv", cwd=tmp_path).err.splitlines()
        assert len(lines) == 2
        assert any("'group'" in line and "120 rows" in line for line in lines)
        assert any("'x' is outside the range of fit" in line and "7 rows" in line for line in lines)


def test_predict_takes_another_decision_and_speaks_in_labels(tmp_path):
    written(tmp_path / "rows.csv", {"x": VALUE, "y": LABEL})
    assert run("fit", "rows.csv", "-t", "y", *MODEL, cwd=tmp_path).code == 0
    asked = {
        ("--reject-cost", 0.05): {"no", "yes", "refer"},
        ("--boundaries", ".2,.8"): {"P <= 0.2", "0.2 < P <= 0.8", "P > 0.8"},
    }
    for options, words in asked.items():
        rows = json.loads(run("predict", "model.json", "rows.csv", *options, "--keep-all", "--json", cwd=tmp_path).out)
        assert {row["decision"] for row in rows} <= words
        assert [float(row["x"]) for row in rows] == VALUE.tolist()


def test_predict_gives_reasons_in_words(tmp_path):
    written(tmp_path / "rows.csv", {"x": VALUE, "group": GROUP, "y": LABEL})
    assert run("fit", "rows.csv", "-t", "y", "--compact", "-o", "model.json", cwd=tmp_path).code == 0
    told = run("predict", "model.json", "rows.csv", "--reasons", 2, "--json", cwd=tmp_path)
    assert told.code == 0, told
    model = pm.load(tmp_path / "model.json")
    X = {"x": VALUE[:5], "group": GROUP[:5].astype(object)}
    for row, reasons in zip(json.loads(told.out), model.reasons(X, 2), strict=False):
        words = [one.words for one in reasons.reasons]
        assert [row["reason_1"], row["reason_2"]][: len(words)] == words


def test_the_command_line_and_python_give_the_same_model(tmp_path):
    columns = {
        "x": VALUE,
        "k": np.arange(N) % 9,
        "ok": np.where(np.arange(N) % 2, "true", "false"),
        "group": GROUP,
        "y": LABEL,
    }
    written(tmp_path / "rows.csv", columns)
    for options, model in (
        (("--compact", "--rules", 4), pm.ULSClassifier.compact(n_rules=4)),
        ((), pm.ULSClassifier()),
    ):
        outcome = run("fit", "rows.csv", "-t", "y", *options, "-o", "model.json", cwd=tmp_path)
        assert outcome.code == 0, outcome
        frame = pd.read_csv(tmp_path / "rows.csv")
        model.fit(frame.drop(columns="y"), frame["y"])
        loaded = pm.load(tmp_path / "model.json")
        assert loaded.to_text() == model.to_text()
        X = frame.drop(columns="y")
        np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


def test_compare_leaves_out_what_cannot_take_the_rows(tmp_path):
    written(tmp_path / "rows.csv", {"x": VALUE, "group": GROUP, "y": LABEL})
    told = run("compare", "rows.csv", "-t", "y", "--models", "udt,boundary", "--cv", 3, cwd=tmp_path)
    assert told.code == 0, told
    assert "boundary is left out: `X` must be columns of numbers for this classifier" in told.out
    assert "without a model" in told.out
    alone = run("compare", "rows.csv", "-t", "y", "--models", "boundary", "--cv", 3, cwd=tmp_path)
    assert refused(alone, 2, "no model can take these rows")


def test_fit_says_which_loss_auto_chose(tmp_path):
    written(tmp_path / "rows.csv", {"x": VALUE, "group": GROUP, "y": LABEL})
    told = run("fit", "rows.csv", "-t", "y", "--loss", "auto", "--rules", 4, cwd=tmp_path)
    assert told.code == 0, told
    assert "auto chose the loss" in told.out
    assert "log-loss on held-out folds" in told.out
    assert "AUC" in told.out
    assert "sensitivity" in told.out


def test_a_missing_extra_is_told_before_the_fit(tmp_path, monkeypatch):
    written(tmp_path / "rows.csv", {"x": VALUE, "y": LABEL})
    monkeypatch.setattr("permissible.cli.io.writing.find_spec", lambda name: None)
    told = run("fit", "rows.csv", "-t", "y", *MODEL, "--report", "r.html", cwd=tmp_path)
    assert refused(told, 1, "jinja2", "pip install 'permissible[report]'")
    assert not (tmp_path / "model.json").exists()


def test_help_wraps_and_the_shell_completes():
    told = run_process("fit", "--help")
    assert max(map(len, told.out.splitlines())) <= 100
    assert "--install-completion" in run_process("--help").out
