"""A report's forms, observations, notes and conclusion → its text, and what of them is left out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pipeline.formats.attachments import (
    Attachment,
    Chosen,
    chosen,
    decoded_base64,
    form_of,
    is_as_stated,
    text_in_cell,
)
from pipeline.formats.exams import DRAFT, SetAside
from pipeline.formats.fhir.directory import Directory
from pipeline.formats.fhir.resources import Resource, items, text_of
from pipeline.formats.markup import plain_text
from pipeline.formats.values import CONCLUDING, PART, is_sentence, section_of

WITHOUT_REPORT: Final = ("registered", "unknown")
"""Statuses of a report that must not be read."""
_UNFINISHED: Final = ("preliminary", *WITHOUT_REPORT)
"""Statuses of an observation that is not final."""
CODES: Final = "FHIR report of which codes (conclusionCode) are left out: they hold no sentence"
NOTES: Final = "FHIR report of which notes are left out: they are remarks beside its words"
_DAMAGED: Final = SetAside("bad_attachment", "base64 that is none")
_ELSEWHERE: Final = SetAside("attachment_elsewhere", "its address is not in the export")
_LACKING: Final = "a report of which an observation (result) is in no file"
_IMPRESSION: Final = re.compile(rf"(?im)^[ \t]{{0,8}}(?:{CONCLUDING})[ \t]{{0,4}}:")


def words_of(report: Resource, directory: Directory) -> tuple[str, str, SetAside | None]:
    """Give the report's text, the form it was read from, and why an attachment gave none.

    An attachment that is an address only is looked for among the documents of the export.
    """
    fault: SetAside | None = None
    found: list[Attachment] = []
    for form in items(report, "presentedForm"):
        url = text_of(form, "url")
        binary = directory.document(url) if url and not text_of(form, "data") else {}
        content = decoded_base64(text_of(binary or form, "data"))
        if content is None:
            fault = _DAMAGED
        elif content and not is_as_stated(content, form.get("size"), text_of(form, "hash")):
            return "", "", SetAside("damaged_document", "its size or hash is another than stated")
        elif content:
            kind = text_of(form, "contentType") or text_of(binary, "contentType")
            found.append(Attachment(content, kind))
        elif url:
            fault = fault or _ELSEWHERE
    best = chosen(found) if found else None
    whole = "\n".join(t.strip() for _, t in best.parts) if isinstance(best, Chosen) else ""
    if fault is _DAMAGED and not whole:
        return "", "", fault
    told = (each for each in items(report, "text") if text_of(each, "status") != "empty")
    div = next((text_of(each, "div") for each in told), "")
    observed = [] if whole else list(directory.observed(report, "result"))
    parts = [(_headed(each), _said(each)) for each in observed]
    shown, last = whole or plain_text(div), ""
    for heading, said in [*parts, *_noted(report, shown), *_concluded(report)]:
        if said and not _stands(said, shown) and not _IMPRESSION.search(whole):
            own = heading == last or section_of(said.split(":")[:1]) or _IMPRESSION.search(said)
            shown, last = f"{shown}\n{said if own else f'{heading} {said}'}".strip(), heading
    if isinstance(best, Chosen):
        return shown, best.document, None
    is_open = any(text_of(each, "status") in _UNFINISHED for each in observed)
    return shown, _LACKING if not all(observed) else DRAFT * is_open, fault or best


def texts_of(report: Resource, directory: Directory) -> Iterator[tuple[str, str]]:
    """Give a report's texts as they stand in it, each with its place; of parts alike the last."""
    for form in items(report, "presentedForm"):
        content = decoded_base64(text_of(form, "data")) or b""
        if not form_of(content):
            yield "presentedForm", content.decode("utf-8", "replace")
    observed = [] if report.get("presentedForm") else directory.observed(report, "result")
    parts = {_headed(each): said for each in observed if (said := _said(each))}
    yield from parts.items()
    yield from (("text", text_of(each, "div")) for each in items(report, "text"))
    yield "conclusion", text_of(report, "conclusion")


def _stands(said: str, shown: str) -> bool:
    """Tell whether words are whole sentences of a text: "Pneumonia." is none of "No pneumonia."."""
    words = r"\s+".join(map(re.escape, said.rstrip(" .").split()))
    return re.search(rf"(?:^|[.:;?!\n])[\s\d)*-]*{words}\s*(?:[.;?!\n]|$)", shown) is not None


def _headed(observation: Resource) -> str:
    """Give the heading that the code or name of an observation stands for, else its name as one."""
    code, name = code_of(observation)
    return section_of([code, name]) or f"{name.upper() or 'FINDINGS'}:"


def _said(observation: Resource) -> str:
    """Give what an observation says in words; '' where its value is a measurement or a code.

    The words of a coded value, or beside it, are some where they are a sentence; those beside a
    measurement are of it.
    """
    words = [_read(text_of(observation, f"value{kind}")) for kind in ("String", "Markdown")]
    is_worded = any(words) or not any(name.startswith("value") for name in observation)
    coded = [text_of(each, "text") for each in items(observation, "valueCodeableConcept")]
    notes = [text_of(note, "text") for note in items(observation, "note")]
    is_coded = "valueCodeableConcept" in observation
    beside = [each for each in (*coded, *notes) if is_coded and is_sentence(each)]
    return "\n".join(filter(None, [*words, *(notes if is_worded else beside)]))


def _read(written: str) -> str:
    """Read a text that may be a document or have marks in it; what cannot be read stays."""
    found = text_in_cell(written)
    return written if isinstance(found, SetAside) else found[0]


def _noted(report: Resource, shown: str) -> Iterator[tuple[str, str]]:
    """Give those notes on a report that hold a part of it, or are its only words."""
    for note in items(report, "note"):
        said = text_of(note, "text")
        if PART.search(said) or not (shown or text_of(report, "conclusion")):
            yield "FINDINGS:", said


def _concluded(report: Resource) -> Iterator[tuple[str, str]]:
    """Give the conclusion, and what its codes say in sentences."""
    yield "IMPRESSION:", _read(text_of(report, "conclusion"))
    for each in items(report, "conclusionCode"):
        if is_sentence(said := text_of(each, "text")):
            yield "IMPRESSION:", said


def left_out(report: Resource, directory: Directory, text: str) -> Iterator[str]:
    """Say what of a report's words and codes is not in its text."""
    concluded = list(items(report, "conclusionCode"))
    codes = [text_of(each, "text") for each in concluded]
    codes += [text_of(coding, "display") for e in concluded for coding in items(e, "coding")]
    if text and any(each and not _stands(each, text) for each in codes):
        yield CODES
    seen = directory.observed(report, "result") if text and not report.get("presentedForm") else ()
    notes = [each for which in (report, *seen) for each in items(which, "note")]
    if text and any(not _stands(said, text) for n in notes if (said := text_of(n, "text"))):
        yield NOTES


def code_of(report: Resource) -> tuple[str, str]:
    """Give the code and the name of a report or an observation; '' where there is none."""
    concept = next(iter(items(report, "code")), {})
    codings = items(concept, "coding")
    names = (text_of(concept, "text"), *(text_of(coding, "display") for coding in codings))
    return text_of(next(iter(codings), {}), "code"), next(filter(None, names), "")
