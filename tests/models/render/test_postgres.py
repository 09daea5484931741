"""SQL for PostgreSQL, run in a server of its own on a socket in a temporary folder."""

import csv
import io
import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from permissible.models.card.actions import Actions
from permissible.models.card.from_model import scorecard
from permissible.models.render.dialects import dialect
from permissible.models.render.sql import select
from tests import programs
from tests.models.random_models import rows_of, rule_models, table_for

HARD = Actions("cuts", ("no", "yes"), (0.5,), (0.0,), cut_goes_up=True, by_score=True)
TYPES = {"numeric": "DOUBLE PRECISION", "boolean": "BOOLEAN", "categorical": "TEXT"}
NAME_BYTES = 63
"""PostgreSQL cuts longer names."""

pytestmark = pytest.mark.needs("postgresql")


class Server:
    """A server that nobody else can reach: its socket lies in its own folder, it listens on no port."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.programs = folder, Path(programs.postgresql()).resolve().parent
        self.user = "nobody" if os.geteuid() == 0 else None  # the server refuses to run as root
        if self.user:
            shutil.chown(folder, self.user)

    def run(self, program: str, *arguments: str, **options) -> subprocess.CompletedProcess:
        command = [str(self.programs / program), *arguments]
        identity = {"user": self.user, "group": pwd.getpwnam(self.user).pw_gid, "extra_groups": []} if self.user else {}
        done = subprocess.run(
            command, cwd=self.folder, capture_output=True, text=True, check=False, **identity, **options
        )
        assert done.returncode == 0, done.stderr
        return done

    def start(self) -> None:
        data = str(self.folder / "data")
        self.run("initdb", "-D", data, "-U", "tester", "--auth=trust", "--no-sync", "-E", "UTF8", "--locale=C")
        options = f"-c listen_addresses='' -c fsync=off -k {self.folder}"
        subprocess_options = {"stdin": subprocess.DEVNULL}
        self.run(
            "pg_ctl", "-D", data, "-w", "-l", str(self.folder / "log"), "-o", options, "start", **subprocess_options
        )

    def stop(self) -> None:
        self.run("pg_ctl", "-D", str(self.folder / "data"), "-m", "immediate", "stop")

    def ask(self, script: str) -> list[list[str]]:
        arguments = (
            "-h",
            str(self.folder),
            "-U",
            "tester",
            "-d",
            "postgres",
            "-X",
            "-q",
            "--csv",
            "-t",
            "-v",
            "ON_ERROR_STOP=1",
        )
        return list(csv.reader(io.StringIO(self.run("psql", *arguments, input=script).stdout)))


@pytest.fixture(scope="module")
def server():
    with tempfile.TemporaryDirectory(prefix="pg") as folder:
        server = Server(Path(folder))
        server.start()
        yield server
        server.stop()


def literal(value) -> str:
    """Write a value as text that PostgreSQL reads back."""
    if value is None:
        return "NULL"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return f"'{value}'"


def answers(server, query, table):
    columns = table.schema.columns
    listed = ", ".join(f"{dialect('postgres').name_of(column.name)} {TYPES[column.kind]}" for column in columns)
    rows = ",\n".join(f"({', '.join([str(i), *map(literal, row.values())])})" for i, row in enumerate(rows_of(table)))
    found = server.ask(f"""
        SET client_min_messages = warning; DROP TABLE IF EXISTS data; CREATE TABLE data (row_number INTEGER, {listed});
        INSERT INTO data VALUES {rows};
        {query};
    """)
    return [row[len(columns) + 1 :] for row in sorted(found, key=lambda row: int(row[0]))]


@given(model=rule_models(), seed=st.integers(0, 99))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_postgres_scores_and_decides_like_the_model(server, model, seed):
    assume(all(len(column.name.encode()) <= NAME_BYTES for column in model.schema.columns))
    table = table_for(model, 25, seed)
    found = answers(server, select(scorecard(model, model.schema), HARD, dialect_name="postgres"), table)
    score = model.scores(table)
    np.testing.assert_array_equal([float(row[0]) for row in found], score)
    np.testing.assert_allclose(
        [float(row[1]) for row in found], model.probabilities(table)[:, 1], rtol=1e-12, atol=1e-14
    )
    assert [row[2] for row in found] == ["yes" if value >= 0 else "no" for value in score]


@given(value=st.floats(allow_nan=False, allow_infinity=False))
@settings(max_examples=40, deadline=None)
def test_numbers_are_read_back_to_the_last_bit(server, value):
    assert float(server.ask(f"SELECT {dialect('postgres').double(value)};")[0][0]) == value
