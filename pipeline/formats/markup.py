"""Markup → the report's text: HTML, line breaks spelt out, and clinical documents (CDA).

Markup is walked through once, in time that grows with its length however it is broken: what is no
whole tag is text, and no entity is expanded but the characters that HTML names. Of a clinical
document only what its author wrote for people counts: the titles and texts of its
sections, or the one document that stands in their place; its header names patient and staff.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from html import unescape
from html.entities import html5
from typing import Final, NamedTuple

from pipeline.formats.values import known_words

_BREAKS: Final = known_words("tag")
_CELLS: Final = frozenset({"td", "th"})
_HIDDEN: Final = frozenset({"script", "style", "head", "title", "template"})
_CODE: Final = ("script", "style")
"""What stands in these is no markup, up to their end."""
_RAW: Final = "<![CDATA["
_EMPTY: Final = "/"
_UNREAD: Final = (("<!--", "-->"), (_RAW, "]]>"), ("<!", ">"), ("<?", ">"))
_BREAK: Final = re.compile(r"(?i)</?(?:br|p|div|li|tr|h[1-6])(?:[ \t][^<>]{0,200})?/?>")
_MARKS: Final = re.compile(
    r"(?i)</?(?:b|i|u|em|strong|span|font|ul|ol|table|tbody|td|th)(?:[ \t][^<>]{0,200})?/?>"
)
_CLOSED: Final = re.compile(r"(?i)</(?:b|i|u|em|strong|span|font|ul|ol|table|tbody|td|th)>")
"""No report says this of itself: its marks are no words."""
_REFERENCE: Final = re.compile(r"&(?:#\d{1,8}|#[xX][0-9a-fA-F]{1,8}|[A-Za-z][A-Za-z0-9]{1,31});")
_SPELT: Final = re.compile(r"(?:\\r)?\\n|\\r(?![a-z])")
"""Line breaks as some exports spell them."""
_ESCAPED: Final = re.compile(r"\\(?:\.(?:br|sp\+?\d{0,2}|ce)|X0D0A|X0D\\\\X0A|X0[AD])\\", re.I)
"""Line breaks as HL7 spells them; exports of what a feed brought may keep them."""
_OTHER_BREAKS: Final = str.maketrans("\v\f\u2028\u2029", "\n" * 4)
_TAG_ESCAPED: Final = re.compile(r"(?i)&lt;/?(?:html|body|p|br|div|span|b|pre|table)\b")
_BREAK_ESCAPED: Final = re.compile(r"(?i)&#(?:13|x0?d);(?:&#(?:10|x0?a);)?|&#(?:10|x0?a);")
_SPACES: Final = re.compile(r"[ \t\r\f\v\u00a0]+")
_BLANK_LINES: Final = re.compile(r"\n{3,}")


_NAME: Final = re.compile(r"(/?)([A-Za-z][^\s/<>]{0,80})")
_SIGN: Final = re.compile(r"[<>]|=\s{0,8}([\"'])")
_ATTRIBUTE: Final = re.compile(r"([\w:.-]{1,64})\s{0,8}=\s{0,8}(?:\"([^\"]*)\"|'([^']*)')")
_LONG_NUMBER: Final = re.compile(r"&#[xX]?[0-9a-fA-F]{9,};?")
"""A character reference that names no character, and on which a number may be too long to read."""


class _Piece(NamedTuple):
    """A piece of markup: ``text``, or a tag by its ``start`` or ``end``, without its prefix."""

    kind: str
    content: str
    attributes: str = ""


class _Markup:
    """Markup and what is known of it, so that nothing is looked for twice in vain.

    ``hiding``: the tags that hide what stands in them, as far as they end somewhere.
    """

    def __init__(self, markup: str) -> None:
        self.markup = markup
        closed = (tag for tag in _HIDDEN if re.search(f"</{tag}", markup, re.IGNORECASE))
        self.hiding = frozenset(closed)
        self._absent: set[str] = set()
        self._dead: set[int] = set()

    def pieces(self) -> Iterator[_Piece]:
        """Walk through tags and texts; comments and declarations are neither."""
        at, hidden = 0, ""
        while (start := self.markup.find("<", at)) >= 0:
            end = self._end(start)
            if at < start and not hidden:
                yield _Piece("text", _characters(self.markup[at:start]))
            at = max(end, start + 1)
            name = _NAME.match(self.markup, start + 1) if end > 0 else None
            if name and hidden in ("", name[2].casefold()):
                tag = name[2].casefold().rpartition(":")[2]
                hidden = tag if tag in _CODE and tag in self.hiding and not name[1] else ""
                is_empty = self.markup[end - 2] == "/"
                if not name[1]:
                    yield _Piece("start", tag, self.markup[name.end() : end - 1 - is_empty])
                if name[1] or is_empty:
                    yield _Piece("end", tag, _EMPTY if is_empty else "")
            elif self.markup.startswith(_RAW, start) and end > 0:
                yield _Piece("text", self.markup[start + len(_RAW) : end - 3])
            elif end < 0 and not hidden:
                yield _Piece("text", "<")
        yield _Piece("text", _characters(self.markup[at:]))

    def _end(self, start: int) -> int:
        """Give where what begins with ``<`` ends; -1 where it is a sign of its own."""
        for begin, end in _UNREAD:
            if self.markup.startswith(begin, start):
                return self._after(end, start + len(begin))
        return self._tag_end(start + 1) if _NAME.match(self.markup, start + 1) else -1

    def _tag_end(self, at: int) -> int:
        trail = []
        while (sign := _SIGN.search(self.markup, at)) and sign.start() not in self._dead:
            trail.append(sign.start())
            if sign[0] == ">":
                return sign.end()
            if sign[0] == "<":
                break
            at = max(self._after(sign[1], sign.end()), sign.end())
        self._dead.update(trail)
        return -1

    def _after(self, sign: str, at: int) -> int:
        found = -1 if sign in self._absent else self.markup.find(sign, at)
        if found < 0:
            self._absent.add(sign)
            return -1
        return found + len(sign)


def _characters(text: str) -> str:
    """Write the characters that references name."""
    return unescape(_LONG_NUMBER.sub("\N{REPLACEMENT CHARACTER}", text)) if "&" in text else text


def _broken(piece: _Piece) -> str:
    """Give what a piece is in a text: itself, or the break that a tag makes."""
    if piece.kind == "text":
        return piece.content
    if piece.attributes == _EMPTY:
        return ""  # its start has made the break
    if piece.content in _CELLS:
        return " "
    return "\n" if piece.content in _BREAKS else ""


_CLINICAL: Final = re.compile(r"<(?:\w{1,16}:)?ClinicalDocument\b")
_WITHIN: Final = 4096
"""A clinical document begins on so many characters."""
_PLACES: Final = ("section", "entry", "nonxmlbody", "title", "text")


class _Narrative:
    """The sections of a clinical document, or the document that stands in their place."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.stated: Mapping[str, str] = {}
        self._place: list[str] = []
        self._heading = ""
        self._title: list[str] = []

    def take(self, piece: _Piece) -> None:
        """Take the next piece: what a section's title or text holds, and none of its entries."""
        inside = self._place[-2:]
        if piece.kind == "end" and self._place[-1:] == [piece.content]:
            self._leave(self._place.pop())
        elif inside in (["section", "text"], ["nonxmlbody", "text"]):
            self.parts.append(_broken(piece))
        elif inside == ["section", "title"] and piece.kind == "text":
            self._title.append(piece.content)
        elif piece.kind == "start" and piece.content in _PLACES:
            self._place.append(piece.content)
            self._enter(piece.content, piece.attributes)
        elif piece.kind == "start" and piece.content == "code" and inside[-1:] == ["section"]:
            self._heading = known_words("section").get(_attributes(piece).get("code", ""), "")

    def _enter(self, name: str, attributes: str) -> None:
        if name == "section":
            self._heading, self._title = "", []
        elif name == "text" and self._place[-2:] == ["nonxmlbody", "text"]:
            self.stated = _attributes(_Piece("start", name, attributes))
        elif name == "text" and self._place[-2:] == ["section", "text"]:
            self.parts.append(f"\n{self._heading}\n")

    def _leave(self, name: str) -> None:
        if name == "title":
            title = " ".join("".join(self._title).split()).rstrip(":")
            self._heading = self._heading or (f"{title.upper()}:" if title else "")


def _attributes(piece: _Piece) -> dict[str, str]:
    found = _ATTRIBUTE.finditer(piece.attributes)
    return {one[1].casefold(): _characters(one[2] or one[3] or "") for one in found}


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
    for piece in _Markup(markup).pieces():
        reader.take(piece)
    stated = reader.stated
    text = _lines("".join(reader.parts))
    return text, stated.get("mediatype", ""), stated.get("representation", "")


def plain_text(markup: str) -> str:
    r"""Give the text of a piece of HTML, a line for each block.

    Examples
    --------
    >>> plain_text("<p>IMPRESSION:</p><p>No effusion &lt; 5 mm.<br/>Stable.</p>")
    'IMPRESSION:\n\nNo effusion < 5 mm.\nStable.'
    """
    parts, hidden = [], ""
    whole = _Markup(markup)
    for piece in whole.pieces():
        if piece.content == "body" or (piece.kind, piece.content) == ("end", hidden):
            hidden = ""
        elif not hidden and piece.kind == "start" and piece.content in whole.hiding:
            hidden = piece.content
        elif not hidden:
            parts.append(_broken(piece))
    return _lines("".join(parts))


def _lines(text: str) -> str:
    lines = (_SPACES.sub(" ", line).strip() for line in text.split("\n"))
    return _BLANK_LINES.sub("\n\n", "\n".join(lines)).strip()


def with_tags(text: str) -> str:
    r"""Give a text in which tags and line breaks are no longer written by references to signs.

    Examples
    --------
    >>> with_tags("&lt;p&gt;Clear.&lt;/p&gt;"), with_tags("Clear.&#13;&#10;5 &lt; 6")
    ('<p>Clear.</p>', 'Clear.\n5 &lt; 6')
    """
    if "&" in text and _TAG_ESCAPED.search(text):
        text = _characters(text)
    return _BREAK_ESCAPED.sub("\n", text) if "&#" in text else text


def without_marks(text: str) -> str:
    r"""Give the lines of a text that is no page of HTML but whose line breaks are spelt out.

    ``<br>`` and ``<p>`` are line breaks wherever they stand; marks go beside these, or where one
    ends; references are the characters that they name; ``\n`` written as two signs is a line break
    where the text has none of its own.

    Examples
    --------
    >>> without_marks("FINDINGS:<br>5 &lt; 6 mm<BR/><b>IMPRESSION:</b> clear")
    'FINDINGS:\n5 < 6 mm\nIMPRESSION: clear'
    >>> without_marks("<b>IMPRESSION:</b> 6 &times; 4 mm, R&D; 3 &central nodules, R < L")
    'IMPRESSION: 6 × 4 mm, R&D; 3 &central nodules, R < L'
    >>> without_marks(r"FINDINGS:\r\nClear.\n"), without_marks("R < L, <1 cm")
    ('FINDINGS:\nClear.\n', 'R < L, <1 cm')
    """
    text = text.translate(_OTHER_BREAKS)
    text = _ESCAPED.sub("\n", text) if "\\" in text else text
    if "\\" in text and "\n" not in text.strip():
        text = _SPELT.sub("\n", text).replace("\\t", "\t")
    if "<" in text and (_BREAK.search(text) or _CLOSED.search(text)):
        text = _MARKS.sub("", _BREAK.sub("\n", text)).replace("\u00a0", " ")
    return with_characters(text).replace("\u00a0", " ") if "&" in text else text


def with_characters(text: str) -> str:
    """Write the characters that whole references name, in a text that is no page of HTML.

    Examples
    --------
    >>> with_characters("O&#39;Neill &amp; M&uuml;ller"), with_characters("heart &lungs; R&D")
    ("O'Neill & Müller", 'heart &lungs; R&D')
    """
    text = _LONG_NUMBER.sub("\N{REPLACEMENT CHARACTER}", text)
    return _REFERENCE.sub(lambda one: _named(one[0]), text)


def _named(reference: str) -> str:
    name = reference[1:]
    return unescape(reference) if name.startswith("#") else html5.get(name, reference)
