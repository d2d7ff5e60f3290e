"""The text as a whole, and lines before and behind it."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable
from typing import Final

from forms.ways import FORMS, Form, Report, form, in_sections, simple

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
simple(
    "semicolons for full stops",
    lambda t: re.sub(r"(?<=[a-z)])\. (?=[A-Z][a-z])(?!.{0,30}:)", "; ", t),
)
simple("no full stops at line ends", lambda t: re.sub(r"\.(?=\n|$)", "", t))
simple("no full stops before capitals", lambda t: re.sub(r"(?<=[a-z)])\. (?=[A-Z][a-z])", " ", t))
simple("two full stops", lambda t: re.sub(r"(?<=[a-z])\.(?=\s|$)", "..", t))
simple("one paragraph, headers kept", lambda t: re.sub(r"\s*\n\s*", " ", t))
simple("one paragraph, capitals", lambda t: re.sub(r"\s*\n\s*", " ", t).upper())
simple("one paragraph, lower case", lambda t: re.sub(r"\s*\n\s*", " ", t).lower())

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
        body = in_sections(report, ("FINDINGS:\n", "IMPRESSION:\n"))
        return words + body

    FORMS.append(Form(f"opening: {opening}", _opened))

for opening in ("bare question", "examination", "complaint", "compared"):

    def _opened_bare(report: Report, words: str = _OPENINGS[opening]) -> str | None:
        """Put before findings without a header."""
        body = in_sections(report, ("", "Impression: "))
        return words + body if report.findings else None

    FORMS.append(Form(f"opening, findings without header: {opening}", _opened_bare))
