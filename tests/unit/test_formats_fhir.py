"""FHIR exports, tolerant of what real ones leave out."""

from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from pipeline.errors import InputError
from pipeline.formats.fhir import FhirOptions, read, resources
from pipeline.formats.markup import plain_text
from pipeline.formats.validation import IngestOptions, validate


def report(**changes: Any) -> dict[str, Any]:
    return {
        "resourceType": "DiagnosticReport",
        "id": "r1",
        "identifier": [
            {"value": "other"},
            {"type": {"coding": [{"code": "ACSN"}]}, "value": "ACC1"},
        ],
        "status": "final",
        "code": {"coding": [{"code": "XR1", "display": "XR CHEST"}]},
        "subject": {"reference": "Patient/p1"},
        "effectiveDateTime": "2026-03-01T10:00:00Z",
        "issued": "2026-03-01T11:00:00Z",
        "resultsInterpreter": [{"reference": "Practitioner/d5"}],
        "presentedForm": [form("FINDINGS: Clear.\nSigned by: Faith Hope, MD")],
    } | changes


def form(text: str, kind: str = "text/plain") -> dict[str, str]:
    return {"contentType": kind, "data": base64.b64encode(text.encode()).decode()}


PATIENT = {
    "resourceType": "Patient",
    "id": "p1",
    "identifier": [{"value": "M1"}],
    "name": [{"family": "Doe", "given": ["Jane", "Q"]}],
    "birthDate": "1950-04-15",
    "telecom": [{"value": "440-555-0101"}],
}
READER = {
    "resourceType": "Practitioner",
    "id": "d5",
    "name": [{"family": "Hope", "given": ["Faith"]}],
}
ORDER = {
    "resourceType": "ServiceRequest",
    "id": "o1",
    "identifier": [{"type": {"coding": [{"code": "ACSN"}]}, "value": "ACC9"}],
    "requester": {"reference": "Practitioner/d9", "display": "Dr. Ray Stone"},
}


def write(folder: Path, *resources: object, name: str = "a.ndjson") -> Path:
    path = folder / name
    lines = (r if isinstance(r, str) else json.dumps(r) for r in resources)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def exams(source: Path, options: FhirOptions | None = None) -> pd.DataFrame:
    return pd.concat([b.exams for b in read(source, options or FhirOptions())])


def reasons(source: Path) -> list[str]:
    return [r for b in read(source, FhirOptions()) for r in b.quarantined["reason"]]


def test_a_report_becomes_an_exam(tmp_path: Path) -> None:
    source = write(tmp_path, report(), PATIENT, READER)
    (exam,) = exams(source).to_dict("records")
    assert exam["accession"] == "ACC1"
    assert exam["patient_id"] == "M1"
    assert exam["patient_name"] == "Doe^Jane Q"
    assert exam["patient_birth_date"] == "1950-04-15"
    assert exam["phone"] == "440-555-0101"
    assert (exam["reader_id"], exam["reader_name"]) == ("d5", "Hope^Faith")
    assert exam["reader_conflict"] == ""
    assert exam["modality"] == "XR"
    assert exam["status"] == "final"
    assert exam["text"].startswith("FINDINGS: Clear.")


def test_people_and_orders_may_come_in_other_files(tmp_path: Path) -> None:
    write(tmp_path, PATIENT, READER, ORDER, name="z.ndjson")
    source = write(tmp_path, report(identifier=[], basedOn=[{"reference": "ServiceRequest/o1"}]))
    (exam,) = exams(source).to_dict("records")
    assert exam["accession"] == "ACC9"
    assert exam["patient_name"] == "Doe^Jane Q"
    assert exam["referring_name"] == "Stone^Ray"


def test_an_interpreter_the_text_does_not_know_is_flagged(tmp_path: Path) -> None:
    text = form("Clear.\nSigned By: Cure MD, Christine J")
    people = [{"reference": "Practitioner/x", "display": "Dr Ronald Bone"}]
    source = write(tmp_path, report(presentedForm=[text], resultsInterpreter=people))
    (exam,) = exams(source).to_dict("records")
    assert exam["reader_name"] == "Bone^Ronald"
    assert exam["reader_conflict"] == "1"


def test_html_is_stripped_and_plain_text_preferred(tmp_path: Path) -> None:
    page = form(
        "<html><head><title>T</title></head><body><p>A</p>B &lt; C<br/>D</body></html>", "text/html"
    )
    assert exams(write(tmp_path, report(presentedForm=[page])))["text"].item() == "A\nB < C\nD"
    both = report(presentedForm=[page, form("plain")])
    assert exams(write(tmp_path, both))["text"].item() == "plain"


def test_a_conclusion_stands_in_for_the_text(tmp_path: Path) -> None:
    bare = report(presentedForm=[], text={"div": "<div>Clear.</div>"}, conclusion="Normal.")
    assert exams(write(tmp_path, bare))["text"].item() == "Clear.\nIMPRESSION: Normal."


@pytest.mark.parametrize(
    ("status", "ours"),
    [
        ("preliminary", "prelim"),
        ("amended", "corrected"),
        ("appended", "addendum"),
        ("modified", "prelim"),
    ],
)
def test_statuses_are_ours(tmp_path: Path, status: str, ours: str) -> None:
    assert exams(write(tmp_path, report(status=status)))["status"].item() == ours


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{not json", "not_json"),
        ("[1]", "not_a_resource"),
        (report(status="registered"), "no_valid_report"),
        (report(presentedForm=[]), "no_report_text"),
        (report(presentedForm=[{"contentType": "text/plain", "data": "***"}]), "bad_attachment"),
        ({"resourceType": "Condition"}, "other_resource"),
    ],
    ids=["json", "list", "error", "empty", "attachment", "other"],
)
def test_what_is_no_report_is_set_aside(tmp_path: Path, line: object, reason: str) -> None:
    source = write(tmp_path, line, report())
    assert reasons(source) == [reason]
    assert len(exams(source)) == 1


@pytest.mark.parametrize("field", sorted(set(report()) - {"resourceType", "presentedForm"}))
@pytest.mark.parametrize("value", [None, 7, "x", [], {}, [None], [[]], {"coding": "x"}])
def test_a_field_of_any_shape_stops_nothing(tmp_path: Path, field: str, value: object) -> None:
    source = write(tmp_path, report(**{field: value}))
    assert len(exams(source)) + len(reasons(source)) == 1


def test_a_bundle_gives_its_entries(tmp_path: Path) -> None:
    bundle = {"resourceType": "Bundle", "entry": [{"resource": report()}, {"resource": PATIENT}]}
    source = write(tmp_path, bundle, name="b.json")
    assert exams(source)["patient_id"].item() == "M1"


def test_entries_that_hold_nothing_are_set_aside(tmp_path: Path) -> None:
    told = [{"request": {"method": "PUT"}}, {"response": {"status": "201"}}]
    entries = [
        None,
        5,
        {},
        {"resource": None},
        {"resource": report()},
        *told,
        {"resource": PATIENT},
    ]
    source = write(tmp_path, {"resourceType": "Bundle", "entry": entries}, name="b.json")
    assert len(exams(source)) == 1
    assert reasons(source) == ["not_a_resource"] * 4


def test_reports_whose_patient_is_in_no_file_are_counted(tmp_path: Path) -> None:
    other = report(id="r2", subject={"reference": "Patient/p2"})
    write(tmp_path, report(), other, report(id="r3", subject={"display": "Jane Doe"}))
    write(tmp_path, PATIENT, name="people.ndjson")
    (batch,) = read(tmp_path, FhirOptions())
    assert (len(batch.exams), list(batch.notes.values())) == (3, [2])


def test_an_empty_file_of_a_folder_is_set_aside(tmp_path: Path) -> None:
    write(tmp_path, report(), PATIENT)
    for name in ("b.ndjson", "c.json"):
        (tmp_path / name).write_bytes(b"\xef\xbb\xbf\n")
    assert reasons(tmp_path) == ["empty_file"] * 2
    assert reasons(tmp_path / "b.ndjson") == ["empty_file"]
    assert len(exams(tmp_path)) == 1


def test_an_entry_without_its_bundle_and_the_performer_of_version_3_are_read(
    tmp_path: Path,
) -> None:
    old = report(performer=[{"actor": {"reference": "Practitioner/d5"}}], resultsInterpreter=[])
    entry = {"fullUrl": "urn:uuid:1", "resource": old}
    (exam,) = exams(write(tmp_path, PATIENT, READER, entry)).to_dict("records")
    assert (exam["reader_id"], exam["patient_id"]) == ("d5", "M1")


def test_an_identifier_that_is_no_longer_used_is_not_the_patients(tmp_path: Path) -> None:
    record = {"type": {"coding": [{"code": "MR"}]}}
    numbers = [{**record, "use": "old", "value": "M0"}, {**record, "use": "usual", "value": "M1"}]
    (exam,) = exams(write(tmp_path, PATIENT | {"identifier": numbers}, READER, report())).to_dict(
        "records"
    )
    assert exam["patient_id"] == "M1"


def test_who_wrote_the_draft_is_kept_apart(tmp_path: Path) -> None:
    text = "FINDINGS: Clear.\nDictated by: Ann Low, DO\nSigned by: Faith Hope, MD"
    final = report(presentedForm=[form(text)])
    draft = report(id="r2", status="preliminary")
    found = exams(write(tmp_path, PATIENT, READER, final, draft))
    assert found["preliminary_author"].tolist() == ["name:LOW ANN", "d5"]


def test_a_folder_is_read_with_all_folders_in_it(tmp_path: Path) -> None:
    for name, resource in (("Reports", report()), ("People/old", PATIENT), ("Staff", READER)):
        (tmp_path / name).mkdir(parents=True)
        write(tmp_path / name, resource)
    (exam,) = exams(tmp_path).to_dict("records")
    assert (exam["patient_id"], exam["reader_name"]) == ("M1", "Hope^Faith")


def test_what_a_source_points_at_is_followed_into_the_files_of_others(tmp_path: Path) -> None:
    role = {
        "resourceType": "PractitionerRole",
        "id": "w1",
        "practitioner": {"reference": "Practitioner/d5"},
    }
    (tmp_path / "first").mkdir()
    before = write(tmp_path / "first", PATIENT, READER, role, ORDER, ORDER | {"id": "o2"})
    source = write(
        tmp_path,
        report(
            identifier=[],
            basedOn=[{"reference": "https://a.example/fhir/ServiceRequest/o1/_history/2"}],
            resultsInterpreter=[{"reference": "PractitionerRole/w1"}],
        ),
    )
    found = pd.concat(b.exams for b in read(source, FhirOptions(elsewhere=[before])))
    (exam,) = found.to_dict("records")
    assert (exam["accession"], exam["patient_id"]) == ("ACC9", "M1")
    assert exam["reader_name"] == "Hope^Faith"


def test_a_report_whose_order_is_not_there_is_set_aside_and_not_named_by_its_own_id(
    tmp_path: Path,
) -> None:
    lost = report(identifier=[], basedOn=[{"reference": "ServiceRequest/gone"}])
    alone = report(id="r2", identifier=[])
    source = write(tmp_path, lost, alone)
    assert exams(source)["accession"].tolist() == ["r2"]
    assert reasons(source) == ["order_elsewhere"]


def test_where_no_orders_are_exported_a_report_goes_by_its_own_number_or_id(tmp_path: Path) -> None:
    lost = report(identifier=[], basedOn=[{"reference": "ServiceRequest/gone"}])
    filed = report(id="r2", identifier=[{"value": "F7"}], imagingStudy=[{"reference": "X/gone"}])
    within = report(id="r3", identifier=[], contained=[ORDER], basedOn=[{"reference": "#o1"}])
    source = write(tmp_path, lost, filed, within)
    found = exams(source, FhirOptions(orders=False))
    assert found["accession"].tolist() == ["r1", "F7", "ACC9"]


def test_an_order_that_is_there_against_what_the_site_said_is_told_and_not_mixed_in(
    tmp_path: Path,
) -> None:
    numbered = report(identifier=[], basedOn=[{"reference": "ServiceRequest/o1"}])
    bare = numbered | {"id": "r2", "basedOn": [{"reference": "ServiceRequest/o2"}]}
    source = write(tmp_path, numbered, bare, ORDER, ORDER | {"id": "o2", "identifier": []})
    (batch,) = read(source, FhirOptions(orders=False))
    assert batch.exams["accession"].tolist() == ["r2"]
    assert batch.quarantined["reason"].tolist() == ["order_exported"]


@pytest.mark.parametrize("form", ["a.ndjson", "a.json", "a.ndjson.gz"])
def test_what_earlier_exports_hold_is_found_again_without_reading_them_to_the_end(
    tmp_path: Path, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, kept = tmp_path / "first", tmp_path / "raw" / "places.sqlite"
    first.mkdir()
    others = [PATIENT | {"id": f"q{n}", "identifier": [{"value": f"Q{n}"}]} for n in range(9)]
    before = write(first, *others, ORDER, PATIENT, READER, name="a.ndjson")
    if form != "a.ndjson":
        plain, before = before, first / form
        content = plain.read_bytes()
        content = (
            json.dumps([*map(json.loads, content.splitlines())]).encode()
            if form == "a.json"
            else gzip.compress(content)
        )
        before.write_bytes(content)
        plain.unlink()
    source = write(tmp_path, report(identifier=[], basedOn=[{"reference": "ServiceRequest/o1"}]))
    options = FhirOptions(elsewhere=[before], index=kept)
    once = exams(source, options)
    assert once[["accession", "patient_id", "reader_name"]].to_numpy().tolist() == [
        ["ACC9", "M1", "Hope^Faith"]
    ]
    if form == "a.ndjson":  # of which single lines can be read again

        def refuse(path: Path) -> Any:
            assert path != before
            return placed(path)

        placed = resources._placed
        monkeypatch.setattr(resources, "_placed", refuse)
    pd.testing.assert_frame_equal(exams(source, options), once)
    moved = before.rename(first / f"moved-{form}")
    again = FhirOptions(elsewhere=[moved], index=kept)
    pd.testing.assert_frame_equal(exams(source, again), once)
    kept.write_bytes(b"not a database, and longer than the head of one" * 99)
    monkeypatch.undo()
    pd.testing.assert_frame_equal(exams(source, again), once)


def test_an_earlier_export_that_was_written_anew_is_read_anew(tmp_path: Path) -> None:
    (tmp_path / "first").mkdir()
    before = write(tmp_path / "first", PATIENT)
    source = write(tmp_path, report())
    options = FhirOptions(elsewhere=[before], index=tmp_path / "places.sqlite")
    assert exams(source, options)["patient_id"].tolist() == ["M1"]
    write(tmp_path / "first", READER, PATIENT | {"identifier": [{"value": "M2"}]})
    assert exams(source, options)["patient_id"].tolist() == ["M2"]


def test_a_version_that_says_nothing_of_its_order_has_that_of_its_other_versions(
    tmp_path: Path,
) -> None:
    bare = {"resourceType": "DiagnosticReport", "id": "r1", "status": "entered-in-error"}
    first = report(identifier=[], basedOn=[{"reference": "ServiceRequest/o1"}])
    (tmp_path / "first").mkdir()
    before = write(tmp_path / "first", first, ORDER, PATIENT)
    source = write(tmp_path, bare)
    found = pd.concat(b.exams for b in read(source, FhirOptions(elsewhere=[before])))
    assert found[["accession", "patient_id", "status"]].to_numpy().tolist() == [
        ["ACC9", "M1", "retracted"]
    ]


def test_a_patient_may_be_named_by_an_identifier_alone_unless_two_have_it(tmp_path: Path) -> None:
    number = {"system": "urn:oid:1.2", "value": "77"}
    born = PATIENT | {"identifier": [{"value": "M1"}, number]}
    named = report(subject={"identifier": number})
    assert exams(write(tmp_path, named, born))["patient_birth_date"].tolist() == ["1950-04-15"]
    twins = [born | {"id": each, "birthDate": "1990-01-01"} for each in ("p2", "p3")]
    assert exams(write(tmp_path, named, born, *twins))["patient_birth_date"].tolist() == [""]


def test_the_later_version_of_a_patient_counts_in_whatever_order_they_stand(tmp_path: Path) -> None:
    old = PATIENT | {"birthDate": "1905-04-15", "meta": {"lastUpdated": "2026-01-01"}}
    new = PATIENT | {"meta": {"lastUpdated": "2026-02-01"}}
    for order in ((old, new), (new, old)):
        source = write(tmp_path, report(), *order)
        assert exams(source)["patient_birth_date"].tolist() == ["1950-04-15"]


def test_an_identifier_of_former_use_is_a_number_that_became_the_present_one(
    tmp_path: Path,
) -> None:
    mrn = {"type": {"coding": [{"code": "MR"}]}, "system": "urn:oid:1"}
    other = {"system": "urn:oid:2", "use": "old", "value": "9"}
    citizen = {
        "type": {"coding": [{"code": "SS"}]},
        "system": "urn:oid:1",
        "use": "old",
        "value": "8",
    }
    numbers = [mrn | {"value": "2"}, mrn | {"value": "1", "use": "old"}, other, citizen]
    source = write(tmp_path, PATIENT | {"identifier": numbers})
    (batch,) = read(source, FhirOptions())
    assert [merge.numbers for *_, merge in batch.merges] == [
        (("1", "urn:oid:1"), ("2", "urn:oid:1"))
    ]


@pytest.mark.parametrize("number", ["N/A", "0000"])
def test_a_number_that_stands_for_none_makes_nobody_one_patient(
    tmp_path: Path, number: str
) -> None:
    unknown = PATIENT | {"id": "p2", "identifier": [{"value": number}]}
    link = [{"type": "replaced-by", "other": {"reference": "Patient/p2"}}]
    old = [*PATIENT["identifier"], {"value": number, "use": "old"}]
    source = write(tmp_path, PATIENT | {"link": link, "identifier": old}, unknown)
    assert [merge for batch in read(source, FhirOptions()) for merge in batch.merges] == []


def test_a_reference_is_of_the_server_that_its_report_is_of(tmp_path: Path) -> None:
    def of(server: str, number: str) -> list[dict[str, Any]]:
        owned = PATIENT | {"identifier": [{"value": number}]}
        told = report(identifier=[{"system": "accession", "value": f"A{number}"}])
        return [{"fullUrl": f"https://{server}/fhir/{each['resourceType']}/{each['id']}",
                 "resource": each} for each in (owned, told)]  # fmt: skip

    entries = [*of("north", "M1"), *of("south", "M2")]
    source = write(tmp_path, {"resourceType": "Bundle", "type": "collection", "entry": entries})
    found = exams(source)
    assert list(zip(found["accession"], found["patient_id"], strict=True)) == [
        ("AM1", "M1"), ("AM2", "M2"),
    ]  # fmt: skip


def test_one_id_of_two_people_or_orders_is_nobodys(tmp_path: Path) -> None:
    pointing = report(identifier=[], basedOn=[{"reference": "ServiceRequest/o1"}])
    other = [{"type": {"coding": [{"code": "ACSN"}]}, "value": "ACC8"}]
    stranger = PATIENT | {"identifier": [{"value": "M2"}], "name": [{"family": "Roe"}]}
    twice = [pointing, PATIENT, stranger, ORDER, ORDER | {"identifier": other}]
    assert reasons(write(tmp_path, *twice)) == ["order_elsewhere"]
    (exam,) = exams(write(tmp_path, report(), PATIENT, stranger)).to_dict("records")
    assert (exam["patient_id"], exam["patient_name"], exam["patient_birth_date"]) == ("p1", "", "")
    again = PATIENT | {"identifier": [{"value": "M1"}], "name": [{"family": "Roe"}]}
    (exam,) = exams(write(tmp_path, report(), PATIENT, again)).to_dict("records")
    assert (exam["patient_id"], exam["patient_name"]) == ("M1", "Roe")


@pytest.mark.parametrize(
    ("shown", "text"),
    [
        ("FINDINGS: Clear.", "FINDINGS: Clear.\nIMPRESSION: Likely\npneumonia."),
        ("Clear. Likely  pneumonia.", "Clear. Likely  pneumonia."),
        ("Not likely pneumonia.", "Not likely pneumonia.\nIMPRESSION: Likely\npneumonia."),
        ("Un-Likely pneumonia.", "Un-Likely pneumonia.\nIMPRESSION: Likely\npneumonia."),
        ("Clear.\n2) Likely pneumonia", "Clear.\n2) Likely pneumonia"),
        ("Clear.\nIMPRESSION: Infection.", "Clear.\nIMPRESSION: Infection."),
        ("Frei.\nBeurteilung: Infekt.", "Frei.\nBeurteilung: Infekt."),
    ],
)
def test_a_conclusion_beside_an_attachment_that_lacks_it_is_part_of_the_report(
    tmp_path: Path, shown: str, text: str
) -> None:
    told = report(presentedForm=[form(shown)], conclusion="Likely\npneumonia.")
    assert exams(write(tmp_path, told))["text"].item() == text


def test_an_absent_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        list(read(tmp_path / "none.ndjson", FhirOptions()))


def test_no_entity_is_expanded() -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><p>&b;</p><script>x</script>'
    assert plain_text(bomb).endswith("&b;")


def observation(name: str, code: str, **said: Any) -> dict[str, Any]:
    coded = {"coding": [{"system": "http://loinc.org", "code": code}], "text": f"Part {name}"}
    return {"resourceType": "Observation", "id": name, "status": "final", "code": coded} | said


FINDINGS = observation("f1", "18782-3", valueString="Clear lungs.")
OBSERVED = [
    observation("h1", "11329-0", note=[{"text": "Fever."}]),
    observation("t1", "55111-9", valueMarkdown="One view."),
    FINDINGS,
    observation("f2", "59776-5", valueString="Normal heart."),
    observation("x1", "1-1", valueString="Stable lines."),
    observation("q1", "2-2", valueQuantity={"value": 12}, note=[{"text": "Not read."}]),
    observation("c1", "3-3", valueCodeableConcept={"text": "Enlarged heart, unspecified"}),
    observation("e1", "18782-3", valueString="Not read.", status="entered-in-error"),
    observation("i1", "19005-8", valueString="No  pneumonia."),
]
LACKING = "a report of which an observation (result) is in no file"


def observed(*names: str, **changes: Any) -> dict[str, Any]:
    listed = [{"reference": f"Observation/{name}"} for name in names]
    return report(presentedForm=[], result=listed, **changes)


@pytest.mark.parametrize("where", ["before", "behind", "other file", "bundle", "contained"])
def test_what_a_reports_observations_say_are_its_parts_in_its_order(
    tmp_path: Path, where: str
) -> None:
    listed = observed(*(each["id"] for each in OBSERVED), conclusion="No pneumonia.")
    if where == "contained":
        inner = [{"reference": f"#{each['id']}"} for each in OBSERVED]
        found = exams(write(tmp_path, listed | {"contained": OBSERVED, "result": inner}, PATIENT))
    elif where == "bundle":
        urns = [{"reference": f"urn:uuid:{each['id']}"} for each in OBSERVED]
        entries = [{"fullUrl": f"urn:uuid:{each['id']}", "resource": each} for each in OBSERVED]
        entries.insert(0, {"resource": listed | {"result": urns}})
        found = exams(write(tmp_path, {"resourceType": "Bundle", "entry": entries}))
    elif where == "other file":
        write(tmp_path, *OBSERVED, name="z.ndjson")
        found = exams(write(tmp_path, listed, PATIENT))
    else:
        order = [*OBSERVED, listed] if where == "before" else [listed, *OBSERVED]
        found = exams(write(tmp_path, *order))
    assert found["text"].tolist() == [
        "HISTORY: Fever.\nTECHNIQUE: One view.\nFINDINGS: Clear lungs.\nNormal heart.\n"
        "PART X1: Stable lines.\nIMPRESSION: No  pneumonia."
    ]
    assert found["text_form"].tolist() == [""]


def test_an_observation_that_is_nowhere_or_another_patients_is_told(tmp_path: Path) -> None:
    other = PATIENT | {"id": "p2", "identifier": [{"value": "M2"}]}
    foreign = FINDINGS | {"subject": {"reference": "Patient/p2"}}
    for held in ([], [foreign]):
        listed = observed("f1", conclusion="No pneumonia.")
        (exam,) = exams(write(tmp_path, listed, PATIENT, other, *held)).to_dict("records")
        assert (exam["text"], exam["text_form"]) == ("IMPRESSION: No pneumonia.", LACKING)
    assert reasons(write(tmp_path, observed("f1"), PATIENT)) == ["no_report_text"]


def test_parts_and_members_of_observations_are_read_and_no_documents_beside(tmp_path: Path) -> None:
    panel = observation("p", "0", hasMember=[{"reference": "Observation/f1"}])
    panel["component"] = [{"code": {"text": "Pleura"}, "valueString": "No effusion."}]
    source = write(tmp_path, observed("p"), panel, FINDINGS)
    assert exams(source)["text"].tolist() == ["PLEURA: No effusion.\nFINDINGS: Clear lungs."]
    whole = report(result=[{"reference": "Observation/f1"}])
    (exam,) = exams(write(tmp_path, whole)).to_dict("records")
    assert (exam["text"], exam["text_form"]) == ("FINDINGS: Clear.\nSigned by: Faith Hope, MD", "")


def test_an_earlier_index_that_knew_no_observations_is_no_answer(tmp_path: Path) -> None:
    kept, before = tmp_path / "places.sqlite", write(tmp_path, FINDINGS, name="before.ndjson")
    (tmp_path / "now").mkdir()
    now = write(tmp_path / "now", observed("f1"))
    options = FhirOptions(elsewhere=[before], index=kept)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(resources, "KINDS", {"Patient": ""})
        patch.setattr(resources, "_LEARNT", "")
        list(read(now, options))
    assert exams(now, options)["text"].tolist() == ["FINDINGS: Clear lungs."]


@pytest.mark.parametrize(
    ("numbers", "accession"),
    [
        ({"PLAC": "P1", "FILL": "F1"}, "F1"), ({"PLAC": "P1"}, "P1"), ({"X": "9"}, "r1"),
        ({"PLAC": "P1", "FILL": "F1", "ACSN": "A1"}, "A1"),
    ],
)  # fmt: skip
def test_an_order_without_an_accession_goes_by_its_fillers_or_placers_number(
    tmp_path: Path, numbers: dict[str, str], accession: str
) -> None:
    kinds = [{"type": {"coding": [{"code": c}]}, "value": n} for c, n in numbers.items()]
    asked = {"identifier": [], "basedOn": [{"reference": "ServiceRequest/o1"}]}
    added = report(**asked, id="r2", status="appended")
    source = write(tmp_path, report(**asked), added, ORDER | {"identifier": kinds})
    assert exams(source)["accession"].tolist() == [
        accession,
        "r2" if accession == "r1" else accession,
    ]
    if accession != "r1":
        told = [b.quarantined["reason"].tolist() for b in read(source, FhirOptions(orders=False))]
        assert told == [["order_exported"] * 2]


STUDENT = READER | {"id": "d6", "name": [{"family": "Roe", "given": ["Sam"]}]}


def role(name: str, code: str) -> dict[str, Any]:
    who = {"practitioner": {"reference": f"Practitioner/{name}"}}
    return {
        "resourceType": "PractitionerRole",
        "id": name,
        "code": [{"coding": [{"code": code}]}],
    } | who


def by_function(name: str, code: str) -> dict[str, Any]:
    coded = {
        "url": "x/event-performerFunction",
        "valueCodeableConcept": {"coding": [{"code": code}]},
    }
    return {"reference": f"Practitioner/{name}", "extension": [coded]}


BOTH = [{"reference": "Practitioner/d6"}, {"reference": "Practitioner/d5"}]
ROLES = [{"reference": "PractitionerRole/d6"}, {"reference": "PractitionerRole/d5"}]
ATTESTER = {"url": "x/attester", "extension": [{"url": "party", "valueReference": BOTH[1]}]}
SIGNATURE = {"url": "x/signature", "valueSignature": {"who": BOTH[1]}}


@pytest.mark.parametrize(
    ("text", "named", "reader", "told"),
    [
        ("Clear.", {"resultsInterpreter": BOTH}, "d6", ", the first of several"),
        ("Clear.\nSigned by: Faith Hope, MD", {"resultsInterpreter": BOTH}, "d5", ""),
        ("Clear.", {"resultsInterpreter": ROLES}, "d5", ""),
        ("Clear.", {"resultsInterpreter": [by_function("d6", "SPRF"), BOTH[1]]}, "d5", ""),
        ("Clear.", {"resultsInterpreter": [BOTH[0], by_function("d5", "PPRF")]}, "d5", ""),
        ("Clear.", {"resultsInterpreter": BOTH, "extension": [ATTESTER]}, "d5", ""),
        ("Clear.", {"resultsInterpreter": BOTH, "extension": [SIGNATURE]}, "d5", ""),
        ("Clear.", {"resultsInterpreter": [*BOTH[1:], *BOTH[1:]]}, "d5", ""),
    ],
)
def test_of_several_interpreters_the_principal_is_the_reader(
    tmp_path: Path, text: str, named: dict[str, Any], reader: str, told: str
) -> None:
    roles = [role("d6", "AI"), role("d5", "PI")]
    source = write(tmp_path, report(presentedForm=[form(text)], **named), READER, STUDENT, *roles)
    (exam,) = exams(source).to_dict("records")
    source_told = f"resultsInterpreter{told}, by the id of a resource"
    assert (exam["reader_id"], exam["reader_source"]) == (reader, source_told)


@pytest.mark.parametrize("status", ["preliminary", "registered", "unknown", "final", "amended"])
def test_a_part_that_is_not_final_is_told_of_a_report_that_is(tmp_path: Path, status: str) -> None:
    told = "" if status in ("final", "amended") else "observations of which some are preliminary"
    rest = (FINDINGS | {"status": status}, PATIENT)
    assert exams(write(tmp_path, observed("f1"), *rest))["text_form"].item() == told
    draft = exams(write(tmp_path, observed("f1", status="preliminary"), *rest))
    assert (draft["status"].item(), draft["text_form"].item()) == ("prelim", "")


def test_a_number_no_longer_used_is_no_exam_of_its_own(tmp_path: Path) -> None:
    number = {"type": {"coding": [{"code": "ACSN"}]}}
    both = [number | {"value": "OLD1", "use": "old"}, number | {"value": "ACC1"}]
    assert exams(write(tmp_path, report(identifier=both)))["accession"].tolist() == ["ACC1"]


def test_words_that_are_said_to_be_none_are_no_report(tmp_path: Path) -> None:
    said = {"status": "empty", "div": "<div>No narrative.</div>"}
    assert reasons(write(tmp_path, report(presentedForm=[], text=said))) == ["no_report_text"]


def test_no_file_of_a_folder_is_passed_over_whatever_it_is_called(tmp_path: Path) -> None:
    bundle = {"resourceType": "Bundle", "type": "collection", "entry": [{"resource": report()}]}
    (tmp_path / "DiagnosticReport").write_text(json.dumps(bundle, indent=1))
    (tmp_path / "patients.ndjson.1").write_text(json.dumps(PATIENT))
    (tmp_path / "export.xml").write_text("<Bundle xmlns='http://hl7.org/fhir'/>")
    assert exams(tmp_path)["patient_birth_date"].tolist() == ["1950-04-15"]
    assert reasons(tmp_path) == ["not_json"]


def test_reports_of_a_group_are_no_patients(tmp_path: Path) -> None:
    for whose, number in (("Group/g1", ""), ("http://a/fhir/Device/g1", ""), ("Patient/g1", "g1")):
        found = exams(write(tmp_path, report(subject={"reference": whose})))
        assert found["patient_id"].tolist() == [number]


def test_a_report_without_a_status_is_told_where_others_have_one(tmp_path: Path) -> None:
    silent = report(id="r2", identifier=[{"value": "ACC2"}])
    del silent["status"]
    checks = IngestOptions({"XR": "XR"}, "chest", pd.Timestamp("2026-10-01T00:00:00Z"))
    for others, told in (([report()], 1), ([], 0)):
        (batch,) = read(write(tmp_path, silent, *others, PATIENT), FhirOptions())
        kept = validate(batch, source="a", options=checks, seen=set())
        assert set(kept.exams["status"]) == {"final"}
        assert sum(n for note, n in kept.notes.items() if "without a status" in note) == told


def test_what_is_set_aside_of_a_bundle_has_the_number_of_its_entry(tmp_path: Path) -> None:
    other = {"resource": {"resourceType": "Slot", "id": "s"}}
    within = {"resource": {"resourceType": "Bundle", "entry": [other, other]}}
    entries = [{"resource": report()}, {"nothing": 1}, {"resource": PATIENT}, other, within]
    bundle = {"resourceType": "Bundle", "link": [{"relation": "self"}], "entry": entries}
    for told in (bundle, entries):
        source = write(tmp_path, told, name="b.json")
        (batch,) = read(source, FhirOptions())
        assert sorted(batch.quarantined["row"]) == [2, 4, 5, 5]
        assert batch.exams["source_row"].tolist() == [1]
