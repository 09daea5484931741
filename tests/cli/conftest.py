"""Files and a model that the tests of several verbs share."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris

from tests.cli.command import run


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
