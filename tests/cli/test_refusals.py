"""What the command refuses or warns about: an exit code and one sentence."""

import csv
import json
import shutil

import numpy as np
import pandas as pd
import pytest

import permissible as pm
from tests.cli.command import COMMAND, refused, run, run_process

pytestmark = pytest.mark.skipif(not COMMAND.exists(), reason="the package is not installed with its command")


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
