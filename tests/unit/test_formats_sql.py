"""Exams by query, on SQLite and on a PostgreSQL started for the test where there is one."""

from __future__ import annotations

import subprocess
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
import sqlalchemy

from pipeline.config.sections import Input
from pipeline.errors import ConfigurationError, InputError
from pipeline.formats.exams import ExamBatch
from pipeline.formats.exports import TableOptions
from pipeline.formats.exports import read as read_table
from pipeline.formats.sources import queried, spool
from tests.fixtures.postgres import USER, has_postgres, postgres

ROWS = pd.DataFrame(
    {
        "acc": ["A1", "A2", "A3"],
        "mrn": ["M1", "M2", "M2"],
        "reader": ["D1", "D1", "D2"],
        "modality": ["XR", "CT", "XR"],
        "performed": pd.to_datetime(["2026-03-01 10:00", "2026-03-01 12:00", "2026-03-02 08:00"]),
        "signed": pd.to_datetime(["2026-03-01 10:30", "2026-03-01 13:00", None]),
        "body": ["Clear.\nNormal.", "Größe: normal", ""],
    }
)
OPTIONS = Input(
    format="sql", query="SELECT * FROM reports ORDER BY acc",
    columns={
        "accession": "acc", "patient_id": "mrn", "reader_id": "reader", "performed_at": "performed",
        "signed_at": "signed", "text": "body",
    },
)  # fmt: skip


def asking(query: str) -> Input:
    return Input(format="sql", query=query)


def read(address: str, settings: Input, batch_rows: int = 1000) -> Iterator[ExamBatch]:
    return queried(address, settings, batch_rows=batch_rows)


def fill(address: str) -> None:
    engine = sqlalchemy.create_engine(address)
    ROWS.to_sql("reports", engine, index=False, if_exists="replace")
    engine.dispose()


def check(address: str) -> None:
    fill(address)
    batches = list(read(address, OPTIONS, 2))
    assert [len(batch.exams) for batch in batches] == [2, 1]
    exams = pd.concat([batch.exams for batch in batches])
    assert exams["accession"].tolist() == ["A1", "A2", "A3"]
    assert exams["text"].tolist() == ROWS["body"].tolist()
    assert exams["performed_at"].str.startswith("2026-03-0").all()
    assert exams["signed_at"].tolist()[2] == ""
    assert exams["source_row"].tolist() == [1, 2, 3]


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    if not has_postgres():
        pytest.skip("no PostgreSQL that can be started on this machine")
    with postgres() as running:
        yield f"postgresql+psycopg://{USER}@127.0.0.1:{running.port}/postgres"


def test_sqlite_rows_become_exams(tmp_path: Path) -> None:
    check(f"sqlite:///{tmp_path / 'ris.sqlite'}")


def test_what_is_set_aside_of_a_query_is_what_is_set_aside_of_the_same_rows_as_a_table(
    tmp_path: Path,
) -> None:
    address = f"sqlite:///{tmp_path / 'ris.sqlite'}"
    columns = {**OPTIONS.columns, "text": "body by line"}
    lines = [ROWS.iloc[[at]].assign(line=n) for at, n in [(0, 1), (0, 1), (1, ""), (2, 2), (2, 1)]]
    lines[1]["body"] = "Another."
    table = pd.concat(lines)
    engine = sqlalchemy.create_engine(address)
    table.to_sql("reports", engine, index=False)
    engine.dispose()
    table.to_csv(tmp_path / "ris.csv", index=False)
    asked = OPTIONS.model_copy(update={"columns": columns})
    kept = spool(address, asked, tmp_path, batch_rows=2)
    for batches in (read_table(kept, TableOptions(kind="parquet")),
                    read_table(tmp_path / "ris.csv", TableOptions(columns=columns))):  # fmt: skip
        whole = list(batches)
        assert [each for batch in whole for each in batch.exams["accession"]] == ["A3"]
        aside = pd.concat([batch.quarantined for batch in whole])
        assert sorted(zip(aside["reason"], aside["detail"], strict=True)) == [
            ("lines_unordered", "a line has no number"),
            ("lines_unordered", "two lines have the same number"),
        ]


@pytest.mark.slow
def test_postgresql_rows_become_exams(server: str) -> None:
    check(server)


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path / 'ris.sqlite'}"
    fill(address)
    with pytest.raises(InputError, match=r"needed column\(s\) missing: 'accession'"):
        list(read(address, asking("SELECT mrn AS patient_id FROM reports")))


def test_a_refused_query_repeats_nothing(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path / 'secret-path.sqlite'}"
    with pytest.raises(InputError, match="refused by the database") as caught:
        list(read(address, asking("SELECT secret_word FROM nowhere")))
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_bad_address_is_a_configuration_error() -> None:
    with pytest.raises(ConfigurationError, match="dialect") as caught:
        list(read("nonsense://user:hunter2@x", asking("SELECT 1")))
    assert "hunter2" not in str(caught.value)


TYPES = """
SELECT 'A1' AS accession, 7::numeric AS patient_id, NULL AS reader_id, 'XR' AS modality,
       TIMESTAMPTZ '2026-03-01 10:00:00+02' AS performed_at, DATE '2026-03-01' AS signed_at,
       'Gr\u00f6\u00dfe'::bytea AS text, 71::smallint AS patient_age_years
"""


@pytest.mark.slow
def test_every_type_of_a_database_becomes_text(server: str) -> None:
    (batch,) = read(server, asking(TYPES))
    (exam,) = batch.exams.to_dict("records")
    assert (exam["patient_id"], exam["reader_id"], exam["patient_age_years"]) == ("7", "", "71")
    assert (exam["signed_at"], exam["text"]) == ("2026-03-01", "Größe")
    assert pd.Timestamp(exam["performed_at"]) == pd.Timestamp("2026-03-01T08:00:00Z")


@pytest.mark.slow
def test_an_error_after_some_rows_quotes_no_row(server: str) -> None:
    query = TYPES.replace("71::smallint", "(CASE WHEN n < 900 THEN '1' ELSE 'Quorl' END)::int")
    failing = asking(f"{query} FROM generate_series(1, 2000) AS n")
    with pytest.raises(InputError, match="refused by the database") as caught:
        list(read(server, failing, 100))
    assert "Quorl" not in "".join(traceback.format_exception(caught.value))


@pytest.mark.slow
def test_a_database_out_of_reach_is_said_without_its_password(server: str) -> None:
    wrong = server.replace("tester@", "tester:hunter2@").replace("/postgres", "/nowhere")
    with pytest.raises(ConfigurationError, match="cannot be reached") as caught:
        list(read(wrong, asking("SELECT 1")))
    assert "hunter2" not in "".join(traceback.format_exception(caught.value))


PEAK = """
import resource, sys
from pipeline.config.sections import Input
from pipeline.formats.exports import TableOptions
from pipeline.formats.exports import read as read_table
from pipeline.formats.sources import queried, spool
first = Input(format="sql", query="SELECT * FROM reports LIMIT 1")
list(queried(sys.argv[1], first, batch_rows=1))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
every = Input(format="sql", query=sys.argv[2])
rows = sum(len(b.exams) for b in queried(sys.argv[1], every, batch_rows=500))
print(rows, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


@pytest.mark.slow
def test_memory_does_not_grow_with_the_rows(server: str) -> None:
    fill(server)
    engine = sqlalchemy.create_engine(server)
    with engine.begin() as database:
        database.execute(sqlalchemy.text(
            "ALTER TABLE reports RENAME COLUMN body TO text; "
            "ALTER TABLE reports RENAME COLUMN acc TO accession; "
            "ALTER TABLE reports RENAME COLUMN mrn TO patient_id; "
            "ALTER TABLE reports RENAME COLUMN reader TO reader_id; "
            "ALTER TABLE reports RENAME COLUMN performed TO performed_at; "
            "ALTER TABLE reports RENAME COLUMN signed TO signed_at"
        ))  # fmt: skip
    engine.dispose()
    query = (
        "SELECT accession, patient_id, reader_id, modality, performed_at, signed_at, "
        "repeat('No effusion. ', 800) AS text FROM reports, generate_series(1, 10000)"
    )
    command = [sys.executable, "-c", PEAK, server, query]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    rows, grown_mb = map(int, done.stdout.split())
    assert rows == 30_000
    assert grown_mb < 100  # the query gives 300 MB of text
