"""Which messages are whole, alone and beside their sender's others; which words are a report's."""

from __future__ import annotations

import base64
from collections import Counter
from pathlib import Path

import pytest

from pipeline.formats.hl7v2 import Hl7Options, read

SIGNED = "Electronically signed by: Faith Hope, MD"
OPACITIES = ("Clear.", "A small opacity.", "Opacity in the left lower lobe.", "No effusion at all.")
OTHERWISE = "HL7 report that ends otherwise than nearly all of its sender's: is it whole?"
NO_IMPRESSION = (
    "HL7 report without an impression, which nearly all of its sender's have: is it whole?"
)
CODES = "report of which coded observations (CE, CWE) are left out: they hold no sentence"
NOTES = "report of which notes (NTE) are left out: its observations are the text"


def heads(n: int) -> list[str]:
    obr = f"OBR|1|O{n}|ACC{n}|X1^XR CHEST||20260301100000|" + "|" * 14 + "|20260301113000|||F"
    pid = f"PID|1||M{n}^^^NM^MR||DOE^JANE||19500415"
    return [f"MSH|^~\\&|RIS|N|||20260301120000||ORU^R01|{n}|P|2.5.1", pid, obr]


def row(n: int, text: str, status: str = "||||||F", kind: str = "TX|R^Report") -> str:
    return f"OBX|{n}|{kind}||{text}{status}"


def message(n: int, last: str | None = SIGNED, *more: str) -> list[str]:
    """Write a message of two rows and one that has no status."""
    rows = [row(1, f"FINDINGS: {OPACITIES[n % 4]}"), row(2, f"IMPRESSION: {OPACITIES[n // 4 % 4]}")]
    return [*heads(n), *rows, *([row(3, last, "")] if last is not None else []), *more]


def feed(
    tmp_path: Path, *messages: list[str], end: str = "\r"
) -> tuple[dict[str, str], Counter[str], Counter[str]]:
    path = tmp_path / "feed.hl7"
    path.write_text("".join("\r".join(each) + end for each in messages), newline="")
    batches = list(read(path, Hl7Options()))
    exams = {e["accession"]: e["text"] for b in batches for e in b.exams.to_dict("records")}
    aside = Counter(reason for b in batches for reason in b.quarantined["reason"])
    notes: Counter[str] = Counter()
    for batch in batches:
        notes.update(batch.notes)
    return exams, aside, notes


@pytest.mark.parametrize("last", [SIGNED, "Faith Hope, MD", "01/03/2026 11:30"])
def test_a_sender_who_always_ends_in_a_row_without_a_status_is_read(
    tmp_path: Path, last: str
) -> None:
    exams, aside, _ = feed(tmp_path, *(message(n, last) for n in range(16)))
    assert (len(exams), aside) == (16, {})
    assert all(text.endswith(last) for text in exams.values())


@pytest.mark.parametrize("number", [1, 2])
def test_one_or_two_that_end_so_are_no_habit(tmp_path: Path, number: int) -> None:
    assert feed(tmp_path, *(message(n) for n in range(number)))[:2] == (
        {},
        {"damaged_segment": number},
    )


def test_a_message_cut_within_a_row_is_set_aside_beside_a_habit(tmp_path: Path) -> None:
    cut = [*heads(99), row(1, "FINDINGS: Opacity."), row(2, "IMPRESSION: Likely pn", "")]
    exams, aside, _ = feed(tmp_path, *(message(n) for n in range(16)), cut)
    assert (len(exams), aside) == (16, {"damaged_segment": 1})


def test_a_store_that_cuts_messages_at_one_length_has_no_habit(tmp_path: Path) -> None:
    whole = ["\r".join(message(n, f"Signed {'x' * n}")) for n in range(10, 26)]
    length = min(map(len, whole))
    cut = [each[:length].split("\r") for each in whole]
    assert feed(tmp_path, *cut)[:2] == ({}, {"damaged_segment": 16})


@pytest.mark.parametrize("kept", ["IMPRESSION: Like", "IMPRESS"])
def test_a_store_that_cuts_every_impression_has_no_habit(tmp_path: Path, kept: str) -> None:
    cut = [[*message(n, None)[:-1], row(2, kept, "")] for n in range(95, 111)]
    assert feed(tmp_path, *cut)[1] == {"damaged_segment": 16}


def test_few_cuts_of_many_are_no_habit_however_they_agree(tmp_path: Path) -> None:
    whole = [message(n, None) for n in range(120)]
    cut = [[*heads(n), row(1, "FINDINGS: Clear."), row(2, "The ", "")] for n in (200, 2000, 20000)]
    exams, aside, _ = feed(tmp_path, *whole, *cut)
    assert (len(exams), aside) == (120, {"damaged_segment": 3})


def test_a_habit_holds_for_rows_that_are_named_after_each_exam(tmp_path: Path) -> None:
    named = [[each.replace("R^Report", f"R{n}^Exam") for each in message(n)] for n in range(16)]
    exams, aside, _ = feed(tmp_path, *named)
    assert (len(exams), aside) == (16, {})


@pytest.mark.parametrize("kind", ["TX|R^Report", "FT|S^Other"])
def test_a_row_that_stands_alone_is_cut_where_its_senders_rows_have_a_status(
    tmp_path: Path, kind: str
) -> None:
    whole = [[*heads(n), row(1, "FINDINGS: Clear.")] for n in range(30)]
    cut = [*heads(99), row(1, "FINDINGS: Cl", "", kind)]
    exams, aside, _ = feed(tmp_path, *whole, cut)
    assert (len(exams), aside) == (30, {"damaged_segment": 1})
    bare = [[*heads(n), row(1, "FINDINGS: Clear.", "")] for n in range(30)]
    assert feed(tmp_path, *bare)[1] == {}


def test_a_report_cut_between_two_rows_is_told_by_what_the_others_end_with(tmp_path: Path) -> None:
    whole = [message(n) for n in range(40)]
    assert feed(tmp_path, *whole)[2] == {}
    exams, aside, notes = feed(tmp_path, *whole, message(99, None))
    assert (len(exams), aside, notes) == (41, {}, {OTHERWISE: 1})
    notes = feed(tmp_path, *whole, [*heads(99), row(1, "FINDINGS: Opacity.")])[2]
    assert notes == {OTHERWISE: 1, NO_IMPRESSION: 1}
    assert feed(tmp_path, *whole[:18], message(99, None))[2] == {}  # too few to say


def test_a_message_that_runs_into_the_next_is_set_aside_and_the_next_is_read(
    tmp_path: Path,
) -> None:
    cut = [*heads(99), row(1, "FINDINGS: Opacity.", ""), row(2, "IMPRESSION: Likely pn", "")]
    cut[-1] += "\r".join(message(1, None))
    exams, aside, _ = feed(tmp_path, message(0, None), cut)
    assert (sorted(exams), aside) == (["ACC0", "ACC1"], {"message_incomplete": 1})
    # A sender who ends no message with a line's end does not cut them.
    exams, aside, _ = feed(tmp_path, *(message(n, None) for n in range(5)), end="")
    assert (len(exams), aside) == (5, {})


def test_lines_behind_a_rows_status_are_no_text_and_set_the_message_aside(tmp_path: Path) -> None:
    assert feed(tmp_path, message(0, None, "Likely pneumonia."))[1] == {"damaged_segment": 1}


def test_a_row_whose_status_stands_a_place_too_early_lost_a_bar(tmp_path: Path) -> None:
    shifted = row(3, "Likely pneumonia.").replace("||Likely", "|Likely")
    assert feed(tmp_path, message(0, None, shifted))[1] == {"damaged_segment": 1}


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("R1^Likely small effusion.^L", "Likely small effusion."),
        ("^No opacity. Heart normal^L", "No opacity. Heart normal"),
        ("J18^Pneumonia^I10^^^^^^Likely pneumonia of the left lung.",
         "Likely pneumonia of the left lung."),
        ("J44.1^Chronic obstructive pulmonary disease with (acute) exacerbation^I10", ""),
        ("2^BI-RADS 2^L", ""), ("RID1^No. 3^L", ""),
    ],
)  # fmt: skip
def test_a_coded_row_is_text_where_a_sentence_stands_in_it_and_else_counted(
    tmp_path: Path, value: str, said: str
) -> None:
    exams, _, notes = feed(tmp_path, message(0, None, row(3, value, kind="CWE|DX^Diagnosis")))
    assert exams["ACC0"].split("\n")[2:] == ([said] if said else [])
    assert notes == ({} if said else {CODES: 1})


@pytest.mark.parametrize(
    ("notes", "added", "told"),
    [
        (["IMPRESSION: Likely pneumonia.", "Seen again."], 2, 0),
        (["Beurteilung: Wahrscheinlich Pneumonie."], 1, 0), (["Befund: Frei."], 0, 0),
        (["Please page."], 0, 0),
        (["Findings: Clear."], 0, 0), (["Of the technique: " + "word " * 60], 0, 1),
    ],
)  # fmt: skip
def test_notes_are_the_part_that_the_rows_lack(
    tmp_path: Path, notes: list[str], added: int, told: int
) -> None:
    lines = [*heads(0), row(1, "FINDINGS: Clear."), *(f"NTE|1|L|{note}" for note in notes)]
    exams, _, counted = feed(tmp_path, lines)
    assert exams["ACC0"].split("\n") == ["FINDINGS: Clear.", *notes[:added]]
    assert counted == ({NOTES: 1} if told else {})


@pytest.mark.parametrize(
    ("beside", "below"),
    [("4.2", []), ("Called to the ward.", ["Called to the ward."]), ("Likely effusion", [])],
)
def test_a_measurement_or_a_remark_is_no_report_beside_a_document(
    tmp_path: Path, beside: str, below: list[str]
) -> None:
    said = ["FINDINGS: Opacity.", "IMPRESSION: Likely effusion."]
    data = base64.b64encode("\n".join(said).encode()).decode()
    document = row(1, f"R^TEXT^PLAIN^Base64^{data}", kind="ED|R^Report")
    lines = [*heads(0), document, row(2, beside, kind="ST|D^Dose")]
    exams, _, _ = feed(tmp_path, lines)
    assert exams["ACC0"].split("\n") == [*said, *below]
    bare = base64.b64encode(f"General Hospital {beside}".encode()).decode()
    exams, _, _ = feed(tmp_path, [*heads(0), document.replace(data, bare), lines[-1]])
    assert exams["ACC0"] == (beside if beside != "4.2" else "General Hospital 4.2")
    broken = [*heads(0), document.replace(data, data[:-6] + "*"), lines[-1]]
    assert feed(tmp_path, broken)[:2] == ({}, {"bad_attachment": 1})


def test_a_report_whose_parts_stand_under_one_order_each_is_one(tmp_path: Path) -> None:
    again = heads(0)[2].replace("OBR|1", "OBR|2")
    parts = [row(1, "FINDINGS: Clear."), again, row(1, "IMPRESSION: Normal.")]
    exams, aside, _ = feed(tmp_path, [*heads(0), *parts])
    assert (exams, aside) == ({"ACC0": "FINDINGS: Clear.\nIMPRESSION: Normal."}, {})
    other = [*heads(0), parts[0], again.replace("ACC0", "ACC1"), parts[2]]
    assert len(feed(tmp_path, other)[0]) == 2


def test_a_line_that_is_missing_among_parts_of_one_number_is_told(tmp_path: Path) -> None:
    path = tmp_path / "feed.hl7"
    for numbers, told in (
        ((1, 2, 3), ""),
        ((1, 2, 4), "observations of which a number is missing"),
    ):
        rows = [f"OBX|1|TX|R|{n}|Line {n}.||||||F" for n in numbers]
        path.write_text("\r".join([*heads(0), *rows]), newline="")
        (batch,) = read(path, Hl7Options())
        assert batch.exams["text_form"].tolist() == [told]
