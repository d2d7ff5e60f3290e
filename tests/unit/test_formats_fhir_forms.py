"""FHIR as servers, bulk exports and people write it: bundles, references, attachments."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from pipeline.formats.fhir import FhirOptions, read

PATIENT = {
    "resourceType": "Patient", "id": "p1", "birthDate": "1950-04-15",
    "identifier": [
        {"type": {"coding": [{"code": "SS"}]}, "value": "123-45-6789"},
        {"type": {"coding": [{"code": "MR"}]}, "value": "M1"},
    ],
    "name": [{"family": "Doe", "given": ["Jane"]}, {"text": "Jane Roe"}],
    "contact": [{"name": {"family": "Kin", "given": ["Ruth"]}, "telecom": [{"value": "5550101"}]}],
}  # fmt: skip
READER = {
    "resourceType": "Practitioner", "id": "d5", "identifier": [{"value": "NPI5"}],
    "name": [{"family": "Hope", "given": ["Faith"]}],
}  # fmt: skip
TEXT = "FINDINGS: Clear.\nIMPRESSION: Likely normal."


def form(content: bytes, kind: str) -> dict[str, str]:
    return {"contentType": kind, "data": base64.b64encode(content).decode()}


def hashed(kind: str, text: str) -> str:
    return base64.b64encode(hashlib.new(kind, text.encode()).digest()).decode()


def report(**changes: Any) -> dict[str, Any]:
    return {
        "resourceType": "DiagnosticReport", "id": "r1", "status": "final",
        "identifier": [{"system": "http://x/accession-number", "value": "ACC1"}],
        "code": {"coding": [{"code": "1"}, {"code": "2", "display": "CT of chest"}]},
        "subject": {"reference": "Patient/p1"}, "issued": "2026-03-01T11:00:00Z",
        "effectivePeriod": {"start": "2026-03-01T10:00:00Z"},
        "resultsInterpreter": [{"reference": "Practitioner/d5"}],
        "presentedForm": [form(TEXT.encode(), "text/plain")],
    } | changes  # fmt: skip


def found(
    folder: Path, content: str | bytes, name: str = "a.ndjson"
) -> tuple[pd.DataFrame, list[str]]:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    batches = list(read(path, FhirOptions()))
    aside = [reason for batch in batches for reason in batch.quarantined["reason"]]
    return pd.concat([batch.exams for batch in batches]), aside


def lines(*resources: object) -> str:
    return "\n".join(json.dumps(each) for each in resources)


def bundle(*entries: tuple[str, object]) -> dict[str, object]:
    each = [{"fullUrl": url, "resource": resource} for url, resource in entries]
    return {"resourceType": "Bundle", "type": "collection", "entry": each}


BY_URN = report(
    subject={"reference": "urn:uuid:1"}, resultsInterpreter=[{"reference": "urn:uuid:2"}]
)
BY_CONTAINED = report(
    subject={"reference": "#p"},
    resultsInterpreter=[{"reference": "#d"}],
    contained=[PATIENT | {"id": "p"}, READER | {"id": "d"}],
)
IN_A_BUNDLE = bundle(("x", report()), ("y", PATIENT), ("z", READER))
IN_URNS = bundle(("urn:uuid:1", PATIENT), ("urn:uuid:2", READER), ("", BY_URN))
BY_ADDRESS = report(
    subject={"reference": "https://server/fhir/Patient/p1/_history/3"},
    resultsInterpreter=[{"reference": "https://server/fhir/Practitioner/d5"}],
)


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (lines(PATIENT, READER, report()), "a.ndjson"),
        (lines(report(), READER, PATIENT), "a.json"),
        (json.dumps([PATIENT, READER, report()], indent=1), "a.json"),
        (json.dumps(IN_A_BUNDLE, indent=1), "a.json"),
        (lines(IN_URNS), "a.ndjson"),
        (lines(BY_CONTAINED), "a.ndjson"),
        (lines(BY_ADDRESS, PATIENT, READER), "a.ndjson"),
        (gzip.compress(lines(PATIENT, READER, report()).encode()), "a.ndjson.gz"),
    ],
    ids=["ndjson", "lines in json", "list", "bundle", "urn", "contained", "absolute", "gzip"],
)
def test_references_of_every_form_lead_to_the_same_people(
    tmp_path: Path, content: str | bytes, name: str
) -> None:
    exams, aside = found(tmp_path, content, name)
    (exam,) = exams.to_dict("records")
    assert aside == []
    assert (exam["patient_id"], exam["patient_birth_date"]) == ("M1", "1950-04-15")
    assert (exam["reader_id"], exam["reader_name"]) == ("NPI5", "Hope^Faith")
    assert exam["patient_name"] == "Doe^Jane;Jane Roe"
    assert exam["relative_names"] == "Kin^Ruth"
    assert "123-45-6789" in exam["other_ids"]
    assert (exam["modality"], exam["accession"], exam["text"]) == ("CT", "ACC1", TEXT)
    assert exam["performed_at"] == "2026-03-01T10:00:00Z"


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"\xff\xd8\xff x", "application/pdf"),
        (b"PK\x03\x04 x", "text/plain"),
        (b"Clear.", "application/rtf"),
        (b"\x00\x01\x02", ""),
    ],
)
def test_a_document_that_is_no_text_is_set_aside(tmp_path: Path, content: bytes, kind: str) -> None:
    exams, aside = found(tmp_path, lines(report(presentedForm=[form(content, kind)])))
    assert (len(exams), aside) == (0, ["only_attachment"])


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (TEXT.replace("\n", "\r\n").encode(), "text/plain"),
        (TEXT.encode("utf-16"), "text/plain; charset=utf-16"),
        (TEXT.encode(), "text/plain; charset=undefined"),
        (f"<html><p>{TEXT.replace(chr(10), '</p><p>')}</p></html>".encode(), "text/html"),
        (f"<div>{TEXT.replace(chr(10), '<br/>')}</div>".encode(), ""),
        (f"<d><p>{TEXT.replace(chr(10), '</p><p>')}</p></d>".encode(), "application/xhtml+xml"),
    ],
)  # fmt: skip
def test_text_of_any_kind_is_read(tmp_path: Path, content: bytes, kind: str) -> None:
    forms = [form(b"%PDF-1.7", "application/pdf"), form(content, kind)]
    exams, _ = found(tmp_path, lines(report(presentedForm=forms)))
    assert [line for line in exams["text"].item().split("\n") if line] == TEXT.split("\n")


def test_base64_of_either_alphabet_with_or_without_padding_is_read(tmp_path: Path) -> None:
    data = base64.urlsafe_b64encode("Größe ÿþ?>: normal".encode()).decode().rstrip("=")
    exams, _ = found(tmp_path, lines(report(presentedForm=[{"data": data}])))
    assert exams["text"].item() == "Größe ÿþ?>: normal"


@pytest.mark.parametrize("status", ["entered-in-error", "cancelled"])
def test_a_report_taken_back_takes_its_versions_along_and_says_nothing(
    tmp_path: Path, status: str
) -> None:
    exams, aside = found(tmp_path, lines(report(status=status, presentedForm=[])))
    assert exams[["status", "text"]].to_numpy().tolist() == [["retracted", ""]]
    assert aside == []


def test_a_status_of_the_sites_own_is_left_to_its_map_also_without_a_text(tmp_path: Path) -> None:
    exams, aside = found(tmp_path, lines(report(status="annullato", presentedForm=[])))
    assert (exams["status"].tolist(), aside) == (["annullato"], [])


def test_codes_of_a_conclusion_are_no_report(tmp_path: Path) -> None:
    coded = {"conclusionCode": [{"text": "Effusion"}], "presentedForm": []}
    assert found(tmp_path, lines(report(**coded)))[1] == ["no_report_text"]


def test_the_study_speaks_where_the_report_is_silent(tmp_path: Path) -> None:
    study = {
        "resourceType": "ImagingStudy", "id": "s1", "started": "2026-03-01T09:00:00Z",
        "modality": [{"code": "DX"}],
    }  # fmt: skip
    bare = report(
        effectivePeriod={}, code={"text": "Thorax"}, imagingStudy=[{"reference": "ImagingStudy/s1"}]
    )
    exams, aside = found(tmp_path, lines(bare, study))
    assert aside == []
    assert (exams["modality"].item(), exams["performed_at"].item()) == ("XR", study["started"])


def test_an_encounter_gives_the_class_and_a_department_is_no_reader(tmp_path: Path) -> None:
    ward = {"resourceType": "Encounter", "id": "e1", "class": {"code": "IMP"}}
    team = {"resourceType": "Organization", "id": "o1", "name": "Radiology"}
    held = report(
        encounter={"reference": "Encounter/e1"},
        resultsInterpreter=[],
        performer=[
            {"reference": "urn:o1", "type": "Organization"},
            {"reference": "Practitioner/d5"},
        ],
    )
    exams, aside = found(tmp_path, lines(held, ward, team, READER))
    assert aside == []
    assert (exams["patient_class"].item(), exams["reader_id"].item()) == ("inpatient", "NPI5")


def test_a_lone_surrogate_becomes_a_question_mark(tmp_path: Path) -> None:
    broken = lines(report(presentedForm=[], conclusion="SURROGATE")).replace(
        "SURROGATE", "No \\ud800."
    )
    assert found(tmp_path, broken)[0]["text"].item() == "IMPRESSION: No ?."


def test_depth_and_length_do_not_stop_the_rest(tmp_path: Path) -> None:
    exams, aside = found(
        tmp_path, "[" * 100_000 + "\n" + '{"a":' * 100_000 + "\n" + lines(report())
    )
    assert (len(exams), aside) == (1, ["not_json", "not_json"])


BINARY = {"resourceType": "Binary", "id": "b1", **form(TEXT.encode(), "text/plain")}


def pointing(url: str, **changes: Any) -> dict[str, Any]:
    return report(presentedForm=[{"url": url}], **changes)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(
    "url", ["Binary/b1", "https://server.example/fhir/Binary/b1", "Binary/b1/_history/2"]
)
def test_a_document_of_the_same_export_is_found_by_its_address(
    tmp_path: Path, url: str, packed: bool
) -> None:
    content = ("\ufeff" + lines(PATIENT, {"resourceType": "Binary"}, BINARY)).encode()
    name = "Binary.ndjson.gz" if packed else "Binary.ndjson"
    (tmp_path / name).write_bytes(gzip.compress(content) if packed else content)
    exams, aside = found(tmp_path, lines(pointing(url)))
    assert (exams["text"].tolist(), aside) == ([TEXT], [])


def test_a_document_of_the_same_bundle_or_report_is_found(tmp_path: Path) -> None:
    urn = "urn:uuid:0c3151bd-1cbf-4d64-b04d-cd9187a4c6e0"
    exams, _ = found(tmp_path, lines(bundle((urn, BINARY), ("", pointing(urn)))), "a.json")
    assert exams["text"].tolist() == [TEXT]
    exams, _ = found(tmp_path, lines(pointing("#b1", contained=[BINARY])))
    assert exams["text"].tolist() == [TEXT]


@pytest.mark.parametrize("url", ["Binary/b2", "https://server.example/r.pdf", "/etc/hostname", "x"])
def test_a_document_elsewhere_is_a_reason_and_never_fetched(tmp_path: Path, url: str) -> None:
    content = lines(BINARY, pointing(url), pointing(url, conclusion="Normal."))
    exams, aside = found(tmp_path, content)
    assert exams["text"].tolist() == ["IMPRESSION: Normal."]
    assert aside == ["attachment_elsewhere"]


def test_a_place_that_stands_in_the_export_itself_leads_nowhere(tmp_path: Path) -> None:
    spoilt = BINARY | {"_place": ["/etc/hostname", 0], "data": ""}
    content = lines(bundle(("urn:uuid:1", spoilt), ("", pointing("urn:uuid:1"))))
    assert found(tmp_path, content, "a.json")[1] == ["attachment_elsewhere"]


def test_report_that_answers_several_orders_is_an_exam_for_each_accession(tmp_path: Path) -> None:
    orders = [
        {
            "resourceType": "ServiceRequest", "id": f"o{n}",
            "identifier": [{"type": {"coding": [{"code": "ACSN"}]}, "value": f"ACC{n}"}],
        }
        for n in (1, 2, 2)
    ]  # fmt: skip
    based = [{"reference": f"ServiceRequest/o{n}"} for n in (1, 2)]
    both = report(identifier=[], basedOn=based)
    exams, aside = found(tmp_path, lines(PATIENT, READER, *orders, both))
    assert exams["accession"].tolist() == ["ACC1", "ACC2"]
    assert exams["text"].tolist() == [TEXT, TEXT]
    assert exams["exam_id"].is_unique
    assert aside == []


def test_a_report_of_r5_is_known_by_its_study(tmp_path: Path) -> None:
    study = {
        "resourceType": "ImagingStudy", "id": "s1", "modality": [{"coding": [{"code": "CT"}]}],
        "identifier": [{"type": {"coding": [{"code": "ACSN"}]}, "value": "ACC8"}],
    }  # fmt: skip
    named = {"identifier": [{"value": "REPORT-1"}], "study": [{"reference": "ImagingStudy/s1"}]}
    bare = report(code={"coding": [{"code": "X"}]}, **named)
    (exam,) = found(tmp_path, lines(bare, PATIENT, READER, study))[0].to_dict("records")
    assert (exam["accession"], exam["modality"]) == ("ACC8", "CT")


def test_a_report_that_a_history_deletes_is_taken_back(tmp_path: Path) -> None:
    at = "2026-03-02T08:00:00Z"
    gone = {"request": {"method": "DELETE", "url": "DiagnosticReport/r1"},
            "response": {"status": "204", "lastModified": at}}  # fmt: skip
    history = {"resourceType": "Bundle", "type": "history", "entry": [gone, {"resource": report()}]}
    exams, aside = found(tmp_path, json.dumps(history), "a.json")
    assert exams["status"].tolist() == ["retracted", "final"]
    assert exams["accession"].nunique() == exams["patient_id"].nunique() == 1
    assert (exams["sent_at"].iloc[0], exams["text"].iloc[0], aside) == (at, "", [])
    alone = history | {"entry": [gone]}
    (tmp_path / "a.json").unlink()
    assert found(tmp_path, lines(alone))[1] == ["deleted_elsewhere"]


def deleted(url: str, **told: str) -> dict[str, Any]:
    gone = {"request": {"method": "DELETE", "url": url}, "response": {"status": "204", **told}}
    return {"resourceType": "Bundle", "type": "history", "entry": [gone]}


@pytest.mark.parametrize(
    "place", ["the same file", "a page before it", "a page behind", "elsewhere"]
)
@pytest.mark.parametrize(
    "url",
    ["DiagnosticReport/r1", "DiagnosticReport/r1/_history/2", "https://h/DiagnosticReport/r1"],
)
def test_a_deletion_takes_its_report_back_wherever_the_report_stands(
    tmp_path: Path, url: str, place: str
) -> None:
    order = {"resourceType": "ServiceRequest", "id": "o1", "identifier": [
        {"system": "http://x/accession-number", "value": "ACC7"}]}  # fmt: skip
    whole = report(identifier=[], basedOn=[{"reference": "#o1"}], contained=[order])
    history = deleted(url, lastModified="2026-03-02T08:00:00Z")
    feed, other = tmp_path / "feed", tmp_path / "other"
    name = {"the same file": "b", "a page behind": "c"}.get(place, "a")
    folder = other if place == "elsewhere" else feed
    for each in (feed, other):
        each.mkdir()
    (folder / f"{name}.ndjson").write_text(lines(whole, PATIENT))
    with (feed / "b.ndjson").open("a") as page:
        page.write("\n" + lines(history))
    elsewhere = [path for path in (other / "a.ndjson",) if path.exists()]
    batches = list(read(feed, FhirOptions(elsewhere=elsewhere)))
    exams = pd.concat([batch.exams for batch in batches])
    gone = exams[exams["status"] == "retracted"]
    assert gone[
        ["accession", "patient_id", "sent_at", "performed_at", "text"]
    ].to_numpy().tolist() == [["ACC7", "M1", "2026-03-02T08:00:00Z", "2026-03-01T10:00:00Z", ""]]
    assert [len(batch.quarantined) + len(batch.notes) for batch in batches] == [0]


def test_a_deletion_without_a_time_takes_every_version_of_its_report_back(tmp_path: Path) -> None:
    exams, aside = found(tmp_path, lines(report(), PATIENT, deleted("DiagnosticReport/r1")))
    assert exams["performed_at"].tolist() == ["2026-03-01T10:00:00Z"] * 2
    assert (exams["signed_at"].tolist()[1], exams["sent_at"].tolist()[1], aside) == ("", "", [])


@pytest.mark.parametrize(
    "url", ["DiagnosticReport/r2", "DiagnosticReport?identifier=http://x|ACC1"]
)
def test_a_deletion_of_what_no_file_holds_is_set_aside(tmp_path: Path, url: str) -> None:
    exams, aside = found(tmp_path, lines(report(), PATIENT, deleted(url), deleted("Patient/p9")))
    assert (exams["status"].tolist(), aside) == (["final"], ["deleted_elsewhere"])


def test_a_version_borrows_no_time_of_its_exam_from_another(tmp_path: Path) -> None:
    order = {"resourceType": "ServiceRequest", "id": "o1", "identifier": [{"value": "ACC7"}]}
    whole = report(basedOn=[{"reference": "ServiceRequest/o1"}])
    bare = {name: whole[name] for name in ("resourceType", "id", "status", "code", "presentedForm")}
    exams, _ = found(tmp_path, lines(whole, bare, PATIENT, order))
    assert exams["accession"].tolist() == ["ACC1", "ACC1"]
    assert exams["performed_at"].tolist() == ["2026-03-01T10:00:00Z", ""]


def test_a_patient_who_was_replaced_is_the_one_who_replaced_them(tmp_path: Path) -> None:
    linked = {"link": [{"type": "replaced-by", "other": {"reference": "Patient/p2"}}]}
    kept = PATIENT | {"id": "p2", "identifier": [{"value": "M2"}]}
    exams, _ = found(tmp_path, lines(report(), PATIENT | linked, kept, READER))
    assert exams["patient_id"].tolist() == ["M2"]
    ring = kept | {"link": [{"type": "replaced-by", "other": {"reference": "Patient/p1"}}]}
    assert len(found(tmp_path, lines(report(), PATIENT | linked, ring, READER))[0]) == 1


def test_a_readers_official_name_is_taken_whatever_other_names_they_bore(tmp_path: Path) -> None:
    names = [{"use": "maiden", "family": "Grace"}, *READER["name"]]
    exams, _ = found(tmp_path, lines(report(), PATIENT, READER | {"name": names}))
    assert exams["reader_name"].item() == "Hope^Faith"


NPI = {"system": "http://hl7.org/fhir/sid/us-npi", "value": "1234567893"}
EMPLOYEE = {"use": "official", "system": "urn:oid:1.2.3", "value": "KS1"}


@pytest.mark.parametrize(
    "referring",
    [
        {"reference": "Practitioner/eM5CWtq15N0WJeuCet5bJlQ3"},
        {"reference": "PractitionerRole/r5"},
        {"reference": "#d"},
        {"reference": "Practitioner/elsewhere", "identifier": NPI, "display": "Hope, Faith, MD"},
        {"identifier": NPI, "display": "Hope, Faith, MD"},
    ],
)
@pytest.mark.parametrize("numbers", [[EMPLOYEE, NPI], [NPI, EMPLOYEE]])
def test_a_reader_is_one_by_number_and_system_whatever_the_servers_call_the_resource(
    tmp_path: Path, referring: dict[str, Any], numbers: list[dict[str, str]]
) -> None:
    reader = READER | {"id": "eM5CWtq15N0WJeuCet5bJlQ3", "identifier": numbers}
    role = {"resourceType": "PractitionerRole", "id": "r5",
            "practitioner": {"reference": "Practitioner/eM5CWtq15N0WJeuCet5bJlQ3"}}  # fmt: skip
    contained = [reader | {"id": "d"}]
    asked = report(resultsInterpreter=[referring], contained=contained)
    exams, _ = found(tmp_path, lines(asked, PATIENT, reader, role))
    (exam,) = exams.to_dict("records")
    assert exam["reader_id"] == "http://hl7.org/fhir/sid/us-npi|1234567893"
    assert (exam["reader_name"], exam["reader_source"]) == ("Hope^Faith", "resultsInterpreter")
    assert "1234567893" in exam["other_ids"].split(";")


@pytest.mark.parametrize(
    "numbers",
    [
        [],
        [{"use": "old", "value": "KS1"}],
        [{"type": {"coding": [{"code": "SS"}]}, "value": "123-45-6789"}],
    ],
)
def test_a_reader_without_a_number_goes_by_the_resources_id_and_the_run_says_so(
    tmp_path: Path, numbers: list[dict[str, str]]
) -> None:
    exams, _ = found(tmp_path, lines(report(), PATIENT, READER | {"identifier": numbers}))
    (exam,) = exams.to_dict("records")
    assert exam["reader_id"] == "d5"
    assert exam["reader_source"] == "resultsInterpreter, by the id of a resource"


def test_a_page_of_a_search_is_read_by_its_servers_own_words(tmp_path: Path) -> None:
    patient = PATIENT | {"gender": "female", "identifier": [
        {"system": "urn:oid:1.0", "type": {"text": "EPI"}, "value": "Z1"},
        {"system": "urn:oid:1.14", "type": {"text": "MRN"}, "value": "201"},
    ]}  # fmt: skip
    own = {"system": "urn:oid:1.72", "code": "3", "display": "Emergency"}
    encounter = {"resourceType": "Encounter", "id": "e1", "class": own}
    remark = {"resourceType": "OperationOutcome", "issue": [{"severity": "warning"}]}
    asked = report(encounter={"reference": "Encounter/e1"})
    page = bundle(("a", asked), ("b", patient), ("c", encounter), ("d", READER), ("", remark))
    exams, aside = found(tmp_path, json.dumps(page | {"type": "searchset"}), "page.json")
    (exam,) = exams.to_dict("records")
    assert aside == []
    assert (exam["patient_id"], exam["patient_authority"]) == ("201", "urn:oid:1.14")
    assert exam["patient_sex"] == "female"
    assert exam["patient_class"] == "Emergency"  # the validation knows the word


@pytest.mark.parametrize(
    ("stated", "is_whole"),
    [
        ({}, True), ({"size": len("ß. Ödem")}, True), ({"size": len("ß. Ödem".encode())}, True),
        ({"size": 12}, True), ({"size": 0}, True), ({"size": "many"}, True),
        ({"size": 4000}, False), ({"hash": hashed("sha1", "ß. Ödem")}, True),
        ({"hash": hashed("sha1", "other")}, False), ({"hash": hashed("sha256", "other")}, True),
    ],
)  # fmt: skip
def test_an_attachment_that_is_not_what_is_stated_of_it_is_damaged(
    tmp_path: Path, stated: dict[str, Any], *, is_whole: bool
) -> None:
    attached = form("ß. Ödem".encode(), "text/plain") | stated
    given = report(presentedForm=[attached], conclusion="Half of it.")
    exams, aside = found(tmp_path, lines(given, PATIENT, READER))
    assert (len(exams), aside) == ((1, []) if is_whole else (0, ["damaged_document"]))


NEXT = "FHIR search of which a page (next) is in no file: entries are missing"
FEWER = "FHIR search of which fewer entries are in the files than its total: pages are missing"
BASE = "https://ehr.example/fhir/DiagnosticReport?patient=p1"


def searched(folder: Path, *pages: tuple[str, str, int, int | None]) -> dict[str, int]:
    """Write pages (address, next, reports in it, total) and give what is told of them."""
    for n, (own, after, held, total) in enumerate(pages):
        links = [{"relation": "self", "url": own}] + [{"relation": "next", "url": after}] * bool(
            after
        )
        entries = [
            {"resource": report(id=f"r{n}-{k}"), "search": {"mode": "match"}} for k in range(held)
        ]
        beside = {"resource": PATIENT, "search": {"mode": "include"}}
        page = {"resourceType": "Bundle", "type": "searchset", "link": links}
        page |= {"entry": [*entries, beside]} | ({} if total is None else {"total": total})
        (folder / f"page{n}.json").write_text(json.dumps(page), encoding="utf-8")
    found: Counter[str] = Counter()
    for batch in read(folder, FhirOptions()):
        found.update(batch.notes)
    return {told: found[told] for told in (NEXT, FEWER) if found[told]}


def test_a_deletion_in_a_history_is_one_of_its_entries(tmp_path: Path) -> None:
    gone = {"request": {"method": "DELETE", "url": "DiagnosticReport/r1"},
            "response": {"status": "204"}}  # fmt: skip
    page = {"resourceType": "Bundle", "type": "history", "total": 2,
            "link": [{"relation": "self", "url": BASE + "/_history"}],
            "entry": [{"resource": report(id="r2")}, gone]}  # fmt: skip
    (tmp_path / "page.json").write_text(json.dumps(page), encoding="utf-8")
    assert not any(FEWER in batch.notes for batch in read(tmp_path, FhirOptions()))


@pytest.mark.parametrize(
    ("pages", "told"),
    [
        # The address of a page is the next of the one before, but for the order of what it asks.
        ([(BASE, BASE + "&a=1&b=2", 2, 5), ("/DiagnosticReport?b=2&a=1&patient=p1", "", 3, 5)], {}),
        ([(BASE, BASE + "&at=2", 2, 5)], {NEXT: 1}),
        ([(BASE, BASE + "&at=2", 2, None)], {NEXT: 1}),
        ([(BASE, BASE + "&at=2", 2, 6), (BASE + "&at=3", "", 2, 6)], {FEWER: 1}),
        ([(BASE, BASE + "&at=2", 2, None), (BASE + "&at=2", BASE + "&at=3", 2, None),
          (BASE + "&at=4", "", 2, None)], {NEXT: 1}),
        # All pages have the address of the search, or addresses that lead nowhere.
        ([(BASE, BASE + "&s=x1", 2, None), (BASE, "", 3, None)], {}),
        ([(BASE, BASE + "&s=x1", 2, None), (BASE, BASE + "&s=x2", 3, None)], {NEXT: 1}),
        ([(BASE + "&p=1", BASE + "&s=x1", 2, 5), (BASE + "&p=2", "", 3, 5)], {}),
        ([(BASE + "&p=1", BASE + "&s=x1", 2, 5), (BASE + "&p=2", "", 2, 5)], {FEWER: 1}),
        ([(BASE, "", 2, 2)], {}), ([(BASE, "", 2, 3)], {FEWER: 1}),
    ],
)  # fmt: skip
def test_pages_of_a_search_that_are_missing_are_told(
    tmp_path: Path, pages: list[tuple[str, str, int, int | None]], told: dict[str, int]
) -> None:
    assert searched(tmp_path, *pages) == told


CODES = "FHIR report of which codes (conclusionCode) are left out: they hold no sentence"
NOTES = "FHIR report of which notes are left out: they are remarks beside its words"


@pytest.mark.parametrize(
    ("changes", "said", "told"),
    [
        ({"conclusionCode": [{"text": "Likely pneumonia."}]},
         ["FINDINGS: Opacity.", "IMPRESSION: Likely pneumonia."], []),
        ({"conclusionCode": [{"coding": [{"display": "Pneumonia"}]}]},
         ["FINDINGS: Opacity."], [CODES]),
        ({"note": [{"text": "IMPRESSION: Likely pneumonia."}]},
         ["FINDINGS: Opacity.", "IMPRESSION: Likely pneumonia."], []),
        ({"note": [{"text": "Called to the ward."}]}, ["FINDINGS: Opacity."], [NOTES]),
        ({"text": {}, "note": [{"text": "Likely pneumonia."}]},
         ["FINDINGS: Likely pneumonia."], []),
        ({"text": {}, "result": [{"reference": "#a"}], "contained": [
            {"resourceType": "Observation", "id": "a", "code": {"coding": [{"code": "19005-8"}]},
             "valueCodeableConcept": {"text": "Likely pneumonia of the left lung."},
             "note": [{"text": "Seen by two readers, both agree."}]}]},
         ["IMPRESSION: Likely pneumonia of the left lung.", "Seen by two readers, both agree."],
         []),
        # Half a report is none: its document cannot be read, and its conclusion could.
        ({"text": {}, "conclusion": "Normal.",
          "presentedForm": [{"contentType": "text/plain", "data": "QUJ*"}]}, [], []),
    ],
)  # fmt: skip
def test_words_of_notes_and_codes_are_read_where_they_are_the_report_and_else_counted(
    tmp_path: Path, changes: dict[str, Any], said: list[str], told: list[str]
) -> None:
    div = {"status": "generated", "div": "<div>FINDINGS: Opacity.</div>"}
    resource = report(text=div, presentedForm=[]) | changes
    path = tmp_path / "a.ndjson"
    path.write_text("\n".join(map(json.dumps, (resource, PATIENT))), encoding="utf-8")
    batches = list(read(path, FhirOptions()))
    texts = [line for b in batches for text in b.exams["text"] for line in text.split("\n")]
    assert texts == said
    assert [note for b in batches for note in b.notes if note in (CODES, NOTES)] == told
    assert [r for b in batches for r in b.quarantined["reason"]] == ["bad_attachment"] * (not said)
