"""Clinical: the figures on the labelled reports must not fall; the thresholds are the project's.

On real reports, where they are at hand, only what can be counted is held: every report is read or
fails with a reason, and the hard sentences that were collected from them are read right.
"""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path

import numpy as np
import pytest

from benchmarks.extraction_public import audited, labelled
from extraction.audit.gold import load_gold
from extraction.audit.scores import audit
from extraction.finding import Extracted, Failed
from extraction.rules.engine import RuleEngine

ENGINE = RuleEngine()
FIXTURES = Path(__file__).parent.parent / "fixtures" / "extraction"
SHARED = Path(os.environ.get("RADCAL_SHARED_DATA", Path(__file__).parents[3] / "shared" / "data"))
needs_reports = pytest.mark.skipif(not SHARED.is_dir(), reason="no real reports at hand")


@pytest.mark.parametrize(
    ("name", "number", "f1", "hedged", "cells"),
    [
        ("gold_xr.jsonl", 150, 0.99, 0.98, 0.998),
        ("gold_ct.jsonl", 150, 0.99, 0.98, 0.998),
        ("authors_a.jsonl", 100, 0.98, 0.96, 0.995),
        ("authors_b.jsonl", 100, 0.98, 0.96, 0.995),
        ("authors_c.jsonl", 61, 0.98, 0.96, 0.995),
        ("authors_d.jsonl", 120, 0.99, 0.99, 0.998),
        ("authors_e.jsonl", 120, 0.99, 0.99, 0.998),
        ("authors_f.jsonl", 100, 0.99, 0.98, 0.998),
        ("authors_g.jsonl", 120, 0.97, 0.945, 0.99),
        ("authors_h.jsonl", 120, 0.985, 0.97, 0.995),
        ("authors_i.jsonl", 120, 0.985, 0.985, 0.995),
        ("authors_j.jsonl", 120, 0.975, 0.96, 0.99),
        ("authors_k.jsonl", 60, 0.975, 0.93, 0.99),
        ("authors_l.jsonl", 100, 0.985, 0.97, 0.995),
        ("authors_m.jsonl", 100, 0.985, 0.985, 0.995),
        ("authors_n.jsonl", 100, 0.99, 0.985, 0.997),
        ("authors_o.jsonl", 100, 0.99, 0.97, 0.997),
        ("authors_p.jsonl", 100, 0.977, 0.92, 0.993),
        ("authors_q.jsonl", 100, 0.985, 0.97, 0.995),
        ("authors_r.jsonl", 100, 0.985, 0.98, 0.996),
        ("authors_s.jsonl", 100, 0.99, 0.975, 0.997),
        ("authors_t.jsonl", 100, 0.99, 0.965, 0.997),
        ("authors_u.jsonl", 100, 0.99, 0.98, 0.997),
        ("authors_v.jsonl", 100, 0.985, 0.96, 0.996),
        ("authors_w.jsonl", 100, 0.985, 0.94, 0.997),
        ("authors_y.jsonl", 110, 0.985, 0.97, 0.996),
        ("authors_z.jsonl", 90, 0.87, 0.7, 0.972),
        ("authors_aa.jsonl", 60, 0.985, 0.95, 0.995),
        ("authors_bb.jsonl", 25, 0.975, 0.87, 0.99),
        ("authors_cc.jsonl", 60, 0.975, 0.93, 0.99),
        ("authors_dd.jsonl", 40, 0.955, 0.9, 0.985),
        ("authors_ee.jsonl", 50, 0.985, 0.96, 0.995),
        ("authors_ef.jsonl", 50, 0.975, 0.94, 0.99),
        ("authors_eg.jsonl", 50, 0.945, 0.88, 0.98),
        ("authors_eh.jsonl", 50, 0.98, 0.94, 0.99),
        ("authors_ei.jsonl", 50, 0.98, 0.965, 0.99),
        ("authors_ej.jsonl", 50, 0.98, 0.965, 0.99),
        ("authors_ek.jsonl", 50, 0.985, 0.97, 0.995),
        ("authors_el.jsonl", 50, 0.97, 0.93, 0.988),
        ("authors_em.jsonl", 50, 0.98, 0.98, 0.993),
        ("authors_en.jsonl", 50, 0.935, 0.78, 0.975),
        ("authors_eo.jsonl", 50, 0.86, 0.62, 0.95),
        ("authors_ep.jsonl", 50, 0.865, 0.58, 0.95),
        ("authors_er.jsonl", 50, 0.945, 0.85, 0.97),
    ],
)
def test_figures_on_the_labelled_reports_hold(
    name: str, number: int, f1: float, hedged: float, cells: float
) -> None:
    """Each was scored before anything was learned from it; G, J, P, Y, DD, EH only that once."""
    reports = load_gold(FIXTURES / name, vocabulary=ENGINE.vocabulary)
    assert len(reports) == number
    outcomes = [ENGINE.extract([r.text], modality=r.modality)[0] for r in reports]
    rng = np.random.default_rng(0)
    result = audit(reports, outcomes, vocabulary=ENGINE.vocabulary, bootstrap=10, rng=rng)
    assert result.failed == 0
    assert result.f1.value >= f1
    assert result.hedged_exact.value >= hedged
    assert result.cells_micro.value >= cells


@needs_reports
@pytest.mark.parametrize(
    ("name", "number", "labels", "f1", "hedged"),
    [
        ("R1", 110, 370, 0.985, 0.937),
        ("R2", 109, 339, 0.99, 0.952),
        ("R3", 219, 1083, 0.974, 0.925),
        ("R4", 160, 723, 0.993, 0.944),
    ],
)
def test_figures_on_the_labelled_public_reports_hold(
    name: str, number: int, labels: int, f1: float, hedged: float
) -> None:
    """Labelled by annotators who did not run the rules, and scored before a line was read."""
    reports = labelled(SHARED)[name]
    assert len(reports) == number
    assert sum(len(report.findings) for report in reports) == labels
    result = audited(reports, bootstrap=10)
    assert result.failed == 0
    assert result.f1.value >= f1
    assert result.hedged_exact.value >= hedged


@needs_reports
def test_every_real_report_is_read_or_fails_with_a_reason() -> None:
    with (SHARED / "ct" / "ctrate_labelled.csv").open(encoding="utf-8", newline="") as file:
        texts = [row["report_text"] for row in csv.DictReader(file)][:200]
    outcomes = ENGINE.extract(texts, modality="CT")
    assert sum(isinstance(outcome, Extracted) for outcome in outcomes) == len(texts)
    assert not any(isinstance(outcome, Failed) for outcome in outcomes)


@needs_reports
def test_hard_real_sentences_state_what_a_person_reads_in_them() -> None:
    """Pairs are translated to our terms; what our vocabulary does not name is left out."""
    lines = (SHARED / "hard_sentences.jsonl").read_text(encoding="utf-8").splitlines()
    right = 0
    for line in lines:
        case = json.loads(line)
        wanted = {pair for pair in map(_ours, case["expected_pairs"]) if pair[0] and pair[1]}
        silent = {
            _TERMS.get(term, "") for term, phrase in case["expected_pairs"] if not _PHRASES[phrase]
        }
        (outcome,) = ENGINE.extract([case["sentence"]], modality="XR")
        found = outcome.findings if isinstance(outcome, Extracted) else ()
        got = {(finding.pathology, finding.phrase) for finding in found}
        right += wanted <= got and not silent & {name for name, _ in got}
    assert len(lines) == 18
    assert right >= 17


_TERMS = {
    "lung opacity": "lung opacity", "infiltrate": "lung opacity", "infection": "pneumonia",
    "viral pneumonia": "pneumonia", "mass": "lung mass", "COPD": "emphysema",
    "pleural effusion": "pleural effusion", "atelectasis": "atelectasis", "pneumonia": "pneumonia",
    "consolidation": "consolidation", "pneumothorax": "pneumothorax", "scarring": "scarring",
    "pulmonary edema": "pulmonary edema",
}  # fmt: skip
_PHRASES = {
    "present": "present", "absent": "absent", "may represent": "may represent",
    "may": "may represent",
    "question": "question of", "in the differential": "versus", "no definite": "absent",
    "differential diagnosis includes": "versus", "correlate clinically for": "",
    "to exclude (recommendation)": "", "probably": "probably", "possible": "possibly",
    "difficult to exclude": "cannot exclude", "less likely": "unlikely", "likely": "likely",
    "cannot be excluded": "cannot exclude", "could not be excluded": "cannot exclude",
}  # fmt: skip


def _ours(pair: list[str]) -> tuple[str, str]:
    return _TERMS.get(pair[0], ""), _PHRASES[pair[1]]
