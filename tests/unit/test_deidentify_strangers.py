"""Words that no report would use are names; what reports do use stays."""

from __future__ import annotations

import pytest

from pipeline.deidentify import Clean, Deidentifier
from pipeline.deidentify.known import KnownIdentifiers
from pipeline.names.lexicon import load, triggers, unaccented

CLEANER = Deidentifier()
LEXICON = load()


def clean(text: str) -> str:
    outcome = CLEANER.clean(text)
    assert isinstance(outcome, Clean)
    return outcome.text


REPORT = (
    "XR CHEST PA AND LATERAL\nINDICATION: Cough and fever.\nFINDINGS: The lungs are clear. The"
    " heart is of normal size. There is no pleural effusion and no pneumothorax.\n"
)
"""The judge is asked about whole reports."""
GO = [
    ("The study was shown to Okonkwo.", "The study was shown to [NAME]."),
    ("Reviewed again; thanks, Bob.", "Reviewed again; thanks, [NAME]."),
    ("Images went to Nguyễn today.", "Images went to [NAME] today."),
    ("Cons: FOX\nExam: chest film", "Cons: [NAME]\nExam: chest film"),
    ("Urgent CT advised.\nGrace Bishop\n", "Urgent CT advised.\n[NAME]\n"),
    ("Sent on; HCA Blessing aware.", "Sent on; HCA [NAME] aware."),
    ("the wife (Zorblaxova) knows", "the wife ([NAME]) knows"),
    ("the prior, cf. Zorblaxova, is stable", "the prior, cf. [NAME], is stable"),
    ("Compared by Padma Jeffries yesterday.", "Compared by [NAME] yesterday."),
    ("Prelim was J. Jeffries here.", "Prelim was [NAME] here."),
    ("Shown as José Ortiz-Reyes asked", "Shown as [NAME] asked"),
    ("Told Winter, the on-call hospitalist.", "Told [NAME], the on-call hospitalist."),
    ("HISTORY: Grace Hill is a 45-year-old woman.", "HISTORY: [NAME] is a 45-year-old woman."),
    ("Department of Radiology, Boston, MA 02115", "Department of Radiology, [LOCATION]"),
    ("Seen at Bayview Imaging, Trowbridge BA14 8QX.", "Seen at [HOSPITAL], [LOCATION]."),
    ("Scanned in Duluth, MN 55802", "Scanned in [LOCATION]"),
    ("Address: London NW1 6XE", "Address: [LOCATION]"),
    ("Copy to 6196 County Road 12, Apt 5V, Hope, MO 74955.", "Copy to [LOCATION]."),
    ("Seen at Ashgrove Cancer Center per Bosniak guidelines.",
     "Seen at [HOSPITAL] per Bosniak guidelines."),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), GO, ids=[text for text, _ in GO])
def test_a_stranger_goes_from_a_report(text: str, expected: str) -> None:
    assert clean(REPORT + text) == REPORT + expected


@pytest.mark.parametrize(
    ("text", "name"),
    [
        *(
            ("See Kirkpatrick, Edwin M. Final report.", "Edwin"),
            ("J. Smith, MD / 1234567893", "Smith"),
        ),
        *(("S.P. de Zandt, radioloog", "Zandt"), ("Discussed with Dr. Van 't Zandt.", "Zandt")),
        *(("To: Zeldon Remote Reads LLC\n", "Zeldon"), ("Trust: Zeldon Park (ZPH). ED.", "ZPH")),
    ],
)
def test_a_stranger_goes_though_a_word_beside_it_goes_as_well(text: str, name: str) -> None:
    assert name not in clean(REPORT + text)


STAY = [
    "INDICATION: DKA, XXXX.",  # an acronym, and another's placeholder
    "Effusoin: none. Cardiomegly.",  # a heading and a sentence, mistyped
    "the Zorblax catheter is in place",  # before its noun
    "ZORB: 7 WEST",  # an unknown label
    "Chest tube by PleurX, iCAD reviewed.",  # capitals inside
    "Streptococcus, Xarelto, Somatom, Nigeria.",  # a genus, a drug, a scanner, a land
    "Bronchovasculature, Hepatopexy, Peribronchiolar.",  # words no list has, formed as words
]


@pytest.mark.parametrize("text", STAY)
def test_what_a_report_may_say_stays(text: str) -> None:
    assert clean(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Dr. Jeffries / ZK", "Dr. [NAME] / [NAME]"),
        ("Told Dr. Jeffries and us.", "Told Dr. [NAME] and us."),
        ("Told Dr. Jeffries and CT.", "Told Dr. [NAME] and CT."),
        ("Tech: AP. Read: none. Signed: nil.", "Tech: [NAME]. Read: none. Signed: nil."),
        ("Rads kp + OD. Lungs clear.", "Rads [NAME]. Lungs clear."),
    ],
)
def test_letters_beside_staff_are_initials_unless_a_word_or_an_abbreviation(
    text: str, expected: str
) -> None:
    assert clean(text) == expected


MEASURED = [
    "GCS 12/15, lactate 5.1, creatinine 2.9, CRP 88; sats 93 on air.",
    "CTR of 17/30. BNP 2400. Glucose: 104. WBC count of 16.6. Temp 101.4.",
    "Follow up in 6-12 mos, review at 24-48 h, films at 11-14 days.",
    "Cough 5/7 hx, rash 3/12 ago. On day 8 of treatment (day 3 of doxycycline).",
    "pH (7.38), titre 1:160.",
    "Unchanged since 2011, 2016 and 2018.",
    "OBX|9|FT|Lungs clear.||||||F",
    "Seen in HDU. LMP unknown.",
    "Healed ribs.\n5th: intact.\n6th: intact.",
    "Film at 2 h stable. Repeat CT in 3/12. Cough 2/12.",
    "NSGY aware. FLAURA does not apply; on Vyndaqel.",
    "Consented to trial NCT05550123.",
]


# What its neighbours tell to be none.
TOLD = [
    "modality=DX\nproc_code=XR0010\nprint_queue=RAD_LASER_07\nschema=rptx-2.4.1\nsw=19MW.22",
    "MSH|^~\\&|PACSGW|\nOBR||||CTCORO^CT CORONARY\nZDS|1.2.840.99999.4.1^Application^DICOM",
    "Reader used Visage 7.1.18, hanging protocol 4. CT advised per NCCN 3.2023.",
    "Embolisation with PVA 355-500 or Embosphere. Trastuzumab (8/6 mg/kg).",
    "RTOG 0617 dose 60 not 74.",
    "H|report\nP|\nPage 3 of 11. Moved from bay C.",
]


@pytest.mark.parametrize("text", [*MEASURED, *TOLD])
def test_results_durations_years_and_the_frame_of_a_message_stay_in_a_report(text: str) -> None:
    assert clean(REPORT + text) == REPORT + text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The patient's sister, who turned ninety-three, is well.", "turned [AGE], is well"),
        ("She will be 100 on Sunday week.", "will be [AGE] on"),
        ("DOB 12 Hydref 1939. Film of 18 Mawrth 2024.", "DOB [DATE]. Film of [DATE]."),
        ("Infiltrate reported Oct.\n2 has cleared.", "reported [DATE] has cleared"),
        ("28th: cannulae in place.\n29th: air bronchograms.", "[DATE]: air bronchograms"),
        ("He was phoned at four in the morning.", "at [TIME]."),
        ("Seen since June\n3 nodules more.", "since [DATE]\n3 nodules more."),
        ("He goes home monday.", "home [DATE]."),
        ("Film of 2024 week 12, day 2 was clear.", "Film of [DATE] was clear."),
        ("The film of day 74 of 2024 was clear.", "film of [DATE] was clear."),
        ("born S22.5.3, smoker", "born [DATE], smoker"),
        ("Queries to rosa [dot] diaz [at] clinic [dot] example.", "to [EMAIL]."),
        ("Mail k.lee at north dot example for copies.", "Mail [EMAIL] for copies."),
        ("Seen by Dr. Self and Dr MAU.", "by Dr. [NAME] and Dr [NAME]."),
        ("Discussed with Ada 4471 at length.", "with [NAME]"),
        ("Call 555-0139 x4 for results.", "Call [PHONE] for"),
        ("Sent to cf.daruwalla@mailbox.example.", "to [EMAIL]."),
        ("MSH|^~\\&|RIS|ZELD|HUB|X|20240102\n", "MSH|^~\\&|RIS|[HOSPITAL]|"),
        ("Found on Boxing Day 2023, 152 Shore Road, Hull HU3 2JZ.", "Found on [DATE], [LOCATION]"),
    ],
)
def test_what_is_told_in_words_or_wrapped_goes_from_a_report(text: str, expected: str) -> None:
    assert expected in clean(REPORT + text)


def test_what_stays_by_its_looks_goes_behind_a_label_or_a_title() -> None:
    assert clean(REPORT + "Told SLT.\nTyped: SLT\n") == REPORT + "Told SLT.\nTyped: [NAME]\n"
    assert clean(REPORT + "Dr Flaura aware.") == REPORT + "Dr [NAME] aware."


def test_no_listed_name_as_names_are_written_stays_by_its_looks() -> None:
    """In capitals of three letters it shortens something; written as a name it may be somebody."""
    shown = [word for word in triggers("left_by_looks") if word.isalpha() and not word.isupper()]
    assert [word for word in shown if unaccented(word) in LEXICON.names] == []


@pytest.mark.parametrize("name", ["left_by_looks", "never_alone"])
def test_no_listed_place_stays_wherever_it_stands(name: str) -> None:
    places = LEXICON.hospitals | LEXICON.sites | LEXICON.cities
    assert places.isdisjoint(map(str.casefold, triggers(name)))


def test_a_word_behind_a_known_one_is_no_stranger() -> None:
    assert not LEXICON.is_stranger("opacifyings")
    assert not LEXICON.is_stranger("xxxx")
    assert LEXICON.is_stranger("zorblaxova")
    assert LEXICON.is_stranger("grace")


def test_no_word_is_both_a_reports_and_a_name_no_report_uses() -> None:
    assert LEXICON.unreported.isdisjoint(LEXICON.eponyms | LEXICON.eponym_nouns)
    assert LEXICON.unreported.isdisjoint(LEXICON.familiar)
    assert LEXICON.known.isdisjoint(LEXICON.unreported | LEXICON.rare_names)


def test_a_persons_field_and_a_known_number_go_beside_fields_of_systems() -> None:
    text = REPORT + "modality=DX\nref_dr=Vikneswaran Muthu\nschema=QX-7710\n"
    outcome = CLEANER.clean(text, known=KnownIdentifiers(numbers=("QX-7710",)))
    assert isinstance(outcome, Clean)
    assert "modality=DX\n" in outcome.text
    assert "Muthu" not in outcome.text
    assert "7710" not in outcome.text


@pytest.mark.parametrize("word", ["Stable", "Normal", "Improved", "Worse", "Fracture", "Left"])
@pytest.mark.parametrize("text", [REPORT, "CHEST\nLines as before.\nIMPRESSION:\n"])
def test_a_state_or_finding_alone_at_the_end_is_no_name(text: str, word: str) -> None:
    for said in (f"{word}.", word, word.upper()):
        assert clean(text + said) == text + said


def test_a_piece_of_a_report_loses_its_name_and_keeps_its_words() -> None:
    assert clean("Discussed with Amina Okafor at 14:05.") == "Discussed with [NAME] at [TIME]."
    assert clean("Mild basal atelectasis, unchanged.") == "Mild basal atelectasis, unchanged."
