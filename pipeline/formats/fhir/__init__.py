"""FHIR R4 and R5 reports (NDJSON, bundles) → exams; every report is an exam or a quarantine row.

``read(source, options)`` takes a file or a folder. Patients, practitioners and orders are looked
for in every file of JSON of the folder and those in it, so that they may come in files of their
own, and in any order; what is not there, in files of other sources. Other files are set aside.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Final

from pipeline.formats.decoding import blank, files_of, require_file
from pipeline.formats.exams import (
    DRAFT,
    EMPTY,
    ExamBatch,
    FeedRow,
    Merge,
    Note,
    SetAside,
    gathered,
    text_mark,
)
from pipeline.formats.fhir.directory import (
    ORDERS,
    STAFF,
    TIMES,
    Directory,
    kinds_of,
    patient_numbers,
    people,
    reader,
    written,
)
from pipeline.formats.fhir.pages import Pages
from pipeline.formats.fhir.resources import (
    DECODED_AS,
    KINDS,
    OBSERVATION,
    PAGE,
    REPORT,
    Index,
    Resource,
    is_json,
    items,
    reference,
    resource_files,
    resources_of,
    text_of,
)
from pipeline.formats.fhir.text import WITHOUT_REPORT, code_of, left_out, texts_of, words_of
from pipeline.formats.people import numbers_of, several
from pipeline.formats.values import RETRACTED, known_words, modality_of, status_of
from pipeline.formats.whole import Whole

__all__ = ["FhirOptions", "exams", "read", "resource_files"]

_WORDLESS: Final = SetAside("no_report_text", "neither presentedForm, text nor conclusion")
_UNNUMBERED: Final = SetAside("order_elsewhere", "its order or study is not in the export")
_NUMBERED: Final = SetAside(
    "order_exported", "its order is there, though input.fhir.orders is none"
)
_NOWHERE: Final = SetAside("deleted_elsewhere", "it is named by its id, and no file read holds it")
_NO_JSON: Final = SetAside("not_json", "a file of something else; FHIR is read as JSON, not as XML")
_NO_PATIENT: Final = Note("unknown patient resource: it is in no file, and so no age or name")
_ORDERED: Final = "basedOn"

_OPEN: Final = {"partial": "prelim", "modified": "prelim"}
"""Statuses of what is not final yet: one result of several, and (R5) a change before the end."""
_SERVICES: Final = {"CT": "CT", "RX": "XR", "CXR": "XR", "DX": "XR", "CR": "XR", "NMR": "MR"}
"""Codes of DiagnosticReport.category (HL7 table 0074, DICOM) → modality."""


@dataclass(frozen=True, slots=True)
class FhirOptions:
    """How a site's exports are read.

    Attributes
    ----------
    exam_codes
        Exam code → modality.
    orders
        Whether the orders and studies that number reports are exported; else a report without a
        number goes by its id.
    batch_rows
        Exams in a batch.
    elsewhere
        Files that may hold what the source's lack.
    index
        Where it is kept what stands where in these; None to keep it for one reading only.
    """

    exam_codes: Mapping[str, str] = field(default_factory=dict)
    orders: bool = True
    batch_rows: int = 1000
    elsewhere: Sequence[Path] = ()
    index: Path | None = None


def exams(
    report: Resource, directory: Directory, options: FhirOptions
) -> Iterator[Mapping[str, str] | SetAside | Note]:
    """Read a report, an exam for each accession; never raises on what an export may hold."""
    raw_status = text_of(report, "status").casefold()
    if raw_status in WITHOUT_REPORT:
        yield SetAside("no_valid_report", "the status says there is no report")
        return
    is_gone = status_of(raw_status) == RETRACTED
    directory = directory.within(report)
    text, form, fault = ("", "", None) if is_gone else words_of(report, directory)
    is_own = bool(raw_status) and not status_of(raw_status) and fault is None
    if not text and not is_gone and not is_own:
        yield fault or _WORDLESS
        return
    status = _OPEN.get(raw_status) or status_of(raw_status) or raw_status
    patient = directory.patient(report)
    code, name = code_of(report)
    patient_id, issuer, _ = patient_numbers(report, patient)
    signed = text_of(report, "issued")
    version = f"{signed or 'undated'}.{text_mark(text)}"
    study = directory.get(reference(report, "imagingStudy") or reference(report, "study"))
    performed = text_of(report, "effectiveDateTime") or _period(report) or text_of(study, "started")
    found = {
        **reader(report, directory, text, is_preliminary=status == "prelim"),
        **_known_people(report, directory, patient),
        "patient_id": patient_id,
        "patient_authority": issuer,
        "patient_birth_date": text_of(patient, "birthDate"),
        "patient_class": _class(report, directory),
        "patient_sex": text_of(patient, "gender"),
        "modality": options.exam_codes.get(code) or modality_of(name) or _service(report, study),
        "exam_code": code,
        "exam_name": name,
        "performed_at": performed,
        "signed_at": signed,
        "sent_at": text_of(next(iter(items(report, "meta")), {}), "lastUpdated"),
        "status": status if raw_status else "",
        "version": version,
        "referring_name": _referring(report, directory),
        "decoded_as": text_of(report, DECODED_AS),
        "text_form": "" if form == DRAFT and status == "prelim" else form,
        "text": text,
    }
    yield from map(Note, left_out(report, directory, text))
    for number in _accessions(report, directory, orders=options.orders):
        if isinstance(number, SetAside):
            yield number
        else:
            yield {**found, "exam_id": f"{number}/{status}/{version}", "accession": number}


def _accessions(
    report: Resource, directory: Directory, *, orders: bool
) -> Sequence[str | SetAside]:
    """Find the accession numbers: the report's own, else its orders', else its studies'.

    They are told by type or system; an order without one goes by its filler's or placer's number,
    so that a report and its addendum are of one study. An order or a study may be named by its
    identifier alone, without a reference. Set aside, where it has no number and its orders and
    studies are not there: another of its versions may be read under theirs. Where none are exported
    it goes by its id, and is set aside if it could go by an order's number too.
    """
    if own := _numbered([report], "ACSN"):
        return own
    pointing = [
        (name, directory.get(text_of(item, "reference")), item)
        for name in ORDERS for item in items(report, name)
    ]  # fmt: skip
    found = [each for _, each, item in pointing if not text_of(item, "reference").startswith("#")]
    if not orders and any(_numbered(found, kind) for kind in ("ACSN", "FILL", "PLAC")):
        return [_NUMBERED]
    ordered = [each for name, *both in pointing if name == _ORDERED for each in both]
    studied = [each for name, *both in pointing if name != _ORDERED for each in both]
    for each, kind in ((ordered, "ACSN"), (studied, "ACSN"), (ordered, "FILL"), (ordered, "PLAC")):
        if numbers := _numbered(each, kind):
            return numbers
    first = next((text_of(item, "value") for item in items(report, "identifier")), "")
    is_elsewhere = orders and pointing and not any(each for _, each, _ in pointing)
    return [_UNNUMBERED if is_elsewhere and not first else first or text_of(report, "id")]


def _numbered(resources: Iterable[Resource], kind: str) -> list[str]:
    """Give the numbers of a kind that some resources have, each once."""
    identifiers = (each for resource in resources for each in items(resource, "identifier"))
    found = (
        text_of(each, "value") for each in identifiers
        if text_of(each, "use") != "old" and (kind in kinds_of(each)
        or (kind == "ACSN" and "accession" in text_of(each, "system").casefold()))
    )  # fmt: skip
    return list(dict.fromkeys(filter(None, found)))


def _service(report: Resource, study: Resource) -> str:
    """Give the modality by the report's category or its study, where its name does not say."""
    codings = [c for category in items(report, "category") for c in items(category, "coding")]
    series = [m for each in (study, *items(study, "series")) for m in items(each, "modality")]
    codings += [c for each in series for c in (items(each, "coding") or [each])]  # R5 nests them
    known = (_SERVICES.get(text_of(coding, "code").upper(), "") for coding in codings)
    return next((modality for modality in known if modality), "")


def _period(report: Resource) -> str:
    period = next(iter(items(report, "effectivePeriod")), {})
    return text_of(period, "start") or text_of(period, "end")


def _class(report: Resource, directory: Directory) -> str:
    found = directory.get(reference(report, "encounter"))
    # R5 nests a coding in a concept; R4 gives the coding itself.
    codings = [next(iter(items(c, "coding")), c) for c in items(found, "class")]
    known = (known_words("fhir_class").get(text_of(coding, "code"), "") for coding in codings)
    named = (text_of(coding, "display") for coding in codings)  # a server's own codes say nothing
    return next((each for each in (*known, *named) if each), "")


def _referring(report: Resource, directory: Directory) -> str:
    orders = (directory.get(text_of(item, "reference")) for item in items(report, "basedOn"))
    asked = (person for order in orders for person in people(order, "requester", directory))
    return next((person.name for person in asked), "")


_STEPS: Final = 4
"""So far references are followed into other sources: report, role, practitioner, one more."""
_REMARK: Final = "OperationOutcome"
"""What a server says of a search, beside what it found; it is no row of an export."""


def read(source: Path, options: FhirOptions) -> Iterator[ExamBatch]:
    """Read a file of resources, or every one of a folder, in batches.

    Raises
    ------
    InputError
        If there is nothing at `source`.
    """
    files, beside = _files(source)
    directory = Directory()
    for resource in _resources(beside):
        directory.add(resource)
    index = Index(options.index)
    for _ in range(_STEPS):
        wanted = directory.missing()
        is_beside = any(each.startswith((REPORT, OBSERVATION, "urn:")) for each in wanted)
        for resource in index.resources(wanted, [*options.elsewhere, *(beside * is_beside)]):
            directory.add(resource, only=wanted)
    pages, whole = Pages(), Whole()
    for report in _resources(files):
        if text_of(report, "resourceType") == REPORT:
            whole.add(texts_of(report, directory.within(report)))
    rows = ((path.name, _rows(path, directory, options, (pages, whole))) for path in files)
    others = ((path.name, [(1, _NO_JSON)]) for path in files_of(source) if path not in set(files))
    told = source.name, ((0, note) for each in (pages, whole) for note in each.notes)
    yield from gathered(chain(rows, others, [told]), size=options.batch_rows)


def _resources(files: Iterable[Path]) -> Iterator[Resource]:
    each = (resource for path in files for _, resource in resources_of(path))
    return (resource for resource in each if not isinstance(resource, str))


def _files(source: Path) -> tuple[list[Path], list[Path]]:
    if source.is_dir():
        return (found := resource_files(source)), found
    if not blank(source):
        require_file(source)
    beside = [p for p in sorted(source.parent.iterdir()) if p != source and is_json(p)]
    return [source], [*beside, source]


def _rows(
    path: Path, directory: Directory, options: FhirOptions, known: tuple[Pages, Whole]
) -> Iterator[FeedRow]:
    pages, whole = known
    if blank(path):
        yield 1, EMPTY
        return
    for number, resource in resources_of(path):
        if isinstance(resource, str):
            yield number, SetAside(resource)
        elif text_of(resource, "resourceType") == "DiagnosticReport":
            is_gone = status_of(text_of(resource, "status")) == RETRACTED
            held = directory.get(f"{REPORT}/{text_of(resource, 'id')}")
            report = {n: held[n] for n in held if is_gone or n not in TIMES} | dict(resource)
            if is_gone and not any(items(report, n) for n in (*ORDERS, "identifier", "subject")):
                yield number, _NOWHERE
                continue
            if not is_gone and not directory.within(report).patient(report):
                yield number, _NO_PATIENT
            cut = "" if is_gone else whole.fault(texts_of(report, directory.within(report)))
            for found in exams(report, directory, options):
                yield number, {**found, "text_cut": cut} if isinstance(found, Mapping) else found
        else:
            yield from ((number, found) for found in _beside(resource, directory, pages))


def _beside(resource: Resource, directory: Directory, pages: Pages) -> Iterator[Merge | SetAside]:
    """Give what is said by a resource that is no report."""
    kind = text_of(resource, "resourceType")
    if kind == "Patient":
        yield from directory.merges(resource)
    elif kind == PAGE:
        pages.add(resource)
    elif kind not in (*KINDS, _REMARK):
        yield SetAside("other_resource", "not a report, patient, practitioner or order")


def _known_people(report: Resource, directory: Directory, patient: Resource) -> dict[str, str]:
    """Collect the names and numbers that de-identification looks for in the text."""
    orders = [directory.get(text_of(item, "reference")) for item in items(report, "basedOn")]
    naming = [(report, name) for name in STAFF]
    naming += [(order, name) for order in orders for name in ("requester", "performer")]
    naming.append((patient, "generalPractitioner"))
    staff = [person for who, name in naming for person in people(who, name, directory)]
    contacts = items(patient, "contact")
    relatives = [written(name) for each in contacts for name in items(each, "name")]
    reached = [at for who in (patient, *contacts) for at in items(who, "telecom")]
    numbers = [text_of(i, "value") for r in (report, *orders) for i in items(r, "identifier")]
    numbers += [p.identifier.rpartition("|")[2] for p in staff]
    *_, own = patient_numbers(report, patient)
    shown = text_of(next(iter(items(report, "subject")), {}), "display")
    names = [*map(written, items(patient, "name")), shown]
    return {
        "patient_name": several(names),
        "staff_names": several(p.name for p in staff if p.family),
        "relative_names": several(relatives),
        "phone": several(text_of(at, "value") for at in reached),
        "other_ids": numbers_of((*own, *numbers)),
    }
