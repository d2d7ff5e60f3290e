"""Numbers that a message makes one patient's are followed; nothing else joins two patients."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from itertools import permutations
from pathlib import Path

import pandas as pd
import pytest

from pipeline.site.site import Site
from pipeline.stages.clean import CLEAN
from pipeline.stages.register import CONTRADICTING, Registered
from pipeline.tables.pairing import pair
from pipeline.tables.versions import redated
from pipeline.vault.key import new_key
from pipeline.vault.upkeep import purge
from tests.fixtures.here import Here, registered

Running = Callable[..., tuple[pd.DataFrame, Registered]]
MERGED = "exam under a patient number that was merged into another"


def report(kind: str, patient: str, hour: int, accession: str = "", more: str = "") -> str:
    cells = {1: "1", 3: accession or f"{kind}-{patient}", 4: f"X^{kind} CHEST", 25: "F",
             7: f"20260301{hour}0000", 22: f"20260301{hour}3000", 32: "D5^Hope^Faith"}  # fmt: skip
    order = "|".join(["OBR", *(cells.get(i, "") for i in range(1, 33))])
    return "\r".join(
        ["MSH|^~\\&|RIS|NORTH|||20260302||ORU^R01|1|P|2.4",
         f"PID|1||{patient}^^^NORTH^MR||DOE^JANE||19500415{more}", order,
         f"OBX|1|TX|&GDT||Likely effusion of {patient}.||||||F\r"]
    )  # fmt: skip


def merge(old: str, new: str, event: str = "A40") -> str:
    return (
        f"MSH|^~\\&|PAS|NORTH|||20260301||ADT^{event}|9|P|2.4\rEVN|{event}|20260301\r"
        f"PID|1||{new}^^^NORTH^MR~943476^^^NHS^NH||DOE^JANE\rMRG|{old}^^^NORTH^MR\r"
    )


XR, CT = report("XR", "M1", 10), report("CT", "M2", 14)
OLD_XR_NEW_CT = (XR, CT)


@pytest.fixture
def running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Running:
    monkeypatch.setenv("RADCAL_VAULT_KEY", new_key())

    def run(*files: str, suffix: str = ".hl7") -> tuple[pd.DataFrame, Registered]:
        folder = tmp_path / "exports"
        folder.mkdir(exist_ok=True)
        for old in folder.iterdir():
            old.unlink()
        for number, content in enumerate(files):
            (folder / f"{number}{suffix}").write_text(content)
        (tmp_path / "radcal.toml").write_text('[input]\npaths = ["exports/*"]\n')
        Site.forget()
        site = Site.open(str(tmp_path / "radcal.toml"))
        exams, found = registered(site)
        keys = [each.key for each in Here(site).map(CLEAN, exams)]
        return redated(site.workspace.read("analysis", "clean_exams", keys)), found

    return run


def pairs(running: Running, *files: str) -> int:
    return len(pair(running(*files)[0]).pairs)


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_an_x_ray_under_the_old_number_pairs_with_the_ct_under_the_new_one_in_any_order(
    running: Running, order: tuple[int, ...]
) -> None:
    said = [XR, CT, merge("M1", "M2")]
    exams, found = running("".join(said[i] for i in order))
    assert len(pair(exams).pairs) == 1
    assert len(set(exams["patient_code"])) == 1
    assert found.notes == {MERGED: 1}
    assert found.set_aside == {}


def test_without_a_merge_two_numbers_are_two_patients(running: Running) -> None:
    assert pairs(running, XR + CT) == 0


def test_a_merge_is_remembered_when_its_export_is_gone(running: Running) -> None:
    assert pairs(running, XR + CT) == 0
    assert pairs(running, XR, CT, merge("M1", "M2")) == 1
    assert pairs(running, XR, CT) == 1


def test_chains_are_followed_to_their_end_and_a_number_may_be_said_twice(running: Running) -> None:
    chain = merge("M1", "M3") + merge("M3", "M4") + merge("M4", "M2") + merge("M1", "M2")
    assert pairs(running, CT + chain, XR) == 1


@pytest.mark.parametrize(
    "said",
    [merge("M1", "M2") + merge("M2", "M1"), merge("M1", "M2") + merge("M1", "M7")],
    ids=["in a circle", "into two"],
)
def test_merges_that_contradict_join_nobody_and_are_set_aside(
    running: Running, tmp_path: Path, said: str
) -> None:
    exams, found = running(XR + CT, said)
    assert pair(exams).pairs.empty
    assert exams["patient_code"].nunique() == 2
    assert found.set_aside == {CONTRADICTING: 2}
    shards = (tmp_path / "workspace" / "raw" / "quarantine").glob("*.parquet")
    rows = pd.concat([pd.read_parquet(each) for each in shards])
    assert rows["reason"].tolist() == [CONTRADICTING] * 2
    assert rows["row"].tolist() == [1, 2]


def test_a_merge_leaves_studies_their_codes_so_that_a_returned_case_stays_that_case(
    running: Running,
) -> None:
    ct = report("CT", "M1", 14)
    said = ["", merge("M1", "M2"), merge("M1", "M2") + merge("M2", "M3")]
    found = [pair(running(XR + ct, *filter(None, [each]))[0]).pairs for each in said]
    names = [pairs["xr_study_code"] + ":" + pairs["ct_study_code"] for pairs in found]
    assert len(names[0]) == 1
    assert names[0].tolist() == names[1].tolist() == names[2].tolist()
    assert len({pairs["patient_code"].item() for pairs in found}) == 3


def test_numbers_of_one_authority_in_one_list_are_one_patients(running: Running) -> None:
    listed = CT.replace("M2^^^NORTH^MR", "M2^^^NORTH^MR~M1^^^NORTH^MR")
    assert pairs(running, XR + listed) == 1
    other = CT.replace("M2^^^NORTH^MR", "M2^^^NORTH^MR~M1^^^SOUTH^MR")
    assert pairs(running, XR + other) == 1, "and is remembered"


def test_a_number_in_the_lists_of_two_patients_joins_neither(running: Running) -> None:
    nobody = [each.replace("^MR||", "^MR~M99^^^NORTH^MR||") for each in OLD_XR_NEW_CT]
    exams, found = running(*nobody)
    assert pair(exams).pairs.empty
    assert found.set_aside == {CONTRADICTING: 2}


@pytest.mark.parametrize(
    ("event", "joined"), [("A18", 1), ("A34", 1), ("A47", 1), ("A44", 0), ("A45", 0)]
)
def test_the_event_says_whether_patients_became_one_or_a_visit_moved(
    running: Running, event: str, joined: int
) -> None:
    assert pairs(running, XR + CT, merge("M1", "M2", event)) == joined


def test_a_result_that_names_a_former_number_is_read_and_followed(running: Running) -> None:
    both = CT.replace("\rOBR", "\rMRG|M1^^^NORTH^MR\rOBR", 1)
    assert pairs(running, XR + both) == 1


def test_a_former_number_without_authority_is_of_the_new_ones(running: Running) -> None:
    bare = merge("M1", "M2").replace("MRG|M1^^^NORTH^MR", "MRG|M1")
    assert pairs(running, XR + CT, bare) == 1


def test_one_accession_under_both_numbers_is_one_study(running: Running) -> None:
    again = report("XR", "M2", 10, accession="XR-M1").replace("||20260302|", "||20260303|", 1)
    exams, _ = running(XR + again + CT, merge("M1", "M2"))
    assert exams["study_code"].nunique() == 2
    assert len(pair(exams).pairs) == 1


def patients(*people: tuple[str, str, Mapping[str, str]]) -> str:
    return "\n".join(
        json.dumps(
            {"resourceType": "Patient", "id": name, "birthDate": "1950-04-15",
             "identifier": [{"system": "urn:north", "value": number}],
             "link": [{"type": kind, "other": {"reference": f"Patient/{other}"}}
                      for kind, other in link.items()]}
        )
        for name, number, link in people
    )  # fmt: skip


def resource(kind: str, patient: str, hour: int) -> str:
    return json.dumps(
        {"resourceType": "DiagnosticReport", "id": f"{kind}{patient}", "status": "final",
         "code": {"text": f"{kind} CHEST"}, "subject": {"reference": f"Patient/{patient}"},
         "identifier": [{"type": {"coding": [{"code": "ACSN"}]}, "value": f"{kind}-{patient}"}],
         "effectiveDateTime": f"2026-03-01T{hour}:00:00Z", "issued": f"2026-03-01T{hour}:30:00Z",
         "conclusion": "Likely effusion."}
    )  # fmt: skip


def test_a_replaced_patient_is_followed_whichever_of_the_two_says_so_and_later_too(
    running: Running,
) -> None:
    films = "\n".join([resource("XR", "a", 10), resource("CT", "b", 14)])
    apart = patients(("a", "M1", {}), ("b", "M2", {}))
    one = patients(("a", "M1", {}), ("b", "M2", {"replaces": "a"}))
    found = [
        len(pair(running(films, people, suffix=".ndjson")[0]).pairs) for people in (apart, one)
    ]
    assert found == [0, 1]
    exams, _ = running(films, apart, suffix=".ndjson")
    assert len(pair(exams).pairs) == 1, "the link is remembered"


def test_purged_patients_are_forgotten_under_every_number(running: Running, tmp_path: Path) -> None:
    running(XR + CT, merge("M1", "M2"), merge("M8", "M9"))
    site = Site.open(str(tmp_path / "radcal.toml"))
    with site.open_vault(read_only=False) as vault:
        purge(site.workspace, before=pd.Timestamp("2027-01-01", tz="UTC"), vault=vault)
        left = vault._db.execute("SELECT domain, count(*) FROM codes GROUP BY 1").fetchall()
    assert dict(left) == {"site": 1}, "nor is the reader, who has no exam left"
    said = [site.workspace.read("raw", "merges", [k]) for k in site.workspace.keys("raw", "merges")]
    assert [list(n) for n in pd.concat(said)["numbers"]] == [["M8", "M9"]]
