"""`permissible evaluate` and `permissible report` for the person who decides."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer

import permissible as pm
from permissible import metrics
from tests.cli.command import COMMAND, refused, run

pytestmark = pytest.mark.skipif(not COMMAND.exists(), reason="the package is not installed with its command")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("judging")
    data = load_breast_cancer(as_frame=True)
    frame = data.data.iloc[:, [0, 1, 7]].copy()
    frame["diagnosis"] = np.where(data.target == 0, "malignant", "benign")
    frame.to_csv(folder / "tumours.csv", index=False)
    frame["diagnosis"] = np.where(data.target == 0, "bad", "good")
    frame.to_csv(folder / "renamed.csv", index=False)
    for name, options in {"rules": ("--rules", 5), "tree": ("--model", "udt")}.items():
        assert run("fit", folder / "tumours.csv", "-t", "diagnosis", *options, "-o", folder / f"{name}.json").code == 0
    assert run("fit", folder / "renamed.csv", "-t", "diagnosis", "--rules", 2, "-o", folder / "other.json").code == 0
    return folder


def test_evaluate_prints_calibration_and_thresholds_as_the_metrics_compute_them(files):
    told = json.loads(run("evaluate", files / "rules.json", files / "tumours.csv", "--json").out)["tables"]
    frame = pd.read_csv(files / "tumours.csv")
    proba = pm.load(files / "rules.json").predict_proba(frame.drop(columns="diagnosis"))
    wanted = metrics.calibration_summary(frame["diagnosis"].to_numpy(), proba)
    assert told["calibration"]["measure"] == wanted["measure"]
    assert told["calibration"]["value"] == pytest.approx(wanted["value"].tolist())
    assert told["calibration"]["low"] == pytest.approx(wanted["low"].tolist())
    table = metrics.threshold_table(frame["diagnosis"].to_numpy(), proba)
    assert told["thresholds"]["ppv"] == pytest.approx(table["ppv"].tolist())
    printed = run("evaluate", files / "rules.json", files / "tumours.csv").out
    assert "calibration slope (1 is right)" in printed
    assert f"{table['sensitivity'][2]:.3f}" in printed
    assert "always malignant" in printed


def test_two_models_in_one_page(files, tmp_path):
    page = tmp_path / "two.html"
    outcome = run("report", files / "rules.json", files / "tumours.csv", "--compare", files / "tree.json", "-o", page)
    assert outcome.code == 0, outcome
    assert "Two models on the same rows" in page.read_text(encoding="utf-8")


def test_models_of_other_classes_are_not_compared(files, tmp_path):
    arguments = (
        "report",
        files / "rules.json",
        files / "tumours.csv",
        "--compare",
        files / "other.json",
        "-o",
        tmp_path / "no.html",
    )
    assert refused(run(*arguments), 2, "other.json", "bad")
    assert not (tmp_path / "no.html").exists()


def test_the_class_to_flag_is_named_on_the_command_line(files, tmp_path):
    page = tmp_path / "benign.html"
    arguments = ("report", files / "rules.json", files / "tumours.csv", "-o", page, "--positive")
    assert run(*arguments, "benign").code == 0
    text = page.read_text(encoding="utf-8")
    assert "sensitivity (flagged, of actual benign)" in text
    assert refused(run(*arguments, "sick"), 2, "--positive", "benign, malignant")


def test_a_boundary_model_is_judged_at_its_boundary(files, tmp_path):
    model = tmp_path / "boundary.json"
    fitted = run(
        "fit", files / "tumours.csv", "-t", "diagnosis", "--model", "boundary", "--boundaries", 0.2, "-o", model
    )
    assert fitted.code == 0, fitted
    told = json.loads(run("evaluate", model, files / "tumours.csv", "--json").out)
    frame = pd.read_csv(files / "tumours.csv")
    proba = pm.load(model).predict_proba(frame.drop(columns="diagnosis"))
    codes = (frame["diagnosis"] == "malignant").to_numpy().astype(int)
    assert told["metrics"]["cost"]["value"] == pytest.approx(pm.Boundaries([0.2]).risk(codes, proba))
