"""A report under construction: its pieces, its slots filled, and where each identifier stands.

Offsets are counted in characters of the finished text, half open.

Categories: NAME, ID, DATE, TIME, PHONE, EMAIL, HOSPITAL, LOCATION, AGE90. An age up to 89
identifies nobody and gets no span.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from typing import Any, Final, NamedTuple, TypeAlias

from pipeline.simulate.episodes import Patient
from pipeline.simulate.lexicon import Frame, frames, hospital, slot_spellings
from pipeline.simulate.people import Person, clock_time, exam_date, exam_moment
from pipeline.simulate.readers import Reader


class Span(NamedTuple):
    """One planted identifier: ``text[start:end]`` is the identifier itself."""

    start: int
    end: int
    category: str
    kind: str


@dataclass(slots=True)
class Document:
    """Pieces of text and the spans of the identifiers among them.

    Examples
    --------
    >>> document = Document()
    >>> document.add("MRN: ")
    >>> document.identify("00412", "ID", "mrn")
    >>> document.text(), document.spans
    ('MRN: 00412', [Span(start=5, end=10, category='ID', kind='mrn')])
    """

    pieces: list[str] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)
    length: int = 0

    def add(self, text: str) -> None:
        """Append text that identifies nobody."""
        self.pieces.append(text)
        self.length += len(text)

    def identify(self, text: str, category: str, kind: str) -> None:
        """Append an identifier and remember where it stands."""
        start = self.length
        self.add(text)
        self.spans.append(Span(start, self.length, category, kind))

    def text(self, *, capitals: bool = False, width: int = 0) -> str:
        """Return the finished text, in capitals or hard-wrapped on request; no offset moves.

        Parameters
        ----------
        capitals
            Raise every letter; no word list has a letter, such as ß, that becomes two.
        width
            Break lines at the last space before this column, outside identifiers; 0 leaves them.
        """
        whole = "".join(self.pieces)
        if width:
            whole = self._wrapped(whole, width)
        return whole.upper() if capitals else whole

    def _wrapped(self, whole: str, width: int) -> str:
        letters, line_start = list(whole), 0
        while len(whole) - line_start > width:
            stop = whole.find("\n", line_start, line_start + width)
            if stop < 0:
                stop = self._last_gap(whole, line_start, line_start + width)
                if stop < 0:
                    break
                letters[stop] = "\n"
            line_start = stop + 1
        return "".join(letters)

    def _last_gap(self, whole: str, start: int, end: int) -> int:
        """Return the last space of a line that lies in no identifier, or -1."""
        gap = whole.rfind(" ", start + 1, end)
        while gap > start and any(s.start <= gap < s.end for s in self.spans):
            gap = whole.rfind(" ", start + 1, gap)
        return gap


@dataclass(frozen=True, slots=True)
class Order:
    """One exam: everything a slot of its reports may ask for, of the version that is ``signed``."""

    patient: Patient
    patient_class: str
    exam: Mapping[str, Any]
    reader: Reader
    performed: datetime
    signed: datetime
    accession: str
    phone: str
    referring: Person
    trainee: Person

    @property
    def site(self) -> Mapping[str, Any]:
        """Where the patient was seen."""
        found: Mapping[str, Any] = hospital()["site"][self.patient.site]
        return found

    @property
    def age(self) -> int:
        """The patient's age on the day of the exam."""
        return self.patient.age(self.performed)


_Found: TypeAlias = tuple[str, str, str]
_Slot: TypeAlias = Callable[[Order, Random], _Found]


def _initials(c: Order, rng: Random) -> _Found:
    reader = c.reader.person
    if rng.random() < 0.5:
        return reader.initials, "NAME", "initials"
    typist = "".join(chr(97 + int(rng.random() * 26)) for _ in range(2))
    short = f"{reader.given[0]}{reader.family[0]}".lower()
    return f"{short}/{typist}", "NAME", "initials"


def _dated(found: tuple[str, str], of: str = "") -> _Found:
    return found[0], "DATE", f"{of}{found[1]}"


def _email(c: Order) -> _Found:
    local = (c.referring.given[0] + c.referring.family).lower()
    domain = str(c.site["domain"])
    safe = "".join(ch for ch in local if ch.isascii() and ch.isalpha())
    return f"{safe}@{domain}", "EMAIL", "email"


_DRAWN: Final[Mapping[str, _Slot]] = {
    "date": lambda c, rng: _dated(exam_date(c.performed, rng=rng, partial=False)),
    "datetime": lambda c, rng: _dated(exam_moment(c.signed, rng=rng)),
    "time": lambda c, rng: (clock_time(c.signed, rng=rng)[0], "TIME", "time"),
    "prior": lambda c, rng: _dated(
        exam_date(c.performed - timedelta(days=1 + int(rng.random() * 900)), rng=rng)
    ),
    "birth": lambda c, rng: _dated(exam_date(c.patient.birth, rng=rng, partial=False), "birth "),
    "pager": lambda _, rng: (str(rng.randrange(1000, 99999)), "PHONE", "pager"),
    "extension": lambda _, rng: (str(rng.randrange(1000, 99999)), "PHONE", "ext"),
    "email": lambda c, _: _email(c),
    "initials": _initials,
    "npi": lambda _, rng: (str(rng.randrange(1_000_000_000, 1_999_999_999)), "ID", "npi"),
}
"""Slots that need more than a pattern; the others stand in ``spellings.toml``."""


def _spelled(slot: str, order: Order, rng: Random) -> _Found:
    ways = slot_spellings()[slot]
    u = rng.random() if len(ways) > 1 else 0.0
    way = next(each for each in ways if u < each.below)
    text = way.text.format(c=order)
    return text.upper() if way.capitals else text, way.category, way.kind


def _words(text: str, order: Order, rng: Random) -> str:
    if "{" not in text:
        return text
    lists = frames()["indication"]
    complaint = lists["complaint"][int(rng.random() * len(lists["complaint"]))]
    request = lists["request"][int(rng.random() * len(lists["request"]))]
    return text.format(
        exam=order.exam["name"],
        sex="female" if order.patient.female else "male",
        complaint=complaint,
        Complaint=complaint[0].upper() + complaint[1:],
        request=request,
        Request=request[0].upper() + request[1:],
    )


def _age(document: Document, order: Order, rng: Random) -> None:
    spelling = ("{}-year-old", "{} y.o.", "{}yo", "{} year old")[int(rng.random() * 4)]
    text = spelling.format(order.age)
    if order.age > 89:
        document.identify(text, "AGE90", "age")
    else:
        document.add(text)


def _titled(document: Document, patient: Patient) -> None:
    document.add("Ms. " if patient.female else "Mr. ")
    document.identify(patient.person.family, "NAME", "title last")


def fill(document: Document, frame: Frame, order: Order, rng: Random) -> None:
    """Append a line to a document, its slots filled and located.

    Parameters
    ----------
    document
        Receives the text and the spans.
    frame
        The line, split at its slots.
    order
        What the report is about.
    rng
        Chooses spellings.
    """
    for text, is_slot in frame:
        if not is_slot:
            document.add(_words(text, order, rng))
        elif text == "age":
            _age(document, order, rng)
        elif text == "titled":
            _titled(document, order.patient)
        else:
            found = _DRAWN[text](order, rng) if text in _DRAWN else _spelled(text, order, rng)
            document.identify(*found)
