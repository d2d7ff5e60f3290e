"""Property: whatever a model writes, it is one of three outcomes, and findings are in the text."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from extraction.engines.account import Answer
from extraction.engines.completion import CompletionReader
from extraction.finding import FAILURE_REASONS, Extracted, Failed, NothingStated
from extraction.prompt.examples import Line, parse, written
from extraction.report import SectionReader
from extraction.vocabulary import load

VOCABULARY = load()
READER = CompletionReader(VOCABULARY)
SECTIONS = SectionReader(VOCABULARY)
REPORT = "FINDINGS: No effusion. Likely pneumonia.\nIMPRESSION: Likely pneumonia; no effusion."

PIECES = st.sampled_from(
    ["- ", '"', '", "', "No effusion.", "Likely pneumonia.", "pneumonia", "pleural effusion",
     "likely", "absent", "other", "not evaluable", "\n", "\r\n", "###", "none", "“", "\ud800", "\0"]
)  # fmt: skip
COMPLETIONS = st.one_of(
    st.binary(max_size=400).map(lambda raw: raw.decode("utf-8", "replace")),
    st.binary(max_size=400).map(lambda raw: raw.decode("latin-1")),
    st.text(max_size=400),
    st.lists(PIECES | st.text(max_size=5), max_size=60).map("".join),
)
REPORTS = st.one_of(st.just(REPORT), st.text(max_size=200), st.lists(PIECES).map("".join))


def check(answer: Answer, text: str) -> None:
    outcome = answer.outcome
    if isinstance(outcome, Failed):
        assert outcome.reason in FAILURE_REASONS
    elif isinstance(outcome, Extracted):
        assert outcome.findings
        for finding in outcome.findings:
            assert 0 <= finding.start < finding.end <= len(text)
            assert finding.pathology in VOCABULARY.pathologies
            assert finding.phrase is None or finding.phrase in VOCABULARY.phrases
    else:
        assert isinstance(outcome, NothingStated)


@settings(max_examples=400)
@given(completion=COMPLETIONS, text=REPORTS, cut=st.booleans())
def test_any_bytes_as_a_completion_are_an_outcome(completion: str, text: str, cut: bool) -> None:
    sections = SECTIONS.read(text)
    check(READER.read(completion, text=text, sections=sections, cut=cut), text)


@settings(max_examples=200)
@given(
    sentence=st.text(alphabet=st.characters(exclude_characters='"“”„«»'), min_size=1, max_size=80),
    pathology=st.sampled_from(VOCABULARY.pathologies),
    certainty=st.sampled_from(VOCABULARY.phrases),
)
def test_a_written_line_is_read_back(sentence: str, pathology: str, certainty: str) -> None:
    folded = " ".join(sentence.split())
    line = parse(written(Line(sentence, pathology, certainty)))
    assert line == Line(folded, pathology, certainty)


@settings(max_examples=100)
@given(data=st.data())
def test_a_sentence_copied_from_a_section_is_always_grounded(data: st.DataObject) -> None:
    sentence = data.draw(st.sampled_from(["No effusion.", "Likely pneumonia.", "no effusion."]))
    spaced = data.draw(st.sampled_from([" ", "  ", "\t"])).join(sentence.split(" "))
    shown = data.draw(st.sampled_from([spaced, spaced.upper(), spaced.lower()]))
    completion = written(Line(shown, "pneumonia", "likely"))
    answer = READER.read(completion, text=REPORT, sections=SECTIONS.read(REPORT))
    assert isinstance(answer.outcome, Extracted)
    (finding,) = answer.outcome.findings
    assert REPORT[finding.start : finding.end].lower() == sentence.lower()
