"""Report text inside HTML → lines; only character references are decoded, nothing is fetched."""

from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser
from typing import Final

__all__ = ["plain_text", "without_marks"]

_BREAKS: Final = frozenset(
    {"p", "br", "div", "li", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "table", "ul", "ol"}
    | {"section", "dt", "dd", "pre", "blockquote", "header", "footer"}
)
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
        elif tag in _BREAKS:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.parts.append(data)


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
    lines = (_SPACES.sub(" ", line).strip() for line in "".join(reader.parts).split("\n"))
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
