"""Each form an identifier takes in a report, and each expression that only looks like one."""

from __future__ import annotations

import pytest

from pipeline.deidentify import Clean, Deidentifier, Options
from pipeline.deidentify.rules import Rules
from pipeline.deidentify.rules.rows import shipped
from pipeline.deidentify.rules.window import Window, Words
from pipeline.names.grammar import is_small
from pipeline.names.lexicon import load

CLEANER = Deidentifier()
RULES = Deidentifier(Options(caution=0))


def clean(text: str, cleaner: Deidentifier = CLEANER) -> str:
    outcome = cleaner.clean(text)
    assert isinstance(outcome, Clean)
    return outcome.text


DATES = [
    "March 3, 2021", "3 March 2021", "Mar 3 2021", "03MAR2021", "March 3rd", "March 2021",
    "Monday, March 3, 2021", "3-3-21", "3/3", "3/3/2021 14:05", "20210303140500", "June 2019",
    "2021-03-03", "2021-03-03T14:05:00Z", "3.3.2021", "03/2021", "3/3/21 at 9:59 PM", "Mar. 3, '21",
    "3rd of March, 2021", "2021 Mar 3", "03-MAR-21", "MARCH 3, 2021", "Summer 2019", "12-Sep-15",
    "May 5, 2020", "April 1st",
]  # fmt: skip


@pytest.mark.parametrize("date", DATES)
def test_a_date_goes_whole(date: str) -> None:
    text = f"COMPARISON: Radiograph dated {date}. Stable."
    assert clean(text, RULES) == "COMPARISON: Radiograph dated [DATE]. Stable."


NAMES = [
    ("PATIENT: LONG^WILLIAM^J  XR", "PATIENT: [NAME]  XR"),
    ("PATIENT: LONG, WILLIAM J", "PATIENT: [NAME]"),
    ("Discussed with Dr. May at once.", "Discussed with Dr. [NAME] at once."),
    ("Seen by Drs. May, Stone and O'Brien.", "Seen by Drs. [NAME], [NAME] and [NAME]."),
    ("Dictated by: SZCZEPAŃSKI, JUNE MD", "Dictated by: [NAME] MD"),
    ("Read by: HOPE, JUNE MD\nTranscribed: jd/mt", "Read by: [NAME] MD\nTranscribed: [NAME]"),
    ("Attending: Mary Van-Buren, MD.", "Attending: [NAME], MD."),
    ("Nurse April W., RN was notified.", "Nurse [NAME], RN was notified."),
    ("Her daughter Maria de la Cruz was told.", "Her daughter [NAME] was told."),
    ("discussed with dr. kowalski at once", "discussed with dr. [NAME] at once"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), NAMES, ids=[text for text, _ in NAMES])
def test_a_name_goes_by_what_stands_around_it(text: str, expected: str) -> None:
    assert clean(text) == expected


OTHERS = [
    ("MRN: E783860714", "MRN: [ID]"),
    ("MRN 350-19-5281", "MRN [ID]"),
    ("ACC#: CT-21-71798", "ACC#: [ID]"),
    ("(accession 86793230)", "(accession [ID])"),
    ("NPI 1234567893", "NPI [ID]"),
    ("Call (440) 555-0101 or x65190.", "Call [PHONE] or [PHONE]."),
    ("via pager 85685.", "via pager [PHONE]."),
    ("ext. 3417", "[PHONE]"),
    ("j.doe@rad.example.org", "[EMAIL]"),
    ("see www.example.org/rad.", "see [URL]."),
    ("94-year-old man", "[AGE] man"),
    ("Age: 97 years", "Age: [AGE]"),
    ("a ninety-two year old man", "a [AGE] man"),
    ("born in 1925", "born in [DATE]"),
    ("Transferred from Mercy General Hospital.", "Transferred from [HOSPITAL]."),
    ("at 8:48 AM", "at [TIME]"),
    ("Lives at 221B Baker Street.", "Lives at [LOCATION]."),
    ("Outside study at Saint Luke's.", "Outside study at [HOSPITAL]."),
    ("License plate ABC-1234", "License plate [ID]"),
    ("62. NCH 20-1173. Scanned", "62. [ID]. Scanned"),
    ("Seen: ?PE. MRN ?H0251990", "Seen: ?PE. MRN ?[ID]"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), OTHERS, ids=[text for text, _ in OTHERS])
def test_numbers_contacts_ages_and_places_go(text: str, expected: str) -> None:
    assert clean(text) == expected


HARD_NEGATIVES = [
    "Kerley B lines.", "Swan-Ganz catheter.", "Hill-Sachs deformity.", "Lung-RADS 4A.", "At T7-T8.",
    "Level of L4.", "Nodule, series 3 image 45.", "Measures 1.2 x 0.9 cm.", "CABG x3.",
    "White matter is normal.", "Lung fields are clear.", "Foley catheter in place.",
    "Parkinson disease.", "March fracture.", "3 of 4 vessels.", "Grade 3/6 murmur.",
    "Lower 2/3 of the lung.", "Cardiothoracic ratio 0.55.", "Ribs 3-5.", "BP 120/80.",
    "89-year-old woman.", "In 2019.", "Long segment.", "Case discussed at conference.",
    "Grace period. Hope this helps. Will follow.", "Omnipaque 350, 80 mL.", "Baker cyst.",
    "Discussed with the Emergency Department.", "Smith fracture.", "Fever of 101 F.",
    "XR CHEST PA AND LATERAL.", "TNM T2N1M0.", "Mitral valve (St. Jude).", "T7 8TH RIB.",
    "CA 19-9.", "Scanned on a GE Healthcare Revolution.", "Reformatted by Canon Medical.",
    "Serial 201 image 92.", "COVID-19, SARS-CoV-2.", "PATIENT DO NOT MOVE.",
    "Threshold 0.75 V @ 0.4 ms.",
]  # fmt: skip


@pytest.mark.parametrize("text", HARD_NEGATIVES)
def test_a_clinical_expression_stays(text: str) -> None:
    assert clean(text) == text


CODED = [
    ("As before (wado?studyUID=1.2.8&patientID=GP0091).", "As before ([URL])."),
    ("patient_name=Zel+Ba&dob=1958-06-11&site=North then", "[URL] then"),
    ("See data:image/png;base64,iVBORw0KGgo= here.", "See [URL] here."),
    ("X-Patient: RmFycmVsbCwgTmlhbWggMTk4My0wNC0xMg==", "X-Patient: [ID]"),
    ("Hash 9f86d081884c7d659a2feaa0c55ad015 is kept.", "Hash [ID] is kept."),
    (r"Told \X4F72747A\ at once, likely.", "Told [NAME] at once, likely."),
    (r"Seen by Dr M\X00FC\ller, clear.", "Seen by Dr [NAME], clear."),
    ("Told Dr O&#39;Brien and Mar&iacute;a.", "Told Dr [NAME] and [NAME]."),
    ("Mme =C3=89milie Gagn=C3=A9 rang.", "Mme [NAME] rang."),
    ("For Sch%C3%B6nfeld%2C%20Uwe only.", "For [NAME] only."),
]


@pytest.mark.parametrize(("text", "expected"), CODED, ids=[text for text, _ in CODED])
def test_what_is_written_in_a_code_goes_whole(text: str, expected: str) -> None:
    assert clean(text) == expected


NO_CODES = [
    "Patient's heart. Don&#39;t repeat; 3&#215;4 mm, 37&#176;C.", "DLCO%45, EF=55%, HR=80&BP=90.",
    "Findings:Lungs/Pleura/Mediastinum/Heart/UpperAbdomen:Normal", "&ouml;dem of both lungs.",
    "Nodules 3/41+4/66+5/120+6/144+7/200.", "AAAAAAAAAAAAAAAAAAAAAAAAAAAA", "=== Grade=E2 ===",
    r"Clear.\X0D0A\ Old.", "pneumonoultramicroscopicsilicovolcanoconiosis",
    "1234567890123456789012345",
]  # fmt: skip


@pytest.mark.parametrize("text", NO_CODES)
def test_what_only_looks_like_a_code_is_taken_by_no_row_of_codes(text: str) -> None:
    window = Window(text, Words.of(text), load())
    assert not [*Rules([shipped("encoded")]).find(window)]


DICTATED = [
    "no fracture of the fifth and sixth ribs comma", "nodule seen on the fourth image full stop",
    "cobb angle at ten fifteen degrees period", "pressure at one twenty over eighty",
    "narrowed at two fifty percent", "follow up at eighteen twenty four months",
    "the fourth ventricle is midline full stop", "a dot of contrast is seen comma",
    "image of the eleventh rib comma", "target to be 100 at discharge",
    "sats fell to ninety come what may", "bilirubin is a hundred and two, high",
    "a man of ninety five kilos", "man of 92% predicted", "platelet count ninety.",
    "Fracture of the distal third of the fifth metacarpal.", "drained about two hundred cc",
    "mass at ten thirty, 3 cm from the nipple", "impression dot ca lung with mets",
    "Lesions on the sixth, seventh, and eighth ribs", "red dot ie abnormal",
    "ten minutes after five milligrams of buscopan", "birth two five four grams",
    "wednesday the second image shows", "CTPA. ?PE",
    "mass at the ten to twelve o'clock position", "half the thorax is opaque", "two to three cm",
    "five of six nodes were positive", "reduced from ten to four nodules", "one of three",
    "a quarter of the lung is involved", "in the upper half two nodules", "grade three slash six",
    "t nine slash t ten", "the fourth of the fifth ribs", "repeat in ten to twelve days",
    "case two", "records not available", "extension of four centimetres", "call if worse",
    "double density sign", "ribs six seven eight", "l four five", "temperature a hundred and two",
    "ninety two percent on two litres", "at fifteen twenty degrees", "may nineteen percent",
    "a nodule of 12.28 mm at 16.41 mm, seen",
]  # fmt: skip


@pytest.mark.parametrize("text", DICTATED)
def test_a_number_in_words_that_is_no_day_clock_or_age_stays_with_the_rules(text: str) -> None:
    assert clean(text, RULES) == text


SPOKEN = [
    ("date of birth four seven sixty two comma", "date of birth [DATE] comma"),
    ("he was told at eleven forty two comma", "he was told at [TIME] comma"),
    ("mail ana dot vogt at sunmail dot com period", "mail [EMAIL] period"),
    ("she will be ninety-six come September", "she will be [AGE] come September"),
    ("Rung at ten to four and seen", "Rung at [TIME] and seen"),
    ("Nurse told at quarter of nine.", "Nurse told at [TIME]."),
    ("Scan done half eight by the sister", "Scan done [TIME] by the sister"),
    ("Film of the ninth of the fourth reviewed", "Film of [DATE] reviewed"),
    ("Accession x two two nine oh, chest", "Accession [ID], chest"),
    ("MRN is bravo double four seven oh.", "MRN is [ID]."),
    ("Hospital number eighty three sixteen", "Hospital number [ID]"),
    ("Bleep double six one, no answer", "Bleep [PHONE], no answer"),
    ("She is one oh two and frail", "She is [AGE] and frail"),
]


@pytest.mark.parametrize(("text", "expected"), SPOKEN, ids=[text for text, _ in SPOKEN])
def test_what_is_spoken_goes_by_the_rules(text: str, expected: str) -> None:
    assert clean(text, RULES) == expected


BY_CLASS = {
    "DATE": (
        ("compared with the film of {}.", "booked for {}, as before", "Comparison: {}\nClear."),
        ("FY24 wk 12", "Q3 FY24", "FY2024 Q3", "week 7 FY24", "2024-W07-3", "CW 12/2024", "W07/24",
         "3Q24", "H1 2024", "third quarter of 2023", "Q2 wk 5", "w/c 4 March", "week ending 10 Mar",
         "the second week of March", "first Monday of May", "the end of February",
         "a fortnight on Monday", "12.IV.’24", "3 V 25", "12–04–2024", "12\xa0April\xa02024",
         "12|Apr|24", "2024-103", "day 103 of 2024", "feast of St Brigid", "Diwali", "uke 12"),
    ),
    "ID": (
        ("MRN {}.", "kept in archive {}, as before"),
        ("Q7+44K+112", "44K·112", "44K//112", "44112*24", "RX*44112", "44112 chk 7", "4411–229–K",
         "44112 (K)", "4411A229", "NP 4411229"),
    ),
    "PHONE": (
        ("call {} now.", "tel. {}, at once"),
        ("0 (212) 123 45 67", "8 (495) 123-45-67", "020–7946–0958", "0161\xa0496\xa00123",
         "+61.2.5550.1234", "+41.79 555 01 23", "+27 (0)21 555 0123", "+3725550123"),
    ),
    "EMAIL": (
        ("write to {}.", "contact: {}, please"),
        ("a.okafor at stmungo.org", "a.okafor -at- stmungo.org", "a.okafor*at*stmungo.org",
         "a-okafor-at-stmungo-dot-org", "a . okafor @ stmungo . org", "a.okafor＠stmungo.org",
         "a.okafor [@] stmungo(.)org", "a.okafor%40stmungo.org"),
    ),
    "URL": (
        ("images: {}", "see {} first"),
        ("hxxp://stmungo[.]org/x", "stmungo[.]org", "www stmungo org", "bit.ly/4Ks2q", "stmungo.eu",
         "viewer.stmungo.app", "dicom://stmungo/441", "https//stmungo.org", r"\\stmungo\rad\in"),
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("category", "context", "form"),
    [(each, context, form) for each, (some, forms) in BY_CLASS.items()
     for context in some for form in forms],
)  # fmt: skip
def test_an_odd_form_goes_whole_by_its_class(category: str, context: str, form: str) -> None:
    assert clean(context.format(form), RULES) == context.format(f"[{category}]")


LOOK_ALIKES = [
    "Week 12 of pregnancy, week 7 of 24.", "Given q3w, 4 cycles; Q4H.", "Deletion 3Q29 DEL.",
    "First quarter of the field, second half of the bolus.", "Clear in the end of the lobe.",
    "Cyst 31 x 24 mm, 12 IV 20 ml given.", "Ratio 2:1, b=1000, 50/50.", "Ranges 500–700 µm.",
    "Cyst at 10 o'clock, 4 cm from the nipple.", "Ribs 5 to 7.", "Christmas tree appearance.",
    "Matrix 512*512, 3+4=7.", "Counselling visit G0296.", "Scanned e.g. at approx.3 cm.",
    "Seen at rest.No change.", "Told 3 of 4 by 12-24 hours.", "Version v4.12.3 of 2024.",
    "Z-score +1.85, T-score +0.45 2.10 at the hip.", "Refraction +2.25, shift +0.014 -0.21.",
    "Medial: KL 3 on the right, KL 2.", "Mass UOQ 10:30, 6 cm FN; left breast 12:00, 19 x 16 mm.",
    "Cardiac MR 1.5T, MR 3 T; FIN 2.1.", "UFE 500-700 µm, PAE 300-500 um.",
    "Class 1.2.840.10008.5.1.4.1.1.2.1 accepted.", "codeSystem 2.16.840.1.113883.6.96 only",
]  # fmt: skip


ALIKE_BUT_NOT = [
    ("Dr. May was told at 8:30, 3 cm abscess.", "at [TIME], 3 cm"),
    ("The nurse rang at 9:00, 2 x 3 cm seen.", "at [TIME], 2 x 3 cm"),
    ("Informert kl. 3 i dag, telefon godz. 4 rano.", "kl. [TIME] i dag, telefon godz. [TIME]"),
    ("FIN 123.45, Acc 123.4.", "FIN [ID], Acc [ID]."),
    ("Call +46.8 5.501.234 or +33.1 42.68.53.00 now.", "Call [PHONE] or [PHONE] now."),
    ("Told nurse Often; reported by Dr. Besides.", "nurse [NAME]; reported by Dr. [NAME]."),
    ("Signed: However", "Signed: [NAME]"),
    ("SOP 1.2.840.113619.2.55.3.604688119 sent", "SOP [ID] sent"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), ALIKE_BUT_NOT)
def test_what_looks_like_a_measure_or_a_joining_word_goes(text: str, expected: str) -> None:
    assert expected in clean(text, RULES)


@pytest.mark.parametrize("text", LOOK_ALIKES)
def test_what_looks_like_an_odd_form_stays_with_the_rules(text: str) -> None:
    assert clean(text, RULES) == text


@pytest.mark.parametrize("who", ["ward", "physio", "bed manager", "referrer", "coordinator", "mum"])
def test_a_ward_or_role_that_is_told_is_nobody_in_small_letters(who: str) -> None:
    text = f"small left effusion, heart size stable. informed by phone, spoke to {who} at once."
    assert clean(text, RULES) == text
    assert "rose" not in clean(text.replace(who, "rose okafor"))


def test_abbreviations_do_not_hide_that_a_report_is_in_small_letters() -> None:
    text = "portable CT chest for rose okafor in ICU. told her son sipho. the lungs are clear."
    found = clean(text)
    assert "rose" not in found
    assert "okafor" not in found
    assert "CT chest" in found
    assert "ICU" in found


@pytest.mark.parametrize(
    ("text", "small"),
    [
        ("the lungs are clear. CT of the chest.", True),
        ("The lungs are clear. No effusion.", False),
        ("CT CHEST. LUNGS CLEAR.", False),
        ("told Rose. " + "the lungs are clear and the heart is normal. " * 5, True),
        ("told Rose and Amina. " + "the lungs are clear and the heart is normal. " * 4, False),
    ],
)
def test_a_report_in_small_letters_has_few_words_with_a_capital(text: str, *, small: bool) -> None:
    assert is_small(text) is small


SHOUTED = [
    "FIBROTIC CHANGE ACCOMPANIED BY TRACTION BRONCHIECTASIS.",
    "THE AORTIC ARCH IS 35 MM. THE SPLEEN IS 147 MM.",
    "PREOP BARIATRIC SURGERY. IF FURTHER IMAGING IS DESIRED, REPEAT.",
    "THE PATIENT IS A 51 YEAR OLD WOMAN WITH COUGH.",
    "A TYPE I HIATAL HERNIA WAS OBSERVED.",
    "COMPARED BY CT OF THE THORAX. DUE TO PANDEMIC PRECAUTIONS. SENT TO IMAGING.",
    "11 X 10 MILLIMETERS WITHOUT CONTRAST CT AT THE LEVEL OF THE CARINA.",
]


@pytest.mark.parametrize("text", SHOUTED)
def test_a_sentence_in_capitals_is_no_name_and_no_place(text: str) -> None:
    assert clean(text) == text


@pytest.mark.parametrize(
    "text", ["Status post Ivor Lewis esophagectomy.", "A. Small effusion. B. White matter."]
)
def test_an_operation_and_a_lettered_list_hold_no_name(text: str) -> None:
    assert clean(text) == text


def test_a_name_goes_on_over_a_wrapped_line() -> None:
    line = "These critical results were discussed by telephone with Dr. Grace\nHill at noon."
    assert "with Dr. [NAME] at " in clean(line)


@pytest.mark.parametrize(
    "piece",
    [
        "a",
        "1",
        "A ",
        "Dr. ",
        "3/",
        "Aa",
        "\n",
        "(",
        "MRN: ",
        "^A",
        "é–",
        "é–1",
        "[.]a",
        "a@",
        "a . ",
        "\\\\a\\",
        "Q1",
    ],
)
def test_a_pathological_line_of_hundred_thousand_characters_ends(piece: str) -> None:
    assert CLEANER.clean(piece * (100_000 // len(piece))) is not None


@pytest.mark.parametrize(
    "text",
    [
        "History of Colon Cancer at age 50.",
        "Esophageal Cancer, resected.",
        "Follow-up per Fleischner guidelines.",
        "Lesion described per Bosniak classification.",
    ],
)
def test_diseases_and_named_guidelines_are_no_places_and_no_people(text: str) -> None:
    found = Deidentifier().clean(text)
    assert isinstance(found, Clean)
    assert found.text == text


def test_a_cancer_centre_is_a_place() -> None:
    found = Deidentifier().clean("Seen at Ashgrove Cancer Center for this.")
    assert isinstance(found, Clean)
    assert found.text == "Seen at [HOSPITAL] for this."


@pytest.mark.parametrize(
    "text",
    [
        "The Riedel lobe reaches the pelvis.",
        "Thickening of Gerota's fascia.",
        "A KUB was taken. NACLERIO V SIGN IS ABSENT.",
        "Valve (St. Jude) in place. Leads by Boston Scientific are unchanged.",
        "Felson sign. Hill-Sachs defect.",
    ],
)
def test_an_eponym_a_brand_and_an_acronym_are_no_uncued_names(text: str) -> None:
    assert clean(text) == text
