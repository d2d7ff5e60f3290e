"""Sections: headers, lists, order, marks between sentences."""

from __future__ import annotations

import textwrap
from typing import Final

from forms.ways import FORMS, Form, Report, form, in_sections

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
    "Key findings first": ("KEY FINDINGS:\n", "CONCLUSION: "),
    "Key findings, details": ("KEY FINDINGS: Lines in place.\nDETAILS:\n", "CONCLUSION: "),
    "F I in a line": ("Hx: cough. F: ", "I: "),
    "F. I. on lines": ("F:\n", "I:\n"),
    "a request in the line": ("Indication: Pre-operative assessment. ", "Conclusion: "),
    "a request in the line, no impression": ("Clinical: Follow up. ", "IMPRESSION: "),
    "Indian": ("CLINICAL PROFILE: C/o cough.\nOBSERVATIONS: ", "IMPRESSION: "),
}
for header, pair in _HEADERS.items():

    def _headed(report: Report, pair: tuple[str, str] = pair) -> str | None:
        return in_sections(report, pair) if report.findings else None

    FORMS.append(Form(f"headers: {header}", _headed))


@form("headers: one line")
def _one_line(report: Report) -> str | None:
    return in_sections(report, ("FINDINGS: ", "IMPRESSION: "), " ")


@form("headers: one line, dashes")
def _one_line_dashed(report: Report) -> str | None:
    return in_sections(report, ("Findings - ", "Impression - "), " ")


@form("headers: one line, small without colon")
def _one_line_capitals(report: Report) -> str | None:
    return in_sections(report, ("FINDINGS ", "IMPRESSION "), " ") if report.findings else None


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
    return in_sections(report, ("", ""), "\n\n")


def _listed(
    name: str, before: str, *, bare: bool = False, wrap: int = 0, between: str = "\n"
) -> None:
    def write(report: Report) -> str | None:
        parts = []
        for header, said in report.sections():
            parts.append(header)
            for number, sentence in enumerate(said, start=1):
                shown = sentence.rstrip(". ") if bare else sentence
                mark = before.replace("1", str(number))
                line = mark + shown
                parts += (
                    textwrap.wrap(line, wrap, subsequent_indent=" " * len(mark)) if wrap else [line]
                )
        return between.join(parts)

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
_listed("in a line, numbered", "1. ", between=" ")
_listed("in a line, numbered 1)", "1) ", bare=True, between=" ")


def _between(name: str, mark: str, *, small: bool = False) -> None:
    """Put another mark between sentences that hold no mark of that kind."""

    def told(sentence: str) -> str:
        shown = sentence.rstrip(". ")
        opens = small and shown[1:2].islower()
        return shown[0].lower() + shown[1:] if opens else shown

    def write(report: Report) -> str | None:
        return "\n".join(
            f"{header} {mark.join(map(told, said))}." for header, said in report.sections()
        )

    FORMS.append(Form(name, write))


_between("marks: semicolons", "; ")
_between("marks: dashes", " - ")
_between("marks: dashes, small letters", " - ", small=True)
_between("marks: double dashes, small letters", " -- ", small=True)
_between("marks: bars", " | ")
_between("marks: slashes", " // ")
_between("marks: ellipses", "... ")
_between("marks: commas and capitals", ", ")

# A first line that names the examination and why it was asked for states nothing.
_TITLES: Final = (
    "CT CHEST FOR PE",
    "CTPA for pulmonary embolism",
    "CT for lung nodule (GP referral).",
    "CT chest with contrast: 71M, fever, RUL mass on plain film.",
    "HRCT chest - ?fibrosis",
    "CT thorax, follow-up of pulmonary nodules",
    "CT CHEST, 55 F WITH COPD AND COUGH",
    "Low dose CT chest for nodule surveillance",
    "CXR post drainage of pneumothorax",
    "XR chest, 82 year old with pneumonia",
)
for _title in _TITLES:

    def _titled(report: Report, title: str = _title) -> str | None:
        said = report.findings and "pneumonia" not in report.text[:40].lower()
        return title + "\n" + in_sections(report, ("", "Conclusion: ")) if said else None

    FORMS.append(Form(f"title: {_title}", _titled))
