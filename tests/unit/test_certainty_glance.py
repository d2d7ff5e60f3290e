"""What a text says at a glance: words of certainty where findings are stated, and nowhere else."""

from __future__ import annotations

import pytest

from extraction.certainty import certainty_spans, phrases_in


@pytest.mark.parametrize(
    ("text", "phrases"),
    [
        ("FINDINGS: Opacity which may be compatible with pneumonia.", {"may represent"}),
        ("FINDINGS: Opacity compatible with pneumonia.", {"compatible with"}),
        ("HISTORY: Cough, concern for pneumonia.\nFINDINGS: Probable effusion.", {"probably"}),
        ("FINDINGS: No pleural line to suggest pneumothorax.", {"absent"}),
        (
            "FINDINGS: No pneumothorax, suggestive of edema.",
            {"absent", "suggestive of"},
        ),
        ("FINDINGS: Clear lungs. I have reviewed and agree with the above interpretation.", set()),
        ("", set()),
    ],
)
def test_words_count_where_findings_are_stated_undenied(text: str, phrases: set[str]) -> None:
    assert phrases_in(text) - {"present"} == phrases


@pytest.mark.parametrize(
    ("text", "letters"),
    [
        ("Sr. Ma. Inviolata, R.V.M., was told.", 0),
        ("Cook of the m.v. Zeldon Pearl.", 0),
        ("FIRST NAME IVO, THAT IS I V O.", 0),
        ("Seen by Dr.P.V.S.N. Zeldon.", 0),
        ("Seen in a 95 Y male. N. Hall, MD. PTX: N", 0),
        ("Effusion v consolidation.", 1),
        ("Effusion v. consolidation.", 1),
        ("Seen in 91 F s/p fall.", 1),
        ("From VV to V-AV; V-A by noon.", 0),
        ("The scan of 14.v. and that of 3.v", 0),
        ("V effusion (v consolidation).", 2),
        ("Telephone zero five five, same as May 2021.", 0),
    ],
)
def test_letters_figures_and_months_are_no_words_of_certainty(text: str, letters: int) -> None:
    assert len(certainty_spans(text)) == letters
