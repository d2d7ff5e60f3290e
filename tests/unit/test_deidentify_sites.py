"""Places, people and numbers of ordinary reports that stand without a cue of their own."""

from __future__ import annotations

import pytest

from pipeline.deidentify import Clean, Deidentifier, Options

DEIDENTIFIER = Deidentifier(Options(caution=0))

GONE = [
    ("Nodule described at Duke in 2019.", "described at [HOSPITAL] in 2019."),
    ("Known nodule, site UCLA.", "site [HOSPITAL]."),
    ("New since Stanford CT of 2019.", "since [HOSPITAL] CT"),
    ("Dr. Zeldon (Mercy) requested the images.", "([HOSPITAL]) requested"),
    ("12/23/2023 MGH\nMRN 040231677", "[DATE] [HOSPITAL]\nMRN [ID]"),
    ("Lives at Golden Oaks Skilled Nursing.", "Lives at [HOSPITAL]."),
    ("Biopsy at Zeldon Surgical Center was benign.", "at [HOSPITAL] was"),
    ("Film of 13/10. Stable.", "Film of [DATE]. Stable."),
    ("Post op (laparotomy 2/5), Miss Tan.", "(laparotomy [DATE]), Miss [NAME]."),
    ("d/w Dr Tan 14:16 29/9\n", "[TIME] [DATE]"),
    ("Discussed with Dr Tan at 15.30.", "at [TIME]."),
    ("LCDR Tan notified 1129, no change.", "notified [TIME], no change."),
    ("Hx: 97M. Cough.", "Hx: [AGE]. Cough."),
    ("Woman, 104, with fever.", "Woman, [AGE], with fever."),
    ("ADAMS, JOHN S  XXX-XX-1267  DOB 1950", "[ID]"),
    ("SSN: ***-**-6500", "SSN: [ID]"),
    ("Reason: fever. Last 4: 2696.", "Last 4: [ID]."),
    ("Trauma name: Unknown T9007. CT chest.", "Unknown [ID]. CT"),
    ("Cytology H71/84098 reported.", "Cytology [ID] reported."),
    ("Called to CPO Zeldon, who agrees.", " [NAME], who"),
    ("Signed by Ramesh Zeldon III\n", "by [NAME]\n"),
    ("No change.\njt/rw: 4/2/2023\n", "[NAME]: [DATE]"),
]
STAYS = [
    "CHEST X-RAY, PA AND LATERAL.",
    "Nodule surveillance per Fleischner.",
    "Followed per Fleischner Society 2017.",
    "TECH: Axial with MPR.",
    "New York Heart Association class II.",
    "Bethesda and TI-RADS 3 criteria apply.",
    "Old Harrison sulcus deformity is noted.",
    "Carpentier-Edwards aortic bioprosthesis in place.",
    "Stanford type A dissection, unlikely.",
    "CHOP chemotherapy, third cycle.",
    "Lymphoma, scheduled for CHOP.",
    "Ejection fraction 3/5; antibiotics for 14/7, review in 2/52.",
    "BP 92/54, pH 7.31, T 98.6.",
    "T7-T8 and L4 are unchanged, CABG x3, nodule 12.28 mm at 16.41 mm.",
    "GCS 15/15. Grade 2/6 murmur. Image 20/45.",
    "Catheter at Carina level.",
    "Diagnosis code R07.9.",
]


@pytest.mark.parametrize(("text", "expected"), GONE, ids=[text[:40] for text, _ in GONE])
def test_what_needs_its_place_in_the_sentence_goes(text: str, expected: str) -> None:
    outcome = DEIDENTIFIER.clean(text)
    assert isinstance(outcome, Clean)
    assert expected in outcome.text


@pytest.mark.parametrize("text", STAYS)
def test_what_only_looks_like_it_stays(text: str) -> None:
    outcome = DEIDENTIFIER.clean(text)
    assert isinstance(outcome, Clean)
    assert outcome.text == text
