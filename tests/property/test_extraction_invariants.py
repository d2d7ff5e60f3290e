"""Property: what must hold for extraction whatever the text."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st

from extraction.certainty import certainty_spans
from extraction.finding import Extracted, Failed, NothingStated
from extraction.resolution import resolve
from extraction.rules.engine import RuleEngine

ENGINE = RuleEngine()
# Lines under a heading of their own belong there, whatever stands before them.
SENTENCES = [
    re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", line)
    for file in sorted((Path(__file__).parent.parent / "clinical" / "sentences").glob("*.txt"))
    if file.stem not in {"form", "silence", "requests"}
    for line in file.read_text(encoding="utf-8").splitlines()
    if line and not line.startswith(("#", "Hx:", "CRITICAL RESULT:", "Diagnostic impression:"))
    if line.endswith(".") and r"\n" not in line
]
sentences = st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=6)
# A capital behind a question mark begins a sentence, and a lone capital is a side ("R clear.").
uncased = st.lists(
    st.sampled_from([each for each in SENTENCES if "?" not in each and each != "R clear."]),
    min_size=1,
    max_size=6,
)
quick = settings(max_examples=60)


def pairs(text: str) -> list[tuple[str, str | None]]:
    (outcome,) = ENGINE.extract([text], modality="XR")
    found = outcome.findings if isinstance(outcome, Extracted) else ()
    return [(finding.pathology, finding.phrase) for finding in found]


@quick
@given(st.text(max_size=300))
def test_any_text_gives_exactly_one_outcome(text: str) -> None:
    outcomes = ENGINE.extract([text], modality="CT")
    assert len(outcomes) == 1
    assert isinstance(outcomes[0], Extracted | NothingStated | Failed)


@quick
@given(sentences)
def test_a_report_states_what_its_sentences_state(chosen: list[str]) -> None:
    apart = [pair for sentence in chosen for pair in pairs(sentence)]
    assert pairs(" ".join(chosen)) == apart
    assert pairs("\r\n".join(chosen)) == apart


@quick
@example(["CT thorax without intravenous contrast: patchy consolidation."])
@given(uncased)
def test_capitals_change_nothing(chosen: list[str]) -> None:
    text = " ".join(chosen)
    assert pairs(text.upper()) == pairs(text)


@quick
@example(["Right apical change highly suggestive of pneumonia (PJP)."], 0)
@example(["Findings thought to be suspicious for tuberculosis."], 14)
@given(sentences, st.integers(0, 40))
def test_every_span_is_verbatim_and_moves_with_the_text(chosen: list[str], shift: int) -> None:
    text = " ".join(chosen)
    plain, moved = ENGINE.extract([text, " " * shift + text], modality="XR")
    first = plain.findings if isinstance(plain, Extracted) else ()
    second = moved.findings if isinstance(moved, Extracted) else ()
    for here, there in zip(first, second, strict=True):
        why = here.explanation
        assert why is not None
        assert (here.start + shift, here.end + shift) == (there.start, there.end)
        assert text[here.start : here.end].strip() == text[here.start : here.end]
        assert here.start <= why.mention_start < why.mention_end <= here.end
        assert here.cue == text[why.cue_start : why.cue_end]
        assert why.scope_start < why.mention_end
        assert why.mention_start < why.scope_end


@quick
@given(sentences)
def test_batches_read_like_single_reports_and_one_bad_text_fails_alone(chosen: list[str]) -> None:
    alone = [ENGINE.extract([text], modality="XR")[0] for text in chosen]
    assert ENGINE.extract([*chosen, "", *chosen], modality="XR") == [
        *alone,
        Failed("empty text"),
        *alone,
    ]


@quick
@example(["? TB ?? old granulomatous disease."])
@given(sentences)
def test_a_headed_report_resolves_to_its_impression(chosen: list[str]) -> None:
    body = " ".join(chosen)
    (outcome,) = ENGINE.extract([f"FINDINGS: Likely pneumonia.\nIMPRESSION: {body}"], modality="XR")
    (alone,) = ENGINE.extract([body], modality="XR")
    rows = resolve(outcome, vocabulary=ENGINE.vocabulary)
    for name, row in resolve(alone, vocabulary=ENGINE.vocabulary).items():
        if name != "pneumonia" or row.outcome == "stated":
            assert (rows[name].phrase, rows[name].outcome) == (row.phrase, row.outcome)


@quick
@given(st.text(max_size=300))
def test_certainty_spans_are_ordered_and_inside_the_text(text: str) -> None:
    spans = certainty_spans(text)
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
