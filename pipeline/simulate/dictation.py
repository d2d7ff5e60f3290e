"""Whole report texts: sections in the reader's style around the findings, identifiers planted.

Truth of a report follows the resolution rule of the extraction: what the impression states
outranks the findings. A finding stated in both sections may be worded more weakly or strongly in
the findings; the impression carries the reader's phrase.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from pipeline.simulate.identifiers import Context, Document, fill
from pipeline.simulate.lexicon import Frame, Wording, frames
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
    cells: Sequence[Cell], *, style: str, context: Context, wording: Wording, rng: Random
) -> tuple[Document, str, dict[int, str]]:
    """Dictate one chest report.

    Returns
    -------
    The document, its finished text, and pathology → deciding section (``findings``,
    ``impression``, or ``body`` for a report without headings).
    """
    mode = "xray" if context.modality == "XR" else "translated" if style == "translated" else "ct"
    lungs = any(k and wording.pathologies[p].compartment == "lungs" for p, k in cells)
    speaker = Speaker(wording, mode, rng, lungs_empty=not lungs)
    document = Document()
    if style == "terse":
        where = _terse(document, cells, speaker, context, rng)
    else:
        where = _full(document, cells, style, speaker, context, rng)
    width = context.site["wrap"]
    return document, document.text(capitals=style == "capitals", width=width), where


def dictate_addendum(
    cells: Sequence[Cell], *, context: Context, wording: Wording, rng: Random
) -> tuple[Document, str, dict[int, str]]:
    """Dictate an addendum, written after the CT, that gives its findings away."""
    document, speaker = Document(), Speaker(wording, "xray", rng)
    document.add("ADDENDUM ")
    fill(document, (("datetime", True),), context, rng)
    document.add("\nThe subsequent CT of the chest has been reviewed.\nIMPRESSION:\n")
    document.add(" ".join(s.text for s in speaker.section(cells)) + "\n")
    _signature(document, "narrative", context, rng)
    return document, document.text(), {p: "impression" for p, _ in cells}


def dictate_other(*, context: Context, rng: Random) -> tuple[Document, str]:
    """Dictate a report of another body part, which pairing must set aside."""
    document = Document()
    _line(document, frames()["openings"]["header"], context, rng)
    document.add("FINDINGS: " + _choose(frames()["others"][context.exam["code"]], rng) + "\n")
    document.add("IMPRESSION: No acute abnormality.\n")
    _signature(document, "narrative", context, rng)
    return document, document.text()


def _choose(items: Sequence[Any], rng: Random) -> Any:
    return items[int(rng.random() * len(items))]


def _line(document: Document, lines: Sequence[Frame], context: Context, rng: Random) -> None:
    fill(document, _choose(lines, rng), context, rng)


def _plan(cells: Sequence[Cell], speaker: Speaker, rng: Random) -> _Plan:
    findings: list[Cell] = []
    impression: list[Cell] = []
    signs: list[Sentence] = []
    for p, k in cells:
        u = rng.random()
        if u < (0.85 if k == 0 else 0.15):
            findings.append((p, k))
            continue
        impression.append((p, k))
        if k and u < 0.65:
            findings.append((p, _reworded(k, speaker, rng)))
        elif k and u < 0.9:
            signs.append(speaker.sign(p))
        elif k == 0 and u < 0.95:
            findings.append((p, 0))
    decided = {p: "findings" for p, _ in findings} | {p: "impression" for p, _ in impression}
    return _Plan(speaker.section(findings) + signs, speaker.section(impression), decided)


def _reworded(k: int, speaker: Speaker, rng: Random) -> int:
    """Return the phrase of the findings section: usually the reader's own, sometimes another."""
    return speaker.wording.phrases.index(_choose(_WEAKER, rng)) if rng.random() < 0.25 else k


def _distractors(mode: str, rng: Random, at_most: int) -> list[Sentence]:
    pool = frames()["distractors"][mode]
    return [Sentence("mediastinum", s) for s in rng.sample(pool, int(rng.random() * at_most) + 1)]


def _terse(
    document: Document, cells: Sequence[Cell], speaker: Speaker, context: Context, rng: Random
) -> dict[int, str]:
    """Write a report without headings: statements, perhaps a device, perhaps a signature."""
    if rng.random() < 0.6:
        fill(document, _choose(_SHORT_OPENINGS, rng), context, rng)
    sentences = [s.text for s in speaker.section(cells)]
    if rng.random() < 0.4:
        sentences.append(_distractors(speaker.mode, rng, 1)[0].text)
    document.add(" ".join(sentences) + "\n")
    _signature(document, "terse", context, rng)
    return {p: "body" for p, _ in cells}


_SHORT_OPENINGS: Final[tuple[Frame, ...]] = (
    (("{exam} ", False), ("date", True), (". ", False)),
    (("Compared with ", False), ("prior", True), (". ", False)),
    (("mrn", True), ("  ", False), ("date", True), ("\n", False)),
)


def _full(
    document: Document,
    cells: Sequence[Cell],
    style: str,
    speaker: Speaker,
    context: Context,
    rng: Random,
) -> dict[int, str]:
    headings = frames()["headings"]
    plan = _plan(cells, speaker, rng)
    _front(document, headings, context, rng)
    _findings(document, plan.findings, style, speaker.mode, headings, rng)
    _impression(document, plan, style, speaker.mode, headings, rng)
    if rng.random() < 0.35:
        _line(document, frames()["closings"]["communication"], context, rng)
        document.add("\n")
    _signature(document, style, context, rng)
    return plan.where


def _front(document: Document, headings: Mapping[str, Any], context: Context, rng: Random) -> None:
    """Write what stands before the findings: header, indication, comparison, technique."""
    if rng.random() < 0.85:
        _line(document, frames()["openings"]["header"], context, rng)
    document.add(_choose(headings["indication"], rng) + " ")
    kind = "named" if rng.random() < 0.4 else "plain"
    _line(document, frames()["indication"][kind], context, rng)
    if rng.random() < 0.7:
        document.add("\n" + _choose(headings["comparison"], rng) + " ")
        _line(document, frames()["comparison"]["lines"], context, rng)
    if rng.random() < 0.7:
        technique = _choose(context.exam["technique"], rng)
        document.add(f"\n{_choose(headings['technique'], rng)} {technique}")
    document.add("\n")


def _findings(
    document: Document,
    sentences: list[Sentence],
    style: str,
    mode: str,
    headings: Mapping[str, Any],
    rng: Random,
) -> None:
    everything = sentences + _distractors(mode, rng, 4)
    heading = _choose(headings["findings"], rng)
    document.add(heading)
    if style not in ("templated", "structured"):
        rng.shuffle(everything)
        document.add(_gap(heading, rng) + " ".join(s.text for s in everything) + "\n")
        return
    document.add("\n")
    for compartment in _COMPARTMENTS:
        texts = [s.text for s in everything if s.compartment == compartment]
        if texts:
            part = _choose(headings["compartments"][compartment], rng)
            document.add(f"{part} {' '.join(texts)}\n")


def _impression(
    document: Document, plan: _Plan, style: str, mode: str, headings: Mapping[str, Any], rng: Random
) -> None:
    texts = [s.text for s in plan.impression]
    if not texts:
        clear = not any(section == "impression" for section in plan.where.values())
        nothing = frames()["distractors"]["nothing"]
        texts = [_choose(nothing, rng) if clear and rng.random() < 0.5 else "As above."]
    if mode == "xray" and rng.random() < 0.25:
        texts.append(_choose(frames()["distractors"]["recommend"], rng))
    heading = _choose(headings["impression"], rng)
    document.add(heading)
    if style == "numbered" or (style != "narrative" and rng.random() < 0.3):
        if rng.random() < 0.2:  # some dictate lists without full stops
            texts = [t.removesuffix(".") for t in texts]
        document.add("\n" + "".join(f"{i}. {t}\n" for i, t in enumerate(texts, start=1)))
    else:
        document.add(_gap(heading, rng) + " ".join(texts) + "\n")


def _gap(heading: str, rng: Random) -> str:
    """Return what follows a heading; one without a colon stands on its own line."""
    return " " if heading.endswith(":") and rng.random() < 0.6 else "\n"


def _signature(document: Document, style: str, context: Context, rng: Random) -> None:
    closings = frames()["closings"]
    if style == "attested":
        _line(document, closings["attestation"], context, rng)
    elif rng.random() < (0.5 if style == "terse" else 0.8):
        _line(document, closings["signature"], context, rng)
