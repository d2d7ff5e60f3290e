"""Writing exams down: one row of the exams table per version, and the truth beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from random import Random
from typing import Any, Final

from pipeline.simulate.dictation import dictate, dictate_other
from pipeline.simulate.episodes import Episode
from pipeline.simulate.identifiers import Document, Order
from pipeline.simulate.lexicon import hospital, wording
from pipeline.simulate.people import Person, accession, phone, record_name
from pipeline.simulate.readers import Reader
from pipeline.simulate.sentences import Cell
from pipeline.simulate.truth import Ledger

NUMBERS_PER_CHUNK: Final = 16384
"""Exam and accession numbers set apart for one chunk."""


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a report: when it was signed, what it counts as, and how it is dictated."""

    signed: datetime
    status: str = "final"
    version: int = 1
    style: str = ""


@dataclass(slots=True)
class Scribe:
    """Writes the exams of one chunk: keeps the counter, the ledger and the chance of the texts."""

    referring: Sequence[Person]
    trainees: Sequence[Person]
    rng: Random
    counter: int
    ledger: Ledger

    def order(
        self, episode: Episode, exam: Mapping[str, Any], reader: Reader, performed: datetime
    ) -> Order:
        """Open an exam under a new accession."""
        short = hospital()["site"][episode.patient.site]["short"]
        return Order(
            patient=episode.patient,
            patient_class=episode.patient_class,
            exam=exam,
            reader=reader,
            performed=performed,
            signed=performed,
            accession=accession(self._number(), short, performed.year),
            phone=phone(self.rng),
            referring=self.rng.choice(self.referring),
            trainee=self.rng.choice(self.trainees),
        )

    def chest(self, order: Order, cells: Sequence[Cell], written: Version) -> str:
        """Write a chest report and what it states; return its exam_id."""
        of_version = replace(order, signed=written.signed)
        document, text, where = dictate(of_version, cells, written.style, self.rng)
        exam_id = self._row(order, text, document, written)
        rows, words = self.ledger.rows["report_findings"], wording()
        about = (exam_id, order.accession, written.version, written.status)
        how = (order.exam["modality"], written.style)
        for p, k in cells:
            rows.append((*about, *how, words.pathologies[p].name, words.phrases[k], where[p]))
        return exam_id

    def other(self, order: Order, *, signed: datetime) -> str:
        """Write a report of another body part; return its exam_id."""
        document, text = dictate_other(replace(order, signed=signed), self.rng)
        return self._row(order, text, document, Version(signed))

    def exclude(self, order: Order, exam_id: str, reason: str) -> None:
        """Note that an exam must not end up in a pair, and why."""
        self.ledger.rows["excluded"].append((exam_id, order.accession, reason))

    def _number(self) -> int:
        self.counter += 1
        return self.counter

    def _row(self, order: Order, text: str, document: Document, written: Version) -> str:
        patient, site = order.patient, order.site
        exam_id = f"E{self._number():09d}"
        self.ledger.exams.append((
            exam_id, order.accession, patient.patient_id, order.reader.reader_id,
            order.reader.person.full, site["name"], order.exam["modality"], order.exam["code"],
            order.exam["name"], order.performed, written.signed, written.status, written.version,
            order.age, order.patient_class,
            record_name(patient.person, site["name_style"]), f"{patient.birth:%Y-%m-%d}",
            order.referring.full, order.phone, "F" if patient.female else "M", text,
        ))  # fmt: skip
        identifiers = self.ledger.rows["identifiers"]
        for start, end, category, kind in document.spans:
            found = text[start:end]
            identifiers.append(
                (exam_id, start, end, category, kind, found, _distinctive(found, category))
            )
        return exam_id


def _distinctive(text: str, category: str) -> bool:
    """Whether finding this very string in an output proves a leak: long, and no date or place."""
    if category in ("DATE", "TIME", "AGE90", "HOSPITAL", "LOCATION"):
        return False
    return len(text) >= 9 if category == "NAME" else len(text) >= 7
