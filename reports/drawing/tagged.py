"""The part of a PDF that is not drawn: structure tree, boxes to tick, title and metadata.

Written after the pages, into ReportLab's own document (ISO 32000-1 §12.7, §14.7-14.8), so that the
file meets PDF/UA-1 (ISO 14289-1). Marked content is numbered per page (MCID) as it is painted;
the parent tree leads from a page and number, or from a box to tick, back to its element.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any, Final

from reportlab.pdfbase.pdfdoc import PDFArray, PDFDictionary, PDFName, PDFObject, PDFStream
from reportlab.pdfgen.canvas import Canvas

from reports.drawing.marks import Drawing, Element, Field

_RADIO: Final = 1 << 15
_PRINTED: Final = 4
_MULTILINE: Final = 1 << 12
_MOST_WORDS: Final = 1000
_WRITTEN: Final = "/Helv 7 Tf 0 g"
_MOST_MAPPED: Final = 100
"""Characters that one block of a Unicode map may hold."""
_XMP: Final = """<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/"
 xmlns:pdfuaid="http://www.aiim.org/pdfua/ns/id/"><pdfuaid:part>1</pdfuaid:part>
<dc:title><rdf:Alt><rdf:li xml:lang="x-default">{title}</rdf:li></rdf:Alt></dc:title>
</rdf:Description></rdf:RDF></x:xmpmeta>
<?xpacket end="r"?>"""


class _Raw(PDFObject):  # type: ignore[misc]
    """An object written as it is; its number is known before its text."""

    __slots__ = ("__InternalName__", "text")

    def __init__(self) -> None:
        self.text = ""

    def format(self, document: object) -> bytes:
        """Give the object's bytes."""
        del document
        return self.text.encode("ascii")


@dataclass(slots=True)
class Structure:
    """What has been marked so far, and how it is written when the last page is shown."""

    canvas: Canvas
    pages: Sequence[Drawing]
    marked: list[list[Element]] = field(default_factory=list)
    """For each page the element of each marked-content number."""
    runs: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    """Page and number of an element's content, by the element's identity."""

    def open(self, owner: Element | None, page: int) -> str:
        """Give the operator that opens a run of marks of one owner."""
        if owner is None:
            return "/Artifact BMC"
        while len(self.marked) <= page:
            self.marked.append([])
        number = len(self.marked[page])
        self.marked[page].append(owner)
        self.runs.setdefault(id(owner), []).append((page, number))
        return f"/{owner.role} <</MCID {number}>> BDC"

    def write(self, *, title: str) -> None:
        """Add the structure tree, the boxes to tick and the metadata to the document."""
        document: Any = self.canvas._doc
        writer = _Writer(document, self)
        self.canvas.setViewerPreference("DisplayDocTitle", "true")
        document.Catalog.MarkInfo = PDFDictionary({"Marked": "true"})
        document.Catalog.StructTreeRoot = writer.tree()
        packet = PDFStream(
            PDFDictionary({"Type": PDFName("Metadata"), "Subtype": PDFName("XML")}),
            _XMP.format(title=escape(title)).encode(),
        )
        document.Catalog.Metadata = packet
        _settle_fonts(document)


def _settle_fonts(document: Any) -> None:
    """Write the fonts now, and take what no text uses out of their ways back to Unicode."""
    for font in document.delayedFonts:
        font.addObjects(document)
    document.delayedFonts = []
    for name, stream in document.idToObject.items():
        if not str(name).startswith("toUnicodeCMap:"):
            continue
        head, _, rest = stream.content.partition("beginbfchar\n")
        body, _, tail = rest.partition("endbfchar\n")
        used = [line for line in body.splitlines() if not line.endswith("<0000>")]
        blocks = [used[i : i + _MOST_MAPPED] for i in range(0, len(used), _MOST_MAPPED)]
        written = (
            "\n".join([f"{len(block)} beginbfchar", *block, "endbfchar\n"]) for block in blocks
        )
        stream.content = head.rpartition("\n")[0] + "\n" + "".join(written) + tail


@dataclass(frozen=True, slots=True)
class _Asked:
    """A box of a question on its page, and its key in the parent tree."""

    key: int
    page: int
    question: Field
    box: _Raw


class _Writer:
    """Numbers for everything first, then the text that refers to them."""

    def __init__(self, document: Any, structure: Structure) -> None:
        self.document, self.structure = document, structure
        self.numbers: dict[int, int] = {}
        self.pages = [
            document.idToObjectNumberAndVersion[f"Page{i}"][0]
            for i in range(1, len(structure.pages) + 1)
        ]

    def tree(self) -> _Raw:
        """Write every element and every box; give the root."""
        roots = {id(page.root): page.root for page in self.structure.pages}
        whole = Element("Document")
        whole.inside = [part for root in roots.values() for part in root.inside]
        self._keep(whole)
        objects = {id(e): (self._new(), e) for e in _all(whole)}
        self.numbers = {key: self._number(raw) for key, (raw, _) in objects.items()}
        root = self._new()
        self._write(whole, self._number(root), objects)
        boxes = self._form()
        parents = [
            f"{i} [{' '.join(self._ref(e) for e in owners)}]"
            for i, owners in enumerate(self.structure.marked)
        ]
        parents += [f"{key} {self._ref(element)}" for key, element in boxes]
        tree = self._new()
        tree.text = f"<</Nums [{' '.join(parents)}]>>"
        root.text = (
            f"<</Type /StructTreeRoot /K {self._ref(whole)} /ParentTree {self._number(tree)} 0 R"
            f" /ParentTreeNextKey {len(parents)}>>"
        )
        self._mark_pages()
        return root

    def _keep(self, element: Element) -> bool:
        """Drop elements that came out empty, except cells, which hold their column's place."""
        element.inside = [part for part in element.inside if self._keep(part)]
        drawn = id(element) in self.structure.runs
        return bool(element.inside) or drawn or element.role in ("TD", "TH", "Form")

    def _write(
        self, element: Element, parent: int, objects: dict[int, tuple[_Raw, Element]]
    ) -> None:
        runs = self.structure.runs.get(id(element), [])
        page = runs[0][0] if runs else None
        kids = [
            str(n) if p == page else f"<</Type /MCR /Pg {self.pages[p]} 0 R /MCID {n}>>"
            for p, n in runs
        ]
        kids += [self._ref(part) for part in element.inside]
        raw, _ = objects[id(element)]
        raw.text = "".join(
            (
                f"<</S /{element.role} /P {parent} 0 R",
                "" if page is None else f" /Pg {self.pages[page]} 0 R",
                f" /K [{' '.join(kids)}]" if kids else "",
                f" /Alt {_text(element.alt)}" if element.alt else "",
                self._attributes(element, page),
                ">>",
            )
        )
        for part in element.inside:
            self._write(part, self.numbers[id(element)], objects)

    def _attributes(self, element: Element, page: int | None) -> str:
        if element.scope:
            return f" /A <</O /Table /Scope /{element.scope}>>"
        if element.box is None or page is None:
            return ""
        box, top = element.box, self.structure.pages[page].height
        corners = (box.x, top - box.bottom, box.right, top - box.y)
        return f" /A <</O /Layout /BBox [{' '.join(f'{c:.1f}' for c in corners)}]>>"

    def _form(self) -> list[tuple[int, Element]]:
        """Write the questions; give the key of each box in the parent tree, with its element."""
        asked = [
            (page, question, element)
            for page, drawing in enumerate(self.structure.pages)
            for question, element in drawing.fields
        ]
        if not asked:
            return []
        looks = self._appearance(next(q for _, q, _ in asked if q.choice))
        groups: dict[str, list[_Asked]] = {}
        keys = []
        for key, (page, question, element) in enumerate(asked, start=len(self.structure.pages)):
            box = self._new()
            groups.setdefault(question.name, []).append(_Asked(key, page, question, box))
            keys.append((key, element))
            self._hold(element, page, self._number(box))
        fields = [
            self._question(group, looks) if group[0].question.choice else self._lines(group[0])
            for group in groups.values()
        ]
        form = self._new()
        form.text = (
            f"<</Fields [{' '.join(f'{number} 0 R' for number in fields)}] /DA ({_WRITTEN})"
            " /DR <</Font <</Helv <</Type /Font /Subtype /Type1 /BaseFont /Helvetica"
            " /Encoding /WinAnsiEncoding>>>>>>>>"
        )
        self.document.Catalog.AcroForm = form
        return keys

    def _hold(self, element: Element, page: int, box: int) -> None:
        """Lead from an element to its box."""
        raw = self.document.idToObject[self.document.numberToId[self.numbers[id(element)]]]
        kid = f"<</Type /OBJR /Obj {box} 0 R /Pg {self.pages[page]} 0 R>>"
        raw.text = f"{raw.text[:-2]} /Pg {self.pages[page]} 0 R /K [{kid}]>>"

    def _question(self, group: list[_Asked], looks: tuple[int, int]) -> int:
        """Write one question and its boxes; give its number."""
        raw, first = self._new(), group[0].question
        number = self._number(raw)
        kids = " ".join(f"{self._number(each.box)} 0 R" for each in group)
        raw.text = (
            f"<</FT /Btn /Ff {_RADIO} /T {_text(first.name)} /TM {_text(first.about)}"
            f" /TU {_text(first.says)} /V /Off /Kids [{kids}]>>"
        )
        for each in group:
            each.box.text = self._box(each, number, looks)
            page = self._page(each.page)
            page.Annots = [*(page.Annots or []), self.document.Reference(each.box)]
        return number

    def _lines(self, asked: _Asked) -> int:
        """Write a field to put words into, which is its own box; give its number."""
        question = asked.question
        look = self._look(question.box.width, question.box.height, " ")
        asked.box.text = (
            f"<</FT /Tx /Ff {_MULTILINE} /T {_text(question.name)} /TM {_text(question.about)}"
            f" /TU {_text(question.says)} /V () /MaxLen {_MOST_WORDS} /DA ({_WRITTEN})"
            f" {self._widget(asked)} /AP <</N {look} 0 R>>>>"
        )
        page = self._page(asked.page)
        page.Annots = [*(page.Annots or []), self.document.Reference(asked.box)]
        return self._number(asked.box)

    def _widget(self, asked: _Asked) -> str:
        """Say where on which page a box stands."""
        frame, top = asked.question.box, self.structure.pages[asked.page].height
        corners = (frame.x, top - frame.bottom, frame.right, top - frame.y)
        return (
            f"/Type /Annot /Subtype /Widget /Rect [{' '.join(f'{c:.2f}' for c in corners)}]"
            f" /F {_PRINTED} /P {self.pages[asked.page]} 0 R /StructParent {asked.key}"
        )

    def _box(self, asked: _Asked, parent: int, looks: tuple[int, int]) -> str:
        question = asked.question
        name, (ticked, empty) = question.choice.replace(" ", "#20"), looks
        return (
            f"<<{self._widget(asked)} /Parent {parent} 0 R /AS /Off"
            f" /AP <</N <</{name} {ticked} 0 R /Off {empty} 0 R>>>> /TU {_text(question.says)}>>"
        )

    def _appearance(self, question: Field) -> tuple[int, int]:
        """Write how a ticked and an empty box look; all boxes are of one size."""
        width, height = question.box.width, question.box.height
        right, top = f"{width - 1:.1f}", f"{height - 1:.1f}"
        drawn = f"0.9 w 1 1 m {right} {top} l 1 {top} m {right} 1 l S"
        return self._look(width, height, drawn), self._look(width, height, " ")

    def _look(self, width: float, height: float, content: str) -> int:
        look = PDFStream(
            PDFDictionary(
                {
                    "Type": PDFName("XObject"),
                    "Subtype": PDFName("Form"),
                    "BBox": PDFArray([0, 0, width, height]),
                    "Resources": PDFDictionary({}),
                }
            ),
            content.encode(),
        )
        self.document.Reference(look)
        return self._number(look)

    def _mark_pages(self) -> None:
        """Lead from each page into the parent tree; the tab key follows the structure."""
        for number in range(len(self.structure.pages)):
            page = self._page(number)
            page.__NoDefault__ = [*page.__NoDefault__, "StructParents", "Tabs"]
            page.StructParents, page.Tabs = number, PDFName("S")

    def _page(self, number: int) -> Any:
        return self.document.idToObject[f"Page{number + 1}"]

    def _new(self) -> _Raw:
        raw = _Raw()
        self.document.Reference(raw)
        return raw

    def _number(self, thing: Any) -> int:
        return int(self.document.idToObjectNumberAndVersion[thing.__InternalName__][0])

    def _ref(self, element: Element) -> str:
        return f"{self.numbers[id(element)]} 0 R"


def _all(element: Element) -> Iterator[Element]:
    yield element
    for part in element.inside:
        yield from _all(part)


def _text(text: str) -> str:
    """Write a text string: ASCII in parentheses, anything else as UTF-16."""
    if text.isascii():
        plain = text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
        return f"({plain})"
    return f"<FEFF{text.encode('utf-16-be').hex().upper()}>"
