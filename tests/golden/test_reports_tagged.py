"""What a screen reader meets: structure, alternative text, boxes to tick; PDF/UA-1 by machine."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator

import pikepdf
import pytest

from pipeline.vault.sealing import seal
from reports.content import SuppressedCell
from reports.drawing.marks import Element
from reports.drawing.style import Style, palette, style_for
from reports.marked import swaps_in_order
from reports.pages import committee, radiologist, return_sheet, run_report
from tests.fixtures import pdf_ua
from tests.fixtures.reports import sample_contents as samples

DRAWN: dict[str, Callable[[], bytes]] = {
    "feedback": lambda: radiologist.build_both(
        samples.radiologist(seed=1, n=900, shift={"likely": -0.35}), style=Style()
    )[0],
    "feedback on Letter": lambda: radiologist.build_both(
        samples.radiologist(seed=2), style=style_for("Letter")
    )[0],
    "feedback of too few": lambda: radiologist.build_both(
        samples.radiologist(seed=3, overall=SuppressedCell(20)), style=Style()
    )[0],
    "review": lambda: committee.build_both(samples.committee(), style=Style())[0],
    "review of many": lambda: committee.build_both(samples.committee(readers=30), style=Style())[0],
    "German feedback": lambda: radiologist.build_both(
        samples.radiologist(seed=1, n=900), style=style_for("A4", language="de")
    )[0],
    "German review": lambda: committee.build_both(
        samples.committee(), style=style_for("A4", language="de")
    )[0],
    "stopped run": lambda: run_report.build(samples.stopped_run(), style=Style()),
}


@pytest.fixture(scope="module")
def feedback() -> bytes:
    return DRAWN["feedback"]()


@pytest.mark.parametrize("name", DRAWN)
def test_a_page_has_no_fault_by_pdf_ua(name: str) -> None:
    assert pdf_ua.faults(DRAWN[name]()) == []


def test_a_locked_page_with_its_attachments_has_no_fault_either(feedback: bytes) -> None:
    files = {"feedback.pdf": feedback, "return.csv": b"a,b", "feedback.html": b"<p>"}
    locked = seal(files, "correct horse battery")["feedback.pdf"]
    assert pdf_ua.faults(locked, password="correct horse battery") == []


def _without_alt(pdf: pikepdf.Pdf) -> None:
    for each in pdf.objects:
        if isinstance(each, pikepdf.Dictionary) and each.get("/S") == "/Figure":
            del each["/Alt"]


def _unmarked(pdf: pikepdf.Pdf) -> None:
    page = pdf.pages[0]
    kept = [
        (operands, operator)
        for operands, operator in pikepdf.parse_content_stream(page)
        if str(operator) not in ("BDC", "BMC", "EMC")
    ]
    page.Contents = pdf.make_stream(pikepdf.unparse_content_stream(kept))


def _without_scope(pdf: pikepdf.Pdf) -> None:
    for each in pdf.objects:
        if isinstance(each, pikepdf.Dictionary) and each.get("/S") == "/TH":
            del each["/A"]


def _deep_heading(pdf: pikepdf.Pdf) -> None:
    for each in pdf.objects:
        if isinstance(each, pikepdf.Dictionary) and each.get("/S") == "/H2":
            each["/S"] = pikepdf.Name("/H4")


def _without_language(pdf: pikepdf.Pdf) -> None:
    del pdf.Root["/Lang"]


def _lost_box(pdf: pikepdf.Pdf) -> None:
    for each in pdf.objects:
        if isinstance(each, pikepdf.Dictionary) and each.get("/S") == "/Form":
            each["/K"] = pikepdf.Array()


def _short_row(pdf: pikepdf.Pdf) -> None:
    for each in pdf.objects:
        if isinstance(each, pikepdf.Dictionary) and each.get("/S") == "/TR" and len(each.K) > 5:
            del each.K[-1]
            return


def _nameless_box(pdf: pikepdf.Pdf) -> None:
    for page in pdf.pages:
        for box in page.obj.get("/Annots", []):
            del box["/TU"]


def _boxes_mixed_up(pdf: pikepdf.Pdf) -> None:
    one, other, *_ = next(p for p in pdf.pages if "/Annots" in p.obj).obj.Annots
    one["/StructParent"], other["/StructParent"] = (
        int(other["/StructParent"]), int(one["/StructParent"]),
    )  # fmt: skip


def _key_taken(pdf: pikepdf.Pdf) -> None:
    pdf.Root.StructTreeRoot["/ParentTreeNextKey"] = 0


def _other_namespace(pdf: pikepdf.Pdf) -> None:
    text = pdf.Root.Metadata.read_bytes().replace(b"pdfua/ns/id/", b"pdfua/ns/")
    pdf.Root.Metadata = pdf.make_stream(text)


def _silent_link(pdf: pikepdf.Pdf) -> None:
    box = next(p for p in pdf.pages if "/Annots" in p.obj).obj.Annots[0]
    box["/Subtype"] = pikepdf.Name("/Link")


def _numbered_drawing(pdf: pikepdf.Pdf) -> None:
    drawn = pdf.make_stream(b"/P <</MCID 0>> BDC EMC", Subtype=pikepdf.Name("/Form"))
    pdf.pages[0].obj.Resources["/XObject"] = pikepdf.Dictionary({"/X": drawn})


def _half_named_file(pdf: pikepdf.Pdf) -> None:
    pdf.attachments["return.csv"] = b"answers"
    del pdf.attachments["return.csv"].obj["/UF"]


def _font_left_out(pdf: pikepdf.Pdf) -> None:
    for each in pdf.objects:
        if isinstance(each, pikepdf.Dictionary) and each.get("/Type") == "/FontDescriptor":
            del each["/FontFile2"]


def _mute_font(pdf: pikepdf.Pdf) -> None:
    for each in pdf.objects:
        if isinstance(each, pikepdf.Dictionary) and "/ToUnicode" in each:
            del each["/ToUnicode"]


def _untitled(pdf: pikepdf.Pdf) -> None:
    del pdf.Root["/ViewerPreferences"]


@pytest.mark.parametrize(
    ("spoil", "number"),
    [
        (_short_row, "15-004"),
        (_nameless_box, "28-005"),
        (_boxes_mixed_up, "28-002"),
        (_key_taken, "01-005"),
        (_other_namespace, "06-002"),
        (_silent_link, "28-004"),
        (_numbered_drawing, "30-002"),
        (_half_named_file, "21-001"),
        (_font_left_out, "31-009"),
        (_mute_font, "10-001"),
        (_untitled, "07-001"),
        (_without_alt, "13-004"),
        (_unmarked, "01-005"),
        (_without_scope, "15-003"),
        (_deep_heading, "14-003"),
        (_without_language, "11-006"),
        (_lost_box, "28-002"),
    ],
)
def test_the_checker_sees_what_is_spoilt(
    feedback: bytes, spoil: Callable[[pikepdf.Pdf], None], number: str
) -> None:
    out = io.BytesIO()
    with pikepdf.open(io.BytesIO(feedback)) as pdf:
        spoil(pdf)
        pdf.save(out)
    assert number in {fault.partition(":")[0] for fault in pdf_ua.faults(out.getvalue())}


def _all(element: Element) -> Iterator[Element]:
    yield element
    for part in element.inside:
        yield from _all(part)


def test_a_figure_is_said_with_the_numbers_it_shows() -> None:
    content = samples.radiologist(seed=1, n=900, shift={"likely": -0.35})
    page = radiologist.pages(content, style=Style())[0]
    figures = [each for each in _all(page.root) if each.role == "Figure"]
    shown = {mark.hint for mark in page.marks} - {""}
    said = " ".join(figure.alt for figure in figures)
    assert len(shown) >= 8
    assert [hint for hint in shown if hint not in said] == []


def test_ticked_boxes_are_read_back_and_others_are_no_answer(feedback: bytes) -> None:
    cases = samples.radiologist(seed=1, n=900, shift={"likely": -0.35}).cases
    out = io.BytesIO()
    with pikepdf.open(io.BytesIO(feedback)) as pdf:
        fields = {str(each["/T"]): each for each in pdf.Root.AcroForm.Fields}
        fields["case0"]["/V"] = pikepdf.Name("/discordant")
        fields["case2"]["/V"] = pikepdf.Name("/wrong pair")
        pdf.save(out)
    answers, swaps = return_sheet.read_page(out.getvalue())
    assert swaps == ()
    assert [(a.xray_code, a.ct_code, a.pathology, a.answer) for a in answers] == [
        (cases[0].xray_code, cases[0].ct_code, cases[0].pathology, "discordant"),
        (cases[2].xray_code, cases[2].ct_code, cases[2].pathology, "wrong pair"),
    ]
    assert return_sheet.read_page(feedback) == ((), ())


def test_what_is_said_of_a_swap_is_read_back_with_its_words() -> None:
    content = samples.with_three_actions()
    page = radiologist.build_both(content, style=Style())[0]
    assert pdf_ua.faults(page) == []
    swaps = swaps_in_order(content.profile)
    out = io.BytesIO()
    with pikepdf.open(io.BytesIO(page)) as pdf:
        fields = {str(each["/T"]): each for each in pdf.Root.AcroForm.Fields}
        assert [str(fields[f"swap{n}"]["/TM"]) for n in (1, 2, 3)] == [
            return_sheet.about_swap("R-7Q2F", swap) for swap in swaps
        ]
        assert str(fields["swap2.words"].FT) == "/Tx"
        fields["swap1"]["/V"] = pikepdf.Name("/not mine")
        fields["swap2"]["/V"] = pikepdf.Name("/disagree")
        fields["swap2.words"]["/V"] = pikepdf.String("Nur bei Kindern, wie vereinbart ü")
        fields["swap3.words"]["/V"] = pikepdf.String("later")
        pdf.save(out)
    cases, said = return_sheet.read_page(out.getvalue())
    assert cases == ()
    assert [(a.reader, a.phrase, a.finding or None, a.instead) for a in said] == [
        ("R-7Q2F", swap.phrase, swap.finding, swap.instead) for swap in swaps
    ]
    assert [(a.answer, a.words) for a in said] == [
        ("not mine", ""), ("disagree", "Nur bei Kindern, wie vereinbart ü"), ("", "later"),
    ]  # fmt: skip


def test_an_unknown_answer_and_a_page_that_is_none_are_refused(feedback: bytes) -> None:
    out = io.BytesIO()
    with pikepdf.open(io.BytesIO(feedback)) as pdf:
        pdf.Root.AcroForm.Fields[0]["/V"] = pikepdf.Name("/maybe")
        pdf.save(out)
    for page in (out.getvalue(), b"%PDF-1.7 nothing", b"answer,sheet"):
        with pytest.raises(return_sheet.ReturnSheetError, match="fill the return sheet instead"):
            return_sheet.read_page(page)


def _luminance(colour: str) -> float:
    """Relative luminance (WCAG 2.2)."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("name", ["ink", "muted", "own", "department"])
def test_colours_of_text_stand_out_from_paper(name: str) -> None:
    assert 1.05 / (_luminance(getattr(palette, name)) + 0.05) >= 4.5
