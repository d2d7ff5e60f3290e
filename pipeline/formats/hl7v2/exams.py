"""One message → its orders → its exams, or the reason why there is none.

A result message may hold several patients, and each patient several orders. What stands before a
patient's first order (PID, NK1, PV1, ...) is common to the orders of that patient; an ``ORC``
belongs to the order that follows it; observations, notes and all else to the order before them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import hl7

from pipeline.formats.exams import Note, Said, SetAside, text_mark
from pipeline.formats.hl7v2 import framing
from pipeline.formats.hl7v2.endings import Endings
from pipeline.formats.hl7v2.fields import (
    SIGNATURE,
    FieldMap,
    Head,
    Place,
    merges_of,
    patient_id,
)
from pipeline.formats.hl7v2.framing import Separators
from pipeline.formats.hl7v2.text import GONE, UNSURE, Observations, observations
from pipeline.formats.people import attributed, drafter, numbers_of, reader_of
from pipeline.formats.readers import dictator, signer
from pipeline.formats.times import first_time, iso_time
from pipeline.formats.values import RETRACTED, modality_of, status_of

_COMMON: Final = frozenset({"PID", "PD1", "NK1", "PV1", "PV2", "GT1", "TXA"})


@dataclass(slots=True)
class Order:
    """One order: its segments from the header to ``OBR``, its ``OBX``, and its patient's place."""

    segments: list[str]
    patient: int
    observed: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def orders(lines: Sequence[str], wanted: Collection[str]) -> list[Order]:
    """Split a message's segments into orders; of those that no rule places, keep the wanted."""
    found: list[Order] = []
    header, common, pending, early = lines[0], [], [], []  # type: ignore[var-annotated]
    patient = 0
    for line in lines[1:]:
        name = line[:3]
        if name == "PID" and any(each.startswith("PID") for each in common):
            patient, common, pending, early = patient + 1, [line], [], []
        elif name in _COMMON:
            common.append(line)
            _share(found, patient, line)
        elif name == "ORC":
            pending = [line]
        elif name == "OBR":
            found.append(Order([header, *common, *pending, line], patient, early))
            pending, early = [], []
        else:
            last = found[-1] if found and found[-1].patient == patient else None
            if name == "OBX":
                (last.observed if last else early).append(line)
            elif name in wanted:
                (last.segments if last else common).append(line)
            elif name == "NTE" and last and not pending:
                last.notes.append(line)
    if not found and any(line.startswith("TXA") for line in common):
        found.append(Order([header, *common, *pending], patient, early))
    return found


def as_one(found: Sequence[Order], bar: str) -> list[Order]:
    """Join orders of a patient that are one but for their number: a report cut into parts."""
    kept: list[Order] = []
    first: dict[tuple[int, str], Order] = {}
    for order in found:
        same = next((s.split(bar, 2)[-1] for s in order.segments if s.startswith("OBR")), "")
        before = first.setdefault((order.patient, same), order)
        asked = [s for s in order.segments if s.startswith("ORC")]
        if before is order or not any(same.split(bar)[:2]) or not set(asked) <= {*before.segments}:
            kept.append(order)
        elif _said(order, bar) != _said(before, bar):
            before.observed += order.observed
            before.notes += order.notes
    return kept


def _said(order: Order, bar: str) -> list[str]:
    return [row.split(bar, 2)[-1] for row in (*order.observed, *order.notes)]


def _share(found: Sequence[Order], patient: int, line: str) -> None:
    """Give a segment that comes late to all of its patient's orders."""
    for order in found:
        if order.patient == patient:
            order.segments.append(line)


def without_order(lines: Sequence[str]) -> int:
    """Count the patients of a message who have no order: rows of theirs, or a report, are nobody's.

    A patient who stands there twice is one.
    """
    numbers, ordered, rows = [""], [False], [False]
    for line in lines[1:]:
        if line.startswith("PID"):
            number = "".join(line.split(lines[0][3])[3:4])
            if numbers[-1]:
                if ordered[-1] or rows[-1] or number != numbers[-1]:
                    numbers, ordered, rows = [*numbers, number], [*ordered, False], [*rows, False]
            else:
                numbers[-1] = number
        ordered[-1] |= line.startswith(("OBR", "TXA"))
        rows[-1] |= line.startswith("OBX")
    several = len(numbers) > 1
    return sum(not done and (some or several) for done, some in zip(ordered, rows, strict=True))


_FAULTS: Final = (hl7.HL7Exception, AssertionError, ValueError, LookupError, TypeError)
"""What python-hl7 raises on a broken header; it checks its own arguments with assertions."""
_KINDS: Final = ("ORU", "MDM")
"""Types of message that bring a report: a result, or a document with its notes (TXA)."""
_MERGING: Final = ("A18", "A30", "A34", "A35", "A36", "A39", "A40", "A46", "A47")
"""Events that make one patient of two numbers; others with MRG move an account or a visit."""
_CANCELLED: Final = "T11"
_OF_EVENT: Final = {"T06": "addendum", "T08": "corrected", "T10": "corrected"}
"""Event of a document's message → what it makes of the document."""
_COMPLETION: Final = Place("TXA", 17, 1)
_UNSIGNED: Final = frozenset({"DI", "DO", "IP", "IN", "PA"})
_SIGNED: Final = frozenset({"AU", "LA"})
"""Completion (HL7 table 0271) of a document that nobody, or somebody, has authenticated."""
_AVAILABILITY: Final = Place("TXA", 19, 1)
_DELETED: Final = "CA"
"""Availability (HL7 table 0273) of a document that is gone."""
_ORDER: Final = (Place("ORC", 1, 1), Place("ORC", 5, 1))
_CALLED_OFF: Final = frozenset({"CA", "OC", "CR"})
"""What ORC-1 (HL7 table 0119) and ORC-5 (0038) say of an order that is, or was, cancelled."""
_VOID: Final = (
    "report of an order that is cancelled (ORC), taken back though its words came with it"
)
_NO_RESULT: Final = frozenset({"O", "I", "S"})
"""Statuses (HL7 table 0123) before there is a result: ordered, begun, scheduled."""


@dataclass(frozen=True, slots=True)
class Hl7Options:
    """How a site's messages are read.

    Attributes
    ----------
    fields
        Where things are; see `fields.DEFAULT_FIELDS`.
    exam_codes
        Exam code → modality; wins over what the message says, for OBR-24 holds anything.
    patient_authority
        Assigning authority whose patient id to use where PID-3 repeats; '' takes the first.
    encoding
        For messages that are neither UTF-8 nor what they declare; '' leaves them to cp1252, and
        ``decoded_as`` says so.
    statuses
        A site's own words for a status → ours.
    batch_rows
        Exams in a batch.
    """

    fields: FieldMap = field(default_factory=lambda: FieldMap.of({}))
    exam_codes: Mapping[str, str] = field(default_factory=dict)
    patient_authority: str = ""
    encoding: str = ""
    statuses: Mapping[str, str] = field(default_factory=dict)
    batch_rows: int = 1000


def exams(raw: bytes, options: Hl7Options, endings: Endings | None = None) -> list[Said]:
    """Read one message; always gives at least one entry, and never raises.

    Parameters
    ----------
    endings
        How its sender's other messages end; None where there are no others.
    """
    if len(raw) > framing.MAX_MESSAGE_BYTES:
        return [SetAside("message_too_long", f"over {framing.MAX_MESSAGE_BYTES} bytes")]
    text, decoded_as = framing.decoded(raw, options.encoding)
    lines = framing.segments(text)
    if not framing.is_headed(lines):
        return [SetAside("no_header", "no MSH segment")]
    if count := framing.damaged(lines, lines[0][3]):
        return [SetAside("damaged_segment", f"{count} segment(s) broken, cut or run together")]
    endings = endings or Endings([], options.encoding)
    if isinstance(cut := endings.cut(lines), SetAside):
        return [cut]
    try:
        found = list(_exams(lines, options, endings.width(lines))) or [
            SetAside("no_order", "no OBR segment")
        ]
    except _FAULTS as error:
        return [SetAside("malformed", type(error).__name__)]
    if any(isinstance(each, Mapping) and each["text"] for each in found):
        endings.add(lines)
    told = {"decoded_as": decoded_as, "text_cut": cut}
    return [{**each, **told} if isinstance(each, Mapping) else each for each in found]


def _exams(lines: Sequence[str], options: Hl7Options, width: int) -> Iterator[Said]:
    separators = Separators.of(lines[0])
    kind = "".join(lines[0].split(separators.field)[8:9]).strip().upper()
    message, event, *_ = (*kind.split(separators.component), "")
    merges = list(merges_of(lines, separators, options.fields.places, options.patient_authority))
    if message not in _KINDS:
        names_former = any(line.startswith("MRG") for line in lines)
        if names_former and (event not in _MERGING or not merges):
            yield SetAside("merge_unclear", "another event, or it does not say what became what")
        elif not merges:
            yield SetAside("not_oru_r01", "another type of message")
        else:
            yield from merges
        return
    yield from merges
    yield from [SetAside("no_order", "a patient of the message has none")] * without_order(lines)
    found = as_one(orders(lines, options.fields.segments), separators.field)
    heads = [Head(order.segments, separators) for order in found]
    kinds = [_modality(head, options) for head in heads]
    for at, head in enumerate(heads):
        rows = _observed(found, kinds, at)
        report = observations(rows, separators, found[at].notes, width)
        is_document = message == "MDM"
        is_deleted = event == _CANCELLED or head.value(_AVAILABILITY).upper() == _DELETED
        is_off = not _CALLED_OFF.isdisjoint(head.value(place).upper() for place in _ORDER)
        if is_off or (is_document and is_deleted):
            yield from [Note(_VOID)] * bool(report.text and is_off)
            report = replace(report, text="", taken_back=True)
        head.add(report.rows)
        yield from map(Note, report.left_out)
        stated = head.first(options.fields.places["status"])
        ours = status_of(stated, options.statuses)
        is_bare = _needs_no_text(message, stated, ours, report)
        if report.text.strip() or report.taken_back or is_bare:
            yield _exam(head, report, options, _OF_EVENT.get(event, "") if is_document else "")
        else:
            yield report.fault or SetAside("no_report_text", "no OBX segment with text")


def _needs_no_text(message: str, stated: str, ours: str, report: Observations) -> bool:
    """Tell a status that speaks for itself: it takes back, or is a word that the site must map."""
    word = stated.strip().upper()
    if word in GONE or ours == RETRACTED:
        return True
    is_own = bool(word) and not ours and word not in _NO_RESULT
    return message == "ORU" and is_own and report.fault is None


def _observed(found: Sequence[Order], kinds: Sequence[str], at: int) -> Sequence[str]:
    """Give an order's observations; one without any shares those of a neighbour like it.

    One report may answer several orders of a patient: it then stands behind the last of them, or
    behind the first. An order of another modality shares nothing.
    """
    if found[at].observed:
        return found[at].observed
    order = [*range(at + 1, len(found)), *range(at - 1, -1, -1)]
    like = (
        found[i].observed
        for i in order
        if found[i].observed and found[i].patient == found[at].patient and kinds[i] == kinds[at]
    )
    return next(like, ())


def _exam(head: Head, found: Observations, options: Hl7Options, made: str) -> Mapping[str, str]:
    """Give an order's exam; `made` is what the message's event makes of the report, if it says."""
    places = options.fields.places
    plain = {name: head.first(places[name]) for name in _PLAIN}
    performed, signed, sent = (
        first_time(map(head.value, places[name]))
        for name in ("performed_at", "signed_at", "sent_at")
    )
    born = head.first(places["patient_birth_date"])
    status = _status(head, options, found, made)
    number, issuer = patient_id(head, places["patient_id"], options.patient_authority)
    referring = next(head.people(places["referring_name"]), None)
    version = f"{signed or 'undated'}.{text_mark(found.text)}"
    return {
        **plain,
        **_reader(head, found.text, places, is_preliminary=status == "prelim"),
        **{name: ";".join(head.all(places[name])) for name in ("patient_name", "relative_names")},
        "phone": numbers_of(head.all(places["phone"])),
        "other_ids": numbers_of(head.all(places["other_ids"])),
        "staff_names": ";".join(
            dict.fromkeys(p.name for p in head.people(places["staff_names"]) if p.family)
        ),
        "patient_id": number,
        "patient_authority": issuer,
        "referring_name": referring.name if referring else "",
        "exam_id": f"{plain['accession']}/{status}/{version}",
        "modality": _modality(head, options),
        "performed_at": performed,
        "signed_at": signed,
        "sent_at": sent,
        "patient_birth_date": iso_time(born)[:10] or born,  # its year alone is none of our times
        "status": status if status != "final" or head.first(places["status"]) else "",
        "version": version,
        "text_form": "" if found.form == UNSURE and status == "prelim" else found.form,
        "text": found.text,
    }


def _reader(
    head: Head, text: str, places: Mapping[str, tuple[Place, ...]], *, is_preliminary: bool
) -> dict[str, str]:
    """Attribute the report: the first place that names someone, checked against the signature.

    Who wrote a draft is who stands in its field, else who dictated what another signed, else, of a
    report that is a draft itself, its reader.
    """
    signed = signer(text)
    for place in places["reader"]:
        if place == SIGNATURE:
            named, source = [signed] if signed else [], place.segment
        else:
            named, source = list(head.people([place])), f"{place.segment}-{place.field}"
            named = named[:1] if place.segment == "TXA" else named  # who signed last
        if named:
            reader, told = reader_of(named, [signed])
            source += told
            break
    else:
        reader, source = None, ""
    first = next(head.people(places["preliminary_author"]), None)
    author = drafter(first, dictator(text), reader, is_preliminary=is_preliminary)
    return attributed(reader, source, signed, author)


def _status(head: Head, options: Hl7Options, found: Observations, made: str) -> str:
    """Give our word for the status, or theirs where it is none we know.

    What nobody has authenticated is preliminary, whatever its rows say, unless an addendum stands
    in it: that is written to what was signed. Some senders call an order final whose rows are
    corrections or an addendum; then the rows say what it is. A document whose completion no table
    knows has that for its status, which the site must map, for its rows may be final and the
    document not.
    """
    raw, own = head.first(options.fields.places["status"]), options.statuses
    completion = head.value(_COMPLETION)
    if found.taken_back or raw.strip().upper() in GONE:
        return RETRACTED
    status = made or status_of(raw, own) or ("final" if raw.upper() in _SIGNED else raw)
    if completion.upper() in _UNSIGNED:
        status = "prelim"
    elif completion and completion.upper() not in _SIGNED and not status_of(completion):
        return completion
    if found.has_addendum and status in _MAY_BE_ADDED_TO:
        return "addendum"
    return "corrected" if found.is_corrected and status == "final" else status


def _modality(head: Head, options: Hl7Options) -> str:
    places = options.fields.places
    mapped = options.exam_codes.get(head.first(places["exam_code"]))
    stated = head.first(places["modality"])
    named = modality_of(head.first(places["exam_name"]))
    is_told = "modality" in options.fields.own and stated  # a place that the site names decides
    if mapped or (named and not is_told):
        return mapped or named
    return stated


_MAY_BE_ADDED_TO: Final = ("final", "prelim", "corrected")
_PLAIN: Final = ("accession", "patient_class", "patient_sex", "site", "exam_code", "exam_name")
