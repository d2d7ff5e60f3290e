"""One episode's exams, dictated in order: X-ray, CT, and what is written after them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

import numpy as np

from pipeline.simulate.cohort import Cohort, IntArray
from pipeline.simulate.episodes import Episode
from pipeline.simulate.lexicon import hospital, wording
from pipeline.simulate.readers import CT_STYLES, XRAY_STYLES, Reader, Staff
from pipeline.simulate.scribe import Order, Scribe
from pipeline.simulate.sentences import Cell

__all__ = ["write_visit"]

_STYLE_LOYALTY: Final = 0.7
"""Share of a reader's reports in the style the reader leans to."""

_NO_XRAY: Final = ("ct_only",)
_NO_CT: Final = ("xr_only",)


def write_visit(i: int, episode: Episode, cohort: Cohort, staff: Staff, scribe: Scribe) -> None:
    """Write the exams of one episode and its row in the truth."""
    odd = scribe.rng.random() < 0.5 if episode.kind == "other_body_part" else None
    written: list[tuple[Order, str]] = []
    if episode.kind not in _NO_XRAY:
        reader = staff.readers[cohort.xr_reader[i]]
        written.append(_xray(i, episode, cohort, reader, scribe, chest=odd is not True))
    if episode.kind not in _NO_CT:
        reader = staff.readers[cohort.ct_reader[i]]
        written.append(_ct(i, episode, cohort, reader, scribe, chest=odd is not False))
    if episode.kind == "pair":
        _note_pair(i, episode, cohort, written, scribe)
        _after(i, episode, cohort, written, staff, scribe)
        return
    for order, exam_id in written:
        scribe.exclude(order, exam_id, episode.kind)


def _cells(row: IntArray) -> list[Cell]:
    return [(p, k) for p, k in enumerate(row.tolist()) if k >= 0]


def _style(reader: Reader, modality: str, scribe: Scribe) -> str:
    own, styles = (
        (reader.xray_style, XRAY_STYLES) if modality == "XR" else (reader.ct_style, CT_STYLES)
    )
    return own if scribe.rng.random() < _STYLE_LOYALTY else scribe.rng.choice(styles)


def _exam(modality: str, scribe: Scribe, *, chest: bool = True) -> Mapping[str, Any]:
    fitting = [e for e in hospital()["exam"] if e["modality"] == modality and e["chest"] == chest]
    chosen: Mapping[str, Any] = scribe.rng.choice(fitting)
    return chosen


def _xray(
    i: int, episode: Episode, cohort: Cohort, reader: Reader, scribe: Scribe, *, chest: bool
) -> tuple[Order, str]:
    order = scribe.order(
        episode.patient, patient_class=episode.patient_class,
        exam=_exam("XR", scribe, chest=chest), reader=reader, performed=episode.xr_performed,
    )  # fmt: skip
    if not chest:
        return order, scribe.other(order, signed=episode.xr_signed)
    cells, style = _cells(cohort.phrase[i]), _style(reader, "XR", scribe)
    early = episode.xr_performed + timedelta(minutes=2)
    if cohort.versions["prelim"][i]:
        scribe.chest(order, _revised(cells, scribe), style=style, signed=early, status="prelim")
        return order, scribe.chest(order, cells, style=style, signed=episode.xr_signed, version=2)
    if cohort.versions["corrected"][i]:
        scribe.chest(order, _revised(cells, scribe), style=style, signed=early)
        signed = episode.xr_signed
        return order, scribe.chest(
            order, cells, style=style, signed=signed, status="corrected", version=2
        )
    return order, scribe.chest(order, cells, style=style, signed=episode.xr_signed)


def _ct(
    i: int, episode: Episode, cohort: Cohort, reader: Reader, scribe: Scribe, *, chest: bool
) -> tuple[Order, str]:
    order = scribe.order(
        episode.patient, patient_class=episode.patient_class,
        exam=_exam("CT", scribe, chest=chest), reader=reader, performed=episode.ct_performed,
    )  # fmt: skip
    if not chest:
        return order, scribe.other(order, signed=episode.ct_signed)
    cells, style = _cells(cohort.ct[i]), _style(reader, "CT", scribe)
    version = 1
    if cohort.versions["ct_prelim"][i]:
        early = episode.ct_performed + timedelta(minutes=10)
        scribe.chest(order, _revised(cells, scribe), style=style, signed=early, status="prelim")
        version = 2
    signed = episode.ct_signed
    return order, scribe.chest(order, cells, style=style, signed=signed, version=version)


def _revised(cells: Sequence[Cell], scribe: Scribe) -> list[Cell]:
    """Return cells of an earlier version: one pathology worded with another certainty."""
    changed = int(scribe.rng.random() * len(cells))
    other = 1 + int(scribe.rng.random() * (len(wording().phrases) - 1))
    return [(p, other if n == changed else k) for n, (p, k) in enumerate(cells)]


def _note_pair(
    i: int,
    episode: Episode,
    cohort: Cohort,
    written: Sequence[tuple[Order, str]],
    scribe: Scribe,
) -> None:
    (xr, xr_id), (ct, ct_id) = written
    words, rows = wording(), scribe.ledger.rows
    patient = episode.patient
    rows["pairs"].append((
        xr_id, xr.accession, ct_id, ct.accession, patient.patient_id, xr.reader.reader_id,
        ct.reader.reader_id, episode.xr_performed, episode.ct_performed,
        (episode.ct_performed - episode.xr_performed) // timedelta(minutes=1),
        hospital()["site"][patient.site]["name"], episode.patient_class,
        patient.age(episode.xr_performed),
    ))  # fmt: skip
    for p, k in _cells(cohort.phrase[i]):
        said = int(cohort.ct[i, p])
        rows["outcomes"].append((
            xr_id, xr.accession, xr.reader.reader_id, words.pathologies[p].name, words.phrases[k],
            words.phrases[cohort.meant[i, p]], float(cohort.probability[i, p]),
            words.phrases[said] if said >= 0 else None, float(cohort.label[i, p]),
        ))  # fmt: skip


def _after(
    i: int,
    episode: Episode,
    cohort: Cohort,
    written: Sequence[tuple[Order, str]],
    staff: Staff,
    scribe: Scribe,
) -> None:
    """Write what follows a pair: an addendum that leaks the answer, a second CT."""
    (xr, _), _ = written
    if cohort.versions["addendum"][i]:
        present = len(wording().phrases) - 1
        leaked = [c for c in _cells(cohort.ct[i]) if c[1] in (0, present)]
        version = 3 if cohort.versions["prelim"][i] or cohort.versions["corrected"][i] else 2
        scribe.addendum(xr, leaked, signed=episode.ct_signed + timedelta(hours=1), version=version)
    if cohort.versions["second_ct"][i]:
        later = replace(
            episode,
            ct_performed=episode.ct_performed + timedelta(minutes=45),
            ct_signed=episode.ct_signed + timedelta(minutes=50),
        )
        none = replace(cohort, versions={"ct_prelim": np.zeros(cohort.ct.shape[0], dtype=bool)})
        again = _ct(i, later, none, staff.readers[cohort.ct_reader[i]], scribe, chest=True)
        scribe.exclude(*again, "second_ct")
