"""Each verb end to end on a real file through the installed entry point."""

import csv
import json
import sqlite3

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import permissible as pm
from tests.cli.command import COMMAND, refused, run, run_process

pytestmark = pytest.mark.skipif(not COMMAND.exists(), reason="the package is not installed with its command")


def test_fit_shows_the_kinds_the_model_and_honest_figures(folder, tmp_path):
    outcome = run(
        "fit",
        folder / "tumours.csv",
        "--target",
        "diagnosis",
        "--id",
        "patient",
        "--rules",
        6,
        "--literals",
        2,
        "--cv",
        5,
        "--cost-matrix",
        folder / "costs.csv",
        "-o",
        tmp_path / "m.json",
        "--report",
        tmp_path / "r.html",
    )
    assert outcome.code == 0, outcome
    for words in (
        "569 rows",
        "categorical: ward",
        "numeric: mean radius",
        "5-fold cross-validation",
        "log-loss",
        "Brier",
        "cost",
        "s.d.",
    ):
        assert words in outcome.out, outcome.out
    assert pm.load(tmp_path / "m.json").decision_.matrix.tolist() == [[0, 1], [5, 0]]
    page = (tmp_path / "r.html").read_text()
    assert "<title>tumours.csv: 5-fold cross-validation, each row by a model that has not seen it</title>" in page


def test_fit_speaks_json_and_the_same_seed_gives_the_same_file(folder, tmp_path):
    arguments = (
        "fit",
        folder / "tumours.csv",
        "-t",
        "diagnosis",
        "--drop",
        "patient,ward",
        "--compact",
        "--cv",
        3,
        "--json",
    )
    found = [run(*arguments, "-o", tmp_path / f"{n}.json") for n in range(2)]
    said = json.loads(found[0].out)
    assert set(said["cross_validation"]) == {"error", "log_loss", "brier"}
    assert said["cross_validation"]["error"]["mean"] < 0.12
    assert len(said["cross_validation"]["error"]["folds"]) == 3
    assert (tmp_path / "0.json").read_bytes() == (tmp_path / "1.json").read_bytes()


@pytest.mark.parametrize("kind", ["uls", "udt", "mcboost"])
def test_every_model_goes_from_fit_to_predict(kind, folder, tmp_path):
    path, out = tmp_path / "m.json", tmp_path / "out.csv"
    assert run("fit", folder / "iris.csv", "-t", "kind", "-m", kind, "--rules", 6, "-o", path).code == 0
    assert run("predict", path, folder / "iris.csv", "-o", out).code == 0
    found = pd.read_csv(out)
    truth = pd.read_csv(folder / "iris.csv")["kind"]
    assert (found["prediction"] == truth).mean() > 0.9
    np.testing.assert_allclose(found.iloc[:, 1:4].sum(axis=1), 1.0)


def test_a_boundary_model_predicts_risk_groups(folder, tmp_path):
    path, out = tmp_path / "m.json", tmp_path / "out.csv"
    arguments = (
        "fit",
        folder / "tumours.csv",
        "-t",
        "diagnosis",
        "-m",
        "boundary",
        "--boundaries",
        ".2,.8",
        "--set",
        "alpha=0.01",
    )
    done = run(*arguments, "--drop", "patient,ward,mean texture", "-o", path)
    assert done.code == 0, done
    assert run("predict", path, folder / "tumours.csv", "-o", out).code == 0
    assert set(pd.read_csv(out)["decision"]) <= {"P <= 0.2", "0.2 < P <= 0.8", "P > 0.8"}


def test_a_number_of_rules_asks_a_boundary_model_for_rules(folder, tmp_path):
    path = tmp_path / "m.json"
    options = "-m", "boundary", "--boundaries", ".2,.8", "--rules", 5, "--literals", 1, "--drop", "patient"
    done = run("fit", folder / "tumours.csv", "-t", "diagnosis", *options, "-o", path)
    assert done.code == 0, done
    model = pm.load(path)
    assert 1 <= len(model.rules_) <= 5
    assert all(len(rule) == 1 for rule in model.rules_)
    assert run("explain", path).code == 0


def test_predictions_are_those_of_the_library_in_every_format(model, folder, tmp_path):
    frame = pd.read_csv(folder / "tumours.csv", sep=";", float_precision="round_trip")
    expected = pm.load(model).predict_proba(frame[list(pm.load(model).schema_.names)])[:, 1]
    for data, out in [
        ("tumours.csv", "a.csv"),
        ("tumours.parquet", "a.parquet"),
        ("tumours.csv", "a.tsv"),
        ("tumours.parquet", "a.arrow"),
    ]:
        outcome = run("predict", model, folder / data, "-o", tmp_path / out)
        assert outcome.code == 0, outcome
        found = read_any(tmp_path / out)
        np.testing.assert_allclose(found["probability_malignant"], expected, rtol=1e-14)
        assert list(found["patient"][:3]) == ["p0", "p1", "p2"]  # the columns of --id are carried along


def read_any(path):
    if path.suffix == ".parquet":
        return pd.read_parquet(path)
    if path.suffix == ".arrow":
        return pd.read_feather(path)
    return pd.read_csv(path, sep="\t" if path.suffix == ".tsv" else ",", float_precision="round_trip")


def test_predict_writes_csv_to_the_terminal(model, folder):
    outcome = run("predict", model, folder / "tumours.csv")
    rows = list(csv.DictReader(outcome.out.splitlines()))
    assert len(rows) == 569
    assert rows[0]["prediction"] == "malignant"


def test_evaluate_agrees_with_the_library(model, folder):
    said = json.loads(run("evaluate", model, folder / "tumours.csv", "--json").out)
    frame = pd.read_csv(folder / "tumours.csv", sep=";")
    loaded = pm.load(model)
    wrong = (loaded.predict(frame[list(loaded.schema_.names)]) != frame["diagnosis"]).mean()
    assert said["metrics"]["error"]["value"] == pytest.approx(wrong)
    assert sum(map(sum, said["confusion"])) == 569
    rejecting = json.loads(run("evaluate", model, folder / "tumours.csv", "--reject-cost", 0.1, "--json").out)
    assert rejecting["actions"][-1] == "refer"
    assert "95 % interval" in run("evaluate", model, folder / "tumours.csv").out


def test_explain_says_the_model_and_one_row(model, folder):
    assert "P(malignant)" in run("explain", model).out
    said = json.loads(run("explain", model, folder / "tumours.csv", "--row", 3, "--json").out)
    assert said["prediction"] == "malignant"
    assert said["scores"][0] == pytest.approx(sum(term["adds"][0] for term in said["terms"]))
    assert "adds to the score" in run("explain", model, folder / "tumours.csv", "-r", 3).out
    # A rule that does not hold adds the opposite: the words alone would mislead.
    coefficients = pm.load(model).coefficients_.tolist()
    assert {(term["holds"], abs(term["adds"][0])) for term in said["terms"][1:]} == {
        (term["adds"][0] in coefficients, abs(term["adds"][0])) for term in said["terms"][1:]
    }
    assert {term["holds"] for term in said["terms"]} == {True, False}


def test_report_writes_a_page(model, folder, tmp_path):
    outcome = run("report", model, folder / "tumours.csv", "-o", tmp_path / "r.html", "--title", "A <b>title</b>")
    assert outcome.code == 0, outcome
    assert "A &lt;b&gt;title&lt;/b&gt;" in (tmp_path / "r.html").read_text()


def test_exports_run_elsewhere(model, folder, tmp_path):
    frame = pd.read_csv(folder / "tumours.csv", sep=";")
    loaded = pm.load(model)
    expected = loaded.predict_proba(frame[list(loaded.schema_.names)])[:, 1]
    sql = run("export", model, "--format", "sql", "--dialect", "sqlite", "--table", "tumours").out
    with sqlite3.connect(":memory:") as connection:
        frame.to_sql("tumours", connection, index=False)
        np.testing.assert_allclose(pd.read_sql(sql, connection)["probability"], expected, rtol=1e-12)
    connection.close()
    assert run("export", model, "-f", "python", "-o", tmp_path / "model.py").code == 0
    space: dict = {}
    exec((tmp_path / "model.py").read_text(), space)
    rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
    np.testing.assert_allclose([space["probability"](row) for row in rows], expected, rtol=1e-12)
    assert run("export", model, "-f", "onnx", "-o", tmp_path / "model.onnx").code == 0
    assert (tmp_path / "model.onnx").stat().st_size > 100
    assert json.loads(run("export", model, "-f", "json").out)["format"] == "permissible model"
    assert "<table>" in run("export", model, "-f", "html").out
    assert "P(malignant)" in run("export", model).out


def test_compare_ranks_losses_on_the_same_folds(folder):
    arguments = (
        "compare",
        folder / "tumours.csv",
        "-t",
        "diagnosis",
        "--drop",
        "patient",
        "--losses",
        "logistic,matsushita",
        "--rules",
        5,
    )
    said = json.loads(run(*arguments, "--cv", 3, "--json").out)
    assert set(said["contenders"]) == {"uls logistic", "uls matsushita"}
    assert said["contenders"][said["best"]]["p_value_against_best"] is None
    assert "mean ± s.d." in run(*arguments, "--cv", 3).out


def test_arff_and_compressed_files_are_read(folder, tmp_path):
    assert "150 rows" in run("fit", folder / "iris.arff", "-t", "kind", "-m", "udt").out
    import gzip

    with gzip.open(tmp_path / "iris.csv.gz", "wt") as file:
        file.write((folder / "iris.csv").read_text())
    assert "150 rows" in run("fit", tmp_path / "iris.csv.gz", "-t", "kind", "-m", "udt").out


def test_help_has_an_example_for_every_verb():
    verbs = ["demo", "fit", "predict", "evaluate", "explain", "report", "export", "compare", "reproduce", "bench"]
    listed = run("--help").out
    for verb in verbs:
        assert verb in listed
        assert f"Example: permissible {verb}" in " ".join(run(verb, "--help").out.split())


def test_the_demo_computes_what_each_way_to_decide_costs(tmp_path):
    """Referee: the same folds, logistic regression of scikit-learn on a one-hot frame, costs added up by hand."""
    outcome = run("demo", "-o", tmp_path / "demo.html", "--data", "loans.csv", "--json", cwd=tmp_path)
    assert outcome.code == 0, outcome
    said = json.loads(outcome.out)["costs"]
    assert said["grant everybody"]["cost"] == pytest.approx(1.5)
    assert said["refuse everybody"]["cost"] == pytest.approx(0.7)
    loans = pd.read_csv(tmp_path / "loans.csv", keep_default_na=False)
    X, bad = pd.get_dummies(loans.drop(columns="loan"), dtype=float), (loans["loan"] == "went bad").to_numpy()
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=5000, C=1e3))
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    p = cross_val_predict(model, X, bad, cv=folds, method="predict_proba")[:, 1]
    for name, threshold in (("threshold 1/2", 1 / 2), ("by the costs", 1 / 6)):
        cost = np.mean(np.where(bad, 5.0 * (p <= threshold), 1.0 * (p > threshold)))
        assert said[f"logistic regression, {name}"]["cost"] == pytest.approx(cost, abs=0.05)
    ours = pm.ULSClassifier(random_state=0)
    frame = loans.drop(columns="loan")
    p = cross_val_predict(ours, frame, bad, cv=folds, method="predict_proba")[:, 1]
    cost = np.mean(np.where(bad, 5.0 * (p <= 1 / 6), 1.0 * (p > 1 / 6)))
    assert said["permissible, by the costs"]["cost"] == pytest.approx(cost, abs=1e-9)
    assert "Is it worth using?" in (tmp_path / "demo.html").read_text(encoding="utf-8")
    told = run("demo", "-o", tmp_path / "demo.html", cwd=tmp_path)
    for words in ("refuse everybody", "logistic regression, threshold 1/2", "P(went bad)", "paired t over the folds"):
        assert words in told.out


def test_the_command_works_and_fails_as_a_process_of_its_own(folder, tmp_path):
    outcome = run_process("fit", folder / "iris.csv", "-t", "kind", "-m", "udt", "-o", tmp_path / "m.json")
    assert outcome.code == 0, outcome
    assert pm.load(tmp_path / "m.json").classes_.tolist() == ["setosa", "versicolor", "virginica"]
    assert refused(run_process("predict", tmp_path / "m.json", folder / "nowhere.csv"), 2, "does not exist")


def test_help_answers_without_loading_the_library():
    import subprocess
    import sys

    asked = "print('numpy' in sys.modules, 'sklearn' in sys.modules)"
    script = f"import sys; from permissible.cli.main import main; main(['--help']); {asked}"
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert found.stdout.splitlines()[-1] == "False False"
