"""Patients and readers who asked to be left out are, under every number, and are forgotten."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from pipeline.errors import InputError
from pipeline.formats.readers import ReaderRules
from pipeline.pages.review import RunFacts
from pipeline.run.gates import Gathered, against_last_good, check
from pipeline.site.site import Site
from pipeline.stages import ingest
from pipeline.stages.extract import EXTRACT
from pipeline.stages.ingest import INGEST
from pipeline.stages.pages import FEEDBACK, page_requests
from pipeline.stages.register import PURGED, UNMET, former
from pipeline.vault.key import new_key
from pipeline.vault.objections import Objections
from pipeline.vault.upkeep import Purged, purge
from tests.e2e.commands import here
from tests.fixtures.here import Here

HEAD = (
    "accession,patient_id,patient_authority,reader_id,modality,exam_name,performed_at,signed_at,"
    "status,patient_age_years,text"
)
TEXT = {"XR": "IMPRESSION: Likely pneumonia.", "CT": "IMPRESSION: Pneumonia."}
Gathering = Callable[..., tuple[Site, Gathered]]


def exam(modality: str, patient: str, reader: str, hour: int, giver: str = "N") -> str:
    at = f"2026-03-04T{hour:02}"
    return (
        f"{modality}-{patient}-{giver},{patient},{giver},{reader},{modality},{modality} CHEST,"
        f"{at}:00:00Z,{at}:30:00Z,final,60,{TEXT[modality]}"
    )


EXAMS = [
    line
    for number, patient in enumerate(("M1", "M2", "M3", "M4"))
    for line in (exam("XR", patient, f"R{number % 2}", 8), exam("CT", patient, "R1", 11))
]


@pytest.fixture
def gathering(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Gathering:
    monkeypatch.setenv("RADCAL_VAULT_KEY", new_key())
    (tmp_path / "exams.csv").write_text("\n".join([HEAD, *EXAMS]))

    def run(left_out: str = "", more: str = "") -> tuple[Site, Gathered]:
        option = 'left_out = "left_out.csv"\n' if left_out else ""
        (tmp_path / "left_out.csv").write_text(left_out)
        (tmp_path / "radcal.toml").write_text(
            f'[input]\npaths = ["exams*", "*.hl7"]\n{option}{more}'
        )
        Site.forget()
        site = Site.open(str(tmp_path / "radcal.toml"))
        return site, Here(site).gather()

    return run


def test_a_patient_and_a_reader_are_left_out_and_counted_as_such(gathering: Gathering) -> None:
    _, everyone = gathering("")
    assert everyone.accounting().pairs == 4
    site, found = gathering("who,id\npatient,m1\nreader,R1\n")
    told = found.accounting()
    # M1 whole; the X-rays that R1 read of M2 and M4, while the CTs by R1 still answer R0's.
    assert (told.pairs, told.exams_left_out_on_request, told.exams_cleaned) == (1, 4, 4)
    assert (told.exams_withheld, told.rows_quarantined, found.exit_code) == (0, 0, 0)
    assert all(gate.passed for gate in check(told, site.config))


def test_nobody_new_is_registered_and_what_others_have_is_found_again(gathering: Gathering) -> None:
    gathering("who,id\npatient,M1\n")
    site, found = gathering("who,id\npatient,M1\npatient,M9\n")
    with site.open_vault(read_only=True) as vault:
        assert not vault.known_codes("patient", ["N␟M1"])
        assert len(vault.known_codes("patient", ["N␟M2"])) == 1
    again = {shard.key for shard in found.coded}
    _, same = gathering("who,id\npatient,M1\npatient,M8\n")
    assert {shard.key for shard in same.coded} == again


def test_an_id_that_no_exam_bears_is_told(gathering: Gathering) -> None:
    _, found = gathering("who,id,authority\npatient,M1,\npatient,M2,N\nreader,R1,\n")
    assert UNMET not in found.reading
    _, found = gathering("who,id,authority\npatient,M01,\npatient,M2,S\nreader,r1,\n")
    assert found.reading[UNMET] == 3
    assert found.accounting().exams_left_out_on_request == 0


def test_an_authority_tells_two_patients_of_one_number_apart(
    gathering: Gathering, tmp_path: Path
) -> None:
    more = [exam("XR", "M1", "R0", 8, "S"), exam("CT", "M1", "R0", 11, "S")]
    (tmp_path / "exams.csv").write_text("\n".join([HEAD, *EXAMS, *more]))
    _, both = gathering("who,id\npatient,M1\n")
    _, one = gathering("who,id,authority\npatient,M1,S\n")
    assert (
        both.accounting().exams_left_out_on_request,
        one.accounting().exams_left_out_on_request,
    ) == (4, 2)


def test_a_merged_number_is_left_out_with_the_one_that_stands_for_it() -> None:
    exams = pd.DataFrame({"patient_id": ["A", "B", "C", "D"], "patient_domain": [""] * 4})
    stands = {"a": "C", "b": "C"}
    asked = Objections(frozenset({"a"}))
    assert asked.of_patients(exams, stands).tolist() == [True, True, True, False]
    assert asked.of_patients(exams, {}).tolist() == [True, False, False, False]


def test_purge_forgets_who_is_left_out_and_nobody_else(
    gathering: Gathering, tmp_path: Path
) -> None:
    gathering("")
    site, _ = gathering("who,id\npatient,M1\n")
    asked = ["purge", str(tmp_path / "radcal.toml"), "--older-than-days", "36500", "--json"]
    told = [here(*asked, *more, cwd=tmp_path).out for more in (["--dry-run"], [])]
    counted, done = map(json.loads, told)
    assert {**counted, "dry_run": False} == done
    assert (done["raw_exams"], done["codes"]) == (2, 5)
    assert done["clean_exams"] == 2, "the texts that were cleaned before the patient asked"
    store = site.workspace
    raw = store.read("raw", "exams", store.keys("raw", "exams"))
    clean = store.read("analysis", "clean_exams", store.keys("analysis", "clean_exams"))
    assert sorted(set(raw["patient_id"])) == ["M2", "M3", "M4"]
    with site.open_vault(read_only=True) as vault:
        assert not vault.known_codes("patient", ["N␟M1"])
        known = vault.known_codes("patient", ["N␟M2", "N␟M3", "N␟M4"])
    assert set(clean["patient_code"]) == set(known)
    for later in ("who,id\npatient,M1\n", "who,id\npatient,M7\n"):
        site, after = gathering(later)
        assert after.accounting().pairs == 3, "purged exams do not come back by older shards"
        assert all(gate.passed for gate in check(after.accounting(), site.config))


MERGED = (
    "MSH|^~\\&|ADT|N|R|H|20260801120000||ADT^A40^ADT_A39|1|P|2.5\r"
    "EVN|A40|20260801120000\rPID|1||M9^^^N^MR||DOE^J\rMRG|M1^^^N^MR\r"
)


def test_a_merged_patient_is_met_and_forgotten_under_every_number(
    gathering: Gathering, tmp_path: Path
) -> None:
    site, _ = gathering()
    with site.open_vault(read_only=True) as vault:
        (was,) = vault.known_codes("patient", ["N␟M1"])
    (tmp_path / "adt.hl7").write_text(MERGED)
    gathering()
    site, found = gathering("who,id\npatient,M9\n")
    assert UNMET not in found.reading
    assert found.accounting().exams_left_out_on_request == 2
    asked = ["purge", str(tmp_path / "radcal.toml"), "--older-than-days", "36500", "--json"]
    told = [json.loads(here(*asked, *more, cwd=tmp_path).out) for more in (["--dry-run"], [])]
    assert {**told[0], "dry_run": False} == told[1]
    assert (told[1]["raw_exams"], told[1]["clean_exams"]) == (2, 4), "under both numbers"
    store = site.workspace
    clean = store.read("analysis", "clean_exams", store.keys("analysis", "clean_exams"))
    assert was not in set(clean["patient_code"])
    with site.open_vault(read_only=False) as vault:
        assert not vault.known_codes("patient", ["N␟M1", "N␟M9"])
        (left,) = vault._db.execute("SELECT count(*) FROM shifts").fetchone()
    assert left == 3, "those of M2, M3 and M4"


ADDENDUM = exam("CT", "M1", "R1", 13).replace("final", "addendum").replace("T13:00", "T11:00")
OLD = [line.replace("2026-03", "2026-01") if "-M1-" in line or "-M2-" in line else line
       for line in (*EXAMS, ADDENDUM.replace(TEXT["CT"], "Called to the ward."))]  # fmt: skip


def purged(site: Site, **more: Objections) -> Purged:
    """Purge what was performed before February."""
    with site.open_vault(read_only=False) as vault:
        return purge(
            site.workspace, before=pd.Timestamp("2026-02-01", tz="UTC"), vault=vault, **more
        )


@pytest.mark.parametrize(
    "change",
    [
        "",
        "[deidentification]\ncaution = 11.0\n",
        "who,id\npatient,M4\n",
        "who,id\npatient,M1\n",
        MERGED.replace("M1", "M3"),
    ],
)
def test_runs_after_a_retention_purge_add_up_whatever_changes(
    gathering: Gathering, tmp_path: Path, change: str
) -> None:
    (tmp_path / "exams.csv").write_text("\n".join([HEAD, *OLD]))
    site, before = gathering()
    assert purged(site).raw_exams == 5
    if change.startswith("MSH"):
        (tmp_path / "adt.hl7").write_text(change)
    asked, option = (change * change.startswith(start) for start in ("who", "["))
    site, found = gathering(asked, option)
    told = found.accounting()
    assert found.reading[PURGED] == 5
    assert all(gate.passed for gate in check(told, site.config)), change
    fresh = found.coded[0].key != before.coded[0].key
    assert fresh == (change not in {"", "who,id\npatient,M1\n"})
    assert told.exams_purged == (5 if fresh else 0)
    assert found.input_size.exams == before.input_size.exams - told.exams_purged
    missing = against_last_good(before.input_size, found.input_size, site.config)
    assert [gate.passed for gate in missing] == [not fresh]
    assert told.exams_cleaned == (9 if not fresh else 2 if "M4" in change else 4)


def test_purged_exams_do_not_come_back_with_an_export_that_grows(
    gathering: Gathering, tmp_path: Path
) -> None:
    export = tmp_path / "exams.csv"
    export.write_text("\n".join([HEAD, *OLD]))
    site, _ = gathering()
    purged(site)
    INGEST.make(site, str(export), INGEST.key(site, str(export)))
    store = site.workspace
    assert len(store.read("raw", "exams", store.keys("raw", "exams"))) == 4


def test_a_readers_films_that_went_in_time_leave_the_rest_as_it_was(
    gathering: Gathering, tmp_path: Path
) -> None:
    (tmp_path / "exams.csv").write_text("\n".join([HEAD, *OLD]))
    listed = "who,id\nreader,R1\n"
    site, before = gathering(listed)
    purged(site, left_out=Objections(readers=frozenset({"R1"})))
    _, after = gathering(listed)
    assert [shard.key for shard in after.coded] == [shard.key for shard in before.coded]


def test_what_was_purged_is_not_read_again_and_told_apart_from_what_failed(
    gathering: Gathering, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "exams.csv").write_text("\n".join([HEAD, *OLD]))
    site, before = gathering()
    purged(site)
    _, same = gathering()
    assert same.tallied == before.tallied, "what was made stays"
    monkeypatch.setattr(type(EXTRACT), "settings", lambda *_: {"extraction engine": "another"})
    site, after = gathering()
    told = after.accounting()
    assert (told.pairs, told.reports_read, told.reports_failed) == (4, 4, 0)
    assert told.left_out == {
        "a report of the pair could not be read": 0,
        "a report of the pair was purged": 2,
    }
    assert all(gate.passed for gate in check(told, site.config))
    store = site.workspace
    read = store.read("analysis", "readings", [shard.key for shard in after.read])
    assert read["outcome"].value_counts().to_dict() == {"read": 4, "purged": 4}


def test_an_addendum_whose_report_is_purged_is_not_read_alone(
    gathering: Gathering, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "exams.csv").write_text("\n".join([HEAD, *OLD]).replace("2026-01", "2026-03"))
    site, before = gathering()
    (key,) = (shard.key for shard in before.coded)
    clean = site.workspace.read("analysis", "clean_exams", [key])
    facts = site.workspace.facts("analysis", "clean_exams", key, object)
    whole = (clean["modality"] == "CT") & (clean["status"] == "final")
    first = clean[clean["status"] == "addendum"]["study_code"].iloc[0] == clean["study_code"]
    site.workspace.write("analysis", "clean_exams", key, clean[~(whole & first)], facts=facts)
    monkeypatch.setattr(type(EXTRACT), "settings", lambda *_: {"extraction engine": "another"})
    _, after = gathering()
    assert after.accounting().left_out["a report of the pair was purged"] == 1


def test_no_authority_is_asked_for_where_all_share_one_numbering(
    gathering: Gathering, tmp_path: Path
) -> None:
    listed = "who,id,authority\npatient,M1,ELSEWHERE\n"
    _, found = gathering(listed, "patient_ids_shared = true\n")
    assert found.accounting().exams_left_out_on_request == 2
    assert UNMET not in found.reading


def test_more_days_than_a_century_are_refused_in_words(tmp_path: Path) -> None:
    done = here("purge", "radcal.toml", "--older-than-days", "999999", cwd=tmp_path)
    assert done.code == 2
    assert "36525" in done.err


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ("who,id\npatient,M1\nnurse,7\n", "1 of 2 rows name neither.*first at row 2"),
        ("who,id\npatient,\n", "1 of 1 rows name neither"),
        ("who,number\npatient,M1\n", "needed column"),
    ],
)
def test_a_list_that_cannot_be_followed_is_refused(tmp_path: Path, rows: str, told: str) -> None:
    path = tmp_path / "left_out.csv"
    path.write_text(rows)
    with pytest.raises(InputError, match=told):
        Objections.of(path, ReaderRules())


def test_an_alias_of_a_reader_names_the_reader(tmp_path: Path) -> None:
    path = tmp_path / "left_out.csv"
    path.write_text("who,id\nreader,stone.k\n")
    assert Objections.of(path, ReaderRules(aliases={"stone.k": "KS1"})).readers == {"KS1"}


@pytest.mark.parametrize(("named", "written"), [("auto", "cp1252"), ("cp1250", "cp1250")])
def test_a_sites_lists_are_read_as_its_exports_are(
    tmp_path: Path, named: str, written: str
) -> None:
    config = f'[input]\npaths = ["*.csv"]\nencoding = "{named}"\nleft_out = "gone.csv"\n'
    config += 'exam_codes = "codes.csv"\n[input.reader_ids]\naliases = "ids.csv"\n'
    (tmp_path / "radcal.toml").write_text(config)
    lists = {"gone": "who;id\nreader;Kr\u00f6ger\n", "ids": "reader_id\treader\n\u00f6\tKS1\n",
             "codes": "exam_code;chest\nTH\u00d6;yes\n"}  # fmt: skip
    for name, rows in lists.items():
        (tmp_path / f"{name}.csv").write_bytes(rows.encode(written))
    site = Site(tmp_path / "radcal.toml")
    assert ingest.objections(site).readers == {"Kr\u00f6ger"}
    assert ingest.reader_rules(site).aliases == {"\u00f6": "KS1"}
    assert ingest.chest_codes(site) == {"TH\u00d6": True}


def test_a_reader_who_left_gets_no_page_and_changes_nobody_elses(gathering: Gathering) -> None:
    facts = RunFacts((), (), (), ())
    site, everyone = gathering()
    before = Here(site).choose(everyone)
    both, _ = page_requests(before, facts, former(site))
    site, found = gathering("who,id\nformer,R1\n")
    told, after = found.accounting(), Here(site).choose(found)
    assert (told.pairs, told.exams_left_out_on_request, after) == (4, 0, before)
    (kept,), review = page_requests(after, facts, former(site))
    with site.open_vault(read_only=True) as vault:
        assert {kept.recipient} == {*vault.known_codes("reader", ["R0"])}
        assert len(both) == 2
    assert FEEDBACK.key(site, kept) in {FEEDBACK.key(site, each) for each in both}
    assert review.recipient == "committee"
    _, misspelt = gathering("who,id\nformer,r1\n")
    assert (UNMET in found.reading, misspelt.reading[UNMET]) == (False, 1)
