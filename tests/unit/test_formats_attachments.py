"""Reports that come as RTF or PDF: read whole, chosen by form, or set aside with the reason."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from pipeline.formats.attachments import (
    NOT_TEXT,
    Attachment,
    Chosen,
    chosen,
    document_text,
    text_in_cell,
)
from pipeline.formats.exams import SetAside
from pipeline.formats.exports import TableOptions
from pipeline.formats.exports import read as read_table
from pipeline.formats.fhir import FhirOptions
from pipeline.formats.fhir import read as read_fhir
from pipeline.formats.hl7v2 import Hl7Options
from pipeline.formats.hl7v2 import read as read_hl7
from pipeline.formats.markup import plain_text, without_marks
from tests.fixtures.documents import encrypted, pdf, rtf

LINES = ("FINDINGS:", "Heart {normal}; 5 µm – “clear”, 3 ≥ 2.", "IMPRESSION: Likely normal.")
PLAIN = ("FINDINGS:", "Heart normal.", "IMPRESSION: Likely normal.")
HEAD = "MSH|^~\\&|RIS|NM|||20260301120000||ORU^R01|1|P|2.5.1\rPID|1||M1\r"
OBR = "OBR|1|O1|ACC1|X1^XR CHEST||20260301100000||||||||||||||||20260301113000|||F\r"


def coded(content: bytes) -> str:
    return base64.b64encode(content).decode()


def reason(content: bytes) -> str:
    found = document_text(content)
    assert isinstance(found, SetAside)
    return found.reason


def hl7(folder: Path, *rows: str) -> tuple[list[tuple[str, str]], list[str]]:
    path = folder / "feed.hl7"
    path.write_text(HEAD + OBR + "\r".join(rows), encoding="utf-8")
    (batch,) = read_hl7(path, Hl7Options())
    exams = zip(batch.exams["text"], batch.exams["text_form"], strict=True)
    return list(exams), list(batch.quarantined["reason"])


def ed(content: bytes, kind: str = "^application^pdf", row: int = 1) -> str:
    return f"OBX|{row}|ED|RPT||{kind}^Base64^{coded(content)}||||||F"


def test_rtf_is_read_with_its_characters_and_without_its_trimmings() -> None:
    assert document_text(rtf(LINES)) == "\n".join(LINES)


@pytest.mark.parametrize("declared", ["application/pdf", "application/octet-stream", ""])
def test_a_page_is_a_page_whatever_it_is_declared_to_be(declared: str) -> None:
    page = b"\n<!DOCTYPE html><html><body><p>Likely pneumonia.</p></body></html>"
    found = chosen([Attachment(page, declared)])
    assert isinstance(found, Chosen)
    assert (found.form, found.parts) == ("markup", ((0, "Likely pneumonia."),))


CLINICAL = """<?xml version="1.0" encoding="UTF-8"?>
<ClinicalDocument xmlns="urn:hl7-org:v3"><title>Report of Jane Doe</title>
<recordTarget><patientRole><id extension="M1"/><addr><city>Springfield</city></addr></patientRole>
</recordTarget><component>%s</component></ClinicalDocument>"""
SECTIONS = """<structuredBody>
<component><section><code code="59776-5"/><title>Befund</title><text><list><item>Clear &amp;
 dry.</item><item>Heart 5 &lt; 6 mm.</item></list></text>
<entry><observation><text>coded</text></observation></entry></section></component>
<component><section><title>Recommendation</title><text><paragraph>Likely <content>normal</content>.
</paragraph><br/>None.</text></section></component></structuredBody>"""
READ = "FINDINGS:\n\nClear & dry.\n\nHeart 5 < 6 mm.\n\nRECOMMENDATION:\n\nLikely normal.\n\nNone."


def multipart(content: bytes) -> bytes:
    head = 'MIME-Version: 1.0\r\nContent-Type: multipart/related; boundary="b"\r\n\r\n--b\r\n'
    coding = "Content-Type: text/xml; charset=UTF-8\r\nContent-Transfer-Encoding: base64\r\n\r\n"
    return (head + coding + coded(content) + "\r\n--b--\r\n").encode()


def escaped(content: bytes) -> str:
    marks = {"\\": "\\E\\", "&": "\\T\\", "|": "\\F\\", "^": "\\S\\", "\r": "", "\n": "\\X0A\\"}
    return "".join(marks.get(letter, letter) for letter in content.decode())


@pytest.mark.parametrize("wrap", [bytes, multipart], ids=["alone", "in a message"])
@pytest.mark.parametrize("is_coded", [True, False])
def test_of_a_clinical_document_the_sections_are_read_and_not_its_header(
    tmp_path: Path, wrap: Callable[[bytes], bytes], is_coded: bool
) -> None:
    content = wrap((CLINICAL % SECTIONS).encode())
    row = ed(content, "^multipart^x-hl7-cda-level-one")
    if not is_coded:
        row = f"OBX|1|ED|RPT||^multipart^x-hl7-cda-level-one^A^{escaped(content)}||||||F"
    ((text, form),), aside = hl7(tmp_path, row)
    assert (text.split(), form, aside) == (READ.split(), "", [])


def test_the_document_in_place_of_sections_is_read_as_what_it_is(tmp_path: Path) -> None:
    inner = f'<text mediaType="application/pdf" representation="B64">{coded(pdf(PLAIN))}</text>'
    whole = (CLINICAL % f"<nonXMLBody>{inner}</nonXMLBody>").encode()
    assert hl7(tmp_path, ed(whole, "^text^xml"))[0] == [("\n".join(PLAIN), "PDF")]
    assert text_in_cell(CLINICAL % SECTIONS) != text_in_cell(CLINICAL % "")


@pytest.mark.parametrize(
    "broken", ["<p ", "<a b=", '<a b="', "<!--", "<![CDATA[", "<", "<a b='<a b=\""]
)
def test_markup_that_is_broken_throughout_is_text_and_read_in_one_walk(broken: str) -> None:
    assert plain_text(broken * 100_000) == " ".join((broken * 100_000).split(" ")).strip()


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<head><title>Q</title><body>Kept.", "Kept."),
        ("Likely <script>normal.", "Likely normal."),
        ("<style>p{a<b}</style>Dry.<script>if(a<b)'</script> Clear.", "Dry. Clear."),
        ("<p it's>Jane's <img src=\"a>b\">lung < 5 & > 3 mm</p>", "Jane's lung < 5 & > 3 mm"),
        ("<table><tr><td>Size</td><td>5</td></tr></table>", "Size 5"),
        ("5 &lt; 6 &#956;m &#x2265; &#" + "9" * 6000 + "; x", "5 < 6 μm ≥ \ufffd x"),
    ],
)
def test_of_markup_the_text_is_read_whatever_it_leaves_open(markup: str, text: str) -> None:
    assert plain_text(markup) == text


def test_a_message_nested_without_end_is_no_report() -> None:
    nested = b"".join(b'Content-Type: multipart/mixed; boundary="%d"\r\n\r\n--%d\r\n' % (n, n)
                      for n in range(2000))  # fmt: skip
    assert chosen([Attachment(nested)]) == NOT_TEXT


def test_a_number_that_names_no_character_stops_nothing() -> None:
    assert without_marks("Dry.<br>&#" + "9" * 6000 + ";") == "Dry.\n\ufffd"


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ("<b></b>No effusion. Node (6 &times; 4 mm).", "No effusion. Node (6 × 4 mm)."),
        ("<b>IMPRESSION:</b>\nNo effusion.", "IMPRESSION:\nNo effusion."),
        ("Cobb angle 15&#176;, effusion &lt; 5&nbsp;mm", "Cobb angle 15°, effusion < 5 mm"),
        ("&lt;b&gt;&lt;/b&gt;Dry &amp;amp; clear", "Dry & clear"),
    ],
)
def test_marks_and_references_of_a_text_without_line_breaks_are_no_words(
    cell: str, text: str
) -> None:
    assert text_in_cell(cell) == (text, "")


def test_text_declared_a_pdf_is_still_none() -> None:
    assert chosen([Attachment(b"See the system.", "application/pdf")]) == NOT_TEXT


def test_cells_of_an_rtf_table_are_parted_by_tabs() -> None:
    table = b"{\\rtf1 Size\\cell 5 mm\\cell\\row \\u-10179?\\u-8704?\\~x\\_y}"
    assert document_text(table) == "Size\t5 mm\t\n😀 x-y"


def test_a_pdf_is_read_by_its_text_layer_page_after_page() -> None:
    lines = [f"Line {n} of the report." for n in range(120)]
    assert document_text(pdf(lines)) == "\n".join(lines)


def test_a_pdf_that_opens_without_a_password_is_read() -> None:
    assert document_text(encrypted(pdf(PLAIN), "")) == "\n".join(PLAIN)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (encrypted(pdf(PLAIN), "secret"), "encrypted_document"),
        (pdf(()), "scanned_document"),
        (pdf(PLAIN)[:600], "damaged_document"),
        (b"%PDF-1.7 x", "damaged_document"),
        (rtf(LINES)[:-3], "damaged_document"),
        (b"{\\rtf1 }", "scanned_document"),
        (pdf([str(n) for n in range(50 * 61)]), "document_too_large"),
    ],
    ids=["locked", "picture", "cut", "no pdf", "cut rtf", "empty", "pages"],
)
def test_a_document_that_cannot_be_read_whole_says_why(content: bytes, why: str) -> None:
    assert reason(content) == why


@pytest.mark.slow
def test_a_bomb_costs_one_document_and_the_next_is_read() -> None:
    stream = zlib.compress(b"BT /F1 12 Tf (x) Tj ET " * 2_000_000)
    whole = pdf(PLAIN)
    start, end = whole.index(b"stream\n") + 7, whole.index(b"endstream")
    bomb = whole[:start] + stream + whole[end:]
    bomb = bomb.replace(b"/ASCII85Decode /FlateDecode", b"/FlateDecode")
    deep = b"{\\rtf1 " + b"{" * 200_000 + b"x" + b"}" * 200_001
    assert reason(bomb) in ("damaged_document", "document_too_large")
    assert isinstance(document_text(deep), SetAside | str)
    assert document_text(pdf(PLAIN)) == "\n".join(PLAIN)


def test_the_plainest_whole_form_is_chosen() -> None:
    forms = [Attachment(pdf(PLAIN)), Attachment(rtf(PLAIN)), Attachment(b"<p>Page.</p>")]
    plain = Attachment(b"Plain.", "text/plain")
    assert chosen([*forms, plain]) == Chosen(((3, "Plain."),), "text")
    assert chosen(forms) == Chosen(((2, "Page."),), "markup")
    assert chosen(forms[:2]) == Chosen(((1, "\n".join(PLAIN)),), "RTF")
    assert chosen([forms[0], Attachment(rtf(PLAIN)[:-3])]) == Chosen(
        ((0, "\n".join(PLAIN)),), "PDF"
    )


def test_parts_of_one_form_make_up_the_report_and_copies_do_not() -> None:
    parts = [Attachment(b"FINDINGS: Clear."), Attachment(b"IMPRESSION: Normal.")]
    assert chosen([*parts, parts[0]]) == Chosen(
        ((0, "FINDINGS: Clear."), (1, "IMPRESSION: Normal.")), "text"
    )


def test_half_a_report_does_not_pass_for_the_whole() -> None:
    found = chosen([Attachment(pdf(PLAIN)), Attachment(pdf(()))])
    assert isinstance(found, SetAside)
    assert found.reason == "scanned_document"


def test_rows_of_text_win_over_the_same_report_as_a_document(tmp_path: Path) -> None:
    row = "OBX|1|TX|RPT||FINDINGS: Clear as attached.||||||F"
    long = row.replace("attached.", "attached. " + "No effusion. " * 20)
    exams, _ = hl7(tmp_path, long, ed(pdf(PLAIN), row=2))
    assert exams[0][0].startswith("FINDINGS: Clear")
    assert exams[0][1] == ""


def test_a_notice_that_the_report_is_attached_is_not_the_report(tmp_path: Path) -> None:
    notice = "OBX|1|TX|RPT||Please see the attached PDF.||||||F"
    assert hl7(tmp_path, notice, ed(pdf(PLAIN), row=2)) == ([("\n".join(PLAIN), "PDF")], [])
    assert hl7(tmp_path, notice, ed(pdf(()), row=2)) == ([], ["scanned_document"])
    assert hl7(tmp_path, "OBX|1|TX|RPT||Normal chest.||||||F", ed(pdf(PLAIN), row=2))[0] == [
        ("Normal chest.", "")
    ]


@pytest.mark.parametrize("kind", ["^TEXT^RTF", "^application^pdf", "^AP^octet-stream"])
def test_a_message_that_holds_nothing_but_a_document_is_read(tmp_path: Path, kind: str) -> None:
    assert hl7(tmp_path, ed(rtf(PLAIN), kind)) == ([("\n".join(PLAIN), "RTF")], [])


@pytest.mark.parametrize("joint", ["", "\\X0D\\\\X0A\\", "~"])
def test_a_document_in_several_rows_or_lines_is_one(tmp_path: Path, joint: str) -> None:
    data = coded(rtf(["FINDINGS: Clear.", "IMPRESSION: Normal."]))
    pieces = [data[at : at + 150] for at in range(0, len(data), 150)]
    rows = [joint.join(pieces)] if joint else pieces
    cells = [f"OBX|{n}|ED|R||^application^rtf^Base64^{row}||||||F" for n, row in enumerate(rows, 1)]
    exams, aside = hl7(tmp_path, *cells)
    assert exams == [("FINDINGS: Clear.\nIMPRESSION: Normal.", "RTF")]
    assert aside == []


def test_rtf_in_rows_of_text_is_read(tmp_path: Path) -> None:
    rows = rtf(PLAIN).decode().replace("\\", "\\E\\").split("\r\n")
    segments = [f"OBX|{n}|FT|RPT||{row}||||||F" for n, row in enumerate(rows, start=1)]
    assert hl7(tmp_path, *segments) == ([("\n".join(PLAIN), "RTF")], [])


def test_notes_are_the_report_only_where_they_read_like_one(tmp_path: Path) -> None:
    report = ["NTE|1|L|FINDINGS: Clear.", "NTE|2|L|IMPRESSION: Normal."]
    assert hl7(tmp_path, *report)[0] == [("FINDINGS: Clear.\nIMPRESSION: Normal.", "")]
    assert hl7(tmp_path, "NTE|1|L|Patient could not stand.") == ([], ["no_report_text"])


def test_fhir_reads_documents_and_all_parts_of_a_form(tmp_path: Path) -> None:
    def report(*forms: tuple[bytes, str]) -> str:
        presented = [{"contentType": kind, "data": coded(content)} for content, kind in forms]
        return json.dumps({"resourceType": "DiagnosticReport", "status": "final",
                           "presentedForm": presented})  # fmt: skip

    path = tmp_path / "reports.ndjson"
    parts = [(b"FINDINGS: Clear.", "text/plain"), (b"IMPRESSION: Normal.", "text/plain")]
    lines = [report((pdf(PLAIN), "application/pdf")), report((rtf(PLAIN), "text/rtf"))]
    lines += [report(*parts, (pdf(PLAIN), "application/pdf")), report((pdf(()), "application/pdf"))]
    path.write_text("\n".join(lines), encoding="utf-8")
    (batch,) = read_fhir(path, FhirOptions())
    assert batch.exams["text"].tolist() == ["\n".join(PLAIN)] * 2 + [
        "FINDINGS: Clear.\nIMPRESSION: Normal."
    ]
    assert batch.exams["text_form"].tolist() == ["PDF", "RTF", ""]
    assert batch.quarantined["reason"].tolist() == ["scanned_document"]


def test_a_column_may_hold_documents(tmp_path: Path) -> None:
    texts = [rtf(PLAIN), pdf(PLAIN), coded(pdf(PLAIN)).encode(), b"<div><p>A</p><p>B</p></div>"]
    texts += ["Größe <5 mm.".encode(), pdf(())]
    times = {"performed_at": "2026-03-01T10:00:00", "signed_at": "2026-03-01T10:30:00"}
    rows = [
        {"accession": f"A{n}", "patient_id": "7", "reader_id": "r", "modality": "XR", **times,
         "text": text}
        for n, text in enumerate(texts)
    ]  # fmt: skip
    path = tmp_path / "exams.parquet"
    pd.DataFrame(rows).to_parquet(path)
    (batch,) = read_table(path, TableOptions())
    whole = "\n".join(PLAIN)
    assert batch.exams["text"].tolist() == [whole, whole, whole, "A\n\nB", "Größe <5 mm."]
    assert batch.exams["text_form"].tolist() == ["RTF", "PDF", "PDF", "", ""]
    assert batch.quarantined[["row", "reason"]].to_numpy().tolist() == [[6, "scanned_document"]]


def test_a_word_in_braces_is_no_document() -> None:
    assert text_in_cell("{normal} JVBER") == ("{normal} JVBER", "")


SHORT = "FINDINGS: Clear.\nIMPRESSION: Likely edema."
PAGE = "<html><body><p>FINDINGS: Clear.</p><p>IMPRESSION: Likely edema.</p></body></html>"
MAIL = (
    "MIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\n"
    "Content-Transfer-Encoding: quoted-printable\n\n"
)
QUOTED = "FINDINGS: Clear.=0D=0AIMPRESSION: Likely ed=\nema."


@pytest.mark.parametrize(
    "cell",
    [
        coded(SHORT.encode()), coded(PAGE.encode()), coded(rtf(SHORT.split("\n"))),
        coded(coded(SHORT.encode()).encode()), coded(SHORT.encode("utf-16-le")),
        coded(SHORT.encode("utf-16")), coded(SHORT.encode("utf-32")),
        "data:text/plain;base64," + coded(SHORT.encode()), SHORT.encode().hex(),
        "0x" + rtf(SHORT.split("\n")).hex().upper(), MAIL + QUOTED, QUOTED,
        PAGE.replace("<", "&lt;").replace(">", "&gt;"), " " * 90 + PAGE, "<!-- 7.1 -->" + PAGE,
        *(SHORT.replace("\n", each) for each in (
            "&#13;&#10;", "&#x0A;", "\\.br\\", "\\X0D\\\\X0A\\", "\\.sp+1\\", "\v", "\u2028",
            "<BR />", "\r\n",
        )),
        SHORT.replace("\n", "\\n") + "\n",
    ],
)  # fmt: skip
def test_a_text_is_read_however_often_and_in_whatever_way_it_was_wrapped_up(cell: str) -> None:
    found = text_in_cell(cell)
    assert not isinstance(found, SetAside)
    assert [line.strip() for line in found[0].splitlines() if line.strip()] == SHORT.split("\n")


@pytest.mark.parametrize(
    "cell",
    [
        "  Clear.\n", "x =3D 5 mm", "R&D; 5 < 6 <i> &central", "NORMAL" * 20, "0123456789" * 6,
        "Lungs/heart/pleura/bones/soft+tissues/all+without+change.", "Ratio =\n0.5; T=0.",
    ],
)  # fmt: skip
def test_what_only_looks_wrapped_up_stays_as_it_is(cell: str) -> None:
    assert text_in_cell(cell) == (cell, "")


def test_what_hl7_and_fhir_wrap_up_is_read(tmp_path: Path) -> None:
    plain = {"contentType": "text/plain"}
    forms = [{"presentedForm": [{**plain, "data": coded(SHORT.encode("utf-16-le"))}]},
             {"presentedForm": [{**plain, "data": coded(coded(SHORT.encode()).encode())}]},
             {"conclusion": SHORT.replace("\n", "<br/>")}]  # fmt: skip
    path = tmp_path / "reports.ndjson"
    lines = [json.dumps({"resourceType": "DiagnosticReport", "id": f"r{n}", **form})
             for n, form in enumerate(forms)]  # fmt: skip
    path.write_text("\n".join(lines), encoding="utf-8")
    (batch,) = read_fhir(path, FhirOptions())
    assert batch.exams["text"].tolist() == [SHORT] * 3
    rows = [
        "ED|R||^TEXT^PLAIN^Quoted-Printable^" + QUOTED.replace("\n", "\\X0A\\"),
        f"ED|R||^application^pdf^Base64^data:application/pdf;base64,{coded(pdf(PLAIN))}",
        f"ST|R||{coded(SHORT.encode())}",
    ]
    texts = [hl7(tmp_path, f"OBX|1|{row}||||||F")[0][0][0].replace("\r", "") for row in rows]
    assert texts == [SHORT, "\n".join(PLAIN), SHORT]
