"""What `radcal stored` says is what a search of every byte finds; a copy names nobody else."""

from __future__ import annotations

import json
import re
import shutil
import tomllib
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from pipeline.run import holdings
from pipeline.simulate import simulate
from pipeline.store.workspace import IRREPLACEABLE
from pipeline.vault.audit_log import AuditLog
from tests.e2e.commands import Finished, here
from tests.fixtures.search import canaries_in, contents

ROOT = Path(__file__).resolve().parents[2]
KEY = "Zr7-kT2_mQ9vLx4WbN8sYc1HdE6pJgUaF3iOo5RtXyS"
CONFIG = """\
[input]
paths = ["exams.csv"]
left_out = "left_out.csv"
[reports]
demonstration = true
[calibration]
bootstrap = 100
[execution]
shard_rows = 60
"""
WHY = "case 2026-17"
KEPT = tomllib.loads(Path(holdings.__file__).with_name("kept.toml").read_text("utf-8"))["kept"]
TABLE = "| where | what | of whom | until | opened by |\n|---|---|---|---|---|\n"


def radcal(place: Path, *arguments: object) -> Finished:
    command, *options = arguments
    return here(command, "radcal.toml", *options, cwd=place, RADCAL_VAULT_KEY=KEY)


def stored(place: Path, *person: str) -> dict[str, Any]:
    done = radcal(place, "stored", *person, "--reason", WHY, "--json")
    assert done.code == 0, done.err
    return done.summary


@pytest.fixture(scope="module")
def delivered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a site that delivered an issue, whose readers answered, and changed codes afterwards."""
    folder = tmp_path_factory.mktemp("site")
    exams = simulate(pairs=60, readers=3, seed=6).exams.astype(str)
    exams.to_csv(folder / "exams.csv", index=False)
    (folder / "left_out.csv").write_text("who,id\n")
    (folder / "radcal.toml").write_text(CONFIG)
    assert radcal(folder, "run").code == 0
    for sheet in (folder / "workspace" / "delivery").glob("*/R-*/return.csv"):
        head, *rows = sheet.read_text("utf-8-sig").splitlines()
        case = next(row for row in rows if "S-" in row)
        column = head.split(",").index("Your answer")
        cells = case.split(",")
        cells[column] = "concordant"
        (folder / "sheet.csv").write_text("\n".join([head, ",".join(cells)]))
        done = here("returns", "sheet.csv", "--config", "radcal.toml", cwd=folder,
                    RADCAL_VAULT_KEY=KEY)  # fmt: skip
        assert done.code == 0, done.err
    return folder


@pytest.fixture
def place(delivered: Path, tmp_path: Path) -> Path:
    return shutil.copytree(delivered, tmp_path / "site")


def raw(place: Path) -> pd.DataFrame:
    return pd.concat(map(pd.read_parquet, (place / "workspace/raw/exams").glob("*.parquet")))


def shown_in(workspace: Path, codes: list[str]) -> set[str]:
    """Search every byte for codes; give the places of the record, PDFs by what lies beside them."""
    found = set()
    for path in sorted(each for each in workspace.rglob("*") if each.is_file()):
        name = str(path.relative_to(workspace))
        if any(code in name for code in codes) or any(
            canaries_in(content, codes) for content in contents(path)
        ):
            found |= rows_of(name)
    return found


def rows_of(name: str) -> set[str]:
    """Give the places of the record in which a file of a workspace lies."""
    ends = [name.removesuffix(".parquet"), *map(str, Path(name).parents)]
    each = [(end, place) for row in KEPT for place in row["places"] for end in ends]
    alike = (e for e in each if e[0].count("/") == e[1].count("/"))
    return {place for end, place in alike if fnmatch(end, place.replace("<>", "*"))}


def test_every_file_of_a_workspace_has_one_row_in_the_record(delivered: Path) -> None:
    workspace = delivered / "workspace"
    files = [str(p.relative_to(workspace)) for p in workspace.rglob("*") if p.is_file()]
    assert len(files) > 60
    assert {name: found for name in files if len(found := rows_of(name)) != 1} == {}


def test_the_security_page_has_the_record_as_it_is() -> None:
    page = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    table = page.partition(TABLE)[2].partition("\n\n")[0]
    rows = [
        " | ".join(
            [f"| {', '.join(f'`{place}`' for place in row['places'])}", row["holds"], row["of"],
             row["until"], f"{row['opened']} |"]
        )
        for row in KEPT
    ]  # fmt: skip
    assert table.splitlines() == rows


def test_the_record_says_that_prune_removes_all_tables_but_what_no_run_can_make() -> None:
    pruned = {
        place for row in KEPT for place in row["places"]
        if "`radcal prune`" in row["until"] and place.startswith("analysis/")
    }  # fmt: skip
    left = {each for row in KEPT for each in row["places"] if each.startswith("analysis/")} - pruned
    assert left == {"analysis/outcomes.sqlite", "analysis/profiles", "analysis/returns"}
    assert {each.partition("/")[2] for each in left} - {"outcomes.sqlite"} <= {*IRREPLACEABLE}


def test_what_is_stored_of_a_reader_is_what_a_search_of_every_byte_finds(place: Path) -> None:
    reader = raw(place)["reader_id"].value_counts().index[0]
    told = stored(place, "--reader", reader)
    assert told["state"] == "stored"
    (code,) = told["codes"]
    found = {each["place"] for each in told["held"]}
    assert {"analysis/returns", "analysis/profiles", "delivery/<>/<>"} <= found
    # Exams bear the id; the audit log's entry came after.
    assert shown_in(place / "workspace", [code]) - {"audit.jsonl"} == found - {"raw/exams"}
    exams = raw(place)
    counted = {each["what"]: each["count"] for each in told["held"] if each["place"] == "raw/exams"}
    mine = exams[exams["reader_id"] == reader]["modality"].value_counts()
    drafts = int((exams["preliminary_author"] == reader).sum())
    assert counted == {f"{kind} reader": n for kind, n in mine.items()} | (
        {"author of a draft": drafts} if drafts else {}
    )


def test_what_is_stored_of_a_patient_is_what_a_search_of_every_byte_finds(place: Path) -> None:
    answered = next((place / "workspace/analysis/returns").glob("*.parquet"))
    study = pd.read_parquet(answered)["pair_id"].iloc[0].partition(":")[0]
    pairs = pd.concat(map(pd.read_parquet, (place / "workspace/analysis/pairs").glob("*.parquet")))
    code = pairs.loc[pairs["xr_study_code"] == study, "patient_code"].iloc[0]
    told = stored(place, "--code", code)
    found = {each["place"] for each in told["held"]}
    clean = pd.concat(map(pd.read_parquet, (place / "workspace/analysis/clean_exams").glob("*")))
    own = clean[clean["patient_code"] == code]
    codes = [code, *own["study_code"], *own["exam_key"]]
    by_search = shown_in(place / "workspace", codes) - {"audit.jsonl"}
    assert by_search == found - {"raw/exams"}
    assert {"analysis/returns", "analysis/pages", "delivery/<>/<>", "analysis/wanted"} <= found


def files_of(copy: Path) -> dict[str, bytes]:
    assert copy.stat().st_mode & 0o077 == 0
    return {str(p.relative_to(copy)): p.read_bytes() for p in copy.rglob("*") if p.is_file()}


def words_of(column: pd.Series) -> set[str]:
    """Give the longer parts of names; short ones are words too."""
    return {part for each in column for part in re.findall(r"[^\W\d_]{5,}", str(each))}


def test_a_readers_copy_names_no_patient_and_no_colleague(place: Path) -> None:
    reader, other = raw(place)["reader_id"].value_counts().index[:2]
    radcal(place, "stored", "--reader", reader, "--reason", WHY, "--to", "copy")
    files = files_of(place / "copy")
    (code,) = json.loads(files["stored.json"])["codes"]
    issue = next((place / "workspace" / "delivery").glob("*/R-*")).parent.name
    assert {f"{issue}/{code}/feedback.pdf", "profiles.csv", "returns.csv", "results.csv"} <= {
        *files
    }
    assert json.loads(files["stored.json"])["pages_not_in_this_copy"] == []
    exams = raw(place)
    forbidden = {
        *exams["patient_id"],
        *exams["accession"],
        other,
        *stored(place, "--reader", other)["codes"],
    }
    said = {name: canaries_in(c, sorted(forbidden)) for path in (place / "copy").rglob("*")
            if path.is_file() for name in [path.name] for c in contents(path)}  # fmt: skip
    assert {name: hits for name, hits in said.items() if hits} == {}
    assert not {n for n in words_of(exams["patient_name"]) if n.encode() in files["stored.json"]}


def test_a_patients_copy_gives_the_own_reports_and_nobody_else(place: Path) -> None:
    exams = raw(place)
    patient = exams["patient_id"].value_counts().index[0]
    own = exams[exams["patient_id"] == patient]
    radcal(place, "stored", "--patient", patient, "--reason", WHY, "--to", "copy")
    files = files_of(place / "copy")
    assert sorted(files) == ["findings.csv", "reports.json", "stored.json"]
    reports = json.loads(files["reports.json"])
    assert sorted(each["accession"] for each in reports) == sorted(own["accession"])
    assert {each["patient_name"] for each in reports} == set(own["patient_name"])
    written = b"".join(files.values()).decode()
    mine = words_of(own["patient_name"])
    others = words_of(own["reader_name"]) | words_of(own["referring_name"])
    assert others - mine
    assert {name for name in others - mine if name in written} == set()
    assert not re.search(r"\bR-[0-9A-Z]{6}\b|label|ct_phrase", written)
    findings = files["findings.csv"].decode().splitlines()
    assert findings[0] == "modality,performed_month,pathology,phrase,outcome"
    assert len(findings) > 2


def test_who_was_never_known_is_told_from_who_may_have_been_purged(place: Path) -> None:
    assert stored(place, "--reader", "NOBODY")["state"] == "never known"
    assert stored(place, "--patient", "NOBODY")["held"] == []
    patient = raw(place)["patient_id"].value_counts().index[0]
    (code,) = stored(place, "--patient", patient)["codes"]
    (place / "left_out.csv").write_text(f"who,id\npatient,{patient}\n")
    assert stored(place, "--patient", patient)["state"] == "left out"
    assert radcal(place, "purge", "--older-than-days", 36500).code == 0
    gone = stored(place, "--patient", patient)
    assert gone["state"] == "left out"
    assert [each["place"] for each in gone["held"]] == ["[input] left_out"]
    (place / "left_out.csv").write_text("who,id\n")
    assert stored(place, "--patient", patient)["state"] == "never known, or purged"
    left = stored(place, "--code", code)
    assert left["state"] == "purged"
    assert "analysis/pairs" in {each["place"] for each in left["held"]}
    assert stored(place, "--code", "P-2222222222")["state"] == "never known, or purged"


def test_codes_of_every_epoch_are_the_readers(place: Path) -> None:
    reader = raw(place)["reader_id"].iloc[0]
    (old,) = stored(place, "--reader", reader)["codes"]
    radcal(place, "rotate")
    assert radcal(place, "run").code == 0
    told = stored(place, "--code", old)
    assert sorted(told["codes"].values()) == [0, 1]
    assert told["codes"][old] == 0
    assert {each["what"] for each in told["held"] if each["place"] == "delivery/<>/<>"} >= {
        *told["codes"]
    }


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["--reader", "QX77"], "give at least 10"),
        (["--reader", "QX77", "--reason", "asked by qx77 himself"], "--reason holds it"),
        (["--reader", "QX77", "--patient", "7", "--reason", WHY], "name one person"),
        (["--reason", WHY], "name one person"),
        (["--code", "S-23456789ABCD", "--reason", WHY], "a reader's (R-) or a patient's (P-)"),
        (["--reader", "QX77", "--reason", WHY, "--to", "radcal.toml"], "is there already"),
    ],
)
def test_what_cannot_be_answered_is_refused_and_logged_without_the_id(
    place: Path, given: list[str], told: str
) -> None:
    reason = [] if "--reason" in given else ["--reason", "short"]
    done = radcal(place, "stored", *given, *reason)
    assert (done.code, told in done.err) == (2, True), done.err
    log = AuditLog(place / "workspace" / "audit.jsonl")
    assert list(log.entries())[-1]["event"] == "stored refused"
    assert "qx77" not in log.path.read_text().lower()


def test_who_asked_and_why_is_logged_by_code_and_never_by_id(place: Path) -> None:
    reader = raw(place)["reader_id"].iloc[0]
    (code,) = stored(place, "--reader", reader)["codes"]
    log = AuditLog(place / "workspace" / "audit.jsonl")
    last: dict[str, Any] = dict(list(log.entries())[-1])
    assert last["details"] == {
        "codes": {"1": code}, "copied": "False", "outcome": "stored", "reason": WHY,
        "who": "reader",
    }  # fmt: skip
    assert reader not in log.path.read_text()
    again = stored(place, "--reader", reader)
    assert f"stored, entry {last['number']}" in {each["what"] for each in again["held"]}


def test_a_shard_that_cannot_be_read_may_hold_more(place: Path) -> None:
    shard = next((place / "workspace" / "analysis" / "tallies").glob("*.parquet"))
    shard.write_bytes(shard.read_bytes()[:-40])
    reader = raw(place)["reader_id"].iloc[0]
    done = radcal(place, "stored", "--reader", reader, "--reason", WHY)
    assert done.code == 3
    assert f"could not be read, and may hold more: analysis/tallies/{shard.stem}" in done.out


def test_one_number_of_two_patients_is_asked_back(place: Path) -> None:
    shard = next((place / "workspace" / "raw" / "exams").glob("*.parquet"))
    exams = pd.read_csv(place / "exams.csv", dtype=str, keep_default_na=False)
    twin = exams.iloc[[0]].assign(site="Elsewhere", accession="TWIN1", exam_id="TWIN1")
    pd.concat([exams, twin]).to_csv(place / "exams.csv", index=False)
    assert radcal(place, "run", "--no-pages").code == 0
    number, giver = twin["patient_id"].iloc[0], exams["site"].iloc[0]
    done = radcal(place, "stored", "--patient", number, "--reason", WHY)
    assert done.code == 2
    assert "of several patients. Say by --authority who gave the number" in done.err
    assert number not in done.err
    one = stored(place, "--patient", number, "--authority", "Elsewhere")
    assert sum(e["count"] for e in one["held"] if e["place"] == "raw/exams") == 1
    assert stored(place, "--patient", number, "--authority", giver)["state"] == "stored"
    assert shard.exists()


STAYS = {
    "raw/exams", "raw/vault.sqlite", "analysis/clean_exams", "delivery/<>/<>",
    "delivery/ledger.jsonl", "audit.jsonl",
}  # fmt: skip
"""What docs/security.md says stays of a reader who withdrew, pages not yet taken away."""


def test_of_a_reader_who_withdrew_nothing_stays_but_what_the_page_says(place: Path) -> None:
    exams, workspace = raw(place), place / "workspace"
    reader = exams["reader_id"].value_counts().index[0]
    (code,) = stored(place, "--reader", reader)["codes"]
    (place / "left_out.csv").write_text(f"who,id\nreader,{reader}\n")
    config = place / "radcal.toml"
    config.write_text(config.read_text().replace("[input]", "[input]\nmax_missing_share = 0.0"))
    assert radcal(place, "run").code == 0
    counted = radcal(place, "purge", "--older-than-days", 36500, "--dry-run", "--json").summary
    done = radcal(place, "purge", "--older-than-days", 36500, "--json").summary
    assert {**counted, "dry_run": False} == done
    assert (done["raw_exams"], done["clean_exams"], done["told"]) == (0, 0, 2)
    assert radcal(place, "prune", "--keep-runs", 1, "--yes").code == 0
    told = stored(place, "--reader", reader)
    assert told["state"] == "left out"
    held = {each["place"]: each["what"] for each in told["held"]}
    assert {*held} == STAYS | {"[input] left_out"}
    assert {e["what"] for e in told["held"] if e["place"] == "analysis/clean_exams"} == {"CT"}
    assert shown_in(workspace, [code]) == STAYS - {"raw/exams"}
    assert shown_in(workspace, [reader]) == {"raw/exams"}
    for each in list((workspace / "delivery").glob(f"*/{code}")):
        shutil.rmtree(each)
    assert radcal(place, "run", "--json").summary["pages_delivered"] == 0, "nothing comes back"
    assert "delivery/<>/<>" not in {e["place"] for e in stored(place, "--reader", reader)["held"]}
    (place / "left_out.csv").write_text("who,id\n")
    assert radcal(place, "run").code == 0
    assert "analysis/observations" in {
        each["place"] for each in stored(place, "--reader", reader)["held"]
    }, "the row taken out again brings the X-rays back"


def test_a_reader_whose_last_exam_is_past_retention_is_forgotten(place: Path) -> None:
    exams = raw(place)
    last = exams.groupby("reader_id")["performed_at"].max().sort_values()
    day = (last.iloc[-1] - pd.Timedelta(hours=1)).strftime("%Y-%m-%d")
    before = pd.Timestamp(day, tz="UTC")
    gone, kept = last[last < before].index, last[last >= before].index
    assert len(gone)
    assert radcal(place, "purge", "--before", day).code == 0
    for reader in gone:
        assert stored(place, "--reader", reader)["state"] == "never known, or purged"
    for reader in kept:
        assert len(stored(place, "--reader", reader)["codes"]) == 1
