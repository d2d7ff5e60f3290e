"""Everything that begins with a figure and needs no word: dates, times, phones, bare identifiers.

A **chunk** is a figure with the letters, figures and hyphens directly before it; each chunk is
tried against the shapes of `figures.toml`, the more particular first. Shapes that a measurement, a
fraction or a score can have too (3/4 vessels, 3-4) need a word of the right kind before them. A
shape that nothing else has (483-22-9981, CT21-0045-1) needs no word; a looser one, figures with
letters or strokes, needs a field: an equals sign, a bar, a bracket, a word that ends as "number"
does in any language (Fall-Nr. 2021-47, X-ray no 4711), or an acronym (AHV 756.1234.5678.97). What a
unit follows, or a word of measuring precedes, is a measurement.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pipeline.deidentify.rules import dates
from pipeline.deidentify.rules.checks import patterns
from pipeline.deidentify.rules.window import Window, back, line_before
from pipeline.deidentify.spans import Found
from pipeline.names.lexicon import triggers

_P: Final = patterns("figures")
_LEVELS: Final = frozenset("CTLSx")
_DIGITS: Final = re.compile(r"\d+")
_GOES_ON: Final = frozenset("0123456789-.abcdef:")
"""What stands behind the first figure of every bare code that begins with one."""
_GOES_ON_APART: Final = frozenset("apAPIVXivx-/(")
"""What stands behind a day or an hour and a blank where they are more than a count."""
_IN_PHONES: Final = frozenset("-./ (")
"""What stands behind the first figures of every telephone that begins with one."""
_BEHIND_DAYS: Final = frozenset("-/")
"""What stands behind no hour."""
_STARS: Final = "***-**-"
_COUNT_FIGURES: Final = 6
_NOUNS: Final = triggers("words_for_number")
_ENDINGS: Final = ("nummer", "numero", "número", "numéro", "-nr", "number", "-no", "-id", "patid")
_MEASURED: Final = triggers("words_of_measuring")
_ACRONYM: Final = range(2, 7)
_FIELD: Final = frozenset("=|[^#:<{")
_AFTER_WORD: Final = " \t.:#=|[^(-<{"
_EDGES: Final = frozenset(_AFTER_WORD)
_REACH: Final = 32
_LONGEST: Final = 64
"""How far before a figure its code can begin."""
_MIN_FIGURES: Final = 3
_MIN_CODE: Final = 5


def find(window: Window) -> Iterator[Found]:
    """Find what the figures of a text say, in order of place."""
    text, done = window.text, 0
    for figure in _P["figures"].finditer(text):
        if figure.lastindex is None or (start := figure.start()) < done:
            continue
        previous = text[start - 1 : start]
        if previous in _LEVELS and _P["level"].match(text, start - 2 if start > 1 else 0):
            continue
        if previous and (previous.isalpha() or previous in "-+("):
            found = _in_chunk(text, start, done)
        elif previous and previous in "/.:,^_\\" and text[start - 2 : start - 1].isalnum():
            long = previous == "/" and figure.end() - start > dates.LONG
            found = _at(text, start, figure.end(), done) if long else None  # 20150327/20140102
        else:
            found = _at(text, start, figure.end(), done)
        if found is not None:
            done = found.end
            yield found


def _in_chunk(text: str, start: int, done: int) -> Found | None:
    """Try a chunk whose figure follows letters, a hyphen, a plus or a bracket."""
    if text[start - 1] in "+(":
        return _phone(text, start - 1) or _at(text, start, start + 1, done)
    if text[start - 2 : start] == "*-":
        match = _P["masked"].match(text, max(0, start - len(_STARS)))
        return Found(*match.span(), "ID", "id-shape") if match else None
    found = _shaped(text, back(_P["before_chunk"], text, start, min(24, start - done)))
    alone = start - 1 == done or not text[start - 2 : start - 1].isalnum()
    if found is None and text[start - 1] == "-" and alone:
        found = _at(text, start, start + 1, done)
    return found or _in_field(text, start, done)


def _at(text: str, start: int, end: int, done: int) -> Found | None:
    if text[end : end + 1] in ("", " ", "\n", ".", ",", ";", ")") and end - start <= len("31"):
        following = text[end + 1 : end + 2]
        if not (following.isdigit() or following in _GOES_ON_APART):
            return None
    stop = _DIGITS.match(text, start).end()  # type: ignore[union-attr]
    long, behind = stop - start, text[stop : stop + 1]
    if behind == "." and _P["decimal"].match(text, start):
        return None
    before = line_before(text, start, 30)
    clock = long < dates.LONG and (long > len("23") or behind not in _BEHIND_DAYS)
    return (
        dates.in_figures(text, start, before, long)
        or (_phone(text, start) if behind in _IN_PHONES else None)
        or (_time(text, start, before) if clock else None)
        or _counted(text, start, before)
        or _in_field(text, start, done)
    )


def _phone(text: str, start: int) -> Found | None:
    match = _P["phone"].match(text, start)
    return Found(start, match.end(), "PHONE", "phone") if match else None


def _time(text: str, start: int, before: str) -> Found | None:
    match, clock = _P["time"].match(text, start), _P["time_at"].match(text, start)
    if match is None and clock and _P["at"].search(before):
        match = clock
    called = _P["call_clock"].match(text, start) if match is None else None
    if called and _P["called"].search(line_before(text, start, 110)):
        match = called
    return Found(start, match.end(), "TIME", "time") if match else None


def _counted(text: str, start: int, before: str) -> Found | None:
    """Find a code that begins with a figure, unless it is a count."""
    found = _shaped(text, start)
    is_count = found is not None and found.end - start == _COUNT_FIGURES
    return None if is_count and _P["counted"].search(before) else found


def _shaped(text: str, start: int) -> Found | None:
    if text[start].isdigit() and text[start + 1 : start + 2] not in _GOES_ON:
        return None
    match = _P["bare"].match(text, start)
    return Found(start, match.end(), "ID", "id-shape") if match else None


def _in_field(text: str, start: int, done: int) -> Found | None:
    """Find a code of a looser shape behind a field, a word for number or an acronym."""
    if _P["one_figure"].match(text, start):
        return None
    begin, farthest = start, max(done, start - _LONGEST)
    while begin > farthest and (text[begin - 1].isalnum() or text[begin - 1] in "-./_"):
        begin -= 1
    line = text[max(done, begin - _REACH) : begin]
    if line[-1:] not in _EDGES:
        return None
    stem = line.rstrip(_AFTER_WORD)
    at = len(stem)
    while at and (stem[at - 1].isalpha() or stem[at - 1] in "/-"):
        at -= 1
    noun = _is_noun(stem[at:], line[len(stem) :])
    code = None if noun is None else _P["groups"].match(text, begin)
    if noun is not None and code is None:
        code = _P["code"].match(text, begin)
        code = code if code and _is_code(code.group(), noun=noun) else None
    return Found(begin, code.end(), "ID", "id-field", sure=False) if code else None


def _is_noun(word: str, gap: str) -> bool | None:
    """Tell whether a word says that a number follows; None where nothing says that a code does."""
    folded = word.casefold()
    noun = folded in _NOUNS or folded.endswith(_ENDINGS)
    acronym = word.isupper() and len(word) in _ACRONYM and "(" not in gap
    announced = noun or acronym or not _FIELD.isdisjoint(gap)
    return noun if announced and folded.rsplit("/", 1)[-1] not in _MEASURED else None


def _is_code(value: str, *, noun: bool) -> bool:
    """Tell a code from a measurement, a level, a year or a score."""
    figures = sum(map(str.isdigit, value))
    if _P["diagnosis"].fullmatch(value):
        return False
    if noun:
        return figures > _MIN_FIGURES or (figures > 1 and len(value) >= _MIN_CODE)
    return figures >= _MIN_FIGURES and _P["ordinary"].match(value) is None
