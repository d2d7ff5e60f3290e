"""What a text says at a glance: words of certainty where findings are stated, and nowhere else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from extraction.certainty import certainty_spans, is_foreign, phrases_in


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
        ("OVERLAND TRAIL CLINIC. Tell Long before ten. ED read (init ED).", 0),
    ],
)
def test_letters_figures_and_months_are_no_words_of_certainty(text: str, letters: int) -> None:
    assert len(certainty_spans(text)) == letters


@pytest.mark.parametrize(
    "text",
    [
        "Kein Nachweis eines Infiltrats, kein Erguss. Kardiomegalie.",
        "Verschattung im rechten Unterfeld, am ehesten Pneumonie. Kein Pleuraerguss.",
        "Pas d'épanchement pleural. Opacité basale droite évocatrice d'une pneumopathie.",
        "No se observa derrame pleural. Infiltrado basal derecho compatible con neumonía.",
        "Geen infiltraat.",
        "Inga infiltrat. Ingen pleuravätska.",
        "Plevral efüzyon izlenmedi. Sağ akciğer alt lobda konsolidasyon.",
    ],
)
def test_a_report_in_another_language_is_known_by_its_short_words(text: str) -> None:
    assert is_foreign(text)


def test_no_annotated_report_is_taken_for_another_language() -> None:
    sets = sorted((Path(__file__).parents[1] / "fixtures" / "extraction").glob("*.jsonl"))
    rows = (json.loads(line) for path in sets for line in path.read_text("utf-8").splitlines())
    texts = [row["text"] for row in rows if isinstance(row.get("text"), str)]
    assert len(texts) > 3_000
    assert [text for text in texts if is_foreign(text)] == []
