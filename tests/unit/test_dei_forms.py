"""Places and people of forms that no list holds: by kind, initials, state, particle and field."""

from __future__ import annotations

import pytest

from pipeline.deidentify import Clean, Deidentifier

DEIDENTIFIER = Deidentifier()


def clean(text: str) -> str:
    outcome = DEIDENTIFIER.clean(text)
    assert isinstance(outcome, Clean)
    return outcome.text


GONE = [
    ("Seen at Zandvliet Ziekenhuis, no report.", "Seen at [HOSPITAL], no report."),
    ("Woman from Björkens äldreboende, fell.", "Woman from [HOSPITAL], fell."),
    ("Images received from UMC Zandvliet.", "Images received from [HOSPITAL]."),
    ("Compared with CT from GWQH, larger.", "CT from [HOSPITAL], larger."),
    ("Trust: Zeldon Park (ZPH). Location: ED.", "([HOSPITAL])"),
    ("Fell at Whispering Gate Assisted Living, cough.", "Fell at [HOSPITAL], cough."),
    ("Transfer to University of Zeldon Hospitals and Clinics.", "Transfer to [HOSPITAL]."),
    ("Copy to 6196 County Road 12, Apt 5V, Hope, MO 74955.", "Copy to [LOCATION]."),
    ("Travel to Normal, IL last week.", "Travel to [LOCATION] last week."),
    ("Discussed with Dr. Van 't Zandt.", "Discussed with Dr. [NAME]."),
    ("S.P. de Zandt, radioloog", "[NAME], radioloog"),
    ("MRN field; CLEAR, DAWN; CT chest", "MRN field; [NAME]; CT chest"),
    ("Measured by HB: 1.2 x 0.9 cm", "Measured by [NAME]: 1.2 x 0.9 cm"),
    ("Addendum (11/16/2014 18:46, OMA): stable.", "[NAME]"),
    ("Called to nurse Ana, 46 72 41 06. No change.", "[PHONE]. No change."),
    ("Informed Aisha Khoury, 19.17. No change.", "[TIME]. No change."),
    ("INDICATION: M/94, cough", "INDICATION: M/[AGE], cough"),
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
    ],
)
def test_what_medicine_writes_stays(text: str) -> None:
    assert clean(text) == text
