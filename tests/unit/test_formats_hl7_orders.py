"""Messages of several patients, orders and kinds of observation: what belongs to whom."""

from __future__ import annotations

import base64
import gzip
from pathlib import Path

import pytest

from pipeline.errors import InputError
from pipeline.formats.hl7v2 import Hl7Options, read
from pipeline.formats.hl7v2.text import UNSURE

HEAD = "MSH|^~\\&|RIS|NORTHMOOR|||20260301120000||ORU^R01|1|P|2.5.1"
PID = "PID|1||M1^^^NM^MR||DOE^JANE||19500415"
XR = "OBR|1|O1|ACC1|X1^XR CHEST||20260301100000||||||||||||||||20260301113000|||F"
CT = "OBR|2|O2|ACC2|C1^CT CHEST||20260301120000||||||||||||||||20260301130000|||F"
TEXT = "OBX|1|TX|&GDT||FINDINGS: Clear.||||||F"


def found(tmp_path: Path, *segments: str) -> tuple[list[dict[str, str]], list[str]]:
    path = tmp_path / "feed.hl7"
    path.write_bytes("\r".join(segments).encode())
    batches = list(read(path, Hl7Options()))
    exams = [exam for batch in batches for exam in batch.exams.to_dict("records")]
    return exams, [reason for batch in batches for reason in batch.quarantined["reason"]]


def test_each_patient_of_a_message_keeps_its_own_orders(tmp_path: Path) -> None:
    other = PID.replace("M1", "M2").replace("DOE", "ROE")
    exams, aside = found(tmp_path, HEAD, PID, "PV1||E", XR, TEXT, other, CT, TEXT)
    assert aside == []
    assert [(e["accession"], e["patient_id"], e["patient_name"]) for e in exams] == [
        ("ACC1", "M1", "DOE^JANE"),
        ("ACC2", "M2", "ROE^JANE"),
    ]
    assert [e["patient_class"] for e in exams] == ["E", ""]


def test_an_order_segment_speaks_for_the_order_behind_it(tmp_path: Path) -> None:
    bare = [each.replace(f"|{acc}|", "||") for each, acc in ((XR, "ACC1"), (CT, "ACC2"))]
    orders = ["ORC|RE||FILL1", bare[0], TEXT, "ORC|RE||FILL2", bare[1], TEXT]
    exams, _ = found(tmp_path, HEAD, PID, *orders)
    assert [e["accession"] for e in exams] == ["FILL1", "FILL2"]


def test_each_order_reads_its_own_observations(tmp_path: Path) -> None:
    exams, _ = found(tmp_path, HEAD, PID, XR, TEXT, CT, TEXT.replace("Clear", "Embolus"))
    assert [e["text"] for e in exams] == ["FINDINGS: Clear.", "FINDINGS: Embolus."]


def test_a_report_of_one_modality_is_never_shared_with_another(tmp_path: Path) -> None:
    exams, aside = found(tmp_path, HEAD, PID, XR, TEXT, CT)
    assert [e["accession"] for e in exams] == ["ACC1"]
    assert aside == ["no_report_text"]


def test_one_report_behind_two_orders_alike_is_both_orders_report(tmp_path: Path) -> None:
    second = XR.replace("OBR|1", "OBR|2").replace("ACC1", "ACC3")
    exams, aside = found(tmp_path, HEAD, PID, XR, second, TEXT)
    assert [(e["accession"], e["text"]) for e in exams] == [
        ("ACC1", "FINDINGS: Clear."),
        ("ACC3", "FINDINGS: Clear."),
    ]
    assert aside == []


def test_deleted_and_wrong_observations_are_left_out(tmp_path: Path) -> None:
    rows = [f"OBX|{n}|TX|||{t}||||||{s}" for n, (t, s) in enumerate(
        [("Wrong patient.", "W"), ("Clear.", "F"), ("Withdrawn.", "D")], start=1)]  # fmt: skip
    exams, _ = found(tmp_path, HEAD, PID, XR, *rows)
    assert exams[0]["text"] == "Clear."


@pytest.mark.parametrize(
    ("subtype", "content", "text"),
    [
        ("PLAIN", b"Clear.\r\nNormal.", "Clear.\nNormal."),
        ("HTML", b"<html><p>Clear.</p></html>", "Clear."),
        ("", b"Clear.", "Clear."),
        ("PLAIN", b"PK\x03\x04 x", None),
        ("JPEG", b"\xff\xd8\xff x", None),
    ],
)
def test_encapsulated_text_is_read_and_documents_are_not(
    tmp_path: Path, subtype: str, content: bytes, text: str | None
) -> None:
    data = base64.b64encode(content).decode()
    row = f"OBX|1|ED|||RIS^TEXT^{subtype}^Base64^{data}||||||F"
    exams, aside = found(tmp_path, HEAD, PID, XR, row)
    assert [e["text"] for e in exams] == ([text] if text else [])
    assert aside == ([] if text else ["only_attachment"])


def test_a_social_security_number_is_no_record_number(tmp_path: Path) -> None:
    pid = PID.replace("M1^^^NM^MR", "123-45-6789^^^^SS~M1^^^NM^MR")
    exams, _ = found(tmp_path, HEAD, pid, XR, TEXT)
    assert exams[0]["patient_id"] == "M1"
    assert "123-45-6789" in exams[0]["other_ids"]


def test_everyone_a_message_names_is_known_to_deidentification(tmp_path: Path) -> None:
    nk1 = "NK1|1|Quell^Ruth||(555)010-7788|(555)010-7799\rNK1|2|Marr^Otto"
    pid = f"{PID}||Alias^June||||555-010-1122"
    pv1 = "PV1||I|||||A1^Attend^Ann|B2^Refer^Bob|C3^Consult^Cy||||||||||V778899"
    exams, _ = found(tmp_path, HEAD, pid, nk1, pv1, XR, TEXT)
    (exam,) = exams
    assert exam["relative_names"] == "Quell^Ruth;Marr^Otto"
    assert exam["staff_names"] == "Attend^Ann;Refer^Bob;Consult^Cy"
    assert exam["patient_name"] == "DOE^JANE;Alias^June"
    assert "V778899" in exam["other_ids"]
    assert "(555)010-7799" in exam["phone"]


def test_a_line_of_text_that_looks_like_a_segment_is_text(tmp_path: Path) -> None:
    wrapped = ("OBX|1|TX|||FINDINGS: Clear.", "CHF: none.", "CXR. Compared with none.||||||F")
    exams, _ = found(tmp_path, HEAD, PID, XR, *wrapped)
    assert exams[0]["text"] == "FINDINGS: Clear.\nCHF: none.\nCXR. Compared with none."


def test_a_time_without_an_hour_stays_a_date(tmp_path: Path) -> None:
    exams, _ = found(tmp_path, HEAD, PID, XR.replace("20260301100000", "20260301"), TEXT)
    assert exams[0]["performed_at"] == "2026-03-01"


@pytest.mark.parametrize("charset", ["utf-16", "utf-8-sig"])
def test_byte_order_marks_are_understood(tmp_path: Path, charset: str) -> None:
    path = tmp_path / "feed.hl7"
    path.write_bytes("\r".join([HEAD, PID, XR, TEXT.replace("Clear", "Größe")]).encode(charset))
    (batch,) = read(path, Hl7Options())
    assert batch.exams["text"].tolist() == ["FINDINGS: Größe."]
    assert len(batch.quarantined) == 0


def test_a_gzipped_feed_is_read_and_a_damaged_one_refused(tmp_path: Path) -> None:
    path = tmp_path / "feed.hl7.gz"
    packed = gzip.compress("\r".join([HEAD, PID, XR, TEXT]).encode())
    path.write_bytes(packed)
    (batch,) = read(path, Hl7Options())
    assert batch.exams["accession"].tolist() == ["ACC1"]
    path.write_bytes(packed[:-20])
    with pytest.raises(InputError, match=r"feed\.hl7\.gz: the gzip file is damaged"):
        list(read(path, Hl7Options()))


def rows(*numbers: int) -> list[str]:
    return [f"OBX|{n}|TX|&GDT||Line {n}.||||||F" for n in numbers]


@pytest.mark.parametrize(
    "damaged",
    [
        "0BX|3|TX|&GDT||Line 3.||||||F", "BX|3|TX|&GDT||Line 3.||||||F", "|3|TX|&GDT||Line 3.",
        "OBX#3|TX|&GDT||Line 3.||||||F", "QBX||TX|&GDT||Line 3.||||||F", "OBX|3|TX",
        "OBX|3|TX|&GDT",
    ],
)  # fmt: skip
def test_a_report_of_which_a_segment_is_damaged_is_set_aside(tmp_path: Path, damaged: str) -> None:
    one, two, four = rows(1, 2, 4)
    assert found(tmp_path, HEAD, PID, XR, one, two, damaged, four) == ([], ["damaged_segment"])


def test_segments_of_a_sites_own_are_not_taken_for_damaged_ones(tmp_path: Path) -> None:
    own = ("ZBX|1|TX|x", "ZID|1|2", "SID|1|2", "DG1|1|I10|J18", "PRT|1|AD|", "NTE|1|L|Remark")
    exams, aside = found(tmp_path, HEAD, PID, "PD1|1|2", XR, TEXT, *own)
    assert (len(exams), aside) == (1, [])


def test_a_row_that_lost_a_bar_before_its_words_is_damaged(tmp_path: Path) -> None:
    one, two = rows(1, 2)
    shifted = two.replace("|&GDT|", "|").replace("Line 2.", "Likely a pneumonia.")
    assert found(tmp_path, HEAD, PID, XR, one, shifted) == ([], ["damaged_segment"])
    # A part may have a name of several words, and what is measured a blank value.
    named = [each.replace("|&GDT|", "|&GDT|Chest two views") for each in (one, two)]
    blank, dose = named[1].replace("Line 2.", ""), "OBX|3|NM|D|Dose area product||mGy|||||F"
    assert found(tmp_path, HEAD, PID, XR, named[0], blank, dose)[1] == []


def test_a_patient_without_an_order_is_set_aside_beside_the_others(tmp_path: Path) -> None:
    one, two = rows(1, 2)
    other = PID.replace("M1", "M2")
    exams, aside = found(tmp_path, HEAD, PID, XR, one, other, two)
    assert ([(e["patient_id"], e["text"]) for e in exams], aside) == (
        [("M1", "Line 1.")], ["no_order"],
    )  # fmt: skip
    exams, aside = found(tmp_path, HEAD, other, PID, XR, one)
    assert ([e["patient_id"] for e in exams], aside) == (["M1"], ["no_order"])
    for whole in ((PID, PID, XR, one), (XR, PID, one), (PID, XR, one, other, CT, two)):
        assert found(tmp_path, HEAD, *whole)[1] == []


@pytest.mark.parametrize("cut", ["OBX|2|TX|&GDT||Line 2, pos", "OBX|2|TX|&GDT||Line 2.|||||"])
def test_a_message_that_ends_within_a_row_is_no_report(tmp_path: Path, cut: str) -> None:
    (one,) = rows(1)
    assert found(tmp_path, HEAD, PID, XR, one, cut) == ([], ["damaged_segment"])
    other = cut.replace("TX|&GDT", "ST|X&Y")  # a row of another kind may end with what it says
    assert len(found(tmp_path, HEAD, PID, XR, one, other)[0]) == 1


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("OBX|2|ZT|X||IMPRESSION: Likely pneumonia.||||||F", "IMPRESSION: Likely pneumonia."),
        ("OBX|2|CE|X||9^IMPRESSION: Likely pneumonia.^L||||||F", "IMPRESSION: Likely pneumonia."),
        ("OBX|2|CE|X||R2^BI-RADS 2^L||||||F", None), ("OBX|2|NM|X||3.2||||||F", None),
    ],
)  # fmt: skip
def test_words_of_a_type_that_no_table_knows_are_not_lost(
    tmp_path: Path, row: str, said: str | None
) -> None:
    ((exam,), _) = found(tmp_path, HEAD, PID, XR, TEXT, row)
    assert exam["text"].split("\n") == ["FINDINGS: Clear.", *([said] if said else [])]


@pytest.mark.parametrize(
    ("rows", "status", "told"),
    [
        ("F", "final", ""), ("FC", "corrected", ""), ("FA", "addendum", ""), ("A", "addendum", ""),
        ("P", "final", UNSURE), ("S", "final", UNSURE), ("", "final", ""),
    ],
)  # fmt: skip
def test_rows_say_what_an_order_that_is_called_final_is(
    tmp_path: Path, rows: str, status: str, told: str
) -> None:
    lines = [f"OBX|{n}|TX|X{n}||Line {n}.||||||{row}" for n, row in enumerate(rows or [""])]
    ((exam,), _) = found(tmp_path, HEAD, PID, XR, *lines)
    assert (exam["status"], exam["text_form"]) == (status, told)
    ((exam,), _) = found(tmp_path, HEAD, PID, XR[:-1] + "P", *lines)
    assert (exam["status"] == "addendum", exam["text_form"]) == ("A" in rows, "")


@pytest.mark.parametrize("damaged", ["0" + CT[1:], CT[1:], "PlD" + PID[3:]])
def test_what_follows_a_damaged_order_or_patient_is_not_read_as_the_one_before_it(
    tmp_path: Path, damaged: str
) -> None:
    assert found(tmp_path, HEAD, PID, XR, TEXT, damaged, TEXT) == ([], ["damaged_segment"])


def test_a_segment_that_follows_another_without_a_line_end_is_not_lost(tmp_path: Path) -> None:
    one, two = rows(1, 2)
    assert found(tmp_path, HEAD, PID, XR, one + two) == ([], ["damaged_segment"])


@pytest.mark.parametrize(
    "tail", ["CT||||||F", "3 | 4 mm||||||F", "abx||||||F", "PID: none.||||||F"]
)
def test_a_broken_line_within_a_text_stays_of_it(tmp_path: Path, tail: str) -> None:
    exams, aside = found(tmp_path, HEAD, PID, XR, "OBX|1|TX|&GDT||Compared with", tail)
    assert aside == []
    assert [e["text"] for e in exams] == ["Compared with\n" + tail.removesuffix("||||||F")]


@pytest.mark.parametrize("text", ["Clear | no effusion", "a|b|c|d|e|f|g|h", "| Clear |"])
def test_a_bar_that_no_escape_protects_cuts_no_text(tmp_path: Path, text: str) -> None:
    exams, aside = found(tmp_path, HEAD, PID, XR, f"OBX|1|FT|&GDT||{text}||||||F", "")
    assert aside == []
    assert [e["text"] for e in exams] == [text]


@pytest.mark.parametrize(
    ("row", "is_text"),
    [
        ("TX|&GDT||Clear | no effusion", True), ("ST|&GDT||Clear | no effusion", True),
        ("ST|&GDT||In 2024 clear lungs | no effusion", True), ("ST|DLP^DLP||12.3|mGy cm", False),
        ("ST|DLP^DLP|||mGy cm", False), ("ST|DLP^DLP||DLP 12.3|mGy cm", False),
    ],
)  # fmt: skip
def test_a_bar_in_a_text_without_a_status_sets_it_aside(
    tmp_path: Path, row: str, *, is_text: bool
) -> None:
    exams, aside = found(tmp_path, HEAD, PID, XR, TEXT, f"OBX|2|{row}")
    assert (len(exams), aside) == ((0, ["damaged_segment"]) if is_text else (1, []))


@pytest.mark.parametrize(
    ("value", "lines"),
    [
        ("Nodule of ~3 cm (~4.5 x 3 mm), ~2 weeks old.",
         ["Nodule of ~3 cm (~4.5 x 3 mm), ~2 weeks old."]),
        ("FINDINGS: Clear. ~~IMPRESSION: ~1. Nodule of ~8mm. ~2. No effusion.",
         ["FINDINGS: Clear.", "", "IMPRESSION:", "1. Nodule of ~8mm.", "2. No effusion."]),
    ],
)  # fmt: skip
def test_a_sign_before_a_measure_is_no_end_of_a_line(
    tmp_path: Path, value: str, lines: list[str]
) -> None:
    exams, _ = found(tmp_path, HEAD, PID, XR, f"OBX|1|TX|&GDT||{value}||||||F")
    assert exams[0]["text"].split("\n") == lines


@pytest.mark.parametrize(
    "parts",
    [
        ("18785-6^Reason^LN", "18782-3^Report^LN", "19005-8^End^LN"),
        ("K1^Klinik^L^18785-6^Reason^LN", "K2^Befund^L", "K3^Beurteilung^L"),
        ("REASON^Why", "71045^XR CHEST", "71045&IMP^XR CHEST"),
    ],
)
def test_a_part_is_known_by_its_code_its_name_or_its_other_code(
    tmp_path: Path, parts: tuple[str, ...]
) -> None:
    said = zip(parts, ("Rule out oedema.", "Clear lungs.", "No oedema."), strict=True)
    lines = [f"OBX|{n}|TX|{part}||{text}||||||F" for n, (part, text) in enumerate(said, start=1)]
    exams, _ = found(tmp_path, HEAD, PID, XR, *lines)
    assert exams[0]["text"].split("\n") == [
        "INDICATION:", "Rule out oedema.", "FINDINGS:", "Clear lungs.", "IMPRESSION:", "No oedema.",
    ]  # fmt: skip


def test_a_coded_impression_is_part_of_the_report(tmp_path: Path) -> None:
    coded = "OBX|2|CWE|&IMP||J18^Likely pneumonia.^I10~J90^Small effusion.^I10||||||F"
    exams, _ = found(tmp_path, HEAD, PID, XR, TEXT, coded)
    assert exams[0]["text"] == "FINDINGS: Clear.\nIMPRESSION:\nLikely pneumonia.\nSmall effusion."


@pytest.mark.parametrize(
    ("numbers", "is_whole"),
    [
        ((1, 2, 3), True), ((0, 1, 2), True), ((7, 8), True), ((1, 1, 1), True), ((2, 4, 6), True),
        ((1, 2, 1, 2, 3), True), ((1, 2, 101, 102), True), ((10, 20, 21), True), ((3, 1, 2), True),
        ((1, 2, 4), False), ((4, 1, 2), False), ((1, 2, 5, 6, 7), False), ((1, 2, 4, 1, 2), False),
    ],
)  # fmt: skip
def test_a_number_that_is_missing_among_observations_is_told_and_the_report_kept(
    tmp_path: Path, numbers: tuple[int, ...], *, is_whole: bool
) -> None:
    exams, aside = found(tmp_path, HEAD, PID, XR, *rows(*numbers))
    told = "" if is_whole else "observations of which a number is missing"
    assert ([each["text_form"] for each in exams], aside) == ([told], [])


FIRST = ("FINDINGS: Opacity.", "IMPRESSION: Likely pneumonia.")
LAST = ("FINDINGS: Clear.", "IMPRESSION: No pneumonia.")
MIXED = "observations of which some are preliminary"


def versions(*each: str) -> list[str]:
    """Write observations of "NAME/PART/STATUS/TEXT"."""
    split = (one.split("/") for one in each)
    return [f"OBX|{n}|TX|{a}|{b}|{d}||||||{c}" for n, (a, b, c, d) in enumerate(split, start=1)]


@pytest.mark.parametrize(
    ("said", "kept", "told"),
    [
        (["&GDT//P/" + t for t in FIRST] + ["&GDT//F/" + t for t in LAST], LAST, ""),
        (["&GDT//C/" + t for t in LAST] + ["&GDT//R/" + t for t in FIRST], LAST, ""),
        (["&GDT/1/P/" + t for t in FIRST] + ["&GDT/2/F/" + t for t in LAST], LAST, ""),
        (["&GDT/1/F/" + t for t in FIRST] + ["&GDT/2/C/" + t for t in LAST], LAST, ""),
        (["X/1/P/Opacity.", "X/1/F/Clear.", "X/2/P/Effusion.", "X/2/F/No effusion."],
         ["Clear.", "No effusion."], ""),
        (["A&GDT/1/P/Mass.", "A&IMP/1/P/Tumour.", "A&GDT/2/F/Clear.", "A&IMP/2/F/Normal."],
         ["Clear.", "IMPRESSION:", "Normal."], ""),
        (["&GDT//P/" + t for t in FIRST], FIRST, UNSURE),
        (["&GDT//P/" + FIRST[0], "&GDT//F/" + LAST[1]], [FIRST[0], LAST[1]], MIXED),
        (["&GDT//F/" + FIRST[0], "&GDT//C/" + LAST[1]], [FIRST[0], LAST[1]], ""),
        (["X/1/P/Opacity.", "X/2/F/No effusion."], ["Opacity.", "No effusion."], MIXED),
        (["X//P/Opacity.", "X//F/No effusion.", "X//P/Old fracture."],
         ["Opacity.", "No effusion.", "Old fracture."], MIXED),
        (["X//P/Opacity of the right lung.", "X//F/I agree."],
         ["Opacity of the right lung.", "I agree."], MIXED),
    ],
)  # fmt: skip
def test_rows_that_came_again_stand_alone_and_parts_of_a_report_stay(
    tmp_path: Path, said: list[str], kept: list[str], told: str
) -> None:
    ((exam,), aside) = found(tmp_path, HEAD, PID, XR, *versions(*said))
    assert (exam["text"].split("\n"), exam["text_form"], aside) == (list(kept), told, [])
