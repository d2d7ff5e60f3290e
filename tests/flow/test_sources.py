"""Every format reaches the same raw exams, and reading a source again writes nothing."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from pipeline.errors import ConfigurationError, InputError
from pipeline.formats.exams import EXAM_COLUMNS
from pipeline.simulate import simulate
from pipeline.site.site import Site
from pipeline.stages.ingest import INGEST, sources


@pytest.fixture(scope="module")
def exams() -> pd.DataFrame:
    return simulate(pairs=12, readers=3, seed=3).exams.astype(str)


def site(folder: Path, **settings: object) -> Site:
    columns = settings.pop("columns", {})
    lines = "\n".join(f"{name} = {json.dumps(value)}" for name, value in settings.items())
    named = "\n".join(f"{name} = {json.dumps(value)}" for name, value in dict(columns).items())
    (folder / "radcal.toml").write_text(f"[input]\n{lines}\n[input.columns]\n{named}\n")
    opened = Site(folder / "radcal.toml")
    opened.workspace.prepare()
    return opened


def ingested(opened: Site) -> pd.DataFrame:
    found = [INGEST.do(opened, source).found for source in sources(opened)]
    shards = [shard for each in found for shard in each.shards]
    assert all(each.rows == each.kept for each in found)
    table = opened.workspace.read("raw", "exams", shards)[list(EXAM_COLUMNS)]
    return table.sort_values("exam_id", ignore_index=True)


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".jsonl"])
def test_tables_of_every_kind_give_the_same_exams(
    tmp_path: Path, exams: pd.DataFrame, suffix: str
) -> None:
    (tmp_path / "one").mkdir()
    exams.to_csv(tmp_path / "one" / "exams.csv", index=False)
    expected = ingested(site(tmp_path / "one", paths=["exams.csv"]))
    writers = {".csv": "to_csv", ".parquet": "to_parquet", ".jsonl": "to_json"}
    options = {".jsonl": {"orient": "records", "lines": True}}.get(suffix, {"index": False})
    getattr(exams, writers[suffix])(tmp_path / f"exams{suffix}", **options)
    found = ingested(site(tmp_path, paths=[f"exams{suffix}"]))
    pd.testing.assert_frame_equal(found, expected)


def without_header(exams: pd.DataFrame, folder: Path) -> dict[str, object]:
    """Bars, no header, dates and times of day apart, identifiers padded."""
    performed = pd.to_datetime(exams["performed_at"])
    parts = exams.drop(columns="performed_at").assign(
        accession=exams["accession"] + "\0\0", patient_id=exams["patient_id"] + "   ",
        day=performed.dt.strftime("%Y%m%d"), clock=performed.dt.strftime("%H%M%S"),
    )  # fmt: skip
    parts.to_csv(folder / "exams.psv", sep="|", header=False, index=False)
    columns = {name: f"#{at}" for at, name in enumerate(parts, start=1)}
    day, clock = columns.pop("day"), columns.pop("clock")
    columns["performed_at"] = f"{day} + {clock}"
    return {"paths": ["exams.psv"], "format": "csv", "columns": columns}


def of_a_spreadsheet(exams: pd.DataFrame, folder: Path) -> dict[str, object]:
    """Titles above the header, times as day numbers, columns of one name, empty rows below."""
    days = {
        name: (pd.to_datetime(exams[name]).dt.tz_localize(None) - pd.Timestamp("1899-12-30"))
        / pd.Timedelta(days=1)
        for name in ("performed_at", "signed_at")
    }
    table = exams.assign(**{name: value.map("{:.9f}".format) for name, value in days.items()})
    twice = {"accession": "ID", "patient_id": "ID", "reader_id": "ID", "signed_at": "Date",
             "performed_at": "Date"}  # fmt: skip
    below = ",".join([""] * len(table.columns)) + "\n"
    content = table.rename(columns=twice).to_csv(index=False)
    (folder / "exams.csv").write_text(f"Export,,\n\n{content}{below * 3}")
    named = [twice.get(name, name) for name in table]
    columns = {
        ours: f"{twice[ours]}#{named[: at + 1].count(twice[ours])}"
        for at, ours in enumerate(table) if ours in twice
    }  # fmt: skip
    return {"paths": ["exams.csv"], "columns": columns}


def of_objects(exams: pd.DataFrame, folder: Path) -> dict[str, object]:
    """Objects within objects, milliseconds, and half of the times in another column."""
    lines = []
    for at, row in enumerate(exams.to_dict("records")):
        signed = int(pd.Timestamp(row.pop("signed_at")).timestamp() * 1000)
        lines.append(
            {
                "exam": {"codes": [{"id": row.pop("accession")}], **row},
                "report": {"parts": row["text"].split("\n"), "at" if at % 2 else "sent": signed},
            }
        )
    (folder / "exams.jsonl").write_text("\n".join(map(json.dumps, lines)))
    columns: dict[str, object] = {name: f"exam.{name}" for name in exams}
    columns |= {"accession": "exam.codes[0].id", "text": "report.parts"}
    return {"paths": ["exams.jsonl"],
            "columns": columns | {"signed_at": ["report.at", "report.sent"]}}  # fmt: skip


@pytest.mark.parametrize("shape", [without_header, of_a_spreadsheet, of_objects])
def test_tables_of_every_shape_give_the_same_exams(
    tmp_path: Path, exams: pd.DataFrame, shape: Callable[[pd.DataFrame, Path], dict[str, object]]
) -> None:
    (tmp_path / "one").mkdir()
    exams.to_csv(tmp_path / "one" / "exams.csv", index=False)
    expected = ingested(site(tmp_path / "one", paths=["exams.csv"]))
    found = ingested(site(tmp_path, **shape(exams, tmp_path)))
    pd.testing.assert_frame_equal(found, expected)


def test_query_gives_the_exams_of_the_table_and_asks_the_database_once_per_run(
    tmp_path: Path, exams: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "one").mkdir()
    exams.to_csv(tmp_path / "one" / "exams.csv", index=False)
    expected = ingested(site(tmp_path / "one", paths=["exams.csv"]))
    with sqlite3.connect(tmp_path / "ris.db") as database:
        exams.rename(columns={"text": "report_body"}).to_sql("reports", database, index=False)
    opened = site(tmp_path, format="sql", query="SELECT * FROM reports ORDER BY exam_id")
    path = tmp_path / "radcal.toml"
    path.write_text(path.read_text() + 'text = "report_body"\n')
    opened = Site(path)
    monkeypatch.setenv("RADCAL_SQL_URL", f"sqlite:///{tmp_path / 'ris.db'}")
    pd.testing.assert_frame_equal(ingested(opened), expected)
    assert list(sources(opened)) == list(sources(opened))


def test_query_without_a_database_says_which_variable_to_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RADCAL_SQL_URL", raising=False)
    opened = site(tmp_path, format="sql", query="SELECT 1")
    with pytest.raises(ConfigurationError, match="RADCAL_SQL_URL"):
        list(sources(opened))


def test_reading_a_source_again_writes_nothing(tmp_path: Path, exams: pd.DataFrame) -> None:
    exams.to_csv(tmp_path / "exams.csv", index=False)
    opened = site(tmp_path, paths=["exams.csv"])

    def written() -> dict[Path, int]:
        files = (tmp_path / "workspace").rglob("*.parquet")
        return {path: path.stat().st_mtime_ns for path in files}

    first = INGEST.do(opened, str(tmp_path / "exams.csv"))
    before = written()
    (tmp_path / "exams.csv").rename(tmp_path / "renamed.csv")
    second = INGEST.do(opened, str(tmp_path / "renamed.csv"))
    assert written() == before
    assert (first.anew, second.anew) == (True, False)
    assert second.found == first.found


def test_of_an_export_that_grows_the_full_shards_before_stay_as_they_are(
    tmp_path: Path, exams: pd.DataFrame
) -> None:
    opened = site(tmp_path, paths=["exams.csv"])
    with (tmp_path / "radcal.toml").open("a") as config:
        config.write("[execution]\nshard_rows = 10\n")
    opened = Site(tmp_path / "radcal.toml")

    def shards(part: pd.DataFrame, name: str) -> tuple[str, ...]:
        part.to_csv(tmp_path / name, index=False)
        return INGEST.do(opened, str(tmp_path / name)).found.shards

    whole = shards(exams, "exams.csv")
    assert shards(exams[:25], "before.csv")[:2] == whole[:2]
    assert not set(shards(exams[:25], "before.csv")[2:]) & set(whole)
    changed = exams.assign(text=exams["text"].where(exams.index != 11, "Amended."))
    assert [a == b for a, b in zip(shards(changed, "changed.csv"), whole, strict=True)] == [
        at != 1 for at in range(len(whole))
    ]


def test_files_that_are_still_being_written_wait_for_a_later_run(
    tmp_path: Path, exams: pd.DataFrame, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "in").mkdir()
    exams.to_csv(tmp_path / "in" / "exams.csv", index=False)
    for name in ("next.csv.part", "exams.xlsx~", "late.csv.filepart", "x.TMP"):
        (tmp_path / "in" / name).write_text("accession,pat")
    for paths in (["in"], ["in/*"]):
        assert len(list(sources(site(tmp_path, paths=paths)))) == 1
    assert "4 file(s) still being written" in caplog.text
    (tmp_path / "in" / "next.csv.part").rename(tmp_path / "in" / "next.csv")
    assert len(list(sources(site(tmp_path, paths=["in"])))) == 2


def test_a_folder_is_its_files_and_those_below_and_nothing_hidden(
    tmp_path: Path, exams: pd.DataFrame
) -> None:
    for name, part in (("a/2026", exams[:7]), ("b", exams[7:])):
        (tmp_path / "in" / name).mkdir(parents=True)
        part.to_csv(tmp_path / "in" / name / "exams.csv", index=False)
    (tmp_path / "in" / ".DS_Store").write_bytes(b"\0")
    exams.to_csv(tmp_path / "one.csv", index=False)
    expected = ingested(site(tmp_path, paths=["one.csv"]))
    pd.testing.assert_frame_equal(ingested(site(tmp_path, paths=["in"])), expected)


def test_a_later_fhir_export_is_read_with_earlier_ones_and_changes_nothing_of_them(
    tmp_path: Path,
) -> None:
    about = {"code": {"text": "XR CHEST"}, "status": "final", "conclusion": "Clear.",
             "subject": {"reference": "Patient/p1"}, "issued": "2026-03-01T11:00:00Z",
             "effectiveDateTime": "2026-03-01T10:00:00Z",
             "basedOn": [{"reference": "ServiceRequest/o1"}]}  # fmt: skip
    report = about | {"resourceType": "DiagnosticReport", "id": "r1"}
    people = {"resourceType": "Patient", "id": "p1", "identifier": [{"value": "M1"}]}
    order = {"resourceType": "ServiceRequest", "id": "o1",
             "identifier": [{"system": "urn:accession", "value": "ACC1"}]}  # fmt: skip
    exported = {"20260301": [report], "20260308": [report | {"conclusion": "Effusion."}]}
    for name, resources in {"x_orders": [order, people], **exported}.items():
        (tmp_path / name).mkdir()
        lines = "\n".join(map(json.dumps, resources))
        (tmp_path / name / "a.ndjson").write_text(lines)
    first = site(tmp_path, paths=["20260301", "x_orders"], format="fhir")
    before = INGEST.key(first, str(tmp_path / "20260301"))
    both = site(tmp_path, paths=["2026*", "x_orders"], format="fhir")
    assert INGEST.key(both, str(tmp_path / "20260301")) == before
    assert ingested(both)["accession"].tolist() == ["ACC1", "ACC1"]


def test_unknown_extension_says_what_to_set(tmp_path: Path) -> None:
    (tmp_path / "exams.dat").write_text("x")
    opened = site(tmp_path, paths=["exams.dat"])
    with pytest.raises(ConfigurationError, match=r"input\.format: cannot tell"):
        INGEST.do(opened, str(tmp_path / "exams.dat"))


@pytest.mark.parametrize("paths", [["in"], ["in/*"]])
@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda path: path.symlink_to("/nowhere.csv"), "next.csv: a link to what is not there"),
        (os.mkfifo, "next.csv: neither a file nor a folder"),
        (lambda path: path.rename(path.with_name("\udcff.csv")), r"\\udcff.csv: the name is not"),
    ],
    ids=["link", "pipe", "name"],
)
def test_what_is_no_file_that_can_be_told_is_refused_and_not_waited_for(
    tmp_path: Path, exams: pd.DataFrame, paths: list[str], make: Callable[[Path], None], told: str
) -> None:
    (tmp_path / "in").mkdir()
    for name in ("exams.csv", "next.csv"):
        exams.to_csv(tmp_path / "in" / name, index=False)
    one = site(tmp_path, paths=paths)
    assert len(list(sources(one))) == 2
    moved = (tmp_path / "in" / "next.csv").rename(tmp_path / "next.csv")
    if told.startswith("next"):
        make(tmp_path / "in" / "next.csv")
    else:
        make(moved.rename(tmp_path / "in" / "next.csv"))
    with pytest.raises(InputError, match=told):
        list(sources(one))


def test_a_configuration_lies_in_a_folder_whatever_its_name(
    tmp_path: Path, exams: pd.DataFrame
) -> None:
    folder = tmp_path / "Städt. Klinik\n[a]*{b}?"
    (folder / "in").mkdir(parents=True)
    exams.to_csv(folder / "in" / "exams.csv", index=False)
    for paths in (["in/*.csv"], ["in"], ["*/exams.csv"], ["../*/in/*.csv"]):
        (found,) = sources(site(folder, paths=paths))
        assert Path(found).samefile(folder / "in" / "exams.csv")


def test_a_table_without_a_row_is_counted(tmp_path: Path, exams: pd.DataFrame) -> None:
    exams[:0].to_csv(tmp_path / "exams.csv", index=False)
    one = site(tmp_path, paths=["exams.csv"])
    (source,) = sources(one)
    found = INGEST.make(one, source, INGEST.key(one, source))
    assert (found.rows, dict(found.reading)) == (0, {"table with a header and no row": 1})
