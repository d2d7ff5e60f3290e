"""Visits: who reads what and what CT finds, drawn for a chunk; then each visit's exams, dictated.

A visit's X-ray and CT come first, then what is written after them; the truth gets its rows beside
the texts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

import numpy as np

from calibration.arrays import BoolArray, FloatArray, IntArray
from pipeline.simulate.cases import draw_cases, repeats, slipped
from pipeline.simulate.episodes import Episode
from pipeline.simulate.identifiers import Order
from pipeline.simulate.lexicon import hospital, wording
from pipeline.simulate.rates import ct_statement, expected_labels, label_of
from pipeline.simulate.readers import CT_STYLES, XRAY_STYLES, Reader, Staff
from pipeline.simulate.scribe import Scribe, Version
from pipeline.simulate.sentences import Cell

_HOME_ADVANTAGE: Final = 4.0
"""How much rather an exam is read by a reader of its own site."""


@dataclass(frozen=True, slots=True)
class Cohort:
    """Everything drawn for the episodes of a chunk; arrays are (N,) or (N, P), see cases.py.

    ``phrase`` is what a report says, ``meant`` what its reader meant; ``probability`` is the label
    to expect of what was meant.
    """

    xr_reader: IntArray
    ct_reader: IntArray
    phrase: IntArray
    meant: IntArray
    probability: FloatArray
    ct: IntArray
    label: FloatArray
    versions: Mapping[str, BoolArray]


def draw_cohort(episodes: Sequence[Episode], staff: Staff, rng: np.random.Generator) -> Cohort:
    """Draw readers, what they say, and what CT finds, for every episode.

    An episode without an X-ray is silent on everything; every CT report states something.
    """
    site = np.array([e.patient.site for e in episodes], dtype=np.int64)
    patient = np.unique([e.patient.patient_id for e in episodes], return_inverse=True)[1]
    observation = staff.department.observation
    xr_reader = _assigned(site, staff, rng, avoid=None)
    if observation.repeated:
        later, first = repeats(patient)
        xr_reader[later] = xr_reader[first]
    cases = draw_cases(
        xr_reader,
        patient,
        np.array([e.kind != "xr_only" for e in episodes]),
        practice=staff.practice,
        observation=observation,
        rng=rng,
    )
    versions = {
        name: _is_kind(episodes, "pair") & (rng.random(len(episodes)) < share)
        for name, share in hospital()["versions"].items()
    }
    ct_reader = _assigned(site, staff, rng, avoid=xr_reader)
    meant = np.where(_is_kind(episodes, "ct_only")[:, None], -1, cases.phrase)
    phrase = meant.copy()
    phrase[meant >= 0] = slipped(meant[meant >= 0], observation.misworded, rng)
    silent = rng.random(meant.shape) < hospital()["ct"]["silence"]
    shown = cases.disease * (1.0 - staff.missed)
    ct = ct_statement(cases.u, shown, hedged=observation.hedged, silent=silent)
    effusion = [p.name for p in wording().pathologies].index("pleural effusion")
    ct[(ct < 0).all(axis=1), effusion] = 0
    asked = cases.is_asked.astype(np.float64)
    probability = expected_labels(cases.disease, asked, staff.missed, observation)
    return Cohort(xr_reader, ct_reader, phrase, meant, probability, ct, label_of(ct), versions)


def _is_kind(episodes: Sequence[Episode], kind: str) -> BoolArray:
    return np.array([e.kind == kind for e in episodes], dtype=np.bool_)


def _assigned(
    site: IntArray, staff: Staff, rng: np.random.Generator, *, avoid: IntArray | None
) -> IntArray:
    """Assign readers by workload, mostly of the exam's own site; never ``avoid`` if possible."""
    load = np.array([r.workload for r in staff.readers])
    home = np.array([r.site for r in staff.readers])
    weight = load * np.where(home == site[:, None], _HOME_ADVANTAGE, 1.0)
    if avoid is not None and load.size > 1:
        weight[np.arange(site.size), avoid] = 0.0
    cumulative = weight.cumsum(axis=1)
    u = rng.random(site.size) * cumulative[:, -1]
    return np.asarray((u[:, None] >= cumulative).sum(axis=1), dtype=np.int64)


_STYLE_LOYALTY: Final = 0.7
"""Share of a reader's reports in the style the reader leans to."""


def write_visit(i: int, episode: Episode, cohort: Cohort, staff: Staff, scribe: Scribe) -> None:
    """Write the exams of one episode and its row in the truth."""
    visit = _Visit(i, episode, cohort, staff, scribe)
    odd = scribe.rng.random() < 0.5 if episode.kind == "other_body_part" else None
    written: list[tuple[Order, str]] = []
    if episode.kind != "ct_only":
        written.append(visit.xray(chest=odd is not True))
    if episode.kind != "xr_only":
        written.append(visit.ct(episode, chest=odd is not False))
    if episode.kind == "pair":
        visit.note_pair(written)
        visit.write_after(written[0][0])
        return
    for order, exam_id in written:
        scribe.exclude(order, exam_id, episode.kind)


@dataclass(frozen=True, slots=True)
class _Visit:
    """One episode, which is the i-th of what was drawn, and who writes it down."""

    i: int
    episode: Episode
    cohort: Cohort
    staff: Staff
    scribe: Scribe

    def xray(self, *, chest: bool) -> tuple[Order, str]:
        """Write the X-ray's report, and the version before it if there is one."""
        episode, versions, write = self.episode, self.cohort.versions, self.scribe.chest
        reader = self.staff.readers[self.cohort.xr_reader[self.i]]
        order, signed = self._order("XR", reader, chest=chest), episode.xr_signed
        if not chest:
            return order, self.scribe.other(order, signed=signed)
        cells = _cells(self.cohort.phrase[self.i])
        style = self._style(reader.xray_style, XRAY_STYLES)
        early = episode.xr_performed + timedelta(minutes=2)
        if versions["prelim"][self.i]:
            write(order, self._revised(cells), Version(early, "prelim", style=style))
            return order, write(order, cells, Version(signed, version=2, style=style))
        if versions["corrected"][self.i]:
            write(order, self._revised(cells), Version(early, style=style))
            return order, write(order, cells, Version(signed, "corrected", 2, style))
        return order, write(order, cells, Version(signed, style=style))

    def ct(self, episode: Episode, *, chest: bool, once: bool = False) -> tuple[Order, str]:
        """Write the CT's report, and unless it is written ``once`` its preliminary version."""
        write, reader = self.scribe.chest, self.staff.readers[self.cohort.ct_reader[self.i]]
        performed = episode.ct_performed
        order = self._order("CT", reader, chest=chest, performed=performed)
        if not chest:
            return order, self.scribe.other(order, signed=episode.ct_signed)
        cells = _cells(self.cohort.ct[self.i])
        style = self._style(reader.ct_style, CT_STYLES)
        version = 1
        if self.cohort.versions["ct_prelim"][self.i] and not once:
            early = performed + timedelta(minutes=10)
            write(order, self._revised(cells), Version(early, "prelim", style=style))
            version = 2
        written = Version(episode.ct_signed, version=version, style=style)
        return order, write(order, cells, written)

    def note_pair(self, written: Sequence[tuple[Order, str]]) -> None:
        """Enter the pair and its outcomes into the truth."""
        (xr, xr_id), (ct, ct_id) = written
        words, rows, episode = wording(), self.scribe.ledger.rows, self.episode
        patient, cohort, i = episode.patient, self.cohort, self.i
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
                xr_id, xr.accession, xr.reader.reader_id, words.pathologies[p].name,
                words.phrases[k], words.phrases[cohort.meant[i, p]],
                float(cohort.probability[i, p]), words.phrases[said] if said >= 0 else None,
                float(cohort.label[i, p]),
            ))  # fmt: skip

    def write_after(self, xr: Order) -> None:
        """Write what follows a pair: an addendum that leaks the answer, a second CT."""
        episode, versions, i = self.episode, self.cohort.versions, self.i
        if versions["addendum"][i]:
            present = len(wording().phrases) - 1
            leaked = [c for c in _cells(self.cohort.ct[i]) if c[1] in (0, present)]
            version = 3 if versions["prelim"][i] or versions["corrected"][i] else 2
            signed = episode.ct_signed + timedelta(hours=1)
            self.scribe.chest(xr, leaked, Version(signed, "addendum", version, "addendum"))
        if versions["second_ct"][i]:
            later = replace(
                episode,
                ct_performed=episode.ct_performed + timedelta(minutes=45),
                ct_signed=episode.ct_signed + timedelta(minutes=50),
            )
            self.scribe.exclude(*self.ct(later, chest=True, once=True), "second_ct")

    def _order(
        self, modality: str, reader: Reader, *, chest: bool, performed: datetime | None = None
    ) -> Order:
        wanted = (modality, chest)
        fitting = [e for e in hospital()["exam"] if (e["modality"], e["chest"]) == wanted]
        exam, episode = self.scribe.rng.choice(fitting), self.episode
        return self.scribe.order(episode, exam, reader, performed or episode.xr_performed)

    def _style(self, own: str, styles: Sequence[str]) -> str:
        rng = self.scribe.rng
        return own if rng.random() < _STYLE_LOYALTY else rng.choice(styles)

    def _revised(self, cells: Sequence[Cell]) -> list[Cell]:
        """Return cells of an earlier version: one pathology worded with another certainty."""
        changed = int(self.scribe.rng.random() * len(cells))
        other = 1 + int(self.scribe.rng.random() * (len(wording().phrases) - 1))
        return [(p, other if n == changed else k) for n, (p, k) in enumerate(cells)]


def _cells(row: IntArray) -> list[Cell]:
    return [(p, k) for p, k in enumerate(row.tolist()) if k >= 0]
