"""Unit: what a completion is read as, line by line."""

from __future__ import annotations

import pytest

from extraction.engines.account import Answer
from extraction.engines.completion import MAX_LINES, CompletionReader
from extraction.engines.grounding import DecidingWords, Grounder
from extraction.finding import Extracted, Failed, NothingStated
from extraction.report import Place, SectionReader
from extraction.vocabulary import load

VOCABULARY = load()
READER = CompletionReader(VOCABULARY)
SECTIONS = SectionReader(VOCABULARY)
REPORT = (
    "INDICATION: Rule out tuberculosis.\n"
    "FINDINGS: No pneumothorax. A “rounded” density,  possibly\na granuloma. Small left effusion.\n"
    "IMPRESSION: No pneumothorax. Small left effusion."
)


def read(completion: str, *, text: str = REPORT, cut: bool = False) -> Answer:
    return READER.read(completion, text=text, sections=SECTIONS.read(text), cut=cut)


def rows(answer: Answer, text: str = REPORT) -> list[tuple[str, str, str, str | None]]:
    assert isinstance(answer.outcome, Extracted), answer
    return [
        (f.section, text[f.start : f.end], f.pathology, f.phrase) for f in answer.outcome.findings
    ]


def line(sentence: str, pathology: str, certainty: str) -> str:
    return f'- "{sentence}", "{pathology}", "{certainty}"\n'


PNEUMOTHORAX = line("No pneumothorax.", "pneumothorax", "absent")
EFFUSION = line("Small left effusion.", "pleural effusion", "present")
FINDS_BOTH = [
    ("findings", "No pneumothorax.", "pneumothorax", "absent"),
    ("findings", "Small left effusion.", "pleural effusion", "present"),
]


def test_sentence_written_twice_is_found_in_both_sections() -> None:
    answer = read(PNEUMOTHORAX + EFFUSION + PNEUMOTHORAX + EFFUSION)
    assert [(section, pathology) for section, _, pathology, _ in rows(answer)] == [
        ("findings", "pneumothorax"), ("findings", "pleural effusion"),
        ("impression", "pneumothorax"), ("impression", "pleural effusion"),
    ]  # fmt: skip


def test_sentence_is_found_despite_case_spacing_and_quotation_marks() -> None:
    answer = read(line("a 'rounded' density, possibly a granuloma.", "granuloma", "possibly"))
    assert rows(answer) == [
        ("findings", "A “rounded” density,  possibly\na granuloma.", "granuloma", "possibly")
    ]


def test_quotation_marks_inside_the_sentence_do_not_end_it() -> None:
    answer = read(line('A "rounded" density, possibly a granuloma.', "granuloma", "possibly"))
    assert [pathology for _, _, pathology, _ in rows(answer)] == ["granuloma"]


def test_sentence_with_letters_wrong_is_found_where_it_stands() -> None:
    answer = read(line("Small left efusion.", "pleural effusion", "present"))
    assert rows(answer) == [FINDS_BOTH[1]]


@pytest.mark.parametrize(
    "quoted",
    [
        "Small right effusion.",
        "No left effusion.",
        "Possibly left effusion.",
        "Small left effusion possible.",
        "Small left effusion of 3 cm.",
        "Rule out tuberculosis.",
        "Large bilateral infiltrates.",
        "effusio",
        ".",
        "",
    ],
)
def test_sentence_that_differs_in_what_decides_is_ungrounded(quoted: str) -> None:
    answer = read(line(quoted, "pleural effusion", "present"))
    assert answer.outcome == Failed("ungrounded answer")
    assert answer.rejected == {"ungrounded sentence": 1}


@pytest.mark.parametrize("quoted", ["pneumothorax.", "Pneumothorax", "pneumothoraxx."])
def test_quotation_that_leaves_its_negation_away_is_ungrounded(quoted: str) -> None:
    answer = read(line(quoted, "pneumothorax", "present"))
    assert answer.outcome == Failed("ungrounded answer")


def test_quotation_behind_another_sentence_s_negation_is_grounded() -> None:
    text = "FINDINGS: No pneumothorax. Left effusion."
    assert len(rows(read(line("Left effusion.", "pleural effusion", "present"), text=text))) == 1


def test_ungrounded_line_is_left_out_and_counted_beside_grounded_ones() -> None:
    answer = read(PNEUMOTHORAX + line("Huge mass.", "lung mass", "present") + EFFUSION)
    assert rows(answer) == FINDS_BOTH
    assert answer.rejected == {"ungrounded sentence": 1}


def test_unlisted_pathology_is_left_out_and_counted() -> None:
    answer = read(PNEUMOTHORAX + line("Small left effusion.", "ascites", "present"))
    assert rows(answer) == FINDS_BOTH[:1]
    assert answer.rejected == {"unlisted pathology": 1}


@pytest.mark.parametrize(
    ("certainty", "cue"),
    [
        ("other", "other"),
        ("might be", "might be"),
        ("Dr Quux says so", "(unlisted)"),
        ("", "(unlisted)"),
    ],
)
def test_unlisted_certainty_is_unmapped_and_named_in_words_of_ours(
    certainty: str, cue: str
) -> None:
    answer = read(line("Small left effusion.", "pleural effusion", certainty))
    assert isinstance(answer.outcome, Extracted)
    (finding,) = answer.outcome.findings
    assert (finding.phrase, finding.cue) == (None, cue)


def test_not_evaluable_is_no_finding() -> None:
    answer = read(line("No pneumothorax.", "pneumothorax", "not evaluable"))
    assert answer.outcome == NothingStated(frozenset({"pneumothorax"}))


@pytest.mark.parametrize("none", ["- none", "none", "- None.\n", '- "none"\n###\nReport:\nx'])
def test_none_is_nothing_stated(none: str) -> None:
    assert read(none).outcome == NothingStated()


def test_nothing_at_all_is_a_failure_and_not_nothing_stated() -> None:
    assert read("").outcome == Failed("empty answer")
    assert read(" \n###").outcome == Failed("empty answer")


def test_what_follows_the_mark_is_another_report() -> None:
    answer = read(PNEUMOTHORAX + "###\nReport:\nx\nStatements:\n" + EFFUSION, cut=True)
    assert rows(answer) == FINDS_BOTH[:1]


@pytest.mark.parametrize(
    "ending", ['- "Small', '- "Small left effusion.", "pleural', '- "Small left effusion."', "-"]
)
def test_line_that_stops_in_the_middle_fails_the_answer(ending: str) -> None:
    assert read(PNEUMOTHORAX + ending).outcome == Failed("truncated answer")


def test_answer_stopped_by_a_limit_fails_even_after_a_whole_line() -> None:
    assert read(PNEUMOTHORAX, cut=True).outcome == Failed("truncated answer")


def test_one_line_said_twice_counts_once() -> None:
    answer = read(line("A “rounded” density", "granuloma", "possibly") * 2)
    assert len(rows(answer)) == 1
    assert answer.rejected == {"repeated line": 1}


@pytest.mark.parametrize(
    "loop",
    [
        (PNEUMOTHORAX + EFFUSION) * 10,
        line("A huge mass.", "lung mass", "present") * 10,
        "- none\n" * 10,
        PNEUMOTHORAX * (MAX_LINES * 2),
    ],
    ids=["two lines", "invented", "none", "beyond the limit"],
)
def test_loop_fails_the_answer(loop: str) -> None:
    assert read(loop, cut=True).outcome == Failed("repeated answer")


def test_more_lines_than_any_report_has_is_a_truncated_answer() -> None:
    text = "FINDINGS: " + " ".join(f"Nodule {n} seen." for n in range(MAX_LINES + 5))
    lines = "".join(
        line(f"Nodule {n} seen.", "lung nodule", "present") for n in range(MAX_LINES + 5)
    )
    assert read(lines, text=text).outcome == Failed("truncated answer")


def test_chatter_around_good_lines_does_not_spoil_them() -> None:
    answer = read("Sure! Here they are:\n" + PNEUMOTHORAX + EFFUSION)
    assert rows(answer) == FINDS_BOTH
    assert answer.rejected == {}


def test_section_label_in_front_of_a_quotation_is_not_looked_for() -> None:
    answer = read(line("IMPRESSION: Small left effusion.", "pleural effusion", "present"))
    assert [(f[0], f[1]) for f in rows(answer)] == [("findings", "Small left effusion.")]


def test_letters_that_grow_when_lowered_keep_the_offsets() -> None:
    text = "FINDINGS: İİİ. small Effusion."
    found = Grounder(text, [Place("findings", 0, len(text))], DecidingWords.of(VOCABULARY))
    place = found.find("SMALL EFFUSION.")
    assert place is not None
    assert text[place.start : place.end] == "small Effusion."
