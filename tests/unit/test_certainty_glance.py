"""What a text says at a glance: words of certainty where findings are stated, and nowhere else."""

from __future__ import annotations

import pytest

from extraction.certainty import phrases_in


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
