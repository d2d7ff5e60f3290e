"""The commands that take identifiers out, give one back, and guard what is kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from pipeline.config import template
from pipeline.errors import ConfigurationError
from pipeline.flows import nightly
from pipeline.store.workspace import Workspace
from pipeline.vault.audit_log import AuditLog, verify
from pipeline.vault.codes import study_identifiers
from pipeline.vault.objections import Traces
from pipeline.vault.upkeep import purge, retained_from
from pipeline.vault.vault import Vault
from tests.e2e.commands import Finished, here

KEY = "k3y-of-these-tests-9876543210-abcdefghij"
CANARY = "Quetzalcoatlus"


def radcal(*arguments: str, key: str = KEY) -> Finished:
    return here(*arguments, RADCAL_VAULT_KEY=key)


@pytest.fixture
def reports(tmp_path: Path) -> Path:
    path = tmp_path / "reports.csv"
    frame = pd.DataFrame(
        {
            "report_id": ["a", "b", "c"],
            "modality": ["XR", "CT", "XR"],
            "site": ["north", "north", "south"],
            "text": [
                "Grace Hill is a 94 y.o. woman. White matter. May represent edema.",
                f"the prior cf. {CANARY} is stable",
                "Likely edema.",
            ],
            "patient_name": ["HILL^GRACE", "WHITE^MAY", f"{CANARY}^JO"],
            "accession": ["A12345", "A12346", "A12347"],
        }
    )
    frame.to_csv(path, index=False)
    return path


def test_a_table_is_cleaned_and_a_leak_withheld(reports: Path, tmp_path: Path) -> None:
    out, spans = tmp_path / "clean.csv", tmp_path / "spans.jsonl"
    done = radcal("deidentify", str(reports), "--out", str(out), "--spans", str(spans), "--json")
    assert done.code == 3
    summary = json.loads(done.out)
    assert (summary["reports"], summary["quarantined"]) == (3, 1)
    clean = pd.read_csv(out, keep_default_na=False, dtype=str)
    assert clean.columns.tolist() == [
        "report_id",
        "modality",
        "site",
        "text",
        "quarantined",
        "reason",
    ]
    assert clean["text"].tolist() == [
        "[NAME] is a [AGE] woman. White matter. May represent edema.", "", "Likely edema.",
    ]  # fmt: skip
    assert clean["reason"].tolist() == ["", "leak", ""]
    assert clean["quarantined"].tolist() == ["false", "true", "false"]
    first = json.loads(spans.read_text(encoding="utf-8").splitlines()[0])
    assert first == {
        "report_id": "a",
        "start": 0,
        "end": 10,
        "category": "NAME",
        "rule": "known-name",
    }
    written = done.out + done.err + out.read_text() + spans.read_text()
    assert CANARY not in written


def test_identifying_columns_go_however_written_and_the_rest_is_named(tmp_path: Path) -> None:
    table, out = tmp_path / "r.csv", tmp_path / "o.csv"
    people = {
        "Patient_Name": "OKONKWO^ADA",
        "Reader Name": "Kowalski",
        "date_of_birth": "1950-01-02",
    }
    numbers = {"MRN": "4711812", "preliminary_author": "Wilson;Q5512", "other_ids": "9981;77123"}
    text = "Films of Okonkwo, 4711812, Q5512 and 77123. Wilson agrees. Likely edema, no effusion."
    row = {"report_id": "a", **people, **numbers, "site": "north", "text": text}
    pd.DataFrame([row]).to_csv(table, index=False)
    done = radcal("deidentify", str(table), "--out", str(out), "--json")
    assert json.loads(done.out)["columns_passed_through"] == ["site"]
    clean = pd.read_csv(out, keep_default_na=False, dtype=str)
    assert clean.columns.tolist() == ["report_id", "site", "text", "quarantined", "reason"]
    assert clean["text"].tolist() == [
        "Films of [NAME], [ID], [ID] and [ID]. [NAME] agrees. Likely edema, no effusion."
    ]
    shown = radcal("deidentify", str(table), "--out", str(out)).out
    assert "columns passed through: site" in shown


def test_character_references_of_a_cell_are_read_first(tmp_path: Path) -> None:
    table, out = tmp_path / "r.csv", tmp_path / "o.csv"
    text = "She is aged&nbsp;94&nbsp;years. Film of 03&#47;04&#47;2021. A&E. 5 &lt; 6 mm, likely."
    rows = {"report_id": ["a"], "text": [f"{text} Seen by M&uuml;hlenkamp."]}
    pd.DataFrame({**rows, "patient_name": ["M&uuml;hlenkamp"]}).to_csv(table, index=False)
    assert radcal("deidentify", str(table), "--out", str(out)).code == 0
    (clean,) = pd.read_csv(out)["text"]
    assert clean == "She is aged [AGE]. Film of [DATE]. A&E. 5 < 6 mm, likely. Seen by [NAME]."


def test_a_cell_that_is_no_text_is_withheld_and_an_empty_one_kept(tmp_path: Path) -> None:
    table, out = tmp_path / "r.parquet", tmp_path / "o.parquet"
    rows = {"report_id": ["a", "b", "c"], "text": [b"Dr. Kowalski", None, b"\xff\x00"]}
    pd.DataFrame(rows).to_parquet(table)
    done = radcal("deidentify", str(table), "--out", str(out), "--json")
    assert done.code == 3, done.err
    clean = pd.read_parquet(out)
    assert clean["quarantined"].tolist() == [True, False, True]
    assert clean["reason"].tolist() == ["not-text", "", "not-text"]
    assert clean["text"].tolist() == ["", "", ""]


def test_a_column_that_stands_there_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text("report_id,text,text\n1,x,y\n", encoding="utf-8")
    done = radcal("deidentify", str(path), "--out", str(tmp_path / "o.csv"))
    assert done.code == 2
    assert "1 column name(s) stand there twice" in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("1,a,b\n", "1 row(s) have more cells than the 2 of the header; first at line 2"),
        ('1,"never closed\n', "a quoted cell is never closed"),
    ],
    ids=["more cells than columns", "open quote"],
)
def test_a_damaged_table_is_said_without_its_text(tmp_path: Path, body: str, said: str) -> None:
    path = tmp_path / "r.csv"
    path.write_text(f"report_id,text\n{body}", encoding="utf-8")
    done = radcal("deidentify", str(path), "--out", str(tmp_path / "o.csv"))
    assert done.code == 2
    assert said in done.err
    assert not (tmp_path / "o.csv").exists()


def test_a_missing_column_is_said_without_a_traceback(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text("id,body\n1,x\n", encoding="utf-8")
    done = radcal("deidentify", str(path), "--out", str(tmp_path / "o.csv"))
    assert done.code == 2
    assert "'report_id'" in done.err
    assert "Traceback" not in done.err


def test_the_audit_prints_recall_with_intervals(tmp_path: Path) -> None:
    gold = tmp_path / "gold.jsonl"
    text = "Dr. Kowalski saw zyx. Likely edema with Kerley B lines."
    spans = [
        {"start": 4, "end": 12, "label": "NAME"},
        {"start": 17, "end": 20, "label": "NAME"},
    ]
    gold.write_text(json.dumps({"id": "1", "text": text, "spans": spans}) + "\n", encoding="utf-8")
    missed = tmp_path / "missed.csv"
    done = radcal("audit", "deid", "--gold", str(gold), "--missed", str(missed), "--json")
    assert done.code == 0, done.err
    summary = json.loads(done.out)
    assert summary["recall"]["NAME"]["found"] == 1
    assert summary["recall"]["NAME"]["n"] == 2
    assert summary["reports_with_a_leak"]["leaking"] == 1
    assert summary["certainty_phrases_harmed"] == 0
    assert summary["hard_negatives"] >= 1
    assert summary["hard_negatives_touched"] == 0
    assert pd.read_csv(missed).to_dict("records") == [
        {"report_id": 1, "start": 17, "end": 20, "label": "NAME", "verdict": "left whole"}
    ]
    assert summary["left_whole"]["NAME"]["left"] == 1
    assert summary["nothing_identifying_left"]["NAME"]["unidentified"] == 1
    lines = radcal("audit", "deid", "--gold", str(gold)).out
    assert "nothing identifying left NAME: 1 of 2" in lines


def test_the_audit_says_where_an_expression_was_harmed(tmp_path: Path) -> None:
    gold, wrongs = tmp_path / "gold.jsonl", tmp_path / "wrongs.csv"
    row = {"id": "k", "text": "Dr. Kerley saw it.", "spans": [keep(4, 10)]}
    gold.write_text(json.dumps(row) + "\n", encoding="utf-8")
    done = radcal("audit", "deid", "--gold", str(gold), "--missed", str(wrongs), "--json")
    assert done.code == 0, done.err
    (row,) = pd.read_csv(wrongs, keep_default_na=False).to_dict("records")
    assert row["verdict"] == "clinical expression harmed"
    assert (row["start"], row["end"], row["label"]) == (4, 10, "")


def keep(start: int, end: int) -> dict[str, object]:
    return {"start": start, "end": end, "label": "KEEP"}


def test_a_label_that_is_none_is_refused_with_those_that_are(tmp_path: Path) -> None:
    gold = tmp_path / "gold.jsonl"
    spans = [keep(0, 3), {"start": 0, "end": 3, "label": "WARD"}]
    gold.write_text(json.dumps({"id": "1", "text": "SECRET", "spans": spans}) + "\n")
    done = radcal("audit", "deid", "--gold", str(gold))
    assert done.code == 2
    assert "line 1: span 2 has a label that is none" in done.err
    assert "HOSPITAL, LOCATION, AGE90, KEEP" in " ".join(done.err.split())
    assert "SECRET" not in done.err


def test_a_bad_gold_line_is_named(tmp_path: Path) -> None:
    gold = tmp_path / "gold.jsonl"
    gold.write_text(
        '{"id": "1", "text": "SECRET", "spans": [{"start": 0, "end": 99, "label": "NAME"}]}\n'
    )
    done = radcal("audit", "deid", "--gold", str(gold))
    assert done.code == 2
    assert "gold.jsonl, line 1: a span lies outside the text" in done.err
    assert "SECRET" not in done.err


@pytest.fixture
def site(tmp_path: Path) -> Path:
    config = tmp_path / "radcal.toml"
    config.write_text(template(), encoding="utf-8")
    store = Workspace(tmp_path / "workspace")
    store.prepare()
    with Vault.create(store.root / "raw" / "vault.sqlite", KEY) as vault:
        vault.codes("patient", ["M1", "M2"])
        vault.codes("study", ["A1", "A2"])
        vault.codes("reader", ["D5"])
        vault.codes("exam", ["A1/final/v1", "A2/final/v2"])
    times = pd.to_datetime(["2001-01-05T10:00Z", "2999-01-05T10:00Z"])
    raw = pd.DataFrame(
        {
            "accession": ["A1", "A2"],
            "patient_id": ["M1", "M2"],
            "performed_at": times,
            "status": "final",
            "source_digest": ["v1", "v2"],
            "text": ["old", "new"],
        }
    )
    store.write("raw", "exams", "k-00000", raw, facts={"n": 2})
    clean = pd.DataFrame(
        {
            "patient_code": ["P-OLD", "P-NEW"],
            "performed_month": ["2001-01", "2999-01"],
            "text": ["old", "new"],
        }
    )
    store.write("analysis", "clean_exams", "c", clean, facts={"n": 2})
    AuditLog(store.root / "audit.jsonl").append("begun")
    return config


def _code(site: Path, domain: str, identifier: str) -> str:
    with Vault.open(site.parent / "workspace" / "raw" / "vault.sqlite", KEY) as vault:
        return vault.codes(domain, [identifier])[0]  # type: ignore[arg-type]


def _events(site: Path) -> list[str]:
    return [str(e["event"]) for e in AuditLog(site.parent / "workspace" / "audit.jsonl").entries()]


def test_one_identity_is_given_back_for_a_reason_that_is_kept(site: Path) -> None:
    code = _code(site, "patient", "M1")
    reason = "Peer review case 12, approved"
    done = radcal("reidentify", str(site), "--code", code, "--reason", reason, "--json")
    assert json.loads(done.out) == {"domain": "patient", "identifier": "M1"}
    assert _events(site) == ["begun", "reidentify"]
    log = (site.parent / "workspace" / "audit.jsonl").read_text(encoding="utf-8")
    assert reason in log
    assert "M1" not in log


def test_no_identity_without_a_reason_or_for_an_unknown_code(site: Path) -> None:
    code = _code(site, "patient", "M1")
    refused = radcal("reidentify", str(site), "--code", code, "--reason", "why")
    assert refused.code == 2
    assert "M1" not in refused.out
    unknown = radcal(
        "reidentify", str(site), "--code", "P-2222222222", "--reason", "peer review 12"
    )
    assert unknown.code == 2
    assert "not in this vault" in unknown.err
    none = radcal("reidentify", str(site), "--code", "X-1", "--reason", "peer review 12")
    assert (none.code, none.out) == (2, "")
    assert _events(site) == ["begun", *["reidentify refused"] * 3]


def test_cases_open_for_the_office_with_a_link_and_an_entry_in_the_log(site: Path) -> None:
    link = "https://pacs.example/open?a={accession}"
    site.write_text(site.read_text().replace("[reports]", f"[reports]\npacs_link = '{link}'"))
    exams = {"patient_id": ["M1"], "patient_domain": ["NORTH"], "accession": ["ACC 7/1"]}
    (named,) = study_identifiers(pd.DataFrame(exams))
    codes = [_code(site, "study", named), _code(site, "study", "ACC-8")]
    done = radcal(
        "cases", *codes, codes[0], "--config", str(site), "--reason", "reader asks", "--json"
    )
    assert done.code == 0, done.err
    assert [json.loads(line) for line in done.out.splitlines()] == [
        {"code": codes[0], "accession": "ACC 7/1",
         "link": "https://pacs.example/open?a=ACC%207%2F1"},
        {"code": codes[1], "accession": "ACC-8", "link": "https://pacs.example/open?a=ACC-8"},
    ]  # fmt: skip
    assert _events(site) == ["begun", "cases"]
    log = (site.parent / "workspace" / "audit.jsonl").read_text(encoding="utf-8")
    assert "reader asks" in log
    assert "ACC" not in log


def test_every_code_that_opens_stands_in_the_log(site: Path) -> None:
    workspace = site.parent / "workspace"
    with Vault.open(workspace / "raw" / "vault.sqlite", KEY) as vault:
        codes = vault.codes("study", [f"ACC-{number}" for number in range(60)])
    done = radcal("cases", *codes, "--config", str(site), "--reason", "reader asks")
    assert len(done.out.splitlines()) == len(codes)
    assert verify(workspace / "audit.jsonl").is_intact
    log = (workspace / "audit.jsonl").read_text(encoding="utf-8")
    assert [code for code in codes if code not in log] == []


def test_no_case_opens_if_one_code_is_none_or_is_a_patients(site: Path) -> None:
    known = _code(site, "study", "ACC-8")
    unknown = radcal(
        "cases", known, "S-222222222222", "--config", str(site), "--reason", "reader asks"
    )
    assert unknown.code == 2
    assert "study code 2 of 2: not in this vault" in unknown.err
    assert "ACC-8" not in unknown.out
    patient = _code(site, "patient", "M1")
    refused = radcal("cases", known, patient, "--config", str(site), "--reason", "reader asks")
    assert "cases: code 2 of 2 is no study's" in refused.err
    assert "ACC-8" not in refused.out
    assert _events(site) == ["begun", *["cases refused"] * 2]


@pytest.mark.parametrize("zone", ["raw", "analysis"])
def test_a_purge_leaves_no_shard_that_was_put_aside(site: Path, zone: str) -> None:
    aside = site.parent / "workspace" / zone / "damaged" / "exams-k-00001.parquet"
    aside.parent.mkdir()
    aside.write_bytes(CANARY.encode())
    assert radcal("purge", str(site), "--older-than-days", "30", "--dry-run").code == 0
    assert aside.exists()
    assert radcal("purge", str(site), "--older-than-days", "30").code == 0
    assert not aside.exists()


def test_no_identity_is_given_beside_a_log_that_was_cut(site: Path) -> None:
    code = _code(site, "patient", "M1")
    log = site.parent / "workspace" / "audit.jsonl"
    log.write_bytes(b"")
    done = radcal("reidentify", str(site), "--code", code, "--reason", "peer review 12")
    assert done.code == 1
    assert "the audit log is broken" in done.err
    assert "M1" not in done.out
    assert log.read_bytes() == b""


def test_a_run_with_another_key_ends_before_it_reads_and_the_log_knows(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RADCAL_VAULT_KEY_FILE", raising=False)
    monkeypatch.setenv("RADCAL_VAULT_KEY", "another-0123456789-KEY-of-40-characters")
    with pytest.raises(ConfigurationError, match="not this vault's key"):
        nightly.fn(str(site))
    assert _events(site) == ["begun", "run refused"]


def test_another_key_opens_nothing(site: Path) -> None:
    code = _code(site, "patient", "M1")
    done = radcal(
        "reidentify",
        str(site),
        "--code",
        code,
        "--reason",
        "peer review 12",
        key="another-0123456789-KEY-of-40-characters",
    )
    assert done.code == 2
    assert "not this vault's key" in done.err


def test_purging_deletes_old_rows_and_forgets_their_codes(site: Path) -> None:
    code = _code(site, "patient", "M1")
    dry = radcal("purge", str(site), "--older-than-days", "365", "--dry-run", "--json")
    counted = {"raw_exams": 1, "clean_exams": 1, "codes": 3, "told": 0}
    assert json.loads(dry.out) == {"dry_run": True, **counted}
    done = radcal("purge", str(site), "--older-than-days", "365", "--json")
    assert json.loads(done.out)["codes"] == 3
    store = Workspace(site.parent / "workspace")
    assert store.read("raw", "exams", ["k-00000"])["text"].tolist() == ["new"]
    assert Traces.of(store, "k-00000") == Traces((), 1)
    assert store.read("analysis", "clean_exams", ["c"])["text"].tolist() == ["new"]
    gone = radcal("reidentify", str(site), "--code", code, "--reason", "peer review 12")
    assert "not in this vault" in gone.err
    assert _events(site)[:2] == ["begun", "purge"]
    with Vault.open(store.root / "raw" / "vault.sqlite", KEY) as vault:
        again = purge(store, before=pd.Timestamp("2020-01-01", tz="UTC"), vault=vault)
    assert (again.raw_exams, again.clean_exams, again.codes) == (0, 0, 0)


def test_a_purge_by_a_clock_far_ahead_of_all_exams_asks_for_the_day(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, ahead = Workspace(site.parent / "workspace"), pd.Timestamp("3001-01-01", tz="UTC")
    monkeypatch.setattr("pipeline.vault.upkeep._now", lambda: ahead)
    with pytest.raises(ConfigurationError, match="newest exam here is of 2999-01-05"):
        retained_from(store, 365, None)
    assert retained_from(store, 400_000, None).year == 1905
    with pytest.raises(ConfigurationError, match="one of the two"):
        retained_from(store, None, None)
    day = ("purge", str(site), "--before", "2025-11-29", "--json")
    assert json.loads(radcal(*day).out)["raw_exams"] == 1


def test_purging_reaches_what_a_former_version_left(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Workspace(site.parent / "workspace")
    with monkeypatch.context() as former:
        former.setattr("pipeline.store.objects.SCHEMA_VERSION", "0")
        for zone, table in (("raw", "exams"), ("analysis", "clean_exams")):
            for key in store.keys(zone, table):
                store.write(zone, table, key, store.read(zone, table, [key]), facts={"n": 2})
    before = pd.Timestamp.now("UTC") - pd.Timedelta(days=365)
    with Vault.open(store.root / "raw" / "vault.sqlite", KEY) as vault:
        gone = purge(store, before=before, vault=vault)
    assert (gone.raw_exams, gone.clean_exams, gone.codes) == (1, 1, 3)
    assert store.read("raw", "exams", ["k-00000"])["text"].tolist() == ["new"]


def test_a_purge_reads_no_text_of_a_shard_that_stays(site: Path) -> None:
    read: list[tuple[str, ...] | None] = []

    class Watched(Workspace):
        def read(self, *place: Any, **how: Any) -> pd.DataFrame:
            read.append(how.get("columns"))
            return super().read(*place, **how)

    store = Watched(site.parent / "workspace")
    with Vault.open(store.root / "raw" / "vault.sqlite", KEY) as vault:
        purge(store, before=pd.Timestamp("2000-01-01", tz="UTC"), vault=vault)
    assert len(read) >= 3
    assert not any(columns is None or "text" in columns for columns in read)


def test_the_audit_log_is_verified(site: Path) -> None:
    fine = radcal("audit", "log", "verify", str(site), "--json")
    head = AuditLog(site.parent / "workspace" / "audit.jsonl").head
    assert json.loads(fine.out) == {"entries": 1, "intact": True, "head": head}
    known = radcal("audit", "log", "verify", str(site), "--expect", head, "--quiet")
    assert known.code == 0
    other = radcal("audit", "log", "verify", str(site), "--expect", "0" * 64)
    assert other.code == 1
    assert "rolled back" in other.err
    log = site.parent / "workspace" / "audit.jsonl"
    log.write_text(log.read_text(encoding="utf-8").replace("begun", "ended"), encoding="utf-8")
    broken = radcal("audit", "log", "verify", str(site))
    assert broken.code == 1
    assert "the audit log is broken in 1 place" in broken.err
