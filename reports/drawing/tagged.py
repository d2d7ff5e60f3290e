"""The part of a PDF that is not drawn: structure tree, boxes to tick, title and metadata.

Written after the pages, into ReportLab's own document (ISO 32000-1 §12.7, §14.7-14.8), so that the
file meets PDF/UA-1 (ISO 14289-1). Marked content is numbered per page (MCID) as it is painted;
the parent tree leads from a page and number, or from a box to tick, back to its element.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any, Final

from reportlab.pdfbase.pdfdoc import (
    PDFArray,
    PDFDictionary,
    PDFName,
    PDFObject,
    PDFObjectReference,
    PDFStream,
    PDFString,
)
from reportlab.pdfgen.canvas import Canvas

from reports.drawing.marks import Box, Drawing, Element, Field

_RADIO: Final = 1 << 15
_PRINTED: Final = 4
_MULTILINE: Final = 1 << 12
_MOST_WORDS: Final = 1000
_WRITTEN: Final = "/Helv 7 Tf 0 g"
_FONTS: Final = (
    "<</Font <</Helv <</Type /Font /Subtype /Type1 /BaseFont /Helvetica"
    " /Encoding /WinAnsiEncoding>>>>>>"
)
"""What a field may be written in."""
_MOST_MAPPED: Final = 100
"""Characters that one block of a Unicode map may hold."""
_XMP: Final = """<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/"
 xmlns:pdfuaid="http://www.aiim.org/pdfua/ns/id/"><pdfuaid:part>1</pdfuaid:part>
<dc:title><rdf:Alt><rdf:li xml:lang="x-default">{title}</rdf:li></rdf:Alt></dc:title>
</rdf:Description></rdf:RDF></x:xmpmeta>
<?xpacket end="r"?>"""


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
        self.canvas.setViewerPreference("DisplayDocTitle", "true")
        document.Catalog.MarkInfo = PDFDictionary({"Marked": "true"})
        document.Catalog.StructTreeRoot = _Writer(document, self).tree()
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


class _Writer:
    """The structure as objects of ReportLab's, which refer to one another."""

    def __init__(self, document: Any, structure: Structure) -> None:
        self.document, self.structure = document, structure
        self.nodes: dict[int, PDFDictionary] = {}
        """The object of each element, by the element's identity."""

    def tree(self) -> PDFDictionary:
        """Write every element and every box; give the root."""
        roots = {id(page.root): page.root for page in self.structure.pages}
        whole = Element("Document")
        whole.inside = [part for root in roots.values() for part in root.inside]
        self._keep(whole)
        root = PDFDictionary({"Type": PDFName("StructTreeRoot")})
        root["K"] = self._node(whole, self._ref(root))
        marked = (PDFArray(map(self._at, owners)) for owners in self.structure.marked)
        parents = [*enumerate(marked), *self._form()]
        tree = PDFDictionary({"Nums": PDFArray(part for pair in parents for part in pair)})
        root["ParentTree"], root["ParentTreeNextKey"] = self._ref(tree), len(parents)
        self._mark_pages()
        return root

    def _keep(self, element: Element) -> bool:
        """Drop elements that came out empty, except cells, which hold their column's place."""
        element.inside = [part for part in element.inside if self._keep(part)]
        drawn = id(element) in self.structure.runs
        return bool(element.inside) or drawn or element.role in ("TD", "TH", "Form")

    def _node(self, element: Element, parent: PDFObjectReference) -> PDFObjectReference:
        node = PDFDictionary({"S": PDFName(element.role), "P": parent})
        self.nodes[id(element)], own = node, self._ref(node)
        runs = self.structure.runs.get(id(element), [])
        page = runs[0][0] if runs else None
        kids = [
            n if p == page else PDFDictionary({"Type": PDFName("MCR"), "Pg": _page(p), "MCID": n})
            for p, n in runs
        ]
        kids += [self._node(part, own) for part in element.inside]
        if kids:
            node["K"] = PDFArray(kids)
        if page is not None:
            node["Pg"] = _page(page)
        if element.alt:
            node["Alt"] = PDFString(element.alt)
        if element.scope:
            node["A"] = PDFDictionary({"O": PDFName("Table"), "Scope": PDFName(element.scope)})
        elif element.box is not None and page is not None:
            corners = self._corners(element.box, page)
            node["A"] = PDFDictionary({"O": PDFName("Layout"), "BBox": corners})
        return own

    def _form(self) -> list[tuple[int, PDFObjectReference]]:
        """Write the questions; give the key of each box in the parent tree, with its element."""
        asked = [
            (page, *each)
            for page, drawing in enumerate(self.structure.pages)
            for each in drawing.fields
        ]
        if not asked:
            return []
        looks = self._appearance(next(frame for _, q, frame, _ in asked if q.choice))
        groups: dict[str, list[tuple[Field, Box, PDFDictionary]]] = {}
        keys, first = [], len(self.structure.pages)
        for key, (page, question, frame, element) in enumerate(asked, start=first):
            box = self._box(frame, page, key)
            held = {"Type": PDFName("OBJR"), "Obj": self._ref(box), "Pg": _page(page)}
            node = self.nodes[id(element)]
            node["Pg"], node["K"] = _page(page), PDFArray([PDFDictionary(held)])
            groups.setdefault(question.name, []).append((question, frame, box))
            keys.append((key, self._at(element)))
        fields = (
            self._question(group, looks) if group[0][0].choice else self._lines(*group[0])
            for group in groups.values()
        )
        self.document.Catalog.AcroForm = PDFDictionary(
            {"Fields": PDFArray(fields), "DA": PDFString(_WRITTEN), "DR": _FONTS}
        )
        return keys

    def _question(
        self, group: list[tuple[Field, Box, PDFDictionary]], looks: tuple[Any, Any]
    ) -> PDFObjectReference:
        """Write one question and its boxes."""
        kids = PDFArray(self._ref(box) for *_, box in group)
        field = PDFDictionary(
            {"FT": PDFName("Btn"), "Ff": _RADIO, "V": PDFName("Off"), "Kids": kids}
        )
        field.dict |= _told(group[0][0])
        for question, _, box in group:
            looked = PDFDictionary({question.choice: looks[0], "Off": looks[1]})
            box.dict |= {"Parent": self._ref(field), "AS": PDFName("Off")}
            box.dict |= {"AP": PDFDictionary({"N": looked}), "TU": PDFString(question.says)}
        return self._ref(field)

    def _lines(self, question: Field, frame: Box, box: PDFDictionary) -> PDFObjectReference:
        """Write a field to put words into, which is its own box."""
        look = self._look(frame.width, frame.height, " ")
        box.dict |= {"FT": PDFName("Tx"), "Ff": _MULTILINE, "V": PDFString("")} | _told(question)
        box.dict |= {"MaxLen": _MOST_WORDS, "DA": PDFString(_WRITTEN)}
        box["AP"] = PDFDictionary({"N": look})
        return self._ref(box)

    def _box(self, frame: Box, page: int, key: int) -> PDFDictionary:
        """Put a box on its page."""
        box = PDFDictionary({
            "Type": PDFName("Annot"), "Subtype": PDFName("Widget"), "F": _PRINTED,
            "Rect": self._corners(frame, page), "P": _page(page), "StructParent": key,
        })  # fmt: skip
        on = self._page(page)
        on.Annots = [*(on.Annots or []), self._ref(box)]
        return box

    def _corners(self, box: Box, page: int) -> PDFArray:
        top = self.structure.pages[page].height
        return PDFArray([box.x, top - box.bottom, box.right, top - box.y])

    def _appearance(self, frame: Box) -> tuple[PDFObjectReference, PDFObjectReference]:
        """Write how a ticked and an empty box look; all boxes are of one size."""
        width, height = frame.width, frame.height
        right, top = f"{width - 1:.1f}", f"{height - 1:.1f}"
        drawn = f"0.9 w 1 1 m {right} {top} l 1 {top} m {right} 1 l S"
        return self._look(width, height, drawn), self._look(width, height, " ")

    def _look(self, width: float, height: float, content: str) -> PDFObjectReference:
        box, nothing = PDFArray([0, 0, width, height]), PDFDictionary({})
        kind = {"Type": PDFName("XObject"), "Subtype": PDFName("Form")}
        head = PDFDictionary({**kind, "BBox": box, "Resources": nothing})
        return self._ref(PDFStream(head, content.encode()))

    def _mark_pages(self) -> None:
        """Lead from each page into the parent tree; the tab key follows the structure."""
        for number in range(len(self.structure.pages)):
            page = self._page(number)
            page.__NoDefault__ = [*page.__NoDefault__, "StructParents", "Tabs"]
            page.StructParents, page.Tabs = number, PDFName("S")

    def _page(self, number: int) -> Any:
        return self.document.idToObject[_page(number).name]

    def _ref(self, written: PDFObject) -> PDFObjectReference:
        return self.document.Reference(written)

    def _at(self, element: Element) -> PDFObjectReference:
        return self._ref(self.nodes[id(element)])


def _page(number: int) -> PDFObjectReference:
    """Refer to a page, by the name that ReportLab gives it."""
    return PDFObjectReference(f"Page{number + 1}")


def _told(question: Field) -> dict[str, PDFString]:
    """Say what a question is called, what it is about, and what is read aloud."""
    named = {"T": question.name, "TM": question.about, "TU": question.says}
    return {key: PDFString(text) for key, text in named.items()}
