"""The places where a model can run, each as a function: model, rows, decision -> scores, probabilities and actions."""

import json
import math
import shutil
import sqlite3
import subprocess
from dataclasses import dataclass
from importlib import resources
from typing import Any

import duckdb
import numpy as np
import onnxruntime as ort
import pandas as pd

from permissible.estimators.classifier import actions_for, card_of, schema_of
from permissible.models.render.browser import plain_actions, plain_card
from permissible.models.render.dialects import dialect
from permissible.models.render.onnx import SMALLEST
from permissible.report.page import embedded
from tests.meaning.models import UNSEEN

NODE = shutil.which("node")
SCRIPT = """
const { card, actions, rows } = JSON.parse(require("fs").readFileSync(0, "utf8"));
const word = (x) => (typeof x === "number" && !Number.isFinite(x) ? String(x) : x);
console.log(JSON.stringify(rows.map((row) => {
  const { scores } = permissible.explain(card, row);
  const proba = permissible.probabilities(card, scores);
  return { scores: scores.map(word), proba: proba.map(word), said: permissible.predict(actions, scores, proba) };
})));
"""


@dataclass(frozen=True)
class Answer:
    """What a place says: scores (rows, scores), probabilities of the classes or None, and the action of each row as text."""

    scores: Any
    probabilities: Any
    actions: list[str | None]


def cell(value: Any) -> Any:
    """None for a missing value."""
    return None if value is None or (isinstance(value, float) and math.isnan(value)) else value


def spoken(label: Any) -> str | None:
    """An action as text: 1.0 and True of a database are the same as 1 and True of Python."""
    if label is None or (isinstance(label, float) and math.isnan(label)):
        return None
    return str(int(label)) if isinstance(label, bool | float | int | np.integer | np.bool_) else str(label)


def in_python(estimator: Any, rows: pd.DataFrame, decision: Any) -> Answer:
    """The source that `to_python` writes."""
    space: dict[str, Any] = {}
    exec(estimator.to_python(decision=decision), space)
    records = [{name: cell(value) for name, value in row.items()} for row in rows.to_dict("records")]
    probabilities = [space["probabilities"](row) for row in records] if "probabilities" in space else None
    actions = [spoken(space["decide"](row)) for row in records]
    return Answer(np.array([space["scores"](row) for row in records]), probabilities, actions)


def _sql_type(column: Any, target: str) -> str:
    if column.kind == "boolean":
        return "BOOLEAN"
    if column.kind == "categorical" and any(isinstance(value, str) for value in column.categories):
        return "TEXT"
    return "DOUBLE PRECISION" if target == "postgres" else "DOUBLE"


def _from_table(estimator: Any, found: list[list[Any]], names: list[str]) -> Answer:
    """Columns of an answer by their names: score or score_k, probability or probability_k, decision."""
    frame = pd.DataFrame(found, columns=names)
    scores = frame[[name for name in names if name.startswith("score")]].astype(float).to_numpy()
    proba = frame[[name for name in names if name.startswith("probability")]].astype(float).to_numpy()
    if proba.shape[1] == 1:
        proba = np.column_stack([1 - proba[:, 0], proba[:, 0]])
    return Answer(
        scores if scores.size else proba,
        proba if proba.size else None,
        [spoken(x) for x in frame["decision"].astype(object)],
    )


def in_database(estimator: Any, rows: pd.DataFrame, decision: Any, engine: str) -> Answer:
    """The query of `to_sql`, in SQLite or DuckDB; a missing number is NULL in every other row and NaN in the rest."""
    columns = schema_of(estimator).columns
    listed = ", ".join(f"{dialect(engine).name_of(column.name)} {_sql_type(column, engine)}" for column in columns)
    connection = sqlite3.connect(":memory:") if engine == "sqlite" else duckdb.connect()
    connection.execute(f"CREATE TABLE data (row_number INTEGER, {listed})")
    connection.executemany(
        f"INSERT INTO data VALUES ({', '.join('?' * (len(columns) + 1))})", records_of(estimator, rows)
    )
    query = estimator.to_sql(dialect=engine, decision=decision, keep=["row_number"])
    result = connection.execute(query)
    names = [item[0] for item in result.description][1:]
    found = [list(row[1:]) for row in sorted(result.fetchall(), key=lambda row: row[0])]
    connection.close()
    return _from_table(estimator, found, names)


def records_of(estimator: Any, rows: pd.DataFrame) -> list[tuple[Any, ...]]:
    """Rows with their numbers for a database."""
    columns = schema_of(estimator).columns
    found = []
    for number, row in enumerate(rows.itertuples(index=False)):
        cells: list[Any] = [cell(value) for value in row]
        for place, column in enumerate(columns):
            numeric = column.kind == "numeric" or (
                column.kind == "categorical" and not any(isinstance(v, str) for v in column.categories)
            )
            if cells[place] is None and numeric and number % 2:
                cells[place] = float("nan")
        found.append((number, *cells))
    return found


def in_postgres(estimator: Any, rows: pd.DataFrame, decision: Any, server: Any) -> Answer:
    """The same in a PostgreSQL server."""
    columns = schema_of(estimator).columns
    listed = ", ".join(
        f"{dialect('postgres').name_of(column.name)} {_sql_type(column, 'postgres')}" for column in columns
    )
    values = ",\n".join(f"({', '.join(map(_literal, record))})" for record in records_of(estimator, rows))
    query = estimator.to_sql(dialect="postgres", decision=decision, keep=["row_number"])
    script = f"""
        SET client_min_messages = warning; DROP TABLE IF EXISTS data; CREATE TABLE data (row_number INTEGER, {listed});
        INSERT INTO data VALUES {values};
        SELECT row_to_json(a) FROM ({query}) AS a;
    """
    found = sorted((json.loads(row[0]) for row in server.ask(script)), key=lambda row: row["row_number"])
    names = [name for name in found[0] if name != "row_number"]
    return _from_table(estimator, [[row[name] for name in names] for row in found], names)


def _literal(value: Any) -> str:
    if value is None:
        return "NULL"
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else f"'{value}'"


def in_onnx(estimator: Any, rows: pd.DataFrame, decision: Any, dtype: str = "float64") -> Answer:
    """The graph of `to_onnx`, in onnxruntime."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    graph = estimator.to_onnx(dtype=dtype, decision=decision)
    session = ort.InferenceSession(graph.SerializeToString(), options, providers=["CPUExecutionProvider"])
    inputs, columns = session.get_inputs(), schema_of(estimator).columns
    if all(column.kind != "categorical" for column in columns):
        feed = {
            "X": np.array(
                [[float("nan") if cell(v) is None else float(v) for v in row] for row in rows.to_numpy()], dtype=dtype
            )
        }
    else:
        feed = {}
        for item, column in zip(inputs, columns, strict=True):
            values = [cell(value) for value in rows[column.name]]
            if item.type == "tensor(string)":
                # an empty text that the model has not seen is missing to a graph, so another unseen one stands for it
                words = [UNSEEN if value == "" else value for value in values]
                feed[item.name] = np.array([["" if value is None else value] for value in words], dtype=object)
            elif item.type == "tensor(int64)":
                feed[item.name] = np.array(
                    [[SMALLEST if value is None else int(value)] for value in values], dtype=np.int64
                )
            else:
                feed[item.name] = np.array(
                    [[float("nan") if value is None else float(value)] for value in values], dtype=dtype
                )
    named = dict(zip([item.name for item in session.get_outputs()], session.run(None, feed), strict=True))
    actions = [None if label == "reject" else spoken(label) for label in named["label"].tolist()]
    return Answer(named["scores"], named.get("probabilities"), actions)


def in_browser_script(estimator: Any, rows: pd.DataFrame, decision: Any) -> Answer:
    """The page's own script, in node, over the data that the page embeds."""
    card, actions = card_of(estimator), actions_for(estimator, decision)
    columns = schema_of(estimator).columns
    table = [
        [_form(value, column) for value, column in zip(row, columns, strict=True)]
        for row in rows.itertuples(index=False)
    ]
    data = embedded({"card": plain_card(card), "actions": plain_actions(actions), "rows": table})
    script = resources.files("permissible.report").joinpath("assets", "model.js").read_text() + SCRIPT
    done = subprocess.run([str(NODE), "-e", script], input=data, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    words = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
    scores, proba = (
        np.array([[words.get(x, x) for x in row[key]] for row in found], dtype=float) for key in ("scores", "proba")
    )
    return Answer(scores, proba if proba.size else None, [row["said"] for row in found])


def _form(value: Any, column: Any) -> Any:
    """A value as the form of the page has it: numbers as such, categories and truth values as text."""
    value = cell(value)
    if value is None or (column.kind == "numeric"):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value)
