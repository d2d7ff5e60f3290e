"""Which certainty phrases are locked, the proof that all are still there, and what is guarded.

Every phrase is locked, so that no rule can take it, but for a few: a single letter (the V of
``Dr. V. Young``, which elsewhere is *versus*), a No. before a figure, a capitalised word but No
and None behind another capitalised word that asks nothing (``Mount Hope Clinic``, but ``Report?
Likely``), and whatever lies inside an e-mail or web address stay open to rules, for there they may
be part of a name or an address. The letter of an abbreviation (R/V), of a vessel (V. jugularis) or
a small one among capitals (Eliquis v Xarelto) is no initial and is locked, and so is the clinic of
a department (Geriatrics Clinic). An open phrase that no rule took is expected in the result like
any other.

Clinical expressions that look like names, dates or numbers are guarded: only a sure rule may take
them. Makers by their full names (Canon Medical) and what else is no name (`is_no_name`)
are not guarded, because the judge weighs their neighbours by guards; they stay where nothing but
looks took them, and a maker is no hospital for any rule.

The phrases of a result that is not the text itself are searched anew, so that the proof hangs on
nothing that was kept from before; it takes a twenty-fifth of the time of cleaning.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from pipeline.deidentify.rules.checks import KINDS, patterns, word_list
from pipeline.deidentify.rules.window import Words, past
from pipeline.deidentify.spans import Removed
from pipeline.names.grammar import is_small
from pipeline.names.lexicon import Lexicon

Span = tuple[int, int]
_LONGEST: Final = 6
"""How long such a phrase can be."""
_NEAR: Final = 24
"""How far before a phrase the word is looked for that makes it part of a name."""
_INSIDE: Final = frozenset("@.-/_+%=&?#~'")
_ADDRESS: Final = 300
"""How far either side of a word the address it may be part of reaches."""
_P: Final = patterns("guards")
_SIGNS: Final = word_list("signs_of_classes_of_diseases")
_OF_DISEASES: Final = word_list("words_of_classes_of_diseases")
"""One of these is in every class of a disease, and in few reports."""
_JOINING: Final = word_list("joining_words")
_DRUG: Final = 7
"""How long the name of a drug is at least."""
_NOUN_GAPS: Final = frozenset({" ", "\t", " \n", "\t\n"})
_ANSWERS: Final = frozenset({"No", "None"})
_RESULTS: Final = dict.fromkeys(word_list("words_of_results"), "result")
_COUNTED: Final = dict.fromkeys(word_list("words_before_a_count"), "image") | {"x": "times"}
_BEHIND: Final = _RESULTS | _COUNTED
"""The pattern of the number that some words protect."""


def firm(text: str, phrases: Sequence[Span]) -> list[Span]:
    """Give the phrases that no rule may take."""
    return [span for span in phrases if not _may_be_name(text, *span)]


def kept(
    text: str, phrases: Sequence[Span], locked: Sequence[Span], removed: Sequence[Removed]
) -> list[str]:
    """Give the words of the phrases that must stand in the result, in order."""
    sure = set(locked)
    gone = {p for p in {*phrases} - sure for r in removed if r.start <= p[0] and p[1] <= r.end}
    return words(text, [each for each in phrases if each not in gone])


def words(text: str, spans: Sequence[Span]) -> list[str]:
    """Give the words of spans."""
    return [text[start:end] for start, end in spans]


def _may_be_name(text: str, start: int, end: int) -> bool:
    word = text[start:end]
    before, after = text[max(0, start - 1) : start], text[end : end + 1]
    alone = (before + text[end + 1 : end + 2]).isspace()  # with a full stop, at most
    touched = before in _INSIDE or (after in _INSIDE and not alone)
    touched = touched or (word[-1] in _INSIDE and after.isalnum())  # cf.lim@
    if touched and _is_in_address(text, start, end):
        return True
    stroked = before == "/" and text[max(0, start - 2) : start - 1].isalpha()
    apart = (alone or (before + after).isspace()) and word.islower()
    if end - start == 1 and (stroked or _P["v"].match(text, end) or (apart and not is_small(text))):
        return False
    if end - start <= _LONGEST and (_P["signs"].fullmatch(word) or _P["no"].match(text, start)):
        return True
    if not word[0].isupper() or not word.isalpha():
        return word in KINDS and is_small(text)
    near = text[max(0, start - _NEAR) : start]
    last = near.split()[-1] if near.endswith(" ") and near.strip() else ""
    named = last[:1].isupper() and not _P["department"].search(last)
    kind = word.casefold() in KINDS
    if word.isupper():
        return kind
    return named if kind else last.istitle() and last[-1] != "?" and word not in _ANSWERS


def _is_in_address(text: str, start: int, end: int) -> bool:
    """Tell whether a phrase is part of an e-mail or web address (likely.lim@clinic-north.no)."""
    before = text[max(0, start - _ADDRESS) : start]
    after = text[end : end + _ADDRESS]
    head = "" if before[-1:].isspace() else " ".join(before.split()[-1:])
    tail = "" if after[:1].isspace() else " ".join(after.split()[:1])
    token = head + text[start:end] + tail
    stop = len(token) - len(tail)
    found = _P["address"].finditer(token)
    return any(each.start() <= len(head) and stop <= each.end() for each in found)


def is_no_identifier(text: str, start: int, end: int) -> bool:
    """Tell what only looks so by its shape: an age, ?PE, a ratio."""
    return _P["shapes"].fullmatch(text, start, end) is not None


def is_maker(text: str, start: int, end: int) -> bool:
    """Tell whether what looks like a hospital or a name begins a maker's full name."""
    return past(_P["maker"], text, start) >= end


def is_no_name(word: str, lexicon: Lexicon) -> bool:
    """Tell whether a word, folded, joins sentences or is a maker, program, drug or disease."""
    is_listed = word in lexicon.things or word in _JOINING
    if is_listed or len(word) < _DRUG or word in lexicon.all_names:
        return is_listed
    ends = (f"-{word[at:]}" for at in range(1, len(word)))
    return lexicon.is_disease(word) or not lexicon.things.isdisjoint(ends)


def guarded(text: str, words: Words, lexicon: Lexicon) -> Iterator[tuple[int, int]]:
    """Find the spans that rules going by looks alone must leave."""
    yield from _guarded_shapes(text, words)
    capital, folded = words.capital, words.folded
    for at in words.among(lexicon.guarding):
        word, (start, end) = folded[at], words.span(at)
        if capital[at] and word in lexicon.eponyms:
            yield start, past(_P["letter"], text, end)
        elif word in _BEHIND and (not capital[at] or word in _RESULTS):
            number = _P[_BEHIND[word]].match(text, end)
            if number and not text[start - 1 : start].isalnum():
                yield number.start() if word in _RESULTS else start, number.end()
        elif at and capital[at - 1] and not capital[at] and word in lexicon.eponym_nouns:
            near = text[max(0, start - 40) : start] if words.gap(at) in _NOUN_GAPS else ""
            before = _P["before_noun"].search(near)
            if before:
                yield start - len(before.group()), end


def _guarded_shapes(text: str, words: Words) -> Iterator[tuple[int, int]]:
    """Find measures, codes of diseases, eponyms of several words and durations."""
    for match in _P["measures"].finditer(text):
        if not text[match.start() - 1 : match.start()].isalnum():
            yield match.span()
    yield from (match.span() for match in _P["lasting"].finditer(text))
    if "|" in text:
        yield from (match.span() for match in _P["segment"].finditer(text))
    if any(map(text.__contains__, _SIGNS)) or not _OF_DISEASES.isdisjoint(words.folded):
        yield from (match.span() for match in _P["class_of_disease"].finditer(text))
    yield from ((each.start() - 3, each.end()) for each in _P["code_of_disease"].finditer(text))
