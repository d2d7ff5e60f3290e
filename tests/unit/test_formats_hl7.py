"""Messages as feeds send them, each an exam or a quarantine row."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from pipeline.config.basis import EXAM_COLUMNS, OPTIONAL_COLUMNS
from pipeline.errors import ConfigurationError, InputError
from pipeline.formats.hl7v2 import DEFAULT_FIELDS, FieldMap, Hl7Options, read
from pipeline.formats.hl7v2.framing import unescaped
from pipeline.formats.validation import IngestOptions, validate
from pipeline.tables.versions import in_force

OPTIONS = IngestOptions(
    modalities={"CR": "XR", "XR": "XR", "CT": "CT"},
    chest_pattern="chest",
    now=pd.Timestamp("2026-11-20T12:00:00Z"),
)
HEAD = "MSH|^~\\&|RIS|NORTHMOOR|X|Y|20260301120000||ORU^R01|{control}|P|2.7"
PID = "PID|1||M1^^^NM^MR~E2^^^EP^MRN||DOE^JANE^Q||19500415|F"
PV1 = "PV1||E"
OBR = (
    "OBR|1|O1|ACC77|XR100^XR CHEST 1 VIEW||20260301100000||||||||||D9^REF^RAY||CHEST||||"
    "20260301113000||CR|Final||||||||D5^HOPE^FAITH"
)
TEXT = [
    "FINDINGS: Clear lungs.",
    "IMPRESSION: No edema.",
    "Electronically signed by: Faith Hope, MD",
]


def message(
    *, control: str = "1", obr: str = OBR, lines: list[str] | None = None, head: str = HEAD
) -> str:
    chosen = TEXT if lines is None else lines
    obx = [f"OBX|{n}|ST|&GDT|1|{line}||||||Final" for n, line in enumerate(chosen, start=1)]
    return "\r".join([head.format(control=control), PID, PV1, obr, *obx]) + "\r"


def exams(path: Path, options: Hl7Options | None = None) -> pd.DataFrame:
    return pd.concat([batch.exams for batch in read(path, options or Hl7Options())])


def reasons(path: Path) -> list[str]:
    return [r for batch in read(path, Hl7Options()) for r in batch.quarantined["reason"]]


def write(tmp_path: Path, *messages: str | bytes, name: str = "feed.hl7") -> Path:
    path = tmp_path / name
    path.write_bytes(b"".join(m if isinstance(m, bytes) else m.encode() for m in messages))
    return path


def test_a_message_becomes_an_exam(tmp_path: Path) -> None:
    (exam,) = exams(write(tmp_path, message())).to_dict("records")
    assert exam["accession"] == "ACC77"
    assert exam["patient_id"] == "M1"
    assert exam["patient_name"] == "DOE^JANE^Q"
    assert exam["patient_birth_date"] == "1950-04-15"
    assert exam["patient_class"] == "E"
    assert exam["reader_id"] == "D5"
    assert exam["reader_name"] == "HOPE^FAITH"
    assert exam["referring_name"] == "REF^RAY"
    assert exam["performed_at"] == "2026-03-01T10:00:00"
    assert exam["signed_at"] == "2026-03-01T11:30:00"
    assert exam["status"] == "final"
    assert exam["modality"] == "XR"
    assert exam["text"] == "\n".join(TEXT)
    assert exam["patient_sex"] == "F"


def test_every_column_that_has_a_place_is_read_from_it(tmp_path: Path) -> None:
    columns = [name for name in DEFAULT_FIELDS if name in (*EXAM_COLUMNS, *OPTIONAL_COLUMNS)]
    cells = {name: "77123^NODE^ANA" if "name" in name else "77123" for name in columns} | {
        "performed_at": "20260301100000", "signed_at": "20260301113000", "sent_at": "20260301",
        "patient_birth_date": "19500415", "modality": "XR", "status": "F",
        "preliminary_author": "77123^NODE^ANA",
    }  # fmt: skip
    own = {name: f"ZED-{at}" for at, name in enumerate(columns, start=1)}
    told = message() + "|".join(["ZED", *(cells[name] for name in columns)]) + "\r"
    stated = Hl7Options(fields=FieldMap.of(own))
    (exam,) = exams(write(tmp_path, told), stated).to_dict("records")
    assert len(columns) > 15
    assert [name for name in columns if not exam[name]] == []


@pytest.mark.parametrize("born", ["1950", "195004"])
def test_a_birth_date_without_its_day_is_kept_as_it_is(tmp_path: Path, born: str) -> None:
    told = message().replace("19500415", born)
    assert exams(write(tmp_path, told))["patient_birth_date"].tolist() == [born]


@pytest.mark.parametrize("end", ["\r", "\n", "\r\n"])
@pytest.mark.parametrize("frame", [("", ""), ("\x0b", "\x1c\r")])
def test_line_ends_and_framing_make_no_difference(
    tmp_path: Path, end: str, frame: tuple[str, str]
) -> None:
    framed = [frame[0] + message(control=c).replace("\r", end) + frame[1] for c in "12"]
    plain = exams(write(tmp_path, message(control="1"), message(control="2"), name="plain"))
    odd = exams(write(tmp_path, *framed, name="odd"))
    pd.testing.assert_frame_equal(plain, odd)


def test_batch_headers_are_no_messages(tmp_path: Path) -> None:
    path = write(tmp_path, "FHS|^~\\&|X\rBHS|^~\\&|X\r", message(), "BTS|1\rFTS|1\r")
    assert len(exams(path)) == 1
    assert exams(path)["text"].item() == "\n".join(TEXT)
    assert reasons(path) == []


def test_shuffled_observations_give_the_same_exam(tmp_path: Path) -> None:
    lines = message().rstrip("\r").split("\r")
    observed = lines[4:]
    random.Random(3).shuffle(observed)
    shuffled = "\r".join([*lines[:4], *observed]) + "\r"
    assert shuffled != message()
    one = exams(write(tmp_path, message(), name="a"))
    two = exams(write(tmp_path, shuffled, name="b"))
    pd.testing.assert_frame_equal(one, two)


def test_files_in_any_order_or_number_give_the_same_exams(tmp_path: Path) -> None:
    feed = [message(control=str(n), obr=OBR.replace("ACC77", f"ACC{n}")) for n in range(6)]
    whole = write(tmp_path, *feed, name="whole")
    folder = tmp_path / "parts"
    folder.mkdir()
    write(folder, *feed[3:][::-1], name="a")
    write(folder, *feed[:3], name="b")
    columns = [c for c in exams(whole).columns if c != "source_row"]
    one = exams(whole).sort_values("exam_id")[columns].reset_index(drop=True)
    two = exams(folder).sort_values("exam_id")[columns].reset_index(drop=True)
    pd.testing.assert_frame_equal(one, two)


def test_a_blob_is_split_at_its_repetitions(tmp_path: Path) -> None:
    blob = "FINDINGS:~Clear \\T\\ dry.~~IMPRESSION:~Normal."
    (exam,) = exams(write(tmp_path, message(lines=[blob]))).to_dict("records")
    assert exam["text"] == "FINDINGS:\nClear & dry.\n\nIMPRESSION:\nNormal."


def test_a_wrapped_observation_goes_on(tmp_path: Path) -> None:
    broken = message(lines=["FINDINGS: Clear"]).replace("Clear", "Clear\nlungs")
    assert exams(write(tmp_path, broken))["text"].item() == "FINDINGS: Clear\nlungs"


def test_a_section_suffix_becomes_a_heading(tmp_path: Path) -> None:
    raw = message(lines=["Clear.", "Normal."]).replace("OBX|2|ST|&GDT", "OBX|2|ST|&IMP")
    assert exams(write(tmp_path, raw))["text"].item() == "Clear.\nIMPRESSION:\nNormal."


def test_an_addendum_section_makes_an_addendum(tmp_path: Path) -> None:
    raw = message(lines=["ADDENDUM: Seen again.", "Clear."]).replace(
        "OBX|1|ST|&GDT", "OBX|1|ST|&ADT"
    )
    assert exams(write(tmp_path, raw))["status"].item() == "addendum"


@pytest.mark.parametrize(
    ("escaped", "expected"),
    [
        ("\\T\\\\S\\\\F\\\\R\\\\E\\", "&^|~\\"),
        ("a\\.br\\b", "a\nb"),
        ("\\H\\bold\\N\\", "bold"),
        ("\\X41\\", "A"),
        ("C:\\dir", "C:\\dir"),
        (r"a\.nf\b\.fi\IMPRESSION: c", "a\nb\nIMPRESSION: c"),
    ],
)
def test_escapes_are_decoded(escaped: str, expected: str) -> None:
    assert unescaped(escaped) == expected


def test_the_reader_falls_back_to_the_assistant_then_to_the_signature(tmp_path: Path) -> None:
    fields = OBR.split("|")
    assistant = "|".join([*fields[:32], "", "D6^STONE^JUNE"])
    nobody = "|".join([*fields[:32], "", "~"])
    first, second = (
        exams(write(tmp_path, message(obr=obr), name=name)).to_dict("records")[0]
        for obr, name in ((assistant, "a"), (nobody, "b"))
    )
    assert (first["reader_id"], first["reader_source"]) == ("D6", "OBR-33")
    assert first["reader_conflict"] == "1"
    assert (second["reader_id"], second["reader_source"]) == ("name:HOPE FAITH", "text")


def test_status_falls_back_to_the_observations(tmp_path: Path) -> None:
    obr = OBR.replace("|Final|", "||")
    raw = message(obr=obr).replace("||||||Final", "||||||P")
    assert exams(write(tmp_path, raw))["status"].item() == "prelim"


def test_an_addendum_in_notes_alone_is_one(tmp_path: Path) -> None:
    noted = message(lines=[]) + "NTE|1|L|Addendum:\rNTE|2|L|No fracture on the left.\r"
    (exam,) = exams(write(tmp_path, noted)).to_dict("records")
    assert (exam["status"], exam["text"]) == ("addendum", "Addendum:\nNo fracture on the left.")


def test_a_message_without_text_is_set_aside(tmp_path: Path) -> None:
    pointer = message(lines=[]) + "OBX|1|RP|1||ACC77^X||||||F\r"
    found = reasons(write(tmp_path, message(lines=[]), pointer))
    assert found == ["no_report_text", "only_attachment"]


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"this is no message\r", "no_header"),
        (b"MSH|^~\\&|A|B|C|D|2026||ADT^A01|1|P|2.4\r", "not_oru_r01"),
        (b"MSH|^~\\&|A|B|C|D|2026||ORU^R01|1|P|2.4\rPID|1\r", "no_order"),
        (b"MSH|\r", "no_header"),
    ],
)
def test_what_is_no_report_is_set_aside_with_its_reason(
    tmp_path: Path, raw: bytes, reason: str
) -> None:
    path = write(tmp_path, raw, message())
    assert reasons(path) == [reason]
    assert len(exams(path)) == 1


def test_other_encodings_are_read(tmp_path: Path) -> None:
    raw = message(lines=["Größe normal."]).encode("cp1252")
    assert exams(write(tmp_path, raw))["text"].item() == "Größe normal."


def test_one_report_on_two_orders_is_two_exams(tmp_path: Path) -> None:
    lines = message().rstrip("\r").split("\r")
    second = OBR.replace("ACC77", "ACC78")
    raw = "\r".join([*lines[:4], second, *lines[4:]]) + "\r"
    found = exams(write(tmp_path, raw))
    assert sorted(found["accession"]) == ["ACC77", "ACC78"]
    assert len(set(found["text"])) == 1


def test_the_field_map_is_configuration(tmp_path: Path) -> None:
    options = Hl7Options(fields=FieldMap.of({"accession": "OBR-2, OBR-3"}), patient_authority="EP")
    (exam,) = exams(write(tmp_path, message()), options).to_dict("records")
    assert exam["accession"] == "O1"
    assert exam["patient_id"] == "E2"


@pytest.mark.parametrize(
    ("pid_2", "pid_3", "chosen"),
    [
        ("", "77^^^^SS~P1^^^^PI~M9^^^^MR", "M9"),
        ("", "19500101-1234^^^NAT^PN", "19500101-1234"),
        ("E5", "77^^^^SS", "E5"),
        ("", "RSSMRA50A01H501Z^^^MEF^NNITA~0012345^^^OSP^PI", "0012345"),
        ("00M9^^^CORP^MR", "5512", "5512"),
        ("", "V77^^^^VN", ""),
        ("", "E7^^^B^EE~UNUSED^^^B^MR", "E7"),
        ("", "UNKNOWN^^^B^MR~000-00-0000^^^^SS", ""),
    ],
)
def test_of_a_patients_numbers_the_record_number_is_taken(
    tmp_path: Path, pid_2: str, pid_3: str, chosen: str
) -> None:
    raw = message().replace(PID, f"PID|1|{pid_2}|{pid_3}||DOE^JANE||19500301|F")
    assert exams(write(tmp_path, raw))["patient_id"].item() == chosen


@pytest.mark.parametrize(
    ("at", "stamp", "performed"),
    [
        (7, "20260301101500.000-0500", "2026-03-01T10:15:00-05:00"),
        (7, "20260301101500+01:00", "2026-03-01T10:15:00+01:00"),
        (7, "2026-03-01 10:15:00.000", "2026-03-01T10:15:00"),
        (7, "03/01/2026 10:15", "03/01/2026 10:15"),
        (7, "20260301101500,250+0100", "2026-03-01T10:15:00+01:00"),
        (36, "20260301101500", "2026-03-01T10:15:00"),
        (27, "^^^20260301101500^^R", "2026-03-01T10:15:00"),
    ],
)
def test_the_time_of_the_exam_is_found_and_one_in_another_notation_is_not_passed_over(
    tmp_path: Path, at: int, stamp: str, performed: str
) -> None:
    fields = [*OBR.split("|"), *[""] * 40]
    for other in (6, 7, 8):
        fields[other] = ""
    fields[at] = stamp
    raw = message(obr="|".join(fields[:40]))
    assert exams(write(tmp_path, raw))["performed_at"].item() == performed


def test_a_line_of_three_capitals_is_text_and_swallows_nothing(tmp_path: Path) -> None:
    raw = message(lines=["CHEST\nCXR\nClear lungs."]).replace("||||||Final", "||||||F")
    assert exams(write(tmp_path, raw))["text"].item() == "CHEST\nCXR\nClear lungs."


@pytest.mark.parametrize(
    ("field", "reader"),
    [
        ("Faith Hope MD", "name:HOPE FAITH"),
        ("^Hope, Faith", "name:HOPE FAITH"),
        ("D5", "D5"),
        ("SYSTEM INTERFACE", "name:HOPE FAITH"),
        ("UNKNOWN^UNKNOWN", "name:HOPE FAITH"),
    ],
)
def test_a_reader_is_known_in_whatever_component_the_name_stands(
    tmp_path: Path, field: str, reader: str
) -> None:
    raw = message(obr=OBR.replace("D5^HOPE^FAITH", field))
    assert exams(write(tmp_path, raw))["reader_id"].item() == reader


def test_line_ends_that_a_log_spells_out_and_indented_segments_are_understood(
    tmp_path: Path,
) -> None:
    (plain,) = exams(write(tmp_path, message())).to_dict("records")
    logged = message().rstrip("\r").replace("\r", "\\r") + "\r\n"
    indented = message().replace("\r", "\r   ")
    found = exams(write(tmp_path, logged, indented)).to_dict("records")
    assert [each | {"source_row": 1} for each in found] == [plain, plain]


def test_a_folder_of_many_files_comes_in_whole_batches_and_each_row_names_its_file(
    tmp_path: Path,
) -> None:
    for n in range(5):
        write(tmp_path, message(obr=OBR.replace("ACC77", f"A{n}")), name=f"{n}.hl7")
    write(tmp_path, message(lines=[]), name="3.hl7")
    first, second = read(tmp_path, Hl7Options(batch_rows=3))
    assert first.exams["accession"].tolist() == ["A0", "A1", "A2"]
    assert second.exams["accession"].tolist() == ["A4"]
    assert second.quarantined[["source", "row"]].to_numpy().tolist() == [["3.hl7", 1]]
    checks = IngestOptions(modalities={"CT": "CT"}, chest_pattern="x", now=pd.Timestamp.now("UTC"))
    judged = validate(first, source="folder", options=checks, seen=set())
    assert judged.quarantined["source"].tolist() == ["0.hl7", "1.hl7", "2.hl7"]


def test_windows_quotation_marks_in_what_is_declared_latin_1_are_read(tmp_path: Path) -> None:
    declared = message(lines=["Größe “normal” – clear."]).replace("|2.7\r", "|2.7||||||8859/1\r")
    (exam,) = exams(write(tmp_path, declared.encode("cp1252"))).to_dict("records")
    assert (exam["text"], exam["decoded_as"]) == ("Größe “normal” – clear.", "")


@pytest.mark.parametrize("declared", ["~ISO IR87", "ASCII~ISO IR87", "ISO IR6~ISO IR87", ""])
def test_characters_that_escapes_switch_are_no_letters(tmp_path: Path, declared: str) -> None:
    written = message(lines=["肺野に異常なし"]).replace("|2.7\r", f"|2.7||||||{declared}\r")
    source = write(tmp_path, written.encode("iso2022_jp"))
    (exam,) = exams(source).to_dict("records")
    assert exam["text"] == "肺野に異常なし"
    assert exam["decoded_as"] == ("" if declared else "iso2022_jp_ext")


def test_a_character_that_the_escapes_do_not_know_is_lost_alone(tmp_path: Path) -> None:
    written = message(lines=["肺野清"]).replace("|2.7\r", "|2.7||||||~ISO IR87\r")
    raw = written.encode("iso2022_jp").replace("清".encode("iso2022_jp")[3:5], b"-!")  # NEC's ①
    assert exams(write(tmp_path, raw))["text"].item().startswith("肺野\N{REPLACEMENT CHARACTER}")


def test_of_several_who_signed_a_document_the_last_is_its_reader(tmp_path: Path) -> None:
    one = "S1^STU^DENT^^^^^^^^^^^^20260301110000"
    two = "D5^HOPE^FAITH^^^^^^^^^^^^20260301120000"
    written = re.sub(r"D5\^HOPE\^FAITH[^|\r]*", lambda _: f"{one}~{two}", document("T02"))
    (exam,) = exams(write(tmp_path, written)).to_dict("records")
    assert (exam["reader_id"], exam["signed_at"]) == ("D5", "2026-03-01T12:00:00")


def test_a_login_that_stands_alone_names_the_reader_not_the_assistant(tmp_path: Path) -> None:
    fields = OBR.split("|")
    said = {}
    for alone in ("FHOPE", "PENDING"):
        obr = "|".join([*fields[:32], alone, "A1^Stone^Ray"])
        said[alone] = exams(write(tmp_path, message(obr=obr)))["reader_id"].item()
    assert said == {"FHOPE": "FHOPE", "PENDING": "A1"}


def test_exam_codes_win_over_the_message(tmp_path: Path) -> None:
    options = Hl7Options(exam_codes={"XR100": "CT"})
    assert exams(write(tmp_path, message()), options)["modality"].item() == "CT"


def test_a_wrong_field_map_lists_every_error() -> None:
    with pytest.raises(
        ConfigurationError, match=r"'acession': no such column.*'OBR25' is no place"
    ):
        FieldMap.of({"acession": "OBR-3", "status": "OBR25"})


def test_an_absent_file_is_said_and_an_empty_one_counted(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        list(read(tmp_path / "none.hl7", Hl7Options()))
    assert reasons(write(tmp_path, b"")) == ["empty_file"]
    assert reasons(write(tmp_path, b"\xef\xbb\xbf \r\n")) == ["empty_file"]
    assert reasons(tmp_path) == ["empty_file"]


def test_a_message_longer_than_a_block_is_read_whole(tmp_path: Path) -> None:
    long = message(lines=["x" * 3_000_000])
    found = exams(write(tmp_path, message(), long, message(control="3")))
    assert [len(text) for text in found["text"]][1] == 3_000_000
    assert len(found) == 3


def test_a_message_over_the_cap_is_set_aside(tmp_path: Path) -> None:
    path = write(tmp_path, message(), message(lines=["x" * 20_000_000]), message(control="3"))
    assert reasons(path) == ["message_too_long"]
    assert len(exams(path)) == 2


TXA = (
    "TXA|1|CT CHEST^CT CHEST W CONTRAST|TX|20260301100000||20260301103000|||D5^HOPE^FAITH|||U1"
    "||PL1|ACC88||{completion}|||||D5^HOPE^FAITH^^^^^^^^^^^^20260301113000"
)


def document(event: str, *, completion: str = "LA", obr: str = "") -> str:
    obx = [f"OBX|{n}|TX|18782-3^Report||{line}||||||F" for n, line in enumerate(TEXT, start=1)]
    head = HEAD.format(control="1").replace("ORU^R01", f"MDM^{event}")
    txa = TXA.format(completion=completion)
    return "\r".join(filter(None, [head, "EVN|T02", PID, PV1, obr, txa, *obx])) + "\r"


def test_document_message_is_read_with_and_without_an_order(tmp_path: Path) -> None:
    bare, ordered = exams(write(tmp_path, document("T02"), document("T02", obr=OBR))).to_dict(
        "records"
    )
    assert (bare["accession"], bare["modality"], bare["status"]) == ("ACC88", "CT", "final")
    assert (bare["performed_at"], bare["signed_at"]) == (
        "2026-03-01T10:00:00", "2026-03-01T11:30:00",
    )  # fmt: skip
    assert (bare["reader_id"], bare["text"]) == ("D5", "\n".join(TEXT))
    assert (ordered["accession"], ordered["modality"]) == ("ACC77", "XR")


@pytest.mark.parametrize(
    ("event", "completion", "status"),
    [
        ("T02", "DI", "prelim"),
        ("T02", "AU", "final"),
        ("T06", "LA", "addendum"),
        ("T08", "LA", "corrected"),
        ("T11", "LA", "retracted"),
    ],
)
def test_event_and_completion_of_a_document_say_its_status(
    tmp_path: Path, event: str, completion: str, status: str
) -> None:
    found = exams(write(tmp_path, document(event, completion=completion)))
    assert found["status"].item() == status
    assert (found["text"].item() == "") == (status == "retracted")


@pytest.mark.parametrize("rows", ["F", ""])
def test_completion_of_a_document_that_no_map_knows_is_set_aside_until_it_is_mapped(
    tmp_path: Path, rows: str
) -> None:
    own = document("T02", completion="ZV").replace("||||||F", f"||||||{rows}")
    path = write(tmp_path, own, document("T02").replace("||||||F", f"||||||{rows}"))
    assert judged(path) == (["final"], ["unknown_status"])
    assert judged(path, ZV="prelim") == (["prelim", "final"], [])


def test_document_that_is_no_longer_available_is_taken_back(tmp_path: Path) -> None:
    path = write(tmp_path, document("T02").replace("||LA||", "||LA||CA"))
    assert judged(path) == (["retracted"], [])


@pytest.mark.parametrize("asked", ["CA", "OC", "CR", "SC|O1|ACC77||CA"])
@pytest.mark.parametrize("lines", [TEXT, []])
def test_a_cancelled_order_takes_its_report_back(
    tmp_path: Path, asked: str, lines: list[str]
) -> None:
    path = write(tmp_path, message(obr=f"ORC|{asked}|O1|ACC77\r{OBR}", lines=lines))
    assert judged(path) == (["retracted"], [])
    kept = write(tmp_path, message(obr=f"ORC|RE|O1|ACC77\r{OBR}"))
    assert judged(kept) == (["final"], [])


@pytest.mark.parametrize(
    ("sent", "stands"),
    [
        (("", "CA"), []), (("CA", ""), [""]), (("", "CA", ""), [""]), (("", "DC"), ["", "DC"]),
    ],
)  # fmt: skip
def test_a_cancellation_takes_back_what_came_before_it_and_nothing_sent_since(
    tmp_path: Path, sent: tuple[str, ...], stands: list[str]
) -> None:
    messages = [
        message(obr=f"ORC|RE|O1|ACC77||{asked}\r{OBR}").replace(
            "20260301120000", f"202603011{n}0000"
        )
        for n, asked in enumerate(sent, start=2)
    ]
    batches = list(read(write(tmp_path, *messages), Hl7Options()))
    kept = validate(batches[0], source="f", options=OPTIONS, seen=set()).exams
    standing = in_force(kept.assign(study_code=kept["accession"]))["sent_at"].dt.hour
    assert [sent[hour - 12] for hour in standing] == stands
    told = [note for each in batches for note in each.notes if "cancelled" in note]
    assert len(told) == ("CA" in sent)


def test_report_with_an_addendum_is_one_whatever_its_status_says(tmp_path: Path) -> None:
    text = ["FINDINGS: Clear.", "ADDENDUM: Seen again, likely pneumonia."]
    for written in ("Final", "Prelim", "Corrected"):
        raw = message(lines=text).replace("Final", written)
        assert exams(write(tmp_path, raw))["status"].item() == "addendum"


@pytest.mark.parametrize(
    ("line", "opens"),
    [
        ("Addendum #2 by Dr. Low 3/2/2026", True), ("*** ADDENDUM ***", True), ("ADDENDUM", True),
        ("-----ADDENDUM BEGINS-----", True), ("Addendum, 3 March: seen again.", True),
        ("NACHTRAG: Pneumonie.", True), ("ADDENDUM: None", False), ("addendum to this.", False),
        ("See the addendum.", False), ("Addendum to follow", False),
        ("ADDENDUM:\\.br\\None.", False), ("*** ADDENDUM ***\\.br\\N/A", False),
    ],
)  # fmt: skip
def test_an_addendum_is_known_by_the_line_that_opens_it(
    tmp_path: Path, line: str, *, opens: bool
) -> None:
    raw = message(lines=["FINDINGS: Clear.", line, "Likely pneumonia."])
    status = exams(write(tmp_path, raw))["status"].item()
    assert status == ("addendum" if opens else "final")


def test_a_form_s_empty_addendum_is_none(tmp_path: Path) -> None:
    for line in ("ADDENDUM", "Addendum:", "Nachtrag: keiner"):
        raw = message(lines=["FINDINGS: Clear.", line])
        assert exams(write(tmp_path, raw))["status"].item() == "final"


def judged(path: Path, **statuses: str) -> tuple[list[str], list[str]]:
    """Statuses of what a validation keeps of a feed, and the reasons of what it does not."""
    options = replace(OPTIONS, statuses=statuses)
    found = [
        validate(batch, source="feed.hl7", options=options, seen=set())
        for batch in read(path, Hl7Options(statuses=statuses))
    ]
    kept = [status for each in found for status in each.exams["status"]]
    return kept, [reason for each in found for reason in each.quarantined["reason"]]


@pytest.mark.parametrize("row", ["", "OBX|1|TX|&GDT||||||||X\r", "OBX|1|TX|&GDT||Void||||||X\r"])
@pytest.mark.parametrize("status", ["X", "D", "W", "x", "Cancelled"])
def test_an_order_whose_status_takes_it_back_needs_no_observation(
    tmp_path: Path, status: str, row: str
) -> None:
    obr = OBR.replace("CR|Final", f"CR|{status}")
    path = write(tmp_path, message(obr=obr, lines=[]) + row)
    assert judged(path) == (["retracted"], [])


def test_a_sites_own_word_takes_a_report_back_once_it_is_mapped(tmp_path: Path) -> None:
    path = write(tmp_path, message(obr=OBR.replace("CR|Final", "CR|annullato"), lines=[]))
    assert judged(path) == ([], ["unknown_status"])
    assert judged(path, annullato="retracted") == (["retracted"], [])


def test_a_sites_own_word_counts_also_where_ours_would_have_read_it(tmp_path: Path) -> None:
    path = write(tmp_path, message(obr=OBR.replace("CR|Final", "CR|FINAL RESIDENT")))
    assert judged(path) == (["final"], [])
    assert judged(path, **{"Final Resident": "prelim"}) == (["prelim"], [])
    assert judged(path, **{"Final Attending": "final"}) == ([], ["unknown_status"])
    bare = write(tmp_path, message(obr=OBR.replace("CR|Final", "CR|Final void"), lines=[]))
    assert judged(bare, **{"Final Void": "retracted"}) == (["retracted"], [])


@pytest.mark.parametrize("status", ["F", "P", "O", "I", "S", ""])
def test_an_order_without_observations_that_nobody_took_back_has_no_text(
    tmp_path: Path, status: str
) -> None:
    path = write(tmp_path, message(obr=OBR.replace("CR|Final", f"CR|{status}"), lines=[]))
    assert judged(path) == ([], ["no_report_text"])


def test_a_file_of_which_every_message_is_set_aside_leaves_no_exam(tmp_path: Path) -> None:
    move = message(head=HEAD.replace("ORU^R01", "ADT^A08"))
    assert judged(write(tmp_path, move)) == ([], ["not_oru_r01"])


def test_a_message_that_goes_on_in_another_is_one_report_or_none(tmp_path: Path) -> None:
    whole = message(lines=["FINDINGS: Clear.", "IMPRESSION: Likely normal."])
    first, second = whole.split("OBX|2")
    head = first + "DSC|P7|I\r"
    tail = first.split("OBX|1")[0].replace("|1|P|2.7", "|2|P|2.7||P7")
    assert "2.7||P7" in tail
    rest = f"{tail}OBX|2{second}"
    for frame in ("", "\x0b"):
        end = "\x1c\r" if frame else ""
        feed = write(tmp_path, frame + head + end, frame + rest + end)
        assert exams(feed)["text"].tolist() == ["FINDINGS: Clear.\nIMPRESSION: Likely normal."]
        assert reasons(feed) == []
        begin, trailer = "FHS|^~\\&\rBHS|^~\\&\r", "BTS|1\rFTS\r"
        feed = write(tmp_path, begin + frame + head + end + trailer, begin + frame + rest + end)
        assert exams(feed)["text"].tolist() == ["FINDINGS: Clear.\nIMPRESSION: Likely normal."]
        cut = write(tmp_path, begin + frame + head + end + trailer)
        assert judged(cut) == ([], ["message_incomplete"])
    assert reasons(write(tmp_path, head)) == ["message_incomplete"]
    assert reasons(write(tmp_path, rest)) == ["message_incomplete"]


def test_a_place_that_the_site_names_for_the_modality_decides_over_the_exams_name(
    tmp_path: Path,
) -> None:
    raw = message().replace("|CR|Final", "|TDM|Final")
    own = Hl7Options(fields=FieldMap.of({"modality": "OBR-24.1"}))
    assert exams(write(tmp_path, raw))["modality"].item() == "XR"
    assert exams(write(tmp_path, raw), own)["modality"].item() == "TDM"


def test_a_merge_that_does_not_say_what_became_what_is_set_aside(tmp_path: Path) -> None:
    head = HEAD.format(control="9").replace("ORU^R01", "ADT^A40")
    for merge in ("PID|1||M1\rMRG|\r", "PID|1||M1\rMRG|M1\r", "PID|1||\rMRG|M2\r"):
        assert reasons(write(tmp_path, f"{head}\r{merge}", message())) == ["merge_unclear"]
    assert reasons(write(tmp_path, f"{head}\rPID|1||M1\rMRG|M2\r", message())) == []


@pytest.mark.parametrize(
    ("trailers", "told"),
    [
        ("BTS|2\rFTS|1\r", None), ("BTS|02|x\rFTS|2\r", None), ("BTS\rFTS\r", None),
        ("BTS|3\rFTS|1\r", "counts more or fewer"), ("BTS|1\rFTS|1\r", "counts more or fewer"),
        ("BTS|2\rFTS|5\r", "counts more or fewer"), ("", "without its trailer"),
        ("BTS|2\r", "without its trailer"),
    ],
)  # fmt: skip
def test_a_batch_that_holds_other_than_it_says_or_does_not_end_is_counted(
    tmp_path: Path, trailers: str, told: str | None
) -> None:
    sent = [message(control=n, obr=OBR.replace("ACC77", f"A{n}")) for n in "12"]
    path = write(tmp_path, "FHS|^~\\&|X\rBHS|^~\\&|X\r", *sent, trailers)
    (batch,) = read(path, Hl7Options())
    assert (len(batch.exams), len(batch.quarantined)) == (2, 0)
    assert list(batch.notes.values()) == ([1] if told else [])
    assert all(str(told) in note for note in batch.notes)
    several = write(tmp_path, "BHS|\r", *sent, "BTS|2\rBHS|\r", *sent, "BTS|2\r", name="two.hl7")
    assert [batch.notes for batch in read(several, Hl7Options())] == [{}]


def test_a_message_whose_frame_does_not_end_is_set_aside(tmp_path: Path) -> None:
    one, two = (message(obr=OBR.replace("ACC77", each)) for each in ("A1", "A2"))
    path = write(tmp_path, f"\x0b{one}\x1c\r", f"\x0b{two[:-20]}", f"\x0b{two}\x1c\r")
    assert (exams(path)["accession"].tolist(), reasons(path)) == (
        ["A1", "A2"], ["message_incomplete"],
    )  # fmt: skip
    last = write(tmp_path, f"\x0b{one}\x1c\r", f"\x0b{two[:-20]}", name="last.hl7")
    assert (exams(last)["accession"].tolist(), reasons(last)) == (["A1"], ["message_incomplete"])
    # None ends; two in one frame; marks that only stand between.
    for framed in (f"\x0b{one}", f"\x0b{one}{two}\x1c\r", f"{one}\x1c\r{two}"):
        assert reasons(write(tmp_path, framed)) == []


@pytest.mark.parametrize(("purpose", "is_told"), [("P", False), ("T", True), ("D^A", True)])
def test_a_message_for_training_is_told(tmp_path: Path, purpose: str, *, is_told: bool) -> None:
    raw = message(head=HEAD.replace("|P|2.7", f"|{purpose}|2.7"))
    (batch,) = read(write(tmp_path, raw), Hl7Options())
    assert (len(batch.exams), bool(batch.notes)) == (1, is_told)


@pytest.mark.parametrize(
    ("sent", "performed", "is_told"),
    [
        ("-0500", "", False), ("+0900", "", True), ("+0900", "-0500", False), ("+0000", "", False),
    ],
)  # fmt: skip
def test_a_sender_of_another_zone_than_the_site_names_is_told(
    tmp_path: Path, sent: str, performed: str, *, is_told: bool
) -> None:
    raw = message(head=HEAD.replace("20260301120000", "20260301120000" + sent))
    raw = raw.replace("20260301100000", "20260301100000" + performed)
    (batch,) = read(write(tmp_path, raw), Hl7Options())
    now = pd.Timestamp("2026-10-01T00:00:00Z")
    checks = IngestOptions({"XR": "XR"}, "chest", now, time_zone="America/New_York")
    kept = validate(batch, source="feed.hl7", options=checks, seen=set())
    assert any("another zone" in told for told in kept.notes) == is_told


def test_what_a_feed_remarks_on_is_among_the_notes_of_what_is_kept(tmp_path: Path) -> None:
    (batch,) = read(write(tmp_path, "BHS|\r", message()), Hl7Options())
    checks = IngestOptions({"XR": "XR"}, "chest", pd.Timestamp("2026-10-01T00:00:00Z"))
    kept = validate(batch, source="feed.hl7", options=checks, seen=set())
    assert set(batch.notes) <= set(kept.notes)


@pytest.mark.parametrize(
    ("readers", "lines", "reader", "source"),
    [
        ("D6^ROE^SAM~D5^HOPE^FAITH", TEXT, "D5", "OBR-33"),
        ("D6^ROE^SAM~D5^HOPE^FAITH", TEXT[:2], "D6", "OBR-33, the first of several"),
        ("D5^HOPE^FAITH~^HOPE^FAITH", TEXT[:2], "D5", "OBR-33"),
        ("HOPE^FAITH^^^^^^R7", TEXT[:2], "R7", "OBR-33"),
        ("HOPE^FAITH^Q^^^^^^^R7", TEXT[:2], "R7", "OBR-33"),
        ("HOPE^FAITH^^^^^^^SITE2", TEXT[:2], "HOPE", "OBR-33, by a number that reads as a name"),
        ("HOPE^FAITH^^^^^^R7^^R8", TEXT[:2], "HOPE", "OBR-33, by a number that reads as a name"),
        ("FHOPE^HOPE^FAITH^^^^^R7", TEXT[:2], "FHOPE", "OBR-33"),
    ],
)
def test_the_reader_is_who_signed_and_known_by_number_in_whatever_component_it_stands(
    tmp_path: Path, readers: str, lines: list[str], reader: str, source: str
) -> None:
    told = message(obr=OBR.replace("D5^HOPE^FAITH", readers), lines=lines)
    (exam,) = exams(write(tmp_path, told)).to_dict("records")
    assert (exam["reader_id"], exam["reader_source"]) == (reader, source)
    names = {"D6": "ROE^SAM", "HOPE": "FAITH"}
    assert exam["reader_name"].startswith(names.get(reader, "HOPE^FAITH"))


def test_two_who_stand_beside_the_observations_are_not_one_by_chance(tmp_path: Path) -> None:
    bare = message(obr=OBR.replace("D5^HOPE^FAITH", ""), lines=TEXT[:2]).rstrip("\r").split("\r")
    rows = [
        f"{row}|||||{who}" for row, who in zip(bare[4:], ("D6^ROE^SAM", "D5^HOPE"), strict=True)
    ]
    (exam,) = exams(write(tmp_path, "\r".join([*bare[:4], *rows]) + "\r")).to_dict("records")
    assert (exam["reader_id"], exam["reader_source"]) == ("D6", "OBX-16, the first of several")
