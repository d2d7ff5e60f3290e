"""What must hold for every text: phrases survive, spans are sound, what is known is gone."""

from __future__ import annotations

import re
import string

from hypothesis import given, settings
from hypothesis import strategies as st

from extraction.certainty import certainty_spans
from pipeline.deidentify import Clean, Deidentifier, KnownIdentifiers
from pipeline.deidentify.judge.tokens import Describer, lay_out
from pipeline.deidentify.known import LeakScan
from pipeline.deidentify.rules.window import Word, Words
from pipeline.formats.exams import SetAside
from pipeline.formats.hl7v2.exams import Hl7Options, exams
from pipeline.formats.hl7v2.framing import unescaped
from pipeline.names.grammar import LOWER, UPPER

CLEANER = Deidentifier()
PIECES = st.sampled_from(
    [
        "May represent ", "likely ", "cannot exclude ", "no evidence of ", "Dr. ", "May ",
        "White ", "Hope ", "3/4 ", "March ", "3, ", "2021 ", "MRN: ", "A12345 ", "94-year-old ",
        "\n", ". ", "MD ", "(440) 555-0101 ", "x3 ", "T7-T8 ", "Kerley B ", "signed by ",
        "of 3 ", "IMPRESSION:\n1. ", "edema ", "1.2 x 0.9 cm ", "Kowalski ", "at 3 PM ",
        "Mercy Hospital ", "Parma, OH ", "^", "@", "é", "İ", "\u0000", "’s ",
    ]
)  # fmt: skip
TEXTS = st.one_of(st.lists(PIECES, max_size=25).map("".join), st.text(max_size=300))
KNOWN = KnownIdentifiers(names=("WHITE^MAY", "KOWALSKI^HOPE", "Likely, Will"), numbers=("A12345",))


@settings(max_examples=300)
@given(TEXTS)
def test_every_certainty_phrase_outlives_cleaning(text: str) -> None:
    outcome = CLEANER.clean(text, known=KNOWN)
    if isinstance(outcome, Clean):
        after = [outcome.text[a:b] for a, b in certainty_spans(outcome.text)]
        before = [text[a:b] for a, b in certainty_spans(text)]
        assert [phrase for phrase in after if len(phrase) > 2] == [
            phrase
            for (a, b), phrase in zip(certainty_spans(text), before, strict=True)
            if len(phrase) > 2 and not any(r.start <= a and b <= r.end for r in outcome.removed)
        ]
        assert outcome.phrases_locked <= len(before)


@settings(max_examples=300)
@given(TEXTS)
def test_spans_are_in_order_apart_and_inside(text: str) -> None:
    outcome = CLEANER.clean(text, known=KNOWN)
    if isinstance(outcome, Clean):
        at = 0
        for removed in outcome.removed:
            assert at <= removed.start < removed.end <= len(text)
            at = removed.end
        kept = sum(r.end - r.start for r in outcome.removed)
        tokens = sum(len(r.category) + 2 for r in outcome.removed)
        assert len(outcome.text) == len(text) - kept + tokens


@settings(max_examples=400)
@given(TEXTS)
def test_words_by_column_are_those_read_one_by_one(text: str) -> None:
    pattern = re.compile(rf"[{UPPER}{LOWER}]+(?:['’][{UPPER}{LOWER}]+)*")
    expected = []
    for match in pattern.finditer(text):
        folded = match.group().casefold()
        if len(folded) > 2 and folded[-2:] in ("'s", "’s"):
            folded = folded[:-2]
        expected.append(Word(*match.span(), folded, match.group()[0].isupper()))
    words = Words.of(text)
    assert list(words) == expected
    wanted = {word.folded for word in expected[::2]}
    assert [words[at] for at in words.among(wanted)] == [w for w in expected if w.folded in wanted]
    before = [0, *(word.end for word in expected)]
    assert [words.gap(at) for at in range(1, len(words))] == [
        text[before[at] : expected[at].start] for at in range(1, len(words))
    ]


@settings(max_examples=400)
@given(st.lists(TEXTS | st.text("aB’'01é-\n", max_size=12), max_size=4))
def test_tokens_of_a_shard_are_those_read_one_by_one(texts: list[str]) -> None:
    pattern = re.compile(rf"([{UPPER}{LOWER}0-9]+(?:['’][{UPPER}{LOWER}]+)*)")
    words, gaps = Describer(CLEANER.lexicon).glossaries()
    shard = lay_out(texts, words, gaps)
    for text, base, first, count in zip(
        texts, shard.bases, shard.firsts, shard.counts, strict=True
    ):
        pieces, here = pattern.split(text), slice(first, first + count)
        assert [words.strings[at] for at in shard.words[here]] == pieces[1::2]
        assert [gaps.strings[at] for at in shard.gaps[first : first + count + 1]] == pieces[::2]
        spans = [match.span() for match in pattern.finditer(text)]
        assert [*zip(shard.starts[here] - base, shard.ends[here] - base, strict=True)] == spans


@settings(max_examples=200)
@given(TEXTS)
def test_a_clean_text_has_no_known_number_or_full_name(text: str) -> None:
    outcome = CLEANER.clean(text, known=KNOWN)
    if isinstance(outcome, Clean):
        assert LeakScan.from_known([KNOWN]).hits(outcome.text) == 0


@settings(max_examples=200)
@given(st.binary(max_size=400))
def test_any_bytes_are_exams_or_set_aside(raw: bytes) -> None:
    for prefix in (b"", b"MSH|^~\\&|A|B|||2026||ORU^R01|1|P|2.4\rOBR|1||A1\rOBX|1|TX|1||"):
        found = exams(prefix + raw, Hl7Options())
        assert found
        assert all(isinstance(each, SetAside) or each["text"].strip() for each in found)


@settings(max_examples=200)
@given(st.text(alphabet=string.printable, max_size=100))
def test_a_text_without_backslashes_is_its_own_decoding(text: str) -> None:
    plain = text.replace("\\", "")
    assert unescaped(plain) == plain
