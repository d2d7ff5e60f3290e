"""Places and people of forms that no list holds: by kind, initials, state, particle and field."""

from __future__ import annotations

import pytest

from pipeline.deidentify import Clean, Deidentifier, Options

DEIDENTIFIER = Deidentifier(Options(caution=0))


def clean(text: str) -> str:
    outcome = DEIDENTIFIER.clean(text)
    assert isinstance(outcome, Clean)
    return outcome.text


GONE = [
    ("Fell at Whispering Gate Assisted Living, cough.", "Fell at [HOSPITAL], cough."),
    ("Transfer to University of Zeldon Hospitals and Clinics.", "Transfer to [HOSPITAL]."),
    ("Called to nurse Ana, 46 72 41 06. No change.", "[PHONE]. No change."),
    ("Informed Aisha Khoury, 19.17. No change.", "[TIME]. No change."),
    ("INDICATION: M/94, cough", "INDICATION: M/[AGE], cough"),
    ("Mother (97) and aunt, 102, both well.", "Mother ([AGE]) and aunt, [AGE], both well."),
    ("Age at exam: 98. Sex F.", "Age at exam: [AGE]. Sex F."),
    ("Patient aet. 94, bedridden.", "Patient aet. [AGE], bedridden."),
    ("RADIOLOGIST: TORBJORN NODE\n", "[NAME]\n"),
    ("Patient: Charity Osei  Medicare No: 4954 73831 5", "Patient: [NAME]  Medicare No"),
    ("Called +852 2699 5428 15:18 by phone.", "Called [PHONE] [TIME] by phone."),
    ("Lives at Rua das Palmas 8, ap. 3, Zeldo SP 01310-100.", "Lives at [LOCATION]."),
    ("Address: Blk 12 Zeldon Ave 4 #07-11, Singapore 550213.", "Address: [LOCATION]."),
    ("On arrival from Glasgow. Glasgow Coma Scale 6.", "from [LOCATION]. Glasgow Coma Scale 6."),
    ("DR. NODE SAW NO NODE. DR LATE TOLD AT 10:35.", "DR. [NAME] SAW NO NODE. DR [NAME] TOLD"),
    ("Lic.: BIG 1004934911", "Lic.: [ID]"),
    ("Fax: 0 61 31 / 67-65 89, ward 4", "[PHONE], ward"),
    ("Seen on the stroke unit 1634, nil by mouth.", "unit [TIME], nil"),
    ("No answer. Then DECT 1938: seen.", "Then [PHONE]: seen"),
    ("P. Cromwell, bp 8082, 10:19.", "bp [PHONE], [TIME]."),
    ("Reported on the telephone on 3/20/2016 at 9:17 pm, 2 minutes later.", "on [DATE], 2 minutes"),
    ("Performed Wednesday 4/5 (left).", "Performed [DATE] (left)"),
    ("Compared with 15/7, aeration has improved.", "with [DATE], aeration"),
    ("Mr. Steinberg underwent fall 6/8.", "fall [DATE]."),
    ("Swallowed a penny, 10/10, 10:10. Seen.", "penny, [DATE]. Seen"),
    ("Dr. August informed August\n9th.", "informed [DATE]."),
    ("sms 3.3. 0215: ct of the chest", "sms [DATE]: ct"),
    ("Patient 060539\n 35483. Possible embolism?", "Patient [ID]. Possible"),
    ("IVC filter (lot NLRZWS108) is tilted.", "(lot [ID]) is tilted"),
    ("SEEN IN FAYETTEVILLE CLINIC.", "IN [LOCATION] CLINIC."),
]


@pytest.mark.parametrize(("text", "expected"), GONE, ids=[text for text, _ in GONE])
def test_what_another_hospital_writes_goes(text: str, expected: str) -> None:
    assert expected in clean(text)


@pytest.mark.parametrize(
    "text",
    [
        "Stenosis extending from LAD to RCA, origin at SVC.",
        "Nonspecific interstitial pneumonia (NSIP) and atrial fibrillation (AF).",
        "CHEST PA AND LATERAL. LINES AND TUBES FROM ICU.",
        "Findings in keeping with von Willebrand disease and a de novo lesion.",
        "Philadelphia chromosome; Blake drains; Mounier-Kuhn morphology.",
        "Iterative reconstruction (ASiR-V 50%), slices of 1.25 mm.",
        "Calcium score 12, 14.20 mm nodule, grade 2/3 stenosis.",
        "Measured by radiologist; marked by arrows.",
        "Goddard 8/24 emphysema. Slices 2/45 to 7/12 are degraded. TR/TE 4500/92.",
        "MSH|ORU^R01\nOBX|9|ST|Lungs clear. SaO2 94%.",
        "BP 120/80, unit 12, 3 lots of clips; compared with 3/4 of cases. Nodule of 3.3.",
        "Pain 10/10, 10 mg given; underwent stenting of 3/4 vessels.",
        "Bethesda category II. Philadelphia collar. Bence Jones positive. Pigtail 12 F.",
        "Montreal A2 disease. ARDS by the Berlin definition. Boston Scientific leads.",
        "Hospital course: no event. Avenue of spread unknown. Block 4 of the specimen.",
        "Label reads LEFT. Reader 2 agrees. Cells by count. Measured by CT.",
        "Lungs and Heart were called normal. Cardiology and Oncology were informed. Dr (GP)",
        "Attn: ED. Dictation: PA / lateral. Spoke to Family, at noon. Reader 1 MD, reader 2 ED.",
        "Hospital General ward. HOSPITAL DE NOVO pneumonia. [Draft preliminary] name=unknown;",
        "Institute of Radiology. DR CHEST IS UNCHANGED. MR BRAIN WAS NORMAL.",
        "No lesion is detected in the lungs. However, it should be known that CT may miss one.",
        "CT ABDOMEN\nThe liver is 17 cm. No stones. Spleen normal.\nHepatosteatosis",
        "DXA. Z-score +1.85, T-score +0.45 at the hip. However, likely normal.",
        "CXR PA. Heart normal in size. No bony lesion.\nPLEURA: Clear.\nIMPRESSION:\nSmall.",
    ],
)
def test_what_medicine_writes_stays(text: str) -> None:
    assert clean(text) == text


def test_a_home_told_by_a_foreign_word_goes_from_a_whole_report() -> None:
    rest = (
        "The lungs are clear and the heart is of normal size. There is no effusion and no"
        " pneumothorax."
    )
    outcome = Deidentifier().clean(f"Woman from Björkens äldreboende, fell. {rest}")
    assert isinstance(outcome, Clean)
    assert outcome.text in {f"Woman from [{k}], fell. {rest}" for k in ("HOSPITAL", "LOCATION")}


@pytest.mark.parametrize("told", ["Dictated on WS {}.", "License plate {}, driver unhurt."])
def test_a_workstation_and_a_plate_go_from_a_whole_report(told: str) -> None:
    report = "The lungs are clear and the heart is of normal size. No effusion.\n"
    code = "ZQXRAD63" if "WS" in told else "ABC-1234"
    outcome = Deidentifier().clean(report + told.format(code))
    assert isinstance(outcome, Clean)
    assert code not in outcome.text
    assert outcome.text.startswith(report)
