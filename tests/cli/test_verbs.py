"""Each verb end to end on a real file through the installed entry point, and every failure mode: a code and one sentence."""

import csv
import json
import shutil
import sqlite3

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import permissible as pm
from tests.cli.command import COMMAND, refused, run, run_process

pytestmark = pytest.mark.skipif(not COMMAND.exists(), reason="the package is not installed with its command")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Files as people have them: CSV with another delimiter, missing cells, categories; Parquet; ARFF; a cost matrix."""
    folder = tmp_path_factory.mktemp("cli")
    generator = np.random.default_rng(0)
    data = load_breast_cancer(as_frame=True)
    tumours = data.data.iloc[:, [0, 1, 7, 20, 27]].copy()
    tumours.insert(0, "patient", [f"p{i}" for i in range(len(tumours))])
    tumours["ward"] = generator.choice(["north", "south; old", "O'Brien"], len(tumours))
    tumours.loc[generator.random(len(tumours)) < 0.1, "mean texture"] = np.nan
    tumours["diagnosis"] = np.where(data.target == 0, "malignant", "benign")
    tumours.to_csv(folder / "tumours.csv", index=False, sep=";")
    tumours.to_parquet(folder / "tumours.parquet")
    tumours.drop(columns="ward").to_csv(folder / "no-ward.csv", index=False)
    iris = load_iris(as_frame=True)
    flowers = iris.frame.rename(columns={"target": "kind"})
    flowers["kind"] = iris.target_names[flowers["kind"]]
    flowers.to_csv(folder / "iris.csv", index=False)
    (folder / "iris.arff").write_text(
        "@relation iris\n"
        + "".join(f"@attribute '{name}' numeric\n" for name in flowers.columns[:-1])
        + "@attribute kind {setosa,versicolor,virginica}\n@data\n"
        + flowers.to_csv(index=False, header=False)
    )
    (folder / "costs.csv").write_text(",benign,malignant\nbenign,0,1\nmalignant,5,0\n")
    (folder / "empty.csv").write_text("")
    (folder / "ragged.csv").write_text("a,b\n1,2\n1,2,3\n")
    (folder / "binary.csv").write_bytes(bytes(range(256)) * 50)
    (folder / "one-class.csv").write_text("x,y\n1,a\n2,a\n3,a\n")
    (folder / "gaps.csv").write_text("x,y\n1,a\n2,\n3,b\n")
    return folder


@pytest.fixture(scope="module")
def model(folder):
    path = folder / "model.json"
    outcome = run("fit", folder / "tumours.csv", "-t", "diagnosis", "--id", "patient", "--rules", 8, "-o", path)
    assert outcome.code == 0, outcome
    return path


# -- what works -----------------------------------------------------------------------------------------------------------------


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


# -- what is refused ------------------------------------------------------------------------------------------------------------


def test_a_missing_file_is_named(folder, model, tmp_path):
    assert refused(run("fit", folder / "nowhere.csv", "-t", "y"), 2, "nowhere.csv", "does not exist")
    assert refused(run("predict", folder / "nowhere.json", folder / "iris.csv"), 2, "nowhere.json", "does not exist")
    assert refused(run("predict", model, folder / "nowhere.csv", "-o", tmp_path / "o.csv"), 2, "nowhere.csv")
    assert list(tmp_path.iterdir()) == []


def test_a_missing_column_is_named_with_what_is_there(folder, model, tmp_path):
    assert refused(run("fit", folder / "iris.csv", "-t", "sort"), 2, "'sort'", "it has")
    assert refused(run("fit", folder / "iris.csv", "-t", "kind", "--drop", "colour"), 2, "'colour'")
    assert refused(run("predict", model, folder / "no-ward.csv", "-o", tmp_path / "o.csv"), 2, "'ward'")
    assert refused(run("evaluate", model, folder / "tumours.csv", "-t", "outcome"), 2, "'outcome'")
    assert list(tmp_path.iterdir()) == []


def test_a_wrong_target_is_explained(folder, model):
    assert refused(run("fit", folder / "one-class.csv", "-t", "y"), 1, "two classes")
    assert refused(run("fit", folder / "gaps.csv", "-t", "y"), 2, "known in every row", "row 2")
    assert refused(run("evaluate", model, folder / "tumours.csv", "-t", "ward"), 2, "benign, malignant", "ward")


@pytest.mark.parametrize("name", ["empty.csv", "ragged.csv", "binary.csv"])
def test_an_unreadable_csv_is_explained(name, folder):
    assert refused(run("fit", folder / name, "-t", "a"), 2, name)


def test_a_column_of_the_wrong_kind_at_predict_names_column_and_place(folder, model, tmp_path):
    text = (folder / "tumours.csv").read_text().splitlines()
    cells = text[4].split(";")
    cells[1] = "large"
    (tmp_path / "bent.csv").write_text("\n".join([*text[:4], ";".join(cells), *text[5:]]))
    assert refused(
        run("predict", model, tmp_path / "bent.csv", "-o", tmp_path / "o.csv"), 2, "'mean radius'", "'large'"
    )
    assert not (tmp_path / "o.csv").exists()


def test_a_late_error_leaves_the_old_output(folder, model, tmp_path):
    text = (folder / "tumours.csv").read_text().splitlines()
    (tmp_path / "bent.csv").write_text("\n".join([text[0], *text[1:] * 200, text[5].replace(";", ";x", 1)]))
    (tmp_path / "o.csv").write_text("old")
    assert refused(run("predict", model, tmp_path / "bent.csv", "-o", tmp_path / "o.csv"), 2, "mean radius")
    assert (tmp_path / "o.csv").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bent.csv", "o.csv"]


def test_a_damaged_model_file_is_refused(model, folder, tmp_path):
    (tmp_path / "half.json").write_text(model.read_text()[:500])
    assert refused(run("predict", tmp_path / "half.json", folder / "tumours.csv"), 2, "half.json")
    shutil.copy(folder / "iris.csv", tmp_path / "iris.json")
    assert refused(run("explain", tmp_path / "iris.json"), 2, "iris.json")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--model", "forest"], "--model must be one of"),
        (["--loss", "hinge"], "`loss`"),
        (["--boundaries", ".5,x"], "--boundaries must be numbers"),
        (["--boundaries", ".5,.4"], "increasing"),
        (["--reject-cost", "0.9"], "`cost` must be at most 1/2"),
        (["--set", "n_rounds"], "name=value"),
        (["--set", "colour=3"], "parameter of ULSClassifier"),
        (["--cv", "1"], "--cv"),
        (["--cv", "400"], "smallest class"),
        (["--delimiter", "ab"], "--delimiter"),
        (["--wings", "2"], "--wings"),
    ],
)
def test_options_are_checked(arguments, words, folder):
    outcome = run("fit", folder / "tumours.csv", "-t", "diagnosis", "--drop", "patient", *arguments)
    assert outcome.code in (1, 2)
    assert refused(outcome, outcome.code, words)


def test_an_unwritable_output_is_explained(model, folder):
    assert refused(
        run("predict", model, folder / "tumours.csv", "-o", folder / "no" / "such" / "o.csv"), 1, "no such file"
    )
    assert refused(run("export", model, "-f", "onnx"), 2, "-o model.onnx")
    assert refused(run("export", model, "-f", "cobol"), 2, "--format must be one of")
    assert refused(run("export", model, "-f", "excel", "-o", folder / "card.xlsx"), 1, "must be a point card")


def test_reproduce_and_bench_refuse_what_they_do_not_know(tmp_path):
    assert refused(run("reproduce", "everything", "-o", tmp_path / "r"), 2, "everything")
    assert refused(run("bench", cwd=tmp_path), 1, "source tree")


def write_customers(path, count=60, first=0):
    rows = [
        f"C{first + i:03d};{['north', 'south', ''][i % 3]};{20 + i % 50};{'yes' if (i * 7) % 5 < 2 else 'no'}"
        for i in range(count)
    ]
    path.write_text("\n".join(["customer;region;age;churned", *rows]))


def test_a_text_column_that_names_the_rows_is_not_learnt_from_unless_asked(tmp_path):
    write_customers(tmp_path / "customers.csv")
    plain = run("fit", "customers.csv", "--target", "churned", "-o", "model.json", cwd=tmp_path)
    assert plain.code == 0, plain.err
    assert "left out, since nearly every value differs (--categorical or --numeric keeps it): customer" in plain.out
    assert pm.load(tmp_path / "model.json").feature_names_in_.tolist() == ["region", "age"]
    kept = run("fit", "customers.csv", "--target", "churned", "--categorical", "customer", cwd=tmp_path)
    assert "left out" not in kept.out


def test_warnings_are_sentences_without_a_line_of_code(tmp_path):
    write_customers(tmp_path / "customers.csv")
    run("fit", "customers.csv", "--target", "churned", "--model", "udt", "-o", "model.json", cwd=tmp_path)
    (tmp_path / "new.csv").write_text("customer;region;age;churned\nC900;mars;30;no\nC901;north;31;yes\n")
    told = run_process("evaluate", "model.json", "new.csv", cwd=tmp_path)
    assert told.code == 0
    assert (
        "permissible: column 'region' has a category that no row of fit had in 1 row, the first of them 'mars'"
        in told.err
    )
    assert ".py" not in told.err


def test_numbers_named_categorical_are_groups(tmp_path):
    """Groups 1 and 3 against 0, 2 and 4: no single threshold parts them, one set of categories does."""
    cells = [f"{i % 5},{i % 7},{'yes' if i % 5 in (1, 3) else 'no'}" for i in range(200)]
    (tmp_path / "rows.csv").write_text("\n".join(["k,x,y", *cells]))
    common = ("fit", "rows.csv", "-t", "y", "--model", "udt", "--rules", 2, "-o", "model.json")
    for model, groups in ((("--categorical", "k"), True), ((), False)):
        outcome = run(*common, *model, cwd=tmp_path)
        assert outcome.code == 0, outcome
        assert ("categorical: k" in outcome.out) == groups
        fitted = pm.load(tmp_path / "model.json")
        assert fitted.schema_.columns[0].kind == ("categorical" if groups else "numeric")
        wrong = np.mean(
            fitted.predict({"k": np.arange(5), "x": np.zeros(5)}) != np.array(["no", "yes", "no", "yes", "no"])
        )
        assert (wrong == 0) == groups
    run(*common, "--categorical", "k", cwd=tmp_path)
    assert run("predict", "model.json", "rows.csv", "-o", "out.csv", cwd=tmp_path).code == 0
    assert list(pd.read_csv(tmp_path / "out.csv")["prediction"]) == list(pd.read_csv(tmp_path / "rows.csv")["y"])
    said = json.loads(
        run(
            "compare",
            "rows.csv",
            "-t",
            "y",
            "--models",
            "udt",
            "--rules",
            2,
            "--cv",
            3,
            "--json",
            "--categorical",
            "k",
            cwd=tmp_path,
        ).out
    )
    assert said["contenders"]["udt"]["error"]["mean"] == 0
    assert refused(
        run("fit", "rows.csv", "-t", "y", "-m", "boundary", "--categorical", "k", cwd=tmp_path), 2, "--categorical"
    )


def test_predict_tells_of_unseen_categories_by_column_and_number(tmp_path):
    write_customers(tmp_path / "customers.csv")
    run("fit", "customers.csv", "--target", "churned", "--model", "udt", "-o", "model.json", cwd=tmp_path)
    rows = ["customer;region;age;churned"]
    rows += [f"C{i};{'mars' if i % 10 == 0 else 'north'};30;no" for i in range(70_000)]  # two chunks
    (tmp_path / "new.csv").write_text("\n".join(rows))
    told = run_process("predict", "model.json", "new.csv", "-o", "out.csv", cwd=tmp_path)
    assert told.code == 0
    assert told.err == (
        "permissible: column 'region' has a category that no row of fit had in 7000 rows, the first of them 'mars'; "
        "it counts as different from every known category.\n"
    )
    (tmp_path / "known.csv").write_text("\n".join([rows[0], rows[2], "C1;;30;no"]))
    assert run("predict", "model.json", "known.csv", "-o", "out.csv", cwd=tmp_path).err == ""


def test_the_standard_output_may_be_named(folder, model, tmp_path):
    """Through a pipe it gets the rows and nothing else, as it does without a name."""
    assert run("predict", model, folder / "tumours.csv", "-o", tmp_path / "out.csv").code == 0
    told = run_process("predict", model, folder / "tumours.csv", "-o", "/dev/stdout")
    assert (told.code, told.err) == (0, "")
    assert told.out == (tmp_path / "out.csv").read_text()


def test_cells_are_copied_so_that_no_spreadsheet_runs_them(tmp_path):
    """A text that begins as a formula gets an apostrophe; nothing else changes, and numbers stay numbers."""
    cells = ["=cmd|' /C calc'!A0", "@SUM(1)", "+1", "-2", 'say "hi", you', "tab\tand\nline", "'quoted"]
    x = {"x": np.arange(40.0)}
    labels = np.where(x["x"] > 20, "=1+1", "-no")
    pm.save(pm.UDTClassifier(max_leaf_nodes=2).fit(x, labels), tmp_path / "model.json")
    with (tmp_path / "new.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "x"])
        writer.writerows([[cell, place * 6] for place, cell in enumerate(cells)])
    outcome = run("predict", "model.json", "new.csv", "--keep", "id", "-o", "out.csv", cwd=tmp_path)
    assert outcome.code == 0, outcome
    with (tmp_path / "out.csv").open(newline="") as file:
        found = list(csv.DictReader(file))
    expected = ["'=cmd|' /C calc'!A0", "'@SUM(1)", "+1", "-2", 'say "hi", you', "tab\tand\nline", "'quoted"]
    assert [row["id"] for row in found] == expected
    assert {row["prediction"] for row in found} == {"'=1+1", "'-no"}
