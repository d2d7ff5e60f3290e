"""Sections: headers, lists, order, marks between sentences."""

from __future__ import annotations

import textwrap
from typing import Any

from forms.ways import WORDS, Report, family, form


@family("headers", "headers: ")
def _headed(report: Report, row: list[str]) -> str | None:
    return _always_headed(report, row) if report.findings else None


@family("headers_always", "headers: ")
def _always_headed(report: Report, row: list[str]) -> str:
    return report.headed(*row[:2], between="".join(row[2:]) or "\n")


@form("headers: impression first")
def _turned(report: Report) -> str | None:
    if not (report.findings and report.impression):
        return None
    return f"IMPRESSION: {' '.join(report.impression)}\nFINDINGS: {' '.join(report.findings)}"


@form("headers: none", flat=True)
def _bare(report: Report) -> str | None:
    return " ".join(report.findings) if report.findings and not report.impression else None


@form("headers: none, two paragraphs", flat=True)
def _paragraphs(report: Report) -> str:
    return report.headed("", "", between="\n\n")


@family("list", "list: ")
def _listed(report: Report, row: dict[str, Any]) -> str:
    parts = []
    for header, said in report.sections():
        parts.append(header)
        for number, sentence in enumerate(said, start=1):
            mark = row["mark"].replace("1", str(number))
            line = mark + (sentence.rstrip(". ") if "bare" in row else sentence)
            indent = " " * len(mark)
            wide = row.get("wrap")
            parts += textwrap.wrap(line, wide, subsequent_indent=indent) if wide else [line]
    return row.get("between", "\n").join(parts)


@family("marks", "marks: ")
def _between(report: Report, row: list[str]) -> str:
    """Put another mark between sentences that hold no mark of that kind."""

    def told(sentence: str) -> str:
        shown = sentence.rstrip(". ")
        opens = "small" in row and shown[1:2].islower()
        return shown[0].lower() + shown[1:] if opens else shown

    return "\n".join(
        f"{header} {row[0].join(map(told, said))}." for header, said in report.sections()
    )


for _title in WORDS["first"]["title"]:

    @form(f"title: {_title}")
    def _titled(report: Report, title: str = _title) -> str | None:
        said = report.findings and "pneumonia" not in report.text[:40].lower()
        return f"{title}\n{report.headed('', 'Conclusion: ')}" if said else None
