"""Whether a report recommends a CT: one sentence a case, the answer beside it."""

from __future__ import annotations

import pytest

from extraction.certainty import recommends_ct


@pytest.mark.parametrize(
    "sentence",
    [
        "Recommend CT of the chest for further evaluation.",
        "Chest CT is recommended.",
        "CT is advised to exclude an underlying mass.",
        "Further evaluation with computed tomography could be obtained.",
        "CT can be obtained if clinically indicated.",
        "CTPA should be considered.",
        "CONSIDER CT CHEST FOR FURTHER CHARACTERISATION.",
        "Nodule, for which follow-up CT in 3 months is suggested.",
        "Low lung volumes. Consider HRCT if there is concern for interstitial disease.",
    ],
)
def test_sentence_recommends_a_ct(sentence: str) -> None:
    assert recommends_ct(f"No pneumothorax. {sentence} Heart size is normal.")


@pytest.mark.parametrize(
    "sentence",
    [
        "Follow-up radiograph in 6 weeks is recommended.",
        "Compared with the chest CT of last month, the nodule is unchanged.",
        "The opacity suggests pneumonia as on prior CT.",
        "No CT is needed.",
        "CT is not indicated.",
        "No further CT follow-up is recommended.",
        "CTR is within normal limits; consider repeat views.",
        "Clinical correlation is recommended.\n\nCT 2 days ago.",
        "",
    ],
)
def test_sentence_does_not_recommend_a_ct(sentence: str) -> None:
    assert not recommends_ct(f"No pneumothorax. {sentence} Heart size is normal.")


def test_megabyte_of_one_sentence_is_read_in_linear_time() -> None:
    assert recommends_ct("CT " + "opacity " * 125_000 + "is recommended")
