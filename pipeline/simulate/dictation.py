"""Whole report texts: sections in the reader's style around the findings, identifiers planted.

Truth of a report follows the resolution rule of the extraction: what the impression states
outranks the findings. A finding stated in both sections may be worded more weakly or strongly in
the findings; the impression carries the reader's phrase.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

from pipeline.simulate.identifiers import Document, Order, fill
from pipeline.simulate.lexicon import Frame, frames, wording
from pipeline.simulate.sentences import Cell, Sentence, Speaker

_WEAKER: Final = ("possibly", "may represent", "suggestive of", "probably", "likely")
_COMPARTMENTS: Final = ("lungs", "pleura", "heart", "mediastinum", "bones")


@dataclass(frozen=True, slots=True)
class _Plan:
    """Sentences of the two sections; ``where`` says which one decides each pathology."""

    findings: list[Sentence]
    impression: list[Sentence]
    where: dict[int, str]


def dictate(
    order: Order, cells: Sequence[Cell], style: str, rng: Random
) -> tuple[Document, str, dict[int, str]]:
    """Dictate one chest report, or an addendum to one where that is its style.

    Returns
    -------
    The document, its finished text, and pathology → deciding section (``findings``,
    ``impression``, or ``body`` for a report without headings).
    """
    if style == "addendum":
        return _addendum(order, cells, rng)
    is_film = order.exam["modality"] == "XR"
    mode = "xray" if is_film else "translated" if style == "translated" else "ct"
    lungs = any(k and wording().pathologies[p].compartment == "lungs" for p, k in cells)
    report = _Report(Speaker(wording(), mode, rng, lungs_empty=not lungs), order, style)
    where = report.terse(cells) if style == "terse" else report.full(cells)
    text = report.document.text(capitals=style == "capitals", width=order.site["wrap"])
    return report.document, text, where


def _addendum(
    order: Order, cells: Sequence[Cell], rng: Random
) -> tuple[Document, str, dict[int, str]]:
    """Dictate an addendum, written after the CT, that gives its findings away."""
    report = _Report(Speaker(wording(), "xray", rng), order, "narrative")
    report.document.add("ADDENDUM ")
    fill(report.document, (("datetime", True),), order, rng)
    report.document.add("\nThe subsequent CT of the chest has been reviewed.\nIMPRESSION:\n")
    report.document.add(" ".join(s.text for s in report.speaker.section(cells)) + "\n")
    report.signature()
    return report.document, report.document.text(), {p: "impression" for p, _ in cells}


def dictate_other(order: Order, rng: Random) -> tuple[Document, str]:
    """Dictate a report of another body part, which pairing must set aside."""
    report = _Report(Speaker(wording(), "xray", rng), order, "narrative")
    report.line(frames()["openings"]["header"])
    found = report.choose(frames()["others"][order.exam["code"]])
    report.document.add(f"FINDINGS: {found}\nIMPRESSION: No acute abnormality.\n")
    report.signature()
    return report.document, report.document.text()


@dataclass(frozen=True, slots=True)
class _Report:
    """A report being dictated: in whose voice, about whom, in which style."""

    speaker: Speaker
    order: Order
    style: str
    document: Document = field(default_factory=Document)

    def chance(self) -> float:
        return self.speaker.rng.random()

    def choose(self, items: Sequence[Any]) -> Any:
        return items[int(self.chance() * len(items))]

    def line(self, lines: Sequence[Frame]) -> None:
        fill(self.document, self.choose(lines), self.order, self.speaker.rng)

    def terse(self, cells: Sequence[Cell]) -> dict[int, str]:
        """Write a report without headings: statements, perhaps a device, perhaps a signature."""
        if self.chance() < 0.6:
            self.line(frames()["openings"]["short"])
        sentences = [s.text for s in self.speaker.section(cells)]
        if self.chance() < 0.4:
            sentences.append(self._distractors(1)[0].text)
        self.document.add(" ".join(sentences) + "\n")
        self.signature()
        return {p: "body" for p, _ in cells}

    def full(self, cells: Sequence[Cell]) -> dict[int, str]:
        plan = self._plan(cells)
        self._front()
        self._findings(plan.findings)
        self._impression(plan)
        if self.chance() < 0.35:
            self.line(frames()["closings"]["communication"])
            self.document.add("\n")
        self.signature()
        return plan.where

    def signature(self) -> None:
        closings = frames()["closings"]
        if self.style == "attested":
            self.line(closings["attestation"])
        elif self.chance() < (0.5 if self.style == "terse" else 0.8):
            self.line(closings["signature"])

    def _heading(self, section: str) -> str:
        return str(self.choose(frames()["headings"][section]))

    def _plan(self, cells: Sequence[Cell]) -> _Plan:
        findings: list[Cell] = []
        impression: list[Cell] = []
        signs: list[Sentence] = []
        for p, k in cells:
            u = self.chance()
            if u < (0.85 if k == 0 else 0.15):
                findings.append((p, k))
                continue
            impression.append((p, k))
            if k and u < 0.65:
                findings.append((p, self._reworded(k)))
            elif k and u < 0.9:
                signs.append(self.speaker.sign(p))
            elif k == 0 and u < 0.95:
                findings.append((p, 0))
        decided = {p: "findings" for p, _ in findings} | {p: "impression" for p, _ in impression}
        section = self.speaker.section
        return _Plan(section(findings) + signs, section(impression), decided)

    def _reworded(self, k: int) -> int:
        """Return the phrase of the findings: usually the reader's own, sometimes another."""
        phrases = self.speaker.wording.phrases
        return phrases.index(self.choose(_WEAKER)) if self.chance() < 0.25 else k

    def _distractors(self, at_most: int) -> list[Sentence]:
        pool = frames()["distractors"][self.speaker.mode]
        drawn = self.speaker.rng.sample(pool, int(self.chance() * at_most) + 1)
        return [Sentence("mediastinum", text) for text in drawn]

    def _front(self) -> None:
        """Write what stands before the findings: header, indication, comparison, technique."""
        if self.chance() < 0.85:
            self.line(frames()["openings"]["header"])
        self.document.add(self._heading("indication") + " ")
        self.line(frames()["indication"]["named" if self.chance() < 0.4 else "plain"])
        if self.chance() < 0.7:
            self.document.add("\n" + self._heading("comparison") + " ")
            self.line(frames()["comparison"]["lines"])
        if self.chance() < 0.7:
            technique = self.choose(self.order.exam["technique"])
            self.document.add(f"\n{self._heading('technique')} {technique}")
        self.document.add("\n")

    def _findings(self, sentences: list[Sentence]) -> None:
        everything = sentences + self._distractors(4)
        heading = self._heading("findings")
        self.document.add(heading)
        if self.style not in ("templated", "structured"):
            self.speaker.rng.shuffle(everything)
            self.document.add(self._gap(heading) + " ".join(s.text for s in everything) + "\n")
            return
        self.document.add("\n")
        for compartment in _COMPARTMENTS:
            texts = [s.text for s in everything if s.compartment == compartment]
            if texts:
                part = self.choose(frames()["headings"]["compartments"][compartment])
                self.document.add(f"{part} {' '.join(texts)}\n")

    def _impression(self, plan: _Plan) -> None:
        texts = [s.text for s in plan.impression]
        if not texts:
            clear = not any(section == "impression" for section in plan.where.values())
            nothing = frames()["distractors"]["nothing"]
            texts = [self.choose(nothing) if clear and self.chance() < 0.5 else "As above."]
        if self.speaker.mode == "xray" and self.chance() < 0.25:
            texts.append(self.choose(frames()["distractors"]["recommend"]))
        heading = self._heading("impression")
        self.document.add(heading)
        if self.style == "numbered" or (self.style != "narrative" and self.chance() < 0.3):
            if self.chance() < 0.2:  # some dictate lists without full stops
                texts = [t.removesuffix(".") for t in texts]
            self.document.add("\n" + "".join(f"{i}. {t}\n" for i, t in enumerate(texts, start=1)))
        else:
            self.document.add(self._gap(heading) + " ".join(texts) + "\n")

    def _gap(self, heading: str) -> str:
        """Return what follows a heading; one without a colon stands on its own line."""
        return " " if heading.endswith(":") and self.chance() < 0.6 else "\n"
