"""How many statements are lost when a labelled report only changes its form.

Run: ``python benchmarks/extraction_forms.py [--gold FILE ...] [--only NAME ...] [--show 3]
[--seed 0]``. Every labelled report is written anew in ways that change no label: other cases, line
ends, wraps, bullets, headers, marks, spellings and slips of the keyboard, joined and parted
sentences, words moved to the front. Counted is, per way, what the rules read rightly in the report
as it was written and no longer in its variant (lost), and what they read into the variant alone
(new). A wrong label cannot count, because the report as written is read too; a variant that a
person would read otherwise can, so look at them (``--show``) before a rule is changed.
"""

from __future__ import annotations

import argparse
import re
import textwrap
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np

from extraction.audit.gold import GoldReport, load_gold
from extraction.finding import IMPRESSION, Extracted, Outcome
from extraction.rules.engine import RuleEngine

FIXTURES: Final = Path(__file__).parent.parent / "tests" / "fixtures" / "extraction"
Cells = dict[tuple[str, str], str]


@dataclass(frozen=True, slots=True)
class Report:
    """A labelled report's text, and the sentences of its findings and of its impression."""

    text: str
    findings: tuple[str, ...]
    impression: tuple[str, ...]
    rng: np.random.Generator

    def pick(self, options: Sequence[str]) -> str:
        """One of some options, by the report's own chance."""
        return options[int(self.rng.integers(len(options)))]


Variant = Callable[[Report], str | None]


@dataclass(slots=True)
class Form:
    """A way to write a report anew; `flat` if no section can be told in it."""

    name: str
    write: Variant
    flat: bool = False


@dataclass(slots=True)
class Tally:
    """What a form did."""

    variants: int = 0
    statements: int = 0
    lost: int = 0
    new: int = 0
    reports: set[str] = field(default_factory=set)
    shown: list[str] = field(default_factory=list)


FORMS: Final[list[Form]] = []


def form(name: str, *, flat: bool = False) -> Callable[[Variant], Variant]:
    """Register a form."""

    def keep(write: Variant) -> Variant:
        FORMS.append(Form(name, write, flat))
        return write

    return keep


def simple(name: str, write: Callable[[str], str]) -> None:
    """Register a form of the text as a whole."""
    FORMS.append(Form(name, lambda report: write(report.text)))


# The text as a whole.
simple("lower case", str.lower)
simple("all capitals", str.upper)
simple("title case", lambda t: re.sub(r"\b[a-z]", lambda m: m[0].upper(), t))


def _wrapped(width: int, indent: str = "") -> Callable[[str], str]:
    def write(text: str) -> str:
        lines = [
            textwrap.wrap(line, width, subsequent_indent=indent, break_on_hyphens=False) or [""]
            for line in text.split("\n")
        ]
        return "\n".join(piece for line in lines for piece in line)

    return write


for columns in (40, 60, 72, 80):
    simple(f"wrapped at {columns}", _wrapped(columns))
simple("wrapped at 60, hanging indent", _wrapped(60, "    "))
simple("wrapped at 60, capitals", lambda t: _wrapped(60)(t.upper()))
simple("wrapped at 60, lower case", lambda t: _wrapped(60)(t.lower()))


@form("wrapped at 60 with hyphens")
def _hyphenated(report: Report) -> str:
    lines = []
    for whole in report.text.split("\n"):
        line = whole
        while len(line) > 60:
            cut = line.rfind(" ", 0, 61)
            word = re.match(r"[a-z]{9,}", line[cut + 1 :])
            room = 60 - cut - 2
            if cut < 0:
                break
            if word and 3 <= room <= len(word[0]) - 3:
                lines.append(line[: cut + 1 + room] + "-")
                line = line[cut + 1 + room :]
            else:
                lines.append(line[:cut])
                line = line[cut + 1 :]
        lines.append(line)
    return "\n".join(lines)


simple("double spaces behind full stops", lambda t: re.sub(r"\. (?=\S)", ".  ", t))
simple("double spaces everywhere", lambda t: t.replace(" ", "  "))
simple("tabs behind colons", lambda t: re.sub(r": ", ":\t", t))
simple("tabs before lines", lambda t: "\n".join("\t" + line for line in t.split("\n")))
simple("spaces before lines", lambda t: "\n".join("    " + line for line in t.split("\n")))
simple("spaces behind lines", lambda t: "\n".join(line + "   " for line in t.split("\n")))
simple("Windows line ends", lambda t: t.replace("\n", "\r\n"))
simple("Windows line ends, wrapped", lambda t: _wrapped(60)(t).replace("\n", "\r\n"))
simple("old Mac line ends", lambda t: t.replace("\n", "\r"))
simple("blank line after each line", lambda t: t.replace("\n", "\n\n"))
simple("no-break spaces", lambda t: t.replace(" ", "\u00a0"))
simple("typographic marks", lambda t: t.replace("'", "’").replace(" - ", " – ").replace("-", "‑"))
simple("en dashes for hyphens between spaces", lambda t: t.replace(" - ", " — "))
simple("html breaks", lambda t: t.replace("\n", "<br>"))
simple("html paragraphs", lambda t: "<p>" + t.replace("\n", "</p><p>") + "</p>")
simple("no space behind full stops", lambda t: re.sub(r"([a-z])\. (?=[A-Z])", r"\1.", t))
simple("space before marks", lambda t: re.sub(r"([a-z])([.,:;?])(?=\s|$)", r"\1 \2", t))
simple("semicolons for full stops", lambda t: _inner_stops(t, "; "))
simple("no full stops at line ends", lambda t: re.sub(r"\.(?=\n|$)", "", t))
simple("no full stops before capitals", lambda t: re.sub(r"(?<=[a-z)])\. (?=[A-Z][a-z])", " ", t))
simple("two full stops", lambda t: re.sub(r"(?<=[a-z])\.(?=\s|$)", "..", t))
simple("one paragraph, headers kept", lambda t: re.sub(r"\s*\n\s*", " ", t))
simple("one paragraph, capitals", lambda t: re.sub(r"\s*\n\s*", " ", t).upper())
simple("one paragraph, lower case", lambda t: re.sub(r"\s*\n\s*", " ", t).lower())


def _inner_stops(text: str, mark: str) -> str:
    return re.sub(r"(?<=[a-z)])\. (?=[A-Z][a-z])(?!.{0,30}:)", mark, text)


# Trailing and leading lines.
_CLOSINGS: Final = {
    "signature": "\n\nDr A. Smith\nConsultant Radiologist",
    "signature with header": "\n\nElectronically signed by: A. Smith, MD 12/03/2021 14:22",
    "signature in a line": " Reported by Dr A. Smith, FRCR, GMC 1234567.",
    "attestation": "\n\nI have personally reviewed the images and agree with the above report.",
    "disclaimer": "\n\nThis report was generated with voice recognition software and may contain "
    "transcription errors.",
    "disclaimer on pneumonia": "\n\nNote: A normal radiograph does not exclude early pneumonia or "
    "pulmonary embolism.",
    "communication": "\n\nFindings were discussed with the referring team by telephone at 14:20.",
    "end mark": "\n\n*** End of report ***",
    "dictated": "\nDictated by: AS\nTranscribed: 12/03/2021\nStatus: Final",
    "addendum of nothing": "\n\nAddendum: No change to the above report.",
}
for closing, words in _CLOSINGS.items():
    simple(f"closing: {closing}", lambda t, words=words: t.rstrip() + words)  # type: ignore[misc]
_OPENINGS: Final = {
    "Clinical details: ?pneumonia": "Clinical details: ?pneumonia\n",
    "Indication, one line": "Indication: Cough, rule out pneumonia. ",
    "bare question": "?pneumonia\n",
    "bare question of two": "? pneumonia ? effusion\n",
    "Hx": "Hx: SOB, r/o PE\n",
    "Clinical history in capitals": "CLINICAL HISTORY: Fever. Evaluate for pneumonia.\n\n",
    "Reason for exam": "Reason for exam: pneumothorax, follow up\n",
    "header on its line": "CLINICAL INFORMATION\nCough, ?pneumonia\n\n",
    "complaint": "Fall, ?rib fracture.\n",
    "examination": "Chest PA and lateral\n\n",
    "examination and date": "XR CHEST 12/03/2021 14:22\n",
    "examination, technique": "EXAM: Chest radiograph\nTECHNIQUE: Portable AP\n",
    "comparison": "Comparison: 12 March 2021, which showed a left effusion.\n",
    "compared": "Compared with the previous examination of 12/03/2021.\n",
}
_UNREAD: Final = re.compile(r"^(?:FINDINGS|Findings|REPORT|Report)[:\n]")
for opening, words in _OPENINGS.items():

    def _opened(report: Report, words: str = words) -> str | None:
        """Put before findings that have their header, or have a line of their own."""
        if _UNREAD.match(report.text):
            return words + report.text
        body = _sections(report, ("FINDINGS:\n", "IMPRESSION:\n"))
        return words + body

    FORMS.append(Form(f"opening: {opening}", _opened))

for opening in ("bare question", "examination", "complaint", "compared"):

    def _opened_bare(report: Report, words: str = _OPENINGS[opening]) -> str | None:
        """Put before findings without a header."""
        body = _sections(report, ("", "Impression: "))
        return words + body if report.findings else None

    FORMS.append(Form(f"opening, findings without header: {opening}", _opened_bare))


# Sections written anew.
def _sections(report: Report, headers: tuple[str, str], between: str = "\n") -> str:
    parts = (headers[0] + " ".join(report.findings), headers[1] + " ".join(report.impression))
    said = [p for p, has in zip(parts, (report.findings, report.impression), strict=True) if has]
    return between.join(said)


_HEADERS: Final = {
    "FINDINGS: IMPRESSION:": ("FINDINGS: ", "IMPRESSION: "),
    "lines of their own": ("FINDINGS\n", "IMPRESSION\n"),
    "lines of their own, blank lines": ("FINDINGS\n\n", "\nIMPRESSION\n\n"),
    "small, lines of their own": ("Findings\n", "Impression\n"),
    "Findings - Impression -": ("Findings - ", "Impression - "),
    "Findings– Impression–": ("Findings– ", "Impression– "),
    "Findings. Impression.": ("Findings. ", "Impression. "),
    "stars": ("**Findings**\n", "**Impression**\n"),
    "stars and colons": ("**Findings:** ", "**Impression:** "),
    "hashes": ("## Findings\n", "## Impression\n"),
    "underlined": ("FINDINGS\n--------\n", "IMPRESSION\n----------\n"),
    "equals": ("=== FINDINGS ===\n", "=== IMPRESSION ===\n"),
    "brackets": ("[FINDINGS]\n", "[IMPRESSION]\n"),
    "brackets in a line": ("[Findings] ", "[Impression] "),
    "quoted": ('"Findings": ', '"Impression": '),
    "colon apart": ("FINDINGS : ", "IMPRESSION : "),
    "colon and dash": ("FINDINGS:- ", "IMPRESSION:- "),
    "F: I:": ("F: ", "I: "),
    "Report: Conclusion:": ("Report: ", "Conclusion: "),
    "Report. Opinion": ("REPORT\n", "OPINION\n"),
    "RESULT IMP": ("RESULT: ", "IMP: "),
    "Comment": ("Findings:\n", "Comment:\n"),
    "none, Conclusion": ("", "Conclusion: "),
    "none, Imp": ("", "Imp: "),
    "none, IMPRESSION alone": ("", "\nIMPRESSION\n"),
    "CHEST findings": ("CHEST X-RAY FINDINGS: ", "CHEST X-RAY IMPRESSION: "),
    "numbered sections": ("1. FINDINGS: ", "2. IMPRESSION: "),
    "The findings are": ("FINDINGS AND INTERPRETATION:\n", "FINAL IMPRESSION:\n"),
    "lower case": ("findings: ", "impression: "),
    "lower case, lines of their own": ("findings\n", "impression\n"),
    "Impression/plan": ("Findings: ", "Impression/Plan: "),
    "Key findings": ("Findings: ", "KEY FINDINGS: "),
}
for header, pair in _HEADERS.items():

    def _headed(report: Report, pair: tuple[str, str] = pair) -> str | None:
        return _sections(report, pair) if report.findings else None

    FORMS.append(Form(f"headers: {header}", _headed))


@form("headers: one line")
def _one_line(report: Report) -> str | None:
    return _sections(report, ("FINDINGS: ", "IMPRESSION: "), " ")


@form("headers: one line, dashes")
def _one_line_dashed(report: Report) -> str | None:
    return _sections(report, ("Findings - ", "Impression - "), " ")


@form("headers: one line, small without colon")
def _one_line_capitals(report: Report) -> str | None:
    return _sections(report, ("FINDINGS ", "IMPRESSION "), " ") if report.findings else None


@form("headers: impression first")
def _turned(report: Report) -> str | None:
    if not (report.findings and report.impression):
        return None
    return f"IMPRESSION: {' '.join(report.impression)}\nFINDINGS: {' '.join(report.findings)}"


@form("headers: none", flat=True)
def _bare(report: Report) -> str | None:
    return " ".join(report.findings) if report.findings and not report.impression else None


@form("headers: none, two paragraphs", flat=True)
def _paragraphs(report: Report) -> str | None:
    return _sections(report, ("", ""), "\n\n")


def _listed(name: str, before: str, *, bare: bool = False, wrap: int = 0) -> None:
    def write(report: Report) -> str | None:
        parts = []
        for header, said in (("FINDINGS:", report.findings), ("IMPRESSION:", report.impression)):
            lines = []
            for number, sentence in enumerate(said, start=1):
                shown = sentence.rstrip(". ") if bare else sentence
                mark = before.replace("1", str(number))
                line = mark + shown
                lines += (
                    textwrap.wrap(line, wrap, subsequent_indent=" " * len(mark)) if wrap else [line]
                )
            parts += [header, *lines] if said else []
        return "\n".join(parts)

    FORMS.append(Form(f"list: {name}", write))


_listed("a line each", "")
_listed("a line each, no full stops", "", bare=True)
for mark in (
    "- ",
    "* ",
    "• ",
    "1. ",
    "1) ",
    "-",
    "  - ",
    "> ",
    "(1) ",
    "1 - ",
    "#1 ",
    "o ",
    "·\t",
    "– ",
    "1: ",
):
    _listed(repr(mark), mark)
    _listed(f"{mark!r}, no full stops", mark, bare=True)
_listed("numbered, wrapped at 50", "1. ", wrap=50)
_listed("dashes, no full stops, wrapped at 50", "- ", bare=True, wrap=50)


@form("list: in a line, numbered")
def _in_line(report: Report) -> str | None:
    parts = []
    for header, said in (("FINDINGS:", report.findings), ("IMPRESSION:", report.impression)):
        parts += [header, *(f"{k}. {s}" for k, s in enumerate(said, start=1))] if said else []
    return " ".join(parts)


@form("list: in a line, numbered 1)")
def _in_line_bracket(report: Report) -> str | None:
    parts = []
    for header, said in (("FINDINGS:", report.findings), ("IMPRESSION:", report.impression)):
        parts += (
            [header, *(f"{k}) {s.rstrip('. ')}" for k, s in enumerate(said, start=1))]
            if said
            else []
        )
    return " ".join(parts)


def _between(name: str, mark: str) -> None:
    """Put another mark between sentences that hold no mark of that kind."""

    def write(report: Report) -> str | None:
        parts = [
            header + mark.join(sentence.rstrip(". ") for sentence in said) + "."
            for header, said in (
                ("FINDINGS: ", report.findings),
                ("IMPRESSION: ", report.impression),
            )
            if said
        ]
        return "\n".join(parts)

    FORMS.append(Form(name, write))


_between("marks: semicolons", "; ")
_between("marks: dashes", " - ")
_between("marks: bars", " | ")
_between("marks: slashes", " // ")
_between("marks: ellipses", "... ")
_between("marks: commas and capitals", ", ")


# Words.
_BRITISH: Final = (
    ("edema", "oedema"), ("edematous", "oedematous"), ("hemorrhage", "haemorrhage"),
    ("hemothorax", "haemothorax"), ("hemorrhagic", "haemorrhagic"), ("hematoma", "haematoma"),
    ("tumor", "tumour"), ("favor", "favour"), ("favored", "favoured"), ("favors", "favours"),
    ("visualized", "visualised"), ("esophagus", "oesophagus"), ("esophageal", "oesophageal"),
    ("color", "colour"), ("gray", "grey"), ("caliber", "calibre"), ("center", "centre"),
    ("centered", "centred"), ("organized", "organised"), ("organizing", "organising"),
    ("localized", "localised"), ("etiology", "aetiology"), ("recognized", "recognised"),
    ("hyperinflated", "hyper-inflated"), ("ischemic", "ischaemic"), ("anemia", "anaemia"),
    ("loculated", "loculated"), ("ground-glass", "ground glass"), ("hilar", "hilar"),
    ("hiatal hernia", "hiatus hernia"), ("fiber", "fibre"), ("generalized", "generalised"),
)  # fmt: skip


def _swapped(text: str, pairs: Sequence[tuple[str, str]]) -> str:
    for here, there in pairs:
        text = re.sub(rf"\b{here}\b", there, text)
        text = re.sub(rf"\b{here.capitalize()}\b", there.capitalize(), text)
    return text


simple("words: British", lambda t: _swapped(t, _BRITISH))
simple("words: American", lambda t: _swapped(t, [(there, here) for here, there in _BRITISH]))
_SHORT: Final = (
    ("right lower lobe", "RLL"), ("right upper lobe", "RUL"), ("left lower lobe", "LLL"),
    ("left upper lobe", "LUL"), ("right middle lobe", "RML"), ("bilateral", "bilat"),
    ("without", "w/o"), ("with", "w/"), ("consistent w/", "c/w"), ("pneumothorax", "PTX"),
    ("consolidation", "consol"), ("suggestive of", "s/o"), ("secondary to", "2/2"),
    ("ground-glass opacity", "GGO"), ("ground-glass opacities", "GGOs"), ("versus", "vs"),
    ("pulmonary embolism", "PE"), ("tuberculosis", "TB"), ("cannot exclude", "can't exclude"),
    ("pneumonia", "PNA"), ("lymph nodes", "LNs"),
)  # fmt: skip
simple("words: abbreviated", lambda t: _swapped(t, _SHORT))
simple("words: w/ and w/o alone", lambda t: _swapped(t, (("without", "w/o"), ("with", "w/"))))
simple("words: vs.", lambda t: _swapped(t, (("vs", "vs."), ("versus", "vs."))).replace("..", "."))
simple(
    "words: contracted",
    lambda t: re.sub(r"\b(is|are|was|does|can)(?: not|not)\b", r"\1n't", t).replace(
        "cann't", "can't"
    ),
)


def _slip(kind: str) -> None:
    def write(report: Report) -> str | None:
        def slipped(match: re.Match[str]) -> str:
            word = match[0]
            if word.isupper():
                return word
            k = int(report.rng.integers(2, len(word) - 2))
            if kind == "dropped":
                return word[:k] + word[k + 1 :]
            if kind == "doubled":
                return word[:k] + word[k] + word[k:]
            if kind == "wrong":
                near = "qwertyuiop asdfghjkl zxcvbnm"
                at = near.find(word[k])
                other = near[at + 1 : at + 2].strip() or near[at - 1]
                return word[:k] + other + word[k + 1 :]
            return word[:k] + word[k + 1] + word[k] + word[k + 2 :]

        return re.sub(r"\b[A-Za-z][a-z]{7,}\b(?!:)", slipped, report.text)

    FORMS.append(Form(f"slip: a letter {kind}", write))


for kind in ("dropped", "doubled", "swapped", "wrong"):
    _slip(kind)


# Sentences.
_COLON: Final = re.compile(r"[:;?]|\d[.)] ")
_PLAIN: Final = re.compile(r"[A-Z][^.:;?!\n]+\.?")


def _each(report: Report, write: Callable[[str], str | None]) -> str | None:
    """Rewrite what sentences can be; None if none can."""
    text = report.text
    changed = False
    for said in (*report.findings, *report.impression):
        if not _PLAIN.fullmatch(said):
            continue
        other = write(said)
        if other is not None and other != said and text.count(said) == 1:
            text = text.replace(said, other)
            changed = True
    return text if changed else None


def rewriting(name: str) -> Callable[[Callable[[str], str | None]], None]:
    """Register a form of single sentences."""

    def keep(write: Callable[[str], str | None]) -> None:
        FORMS.append(Form(name, lambda report: _each(report, write)))

    return keep


def _small(words: str) -> str:
    """Begin in lower case, unless with an abbreviation."""
    return words[0].lower() + words[1:] if words[1:2].islower() or words[1:2] == " " else words


def _stop(words: str) -> str:
    return words.rstrip(". ") + "."


_NOUNS: Final = (
    r"(?:effusions?|pneumothorax|opacit(?:y|ies)|consolidations?|atelectasis|nodules?|mass(?:es)?|"
    r"edema|oedema|cardiomegaly|emphysema|fractures?|collapse|pneumonia|infiltrates?|lymphadenopathy|"
    r"adenopathy|bronchiectasis|fibrosis|scarring|hernia|congestion|granulomas?|thickening)"
)
_NO: Final = re.compile(rf"No ([a-z ]*{_NOUNS})\.?")
_NO_LIST: Final = re.compile(
    rf"(?:There (?:is|are) no|No) ((?:[a-z]+ ){{0,3}}{_NOUNS}"
    rf"(?:, (?:[a-z]+ ){{0,3}}{_NOUNS})*,? or (?:[a-z]+ ){{0,3}}{_NOUNS})\.?"
)
_THING: Final = re.compile(rf"(?!No |Nil )([A-Z][a-z]*(?: [a-z\-]+)* ?{_NOUNS})\.?")
_HEDGE: Final = (
    r"(?:likely|probably|possibly|suggestive of|suspicious for|concerning for|consistent with|"
    r"compatible with|in keeping with|may represent|could represent|might represent|"
    r"may reflect|could reflect|likely representing|favou?red to represent|suggesting)"
)
_WORDED: Final = re.compile(
    rf"(?P<sign>(?!No )[A-Z][^,.]*?),? (?P<hedge>{_HEDGE}) (?P<cause>[^.,]+)\.?"
)
_VERB: Final = re.compile(
    r"\b(?:is|are|was|were|has|have|may|might|could|can|cannot|appears?|remains?|shows?|seen|noted|"
    r"identified|persists?|suggests?|there|no|not|without|cleared|resolved|normal|clear|which)\b",
    re.I,
)


def _thing(said: str) -> str | None:
    match = _THING.fullmatch(said)
    return match[1] if match and not _VERB.search(said) else None


for name, template in {
    "There is no": "There is no {}.",
    "is seen": "No {} is seen.",
    "identified": "No {} identified.",
    "is not seen": "{} is not seen.",
    "none": "{}: none.",
    "none, dash": "{} - none.",
    "No evidence of": "No evidence of {}.",
    "absent": "{} absent.",
    "negative": "Negative for {}.",
    "not present": "{} not present.",
    "nil": "Nil {}.",
    "nil, behind": "{} nil.",
    "colon no": "{}: No.",
    "ruled": "{}: absent.",
    "there is not": "There is not any {}.",
    "without": "Without {}.",
    "today": "No {} today.",
    "at this time": "At this time, no {}.",
    "visible": "No visible {}.",
    "front": "On this examination, there is no {}.",
    "parentheses": "No {} (image 12).",
    "either side": "No {} on either side.",
    "demonstrated": "There is no {} demonstrated.",
}.items():

    @rewriting(f"no: {name}")
    def _denied(said: str, template: str = template) -> str | None:
        match = _NO.fullmatch(said)
        if match is None or " or " in match[1] or " and " in match[1]:
            return None
        shown = match[1] if not template.startswith("{") else match[1].capitalize()
        return template.format(shown)


for name, template in {
    "There is": "There is {}.",
    "is seen": "{} is seen.",
    "noted": "{} noted.",
    "present": "{} present.",
    "is present": "{} is present.",
    "again": "{} again seen.",
    "unchanged": "{}, unchanged.",
    "as before": "{} as before.",
    "new": "{}, new since the prior.",
    "not seen before": "{}, not present on the prior study.",
    "unchanged, front": "Unchanged {}.",
    "parentheses": "{} (series 4, image 55).",
    "image": "{} (4/55).",
    "since": "{}, not significantly changed since 12/03/2021.",
    "compared": "Compared to prior, {}.",
    "redemonstrated": "Redemonstrated is {}.",
    "we see": "The examination shows {}.",
    "measured": "{}, 12 mm.",
    "aside": "{}, as seen on the lateral view, is present.",
    "dash": "- {}",
    "are again identified": "Again identified is {}.",
    "stable since": "{} is stable since the previous study.",
    "there appears": "There appears to be {}.x",
    "without change": "{} without significant change.",
    "best seen": "{}, best seen on image 45 of series 3.",
    "no change": "{}, no change.",
}.items():
    if template.endswith("x"):
        continue

    @rewriting(f"thing: {name}")
    def _asserted(said: str, template: str = template) -> str | None:
        thing = _thing(said)
        if thing is None:
            return None
        return template.format(thing if template.startswith("{") else _small(thing))


for name, template in {
    "next sentence": "{sign}. This {verb} {cause}.",
    "hedge opens a sentence": "{sign}. {Hedge} {cause}.",
    "semicolon": "{sign}; {hedge} {cause}.",
    "dash": "{sign} - {hedge} {cause}.",
    "dash, tight": "{sign}–{hedge} {cause}.",
    "comma": "{sign}, {hedge} {cause}.",
    "no comma": "{sign} {hedge} {cause}.",
    "parentheses": "{sign} ({hedge} {cause}).",
    "which": "{sign}, which {verb} {cause}.",
    "and this": "{sign}, and this {verb} {cause}.",
    "colon": "{sign}: {hedge} {cause}.",
    "line": "{sign},\n{hedge} {cause}.",
    "line after hedge": "{sign}, {hedge}\n{cause}.",
    "findings": "{sign}. Findings {are} {cause}.",
    "appearance": "{sign}. The appearance {verb} {cause}.",
    "these": "{sign}. These findings {are} {cause}.",
    "it": "{sign}. It {verb} {cause}.",
    "slash": "{sign} / {hedge} {cause}.",
    "semicolon this": "{sign}; this {verb} {cause}.",
    "dots": "{sign} ... {hedge} {cause}.",
    "brackets": "{sign} [{hedge} {cause}].",
}.items():

    @rewriting(f"hedge: {name}")
    def _hedged(said: str, template: str = template) -> str | None:
        match = _WORDED.fullmatch(said)
        if (
            match is None
            or _VERB.search(match["sign"])
            or re.search(rf"\b{_HEDGE}\b", match["sign"])
        ):
            return None
        if not re.search(_NOUNS, match["sign"]) or not re.search(_NOUNS, match["cause"]):
            return None
        hedge, cause = match["hedge"], match["cause"]
        modal = hedge.split()[0] in {"may", "could", "might"}
        if hedge in {"likely representing", "suggesting"}:
            verb = {"likely representing": "likely represents", "suggesting": "suggests"}[hedge]
        else:
            verb = hedge if modal else f"is {hedge}"
        are = verb.replace("is ", "are ") if not modal else verb
        if ("{are}" in template or "{verb}" in template) and hedge in {
            "likely representing",
            "suggesting",
        }:
            are = are.replace("represents", "represent").replace("suggests", "suggest")
        return template.format(
            sign=match["sign"],
            hedge=hedge,
            Hedge=hedge[0].upper() + hedge[1:],
            cause=cause,
            verb=verb,
            are=are,
        )


@rewriting("list: or parted into sentences")
def _parted(said: str) -> str | None:
    match = _NO_LIST.fullmatch(said)
    if match is None:
        return None
    return " ".join(f"No {one.strip()}." for one in re.split(r",? or |, ", match[1]))


for name, joint, last in (
    ("no a, no b", ", no ", ", no "),
    ("no a and no b", " and no ", " and no "),
    ("no a; no b", "; no ", "; no "),
    ("no a/b", "/", "/"),
    ("no a, b, c", ", ", ", "),
    ("no a, b and c", ", ", " and "),
    ("no a or b or c", " or ", " or "),
    ("no a / b", " / ", " / "),
    ("no a, b, nor c", ", ", ", nor "),
    ("no a, b, or c", ", ", ", or "),
    ("no a, b or c", ", ", " or "),
    ("no a, or b, or c", ", or ", ", or "),
    ("no a, nor b", ", nor ", ", nor "),
    ("no a,\\nb or c", ",\n", " or "),
):

    @rewriting(f"list: {name}")
    def _rejoined(said: str, joint: str = joint, last: str = last) -> str | None:
        match = _NO_LIST.fullmatch(said)
        if match is None:
            return None
        ones = re.split(r",? or |, ", match[1])
        return "No " + joint.join(ones[:-1]) + last + ones[-1] + "."


for name, template in {
    "are clear of": "The lungs are clear of {}.",
    "or seen": "No {} is seen.",
    "evidence": "There is no evidence of {}.",
    "x free": "No radiographic evidence of {} is identified.",
}.items():

    @rewriting(f"list: {name}")
    def _of_list(said: str, template: str = template) -> str | None:
        match = _NO_LIST.fullmatch(said)
        return template.format(match[1]) if match and "clear of" not in template else None


@rewriting("list: behind, none")
def _list_behind(said: str) -> str | None:
    match = _NO_LIST.fullmatch(said)
    if match is None:
        return None
    ones = re.split(r",? or |, ", match[1])
    return " ".join(f"{one.strip().capitalize()}: none." for one in ones)


def _pairs(report: Report, write: Callable[[str, str], str | None]) -> str | None:
    """Join neighbours once each; None if none can be."""
    text, changed = report.text, False
    for said in (report.findings, report.impression):
        k = 0
        while k + 1 < len(said):
            one, two = said[k : k + 2]
            both = f"{one} {two}"
            other = None
            if _PLAIN.fullmatch(one) and _PLAIN.fullmatch(two) and text.count(both) == 1:
                other = write(one.rstrip(". "), two.rstrip(". "))
            if other is not None:
                text, changed = text.replace(both, _stop(other)), True
                k += 1
            k += 1
    return text if changed else None


def joining(name: str) -> Callable[[Callable[[str, str], str | None]], None]:
    """Register a form of two neighbouring sentences."""

    def keep(write: Callable[[str, str], str | None]) -> None:
        FORMS.append(Form(name, lambda report: _pairs(report, write)))

    return keep


_NO_ONE: Final = re.compile(rf"(?:There (?:is|are) no|No) ((?:[a-z]+ ){{0,3}}{_NOUNS})")
for name, joint in (
    ("X, no Y", ", no "),
    ("X but no Y", " but no "),
    ("X, but no Y", ", but no "),
    ("X and no Y", " and no "),
    ("X with no Y", " with no "),
    ("X without Y", " without "),
    ("X, without Y", ", without "),
    ("X; no Y", "; no "),
    ("X - no Y", " - no "),
    ("X however no Y", "; however, no "),
    ("X, with no Y", ", with no "),
    ("X, and there is no Y", ", and there is no "),
    ("X, no Y seen", ", no "),
    ("X; without Y", "; without "),
    ("X, although no Y", ", although no "),
    ("X (no Y)", " (no "),
):

    @joining(f"join: {name}")
    def _and_not(one: str, two: str, joint: str = joint, name: str = name) -> str | None:
        match = _NO_ONE.fullmatch(two)
        if match is None or one.startswith(("No ", "There is no", "There are no", "Nil")):
            return None
        if _VERB.search(one) and ("with no" in joint or "without" in joint):
            return None
        if re.search(rf"\b{_HEDGE}\b|\?|possible|probable|exclude", one) and "without" in joint:
            return None
        tail = " seen" if name.endswith("seen") else ")" if joint == " (no " else ""
        return one + joint + match[1] + tail


for name, joint in (
    ("No X but Y", " but "),
    ("No X, but Y", ", but "),
    ("No X; Y", "; "),
    ("No X however Y", ". However, "),
    ("No X - Y", " - "),
    ("No X, there is Y", ", there is "),
    ("No X but there is Y", " but there is "),
    ("No X, although there is Y", ", although there is "),
    ("No X; there is Y", "; there is "),
    ("No X and there is Y", " and there is "),
):

    @joining(f"join: {name}")
    def _not_but(one: str, two: str, joint: str = joint) -> str | None:
        thing = _thing(two)
        if thing is None or _NO_ONE.fullmatch(one) is None:
            return None
        return (
            one
            + joint
            + (
                "a "
                if thing.lower().startswith(("small", "tiny")) and not thing.endswith("s")
                else ""
            )
            + _small(thing)
        )


for name, joint in (
    ("X and Y", " and "),
    ("X, and Y", ", and "),
    ("X with Y", " with "),
    ("X, with Y", ", with "),
    ("X plus Y", " plus "),
    ("X, Y", ", "),
    ("X; Y", "; "),
    ("X as well as Y", " as well as "),
    ("X & Y", " & "),
    ("X + Y", " + "),
    ("X. There is also Y", ". There is also "),
    ("X. Also Y", ". Also "),
    ("X along with Y", " along with "),
    ("X. In addition, Y", ". In addition, "),
):

    @joining(f"join: {name}")
    def _both(one: str, two: str, joint: str = joint) -> str | None:
        first, second = _thing(one), _thing(two)
        return first + joint + _small(second) if first and second else None


@joining("join: sentences with verbs, and")
def _verbs(one: str, two: str) -> str | None:
    finite = re.compile(r"\b(?:is|are)\b")
    if not (finite.search(one) and finite.search(two)) or two.startswith(("This", "It", "These")):
        return None
    return f"{one}, and {_small(two)}"


@joining("join: sentences with verbs, while")
def _verbs_while(one: str, two: str) -> str | None:
    finite = re.compile(r"\b(?:is|are)\b")
    if not (finite.search(one) and finite.search(two)) or two.startswith(("This", "It", "These")):
        return None
    return f"{one}, while {_small(two)}"


@joining("join: No X. No Y. as neither")
def _neither(one: str, two: str) -> str | None:
    first, second = _NO_ONE.fullmatch(one), _NO_ONE.fullmatch(two)
    return f"Neither {first[1]} nor {second[1]} is seen" if first and second else None


for name, template in {
    "or": "No {} or {}",
    "and": "No {} and no {}",
    "comma": "No {}, no {}",
    "slash": "No {}/{}",
    "behind": "{} and {} are absent",
    "nor": "No {}, nor {}",
    "not seen": "{} or {} is not seen",
    "bare comma": "No {}, {}",
    "there is": "There is no {} and no {}",
    "either": "There is no {} or {} on either side",
}.items():

    @joining(f"join: No X. No Y. as {name}")
    def _no_two(one: str, two: str, template: str = template) -> str | None:
        first, second = _NO_ONE.fullmatch(one), _NO_ONE.fullmatch(two)
        if not (first and second):
            return None
        shown = first[1].capitalize() if template.startswith("{") else first[1]
        return template.format(shown, second[1])


_PLACE: Final = re.compile(
    r"(?P<before>[A-Z][^,.]*?) (?P<place>(?:in|at|within) (?:the|both) [a-z ]*?"
    r"(?:base|bases|lobe|lobes|zone|zones|"
    r"apex|lung|lungs|field|lingula|hemithorax))(?P<after>(?:[ ,].*)?)\.?"
)
for name, template in {
    "comma": "{Place}, {rest}.",
    "no comma": "{Place} {rest}.",
    "there is": "{Place} there is {rest}.",
    "colon": "{Where}: {rest}.",
    "is seen": "{Place}, {rest} is seen.",
}.items():

    @rewriting(f"place in front: {name}")
    def _placed(said: str, template: str = template) -> str | None:
        match = _PLACE.fullmatch(said)
        if match is None:
            return None
        before, after = match["before"], match["after"].strip(", ")
        verb = _VERB.search(before) or _VERB.search(after)
        if not re.search(rf"{_NOUNS}$", before) or (
            verb and ("there is" in template or "seen" in template)
        ):
            return None
        if "seen" in template and after:
            return None
        if verb and (before.startswith("There") and "there is" in template):
            return None
        if template.startswith("{Where}") and verb:
            return None
        rest = _small(before) + (
            f" {after}" if match["after"].startswith(" ") else f", {after}" if after else ""
        )
        place = match["place"]
        where = re.sub(r"^(?:in|at|within) (?:the )?", "", place)
        return template.format(Place=place.capitalize(), Where=where.capitalize(), rest=rest)


def _inserted(name: str, extra: str, *, first: bool = False) -> None:
    def write(report: Report) -> str | None:
        parts = []
        for header, said in (("FINDINGS:", report.findings), ("IMPRESSION:", report.impression)):
            if said:
                lines = [p for s in said for p in ((extra, s) if first else (s, extra))]
                parts.append(f"{header} {' '.join(lines)}")
        return "\n".join(parts)

    FORMS.append(Form(f"between: {name}", write))


_inserted("tube", "The endotracheal tube ends 3 cm above the carina.")
_inserted("no acute", "No acute abnormality.")
_inserted("limits", "The examination is limited by rotation.")
_inserted("image", "(Image 34.)")
_inserted("recommendation", "Follow-up is recommended.")
_inserted("bones", "The bones are unremarkable.")
_inserted("telegram", "ETT ok")


# Counting.
def cells(outcome: Outcome, strength: Mapping[str, int], *, flat: bool) -> Cells:
    """(section, pathology) → phrase, the strongest within a section; one section where `flat`."""
    found: Cells = {}
    for each in outcome.findings if isinstance(outcome, Extracted) else ():
        key = "" if flat else each.section, each.pathology
        phrase = each.phrase or "unmapped"
        if strength.get(phrase, -1) >= strength.get(found.get(key, ""), -1):
            found[key] = phrase
    return found


def labels(report: GoldReport, strength: Mapping[str, int], *, flat: bool) -> Cells:
    """(section, pathology) → label."""
    found: Cells = {}
    for each in sorted(report.findings, key=lambda label: strength[label.phrase]):
        found["" if flat else each.section, each.pathology] = each.phrase
    return found


def parts_of(engine: RuleEngine, text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Sentences of findings and of impression, without list marks."""
    found: dict[bool, list[str]] = {False: [], True: []}
    if text.islower():  # speech: its lines are all that parts it
        return (), ()
    for place in engine.sentences(text):
        said = " ".join(text[place.start : place.end].split())
        said = re.sub(r"^(?:[-–•*>]\s*|\d{1,2}[.)]\s+)+", "", said)
        if re.search(r"[A-Za-z]", said):
            shown = said if said[-1] in ".?!:;" else said + "."
            found[place.section == IMPRESSION].append(shown)
    return tuple(found[False]), tuple(found[True])


def compare(
    engine: RuleEngine, golds: Sequence[GoldReport], chosen: Sequence[Form], *, seed: int, show: int
) -> dict[str, Tally]:
    """Write every report in every form, and count what is lost and what is new."""
    strength = {phrase: rank for rank, phrase in enumerate(engine.vocabulary.phrases)}
    tallies = {each.name: Tally() for each in chosen}
    split = {report.report_id: parts_of(engine, report.text) for report in golds}
    for number, each in enumerate(chosen):
        tally = tallies[each.name]
        for k, report in enumerate(golds):
            source = Report(
                report.text, *split[report.report_id], np.random.default_rng([seed, number, k])
            )
            text = each.write(source)
            if text is None or len(text.strip()) < len(report.text) // 3 or text == report.text:
                continue
            before, after = engine.extract([report.text, text], modality=report.modality)
            want = labels(report, strength, flat=each.flat)
            had = cells(before, strength, flat=each.flat)
            got = cells(after, strength, flat=each.flat)
            right = {key for key, phrase in want.items() if had.get(key) == phrase}
            lost = {key for key in right if got.get(key) != want[key]}
            new = {key for key in got if key not in want and key not in had}
            tally.variants += 1
            tally.statements += len(right)
            tally.lost += len(lost)
            tally.new += len(new)
            if lost or new:
                tally.reports.add(report.report_id)
                if len(tally.shown) < show:
                    wrong = [f"{k[0]}/{k[1]}: {want[k]} -> {got.get(k)}" for k in sorted(lost)]
                    wrong += [f"new {k[0]}/{k[1]}: {got[k]}" for k in sorted(new)]
                    tally.shown.append(f"{text!r}\n        {'; '.join(wrong)}")
    return tallies


def main() -> None:
    """Count, rank and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gold", type=Path, nargs="*", help="labelled files; all of the fixtures")
    parser.add_argument("--only", nargs="*", help="forms whose name contains one of these")
    parser.add_argument("--show", type=int, default=0, help="so many failures of each form")
    parser.add_argument(
        "--sample", type=int, default=0, help="so many reports of each file; 0: all"
    )
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    engine = RuleEngine()
    golds: list[GoldReport] = []
    rng = np.random.default_rng(arguments.seed)
    for path in arguments.gold or sorted(FIXTURES.glob("*.jsonl")):
        reports = load_gold(path, vocabulary=engine.vocabulary)
        if arguments.sample:
            chosen = rng.permutation(len(reports))[: arguments.sample]
            reports = [reports[k] for k in sorted(chosen)]
        golds += [r.model_copy(update={"report_id": f"{path.stem}:{r.report_id}"}) for r in reports]
    only = arguments.only
    forms = [each for each in FORMS if not only or any(part in each.name for part in only)]
    tallies = compare(engine, golds, forms, seed=arguments.seed, show=arguments.show)
    ranked = sorted(tallies.items(), key=lambda pair: -len(pair[1].reports))
    print(f"{len(golds)} reports, {len(forms)} forms")
    print(f"{'form':58} {'variants':>8} {'stated':>7} {'lost':>5} {'new':>5} {'reports':>7}")
    for name, t in ranked:
        print(f"{name:58} {t.variants:8} {t.statements:7} {t.lost:5} {t.new:5} {len(t.reports):7}")
        for text in t.shown:
            print("    " + text)
    total = Counter[str]()
    for t in tallies.values():
        total.update(variants=t.variants, statements=t.statements, lost=t.lost, new=t.new)
    share = 100 * total["lost"] / max(total["statements"], 1)
    print(f"all: {dict(total)}; lost {share:.2f} %")


if __name__ == "__main__":
    main()
