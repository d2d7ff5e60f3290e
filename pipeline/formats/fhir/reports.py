"""One DiagnosticReport → an exam, or the reason why it is none."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Iterator, Mapping
from typing import Final

from pipeline.formats.fhir.resources import Directory, Resource, items, text_of
from pipeline.formats.markup import plain_text
from pipeline.formats.people import Person, person_from_text, signer
from pipeline.formats.rows import SetAside

__all__ = ["exam"]

_STATUS: Final[Mapping[str, str]] = {
    "final": "final", "preliminary": "prelim", "partial": "prelim", "amended": "corrected",
    "corrected": "corrected", "appended": "addendum",
}  # fmt: skip
_WITHOUT_REPORT: Final = frozenset({"registered", "cancelled", "entered-in-error", "unknown"})
_CLASS: Final = {"IMP": "inpatient", "ACUTE": "inpatient", "EMER": "emergency", "AMB": "outpatient"}
_TITLES: Final = ("dr. ", "dr ", "prof. ", "mr. ", "ms. ", "mrs. ")


def exam(
    report: Resource, directory: Directory, exam_codes: Mapping[str, str]
) -> Mapping[str, str] | SetAside:
    """Read a report; never raises on what an export may hold."""
    raw_status = text_of(report, "status")
    if raw_status in _WITHOUT_REPORT:
        return SetAside("no_valid_report", "the status says there is no report")
    text, fault = _text(report)
    if not text:
        return SetAside(fault or "no_report_text", "neither presentedForm, text nor conclusion")
    status = _STATUS.get(raw_status, raw_status)
    patient = directory.get(_reference(report, "subject"))
    code, name = _code(report)
    signed = text_of(report, "issued")
    accession = _accession(report, directory)
    version = f"{signed or 'undated'}.{hashlib.sha256(text.encode()).hexdigest()[:12]}"
    performed = text_of(report, "effectiveDateTime") or _period(report)
    born = text_of(patient, "birthDate")
    return {
        **_reader(report, directory, text),
        "exam_id": f"{accession}/{status}/{version}",
        "accession": accession,
        "patient_id": _patient_id(report, patient),
        "patient_name": "; ".join(map(_written, items(patient, "name"))),
        "patient_birth_date": born,
        "phone": next((text_of(t, "value") for t in items(patient, "telecom")), ""),
        "patient_age_years": _age(born, performed),
        "patient_class": _class(report),
        "site": "",
        "modality": exam_codes.get(code) or _modality(name),
        "exam_code": code,
        "exam_name": name,
        "performed_at": performed,
        "signed_at": signed,
        "status": status,
        "version": version,
        "referring_name": _referring(report, directory),
        "text": text,
    }


def _text(report: Resource) -> tuple[str, str]:
    """Give the report's text and, where an attachment could not be read, why."""
    fault = ""
    for form in sorted(items(report, "presentedForm"), key=_plainness):
        found = _attachment(form)
        if found is None:
            fault = "bad_attachment"
        elif found.strip():
            return found.strip(), ""
    narrative = report.get("text")
    div = text_of(narrative, "div") if isinstance(narrative, dict) else ""
    conclusion = text_of(report, "conclusion")
    found = plain_text(div)
    if conclusion and conclusion not in found:
        found = f"{found}\nIMPRESSION: {conclusion}".strip()
    return found, fault


def _plainness(form: Resource) -> int:
    kind = text_of(form, "contentType")
    return 0 if kind.startswith("text/plain") else 1 if "htm" in kind else 2


def _attachment(form: Resource) -> str | None:
    kind = text_of(form, "contentType").casefold()
    if not (kind == "" or kind.startswith("text/") or "htm" in kind or "xml" in kind):
        return ""
    try:
        content = base64.b64decode("".join(text_of(form, "data").split()), validate=True)
    except (binascii.Error, ValueError):
        return None
    charset = kind.partition("charset=")[2].strip(" \"';") or "utf-8"
    try:
        decoded = content.decode(charset)
    except (UnicodeDecodeError, LookupError):
        decoded = content.decode("cp1252", errors="replace")
    return plain_text(decoded) if "htm" in kind or "xml" in kind else decoded.replace("\r\n", "\n")


def _reader(report: Resource, directory: Directory, text: str) -> dict[str, str]:
    signed = signer(text)
    reader, source = signed, "text" if signed else ""
    for name in ("resultsInterpreter", "performer"):
        named = next((p for p in _people(report, name, directory)), None)
        if named is not None:
            reader, source = named, name
            break
    conflict = bool(reader and signed and reader.family and not reader.is_same(signed))
    return {
        "reader_id": reader.key if reader else "",
        "reader_name": reader.name if reader else "",
        "reader_source": source,
        "reader_conflict": "1" if conflict else "",
    }


def _people(report: Resource, name: str, directory: Directory) -> Iterator[Person]:
    for item in items(report, name):
        reference = text_of(item, "reference")
        if reference.split("/")[-2:-1] == ["Organization"]:
            continue
        found = directory.get(reference)
        if found.get("resourceType") == "PractitionerRole":
            reference = _reference(found, "practitioner")
            found = directory.get(reference)
        human = next(iter(items(found, "name")), {})
        shown = _named(text_of(item, "display"))
        family, given = text_of(human, "family"), _given(human)
        if not family and shown:
            family, given = shown.family, shown.given
        if reference or family:
            yield Person(reference.rpartition("/")[2], family, given)


def _named(display: str) -> Person | None:
    folded = display.casefold()
    for title in _TITLES:
        if folded.startswith(title):
            display = display[len(title) :]
            break
    return person_from_text(display)


def _given(human: Resource) -> str:
    given = human.get("given")
    return " ".join(str(part) for part in given) if isinstance(given, list) else ""


def _written(human: Resource) -> str:
    family = text_of(human, "family")
    return f"{family}^{_given(human)}".strip("^") if family else text_of(human, "text")


def _reference(resource: Resource, name: str) -> str:
    return next((text_of(item, "reference") for item in items(resource, name)), "")


def _patient_id(report: Resource, patient: Resource) -> str:
    values = [text_of(item, "value") for item in items(patient, "identifier")]
    subject = next(iter(items(report, "subject")), {})
    own = [text_of(item, "value") for item in items(subject, "identifier")]
    return next((v for v in (*values, *own) if v), text_of(subject, "reference").rpartition("/")[2])


def _accession(report: Resource, directory: Directory) -> str:
    orders = [directory.get(text_of(item, "reference")) for item in items(report, "basedOn")]
    for resource in (report, *orders):
        for identifier in items(resource, "identifier"):
            types = items(next(iter(items(identifier, "type")), {}), "coding")
            if any(text_of(coding, "code") == "ACSN" for coding in types):
                return text_of(identifier, "value")
    first = next((text_of(item, "value") for item in items(report, "identifier")), "")
    return first or text_of(report, "id")


def _code(report: Resource) -> tuple[str, str]:
    concept = next(iter(items(report, "code")), {})
    coding = next(iter(items(concept, "coding")), {})
    return text_of(coding, "code"), text_of(concept, "text") or text_of(coding, "display")


def _modality(name: str) -> str:
    words = name.upper().replace("-", " ").split()
    known = ("CT", "XR", "CR", "DX", "MR", "MRI", "US", "NM", "PET", "MG")
    found = next((word for word in words if word in known), "")
    return found or ("XR" if {"RADIOGRAPH", "VIEW", "VIEWS", "RAY"} & set(words) else "")


def _period(report: Resource) -> str:
    period = next(iter(items(report, "effectivePeriod")), {})
    return text_of(period, "start") or text_of(period, "end")


def _class(report: Resource) -> str:
    encounter = next(iter(items(report, "encounter")), {})
    return _CLASS.get(text_of(encounter, "class"), "")


def _referring(report: Resource, directory: Directory) -> str:
    orders = (directory.get(text_of(item, "reference")) for item in items(report, "basedOn"))
    people = (person for order in orders for person in _people(order, "requester", directory))
    return next((person.name for person in people), "")


def _age(born: str, performed: str) -> str:
    if len(born) < 4 or len(performed) < 10 or not (born[:4] + performed[:4]).isdigit():
        return ""
    years = int(performed[:4]) - int(born[:4]) - (len(born) == 10 and performed[5:10] < born[5:10])
    return str(years) if years >= 0 else ""
