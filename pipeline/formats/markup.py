"""Markup → the report's text: HTML, line breaks spelt out, and clinical documents (CDA).

Markup is read as HTML is, by a parser that expands no entity but the characters it names. Of a
clinical document only what its author wrote for people counts: the titles and texts of its
sections, or the one document that stands in their place; its header names patient and staff.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import unescape
from html.parser import HTMLParser
from typing import Final

_BREAKS: Final = frozenset(
    {"p", "br", "div", "li", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "table", "ul", "ol"}
    | {"section", "dt", "dd", "pre", "blockquote", "header", "footer"}
    | {"paragraph", "item", "caption"}
)
_CELLS: Final = frozenset({"td", "th"})
_HIDDEN: Final = frozenset({"script", "style", "head", "title", "template"})
_BREAK: Final = re.compile(r"(?i)</?(?:br|p|div|li|tr|h[1-6])(?:[ \t][^<>]{0,200})?/?>")
_MARKS: Final = re.compile(
    r"(?i)</?(?:b|i|u|em|strong|span|font|ul|ol|table|tbody|td|th)(?:[ \t][^<>]{0,200})?/?>"
)
_SPELT: Final = re.compile(r"(?:\\r)?\\n|\\r(?![a-z])")
"""Line breaks as some exports spell them."""
_SPACES: Final = re.compile(r"[ \t\r\f\v\u00a0]+")
_BLANK_LINES: Final = re.compile(r"\n{3,}")


class _Lines(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _HIDDEN:
            self._hidden += 1
        elif tag in _BREAKS:
            self.parts.append("\n")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _BREAKS:
            self.parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in _HIDDEN:
            self._hidden = max(0, self._hidden - 1)
        elif tag in _BREAKS or tag in _CELLS:
            self.parts.append(" " if tag in _CELLS else "\n")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.parts.append(data)


_Attributes = list[tuple[str, str | None]]
SECTION_CODES: Final[Mapping[str, str]] = {
    "18782-3": "FINDINGS:", "59776-5": "FINDINGS:", "19005-8": "IMPRESSION:",
    "55110-1": "IMPRESSION:", "55107-7": "ADDENDUM:", "55752-0": "HISTORY:",
    "18785-6": "INDICATION:", "18834-2": "COMPARISON:", "55111-9": "TECHNIQUE:",
}  # fmt: skip
"""LOINC code of a part of a report → its heading."""
_CLINICAL: Final = re.compile(r"<(?:\w{1,16}:)?ClinicalDocument\b")
_WITHIN: Final = 4096
"""A clinical document begins on so many characters."""


class _Narrative(_Lines):
    """The sections of a clinical document, or the document that stands in their place."""

    def __init__(self) -> None:
        super().__init__()
        self.kind = self.representation = ""
        self._place: list[str] = []
        self._heading = ""
        self._title: list[str] = []

    def handle_starttag(self, tag: str, attrs: _Attributes) -> None:
        name = tag.rpartition(":")[2]
        if self._is_read("text"):
            super().handle_starttag(name, attrs)
        elif name in ("section", "entry", "nonxmlbody", "title", "text"):
            self._place.append(name)
            self._enter(name, dict(attrs))
        elif name == "code" and self._place[-1:] == ["section"]:
            self._heading = SECTION_CODES.get(dict(attrs).get("code") or "", "")

    def handle_startendtag(self, tag: str, attrs: _Attributes) -> None:
        name = tag.rpartition(":")[2]
        if self._is_read("text"):
            super().handle_startendtag(name, attrs)
        elif name == "code":
            self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        name = tag.rpartition(":")[2]
        if self._place[-1:] == [name]:
            if self._is_read("title"):
                title = " ".join("".join(self._title).split()).rstrip(":")
                self._heading = self._heading or (f"{title.upper()}:" if title else "")
            self._place.pop()
        elif self._is_read("text"):
            super().handle_endtag(name)

    def handle_data(self, data: str) -> None:
        if self._is_read("title"):
            self._title.append(data)
        elif self._is_read("text"):
            super().handle_data(data)

    def unknown_decl(self, data: str) -> None:
        if data.startswith("CDATA["):
            self.handle_data(data.removeprefix("CDATA["))

    def _enter(self, name: str, attributes: Mapping[str, str | None]) -> None:
        if name == "section":
            self._heading, self._title = "", []
        elif self._place[-2:] == ["nonxmlbody", "text"]:
            self.kind = attributes.get("mediatype") or ""
            self.representation = attributes.get("representation") or ""
        elif self._is_read("text"):
            self.parts.append(f"\n{self._heading}\n")

    def _is_read(self, name: str) -> bool:
        """Whether what comes is in the title or text of a section, and in none of its entries."""
        return self._place[-2:] in (["section", name], ["nonxmlbody", name])


def is_clinical(text: str) -> bool:
    """Whether a text is a clinical document (CDA)."""
    start = text[:_WITHIN].lstrip()
    return start[:1] == "<" and _CLINICAL.search(start) is not None


def clinical_text(markup: str) -> tuple[str, str, str]:
    """Read a clinical document.

    Returns
    -------
    tuple of str
        Its sections as text, each under its heading. Where a document stands in their place: what
        that holds, its type as declared, and its representation (``B64``).
    """
    reader = _Narrative()
    reader.feed(markup)
    reader.close()
    return _lines("".join(reader.parts)), reader.kind, reader.representation


def plain_text(markup: str) -> str:
    r"""Give the text of a piece of HTML, a line for each block.

    Examples
    --------
    >>> plain_text("<p>IMPRESSION:</p><p>No effusion &lt; 5 mm.<br/>Stable.</p>")
    'IMPRESSION:\n\nNo effusion < 5 mm.\nStable.'
    """
    reader = _Lines()
    reader.feed(markup)
    reader.close()
    return _lines("".join(reader.parts))


def _lines(text: str) -> str:
    lines = (_SPACES.sub(" ", line).strip() for line in text.split("\n"))
    return _BLANK_LINES.sub("\n\n", "\n".join(lines)).strip()


def without_marks(text: str) -> str:
    r"""Give the lines of a text that is no page of HTML but whose line breaks are spelt out.

    ``<br>`` and ``<p>`` are line breaks wherever they stand, and marks and character references
    then go; ``\n`` written as two signs is one where the text has no line break of its own.

    Examples
    --------
    >>> without_marks("FINDINGS:<br>5 &lt; 6 mm<BR/><b>IMPRESSION:</b> clear")
    'FINDINGS:\n5 < 6 mm\nIMPRESSION: clear'
    >>> without_marks(r"FINDINGS:\r\nClear.\n"), without_marks("R < L, <1 cm")
    ('FINDINGS:\nClear.\n', 'R < L, <1 cm')
    """
    if "\\" in text and "\n" not in text:
        text = _SPELT.sub("\n", text).replace("\\t", "\t")
    if "<" in text and _BREAK.search(text):
        text = unescape(_MARKS.sub("", _BREAK.sub("\n", text))).replace("\u00a0", " ")
    return text
