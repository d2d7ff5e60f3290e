"""Hospitals, clinics, towns, addresses and postcodes.

A word of the kind (Hospital, Clinic, Street, a state) calls the rule; the name is looked for before
or behind it. Towns and hospitals of the word lists need no such word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pipeline.deidentify.grammar import NAME_WORD
from pipeline.deidentify.lexicon import Lexicon, triggers
from pipeline.deidentify.rules.found import Found
from pipeline.deidentify.rules.words import Rule, Word, Words, line_before

__all__ = ["KINDS", "RULES", "find", "listed"]

_WORD: Final = rf"(?:St\.?|ST\.?|Ste\.?|Mt\.?|MT\.|{NAME_WORD}(?:['’][sS])?)"
_JOIN: Final = r"(?:of|the|and|&|for|at|de|del|la|OF|THE|AND)"
_BEFORE_KIND: Final = re.compile(
    rf"(?<![\w^.-]){_WORD}(?:[ \t](?:{_JOIN}[ \t]){{0,2}}{_WORD}){{0,5}}[ \t]$"
)
_MORE_KIND: Final = re.compile(
    r"(?:[ \t](?:(?:and|AND|&)[ \t])?(?:Medical|Health|Care|Healthcare|Hospitals?|Cent(?:er|re)"
    r"|System|Network"
    r"|Partners|Services|Sciences|Group|Campus|Clinic"
    r"|Associates|Consultants|Imaging|Institute|Facility|Home|College|School|Specialists"
    r"|Department|Trust|Foundation|Regional|Memorial|HSC|Skilled|Nursing|Rehab|Rehabilitation|Wellness"
    r"|SKILLED|NURSING|REHAB|REHABILITATION|FACILITY|HOME|SERVICES|WELLNESS"
    r"|MEDICAL|HEALTH|CARE|HOSPITALS?|CENT(?:ER|RE)|SYSTEM|GROUP|CLINIC|ASSOCIATES|IMAGING"
    r"|INSTITUTE|REGIONAL|MEMORIAL|PARTNERS|TRUST)\b){0,4}"
)
_TAIL: Final = re.compile(
    rf"[ \t](?:(?:of|at|in|OF|AT)[ \t](?:the[ \t])?)?(?:{NAME_WORD})"
    rf"(?:[ \t]{NAME_WORD}){{0,2}}(?=[ \t]*(?:[.,;)\n]|$))"
    rf"|[ \t](?:of|OF|at)[ \t](?:the[ \t])?{NAME_WORD}(?:[ \t]{NAME_WORD}){{0,2}}"
    rf"|[ \t]?[-–][ \t]?{NAME_WORD}(?:[ \t]{NAME_WORD})?(?=[ \t]*(?:[.,;)\n]|$))"
)
_FROM: Final = re.compile(
    r"(?:\b(?:transfer(?:red)?(?:[ \t](?:in|here))?[ \t](?:from|to)|admitted[ \t](?:to|at"
    r"|from)|referred[ \t](?:from|by|to)|outside[ \t](?:hospital|facility|institution),?"
    r"|(?:study|exam|ct|films?|images?|radiographs?|imaging|scan|mri|x-?ray|report"
    r"|hospitali[sz]ation|admission|visit|surgery|patient|presented|sent|arrived|here|direct"
    r"|facility)[ \t](?:from|at)"
    r"|(?:performed|obtained|acquired|seen|treated|hospitali[sz]ed|evaluated|done|imaged"
    r"|presented|discharged|followed|scanned|underwent|read|dictated|interpreted"
    r"|cared[ \t]for|stay)[ \t](?:at|from|to|by)"
    r"|osh[ \t]?[(,:-])[ \t]{0,2}(?:the[ \t])?|^[ \t]{0,6}(?:facility|site|location|hospital"
    r"|institution|campus|performed[ \t]at|exam[ \t]location|organization)[ \t]?:[ \t]{0,4})$",
    re.IGNORECASE,
)
_PLACE: Final = re.compile(rf"{_WORD}(?:[ \t](?:{_JOIN}[ \t]){{0,2}}{_WORD}){{0,5}}")
_DEPARTMENT: Final = re.compile(
    rf"^[ \t]{{0,8}}"
    rf"({_WORD}(?:[ \t](?:{_JOIN}[ \t]){{0,2}}{_WORD}){{0,5}})[ \t]{{0,4}}\n[ \t]{{0,8}}"
    rf"(?:Department|Dept\.?|Division|DEPARTMENT|Section|Diagnostic|Radiology|RADIOLOGY)\b",
    re.M,
)
_POST: Final = (
    r"(?:\d{5}(?:-\d{4})?(?!\d)|[A-Z]\d[A-Z][ ]?\d[A-Z]\d|[A-Z]{1,2}\d[A-Z\d]?[ ]\d[A-Z]{2})"
)
_TOWN: Final = re.compile(
    rf"(?<![\w^.-])((?:(?:St|Ft|Mt"
    rf"|Ste)\.?[ \t])?{NAME_WORD}(?:[ \t]{NAME_WORD}){{0,2}}),[ \t]{{0,2}}$"
)
_THEN_POST: Final = re.compile(rf",?[ \t]{{1,2}}{_POST}")
_ENDS_LINE: Final = re.compile(r"[ \t]*(?:$|\n|[.;)]|,[ \t]?(?:USA|U\.S\.A\.|Canada))", re.M)
_MORE_STREET: Final = rf"(?:[ \t]{NAME_WORD}){{0,2}}"
_STREET: Final = re.compile(
    rf"(?<![\w.])\d{{1,5}}[A-Z]?[ \t](?:[NSEW]\.?[ \t]|(?:North|South|East"
    rf"|West)[ \t])?(?:(?:St|ST)\.?[ \t])?(?:{NAME_WORD}(?:['’][sS])?"
    rf"|\d{{1,3}}(?:st|nd|rd|th|ST|ND|RD|TH)){_MORE_STREET}[ \t]$"
)
_SUITE: Final = re.compile(
    r"(?:\.(?=,|[ \t]\w))?"
    r"(?:,?[ \t](?:Suite|Ste|Apt|Apartment|Unit|Floor|Fl|Rm|Room|#)\.?[ \t]?[\w-]{1,6})?",
    re.IGNORECASE,
)
_BOX: Final = re.compile(r"[ \t]\d{1,6}\b")
_ZIP: Final = re.compile(rf"(?:[ \t]code)?[ \t]?[:#]?[ \t]{{0,2}}({_POST})")
_BRITISH: Final = re.compile(r"[A-Z][A-Z]?\d[A-Z\d]? \d(?!TH|ST|ND|RD|MM|CM)[A-Z]{2}(?!\w)")
_BEFORE_POST: Final = re.compile(rf"(?:^|[,;(][ \t]|\b(?:in|from|near|of)[ \t])({NAME_WORD}[ \t])$")
_CANADIAN: Final = re.compile(
    r"[ABCEGHJ-NPRSTVXY]\d[ABCEGHJ-NPRSTV-Z][ ]\d[ABCEGHJ-NPRSTV-Z]\d(?!\w)"
)
_LIVES: Final = re.compile(r"[ \t](?:in|of|from|to|near)[ \t](?:the[ \t])?")
_OUR: Final = re.compile(
    rf"\b(?:our|the|OUR|THE)[ \t]({NAME_WORD}(?:[ \t-]{NAME_WORD}){{0,2}})[ \t]$"
)
_IN_LAND: Final = re.compile(
    rf"\b(?:in|from|near|to|our|the|IN|FROM|NEAR|TO|OUR|THE)[ \t]((?:{NAME_WORD}[ \t]){{1,2}})$"
)
_LANDSCAPE: Final = triggers("words_of_land")
_SAINT: Final = re.compile(rf"\.?[ \t]{NAME_WORD}(?:['’]s)?(?![\w'’]|[ \t]valve)")
_AT: Final = re.compile(r"\b(?:at|from|to|by|in)[ \t](?:the[ \t])?$", re.IGNORECASE)
_ROOM: Final = re.compile(
    r"[ \t]?(?:[:#]|no\.?|number)?[ \t]?([A-Z]?\d{2,5}[A-Z]?(?:-\d{1,3})?|\d[A-Z])(?!\w|\.\d)"
)


def _kind(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    if not word.capital:
        return
    line = line_before(text, word.start, 80)
    end = _more(text, word.end)
    if word.folded == "cancer" and end == word.end:
        return  # a disease, unless a centre or institute follows
    match = _BEFORE_KIND.search(line)
    start = (
        _trimmed(text, word.start - len(match.group()), word.start, lexicon)
        if match
        else word.start
    )
    tail = _TAIL.match(text, end)
    if text[start:end].isupper():
        start = _capitals_start(text, start, word.start, lexicon)
        bare = text[start : word.start].strip().casefold() in ("the", "a", "our", "of the", "")
        weak = word.folded in _WEAK_KINDS and end == word.end
        if (bare and end == word.end) or (
            weak and not _stands_as_place(text, start, word.start, lexicon)
        ):
            return
    if start == word.start and (tail is None or not tail.group().lstrip().lower().startswith("of")):
        return
    if tail:
        end += _tail_length(tail.group(), lexicon)
    yield Found(start, end, "HOSPITAL", "hospital-kind", sure=False)


def _tail_length(tail: str, lexicon: Lexicon) -> int:
    """Measure what of a hospital's tail is a name (of Ashford, not of Ashford Comparison)."""
    length = 0
    for match in re.finditer(r"[^\W\d_][^\s]*", tail):
        word = match.group().strip(".,;:")
        is_join = word.casefold() in ("of", "at", "in", "the")
        if not is_join and (lexicon.is_word(word) or lexicon.is_ordinary(word)):
            break
        length = length if is_join else match.start() + len(word)
    return length


_SENTENCE: Final = re.compile(r"[ \t](?:IN|ON|AT|FOR|WITH|BY|IS|WAS|TO|FROM|AND|PERFORMED|DATED)\b")


def _capitals_start(text: str, start: int, stop: int, lexicon: Lexicon) -> int:
    """Begin a hospital's name in capitals behind the last word that no such name has."""
    begin = start
    for match in re.finditer(r"\S+", text[start:stop]):
        word = match.group().strip(".:,").casefold()
        if word in ("of", "the", "and"):
            continue
        if word in _NOT_IN_PLACES or word.endswith("ed") or lexicon.opens_sentence(word):
            begin = min(stop, start + match.end() + 1)
    return begin


def _stands_as_place(text: str, start: int, stop: int, lexicon: Lexicon) -> bool:
    """Tell whether a kind that is also a word (SURGERY, IMAGING) has a name before it."""
    words = re.findall(r"[^\W\d_]{3,}", text[start:stop])
    return bool(words) and not all(map(lexicon.is_ordinary, words))


def _more(text: str, end: int) -> int:
    match = _MORE_KIND.match(text, end)
    return match.end() if match else end


def _trimmed(text: str, start: int, stop: int, lexicon: Lexicon) -> int:
    """Leave out words before a hospital's name that belong to the sentence or the header."""
    for match in re.finditer(r"\S+", text[start:stop]):
        if not lexicon.opens_sentence(match.group().strip(".:,")):
            return start + match.start()
    return stop


def _preposition(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    following = text[word.end + 1 : word.end + 2]
    if not following.isupper() and text[word.end + 1 : word.end + 5].lower() != "the ":
        return
    start = word.end + (5 if not following.isupper() else 1)
    if _FROM.search(line_before(text, start, 36)):
        yield from _place(text, start, lexicon, "hospital-from")


def _labelled(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    match = re.compile(r"[ \t]?[:(][ \t]{0,4}").match(text, word.end)
    if match and _FROM.search(line_before(text, match.end(), 40)):
        yield from _place(text, match.end(), lexicon, "hospital-label")


def _place(text: str, start: int, lexicon: Lexicon, rule: str) -> Iterator[Found]:
    match = _PLACE.match(text, start)
    if match is None or match.group().split()[0].strip(".").casefold() in lexicon.not_names:
        return
    place = match.group()
    if place.isupper():
        place = _SENTENCE.split(place, maxsplit=1)[0]
    if not _is_shouted_sentence(place, lexicon):
        yield Found(start, start + len(place), "HOSPITAL", rule, sure=False)


def _is_shouted_sentence(place: str, lexicon: Lexicon) -> bool:
    """Tell whether words in capitals are a sentence of a report in capitals, not a place."""
    if not place.isupper():
        return False
    words = re.findall(r"[^\W\d_]{3,}", place)
    return not KINDS.intersection(map(str.casefold, words)) and all(map(lexicon.is_ordinary, words))


def _state(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    short = word.end - word.start <= 3
    if not word.capital or (short and not text[word.start : word.end].isupper()):
        return
    match = _TOWN.search(line_before(text, word.start, 50))
    if match is None:
        return
    post = _THEN_POST.match(text, word.end)
    town = match.group(1).casefold()
    plain = word.folded in _PLAIN_STATES or not short
    named = not lexicon.is_ordinary(town.split()[-1]) and word.folded not in _CREDENTIAL_STATES
    header = _ENDS_LINE.match(text, word.end) and not lexicon.is_report_word(town.split()[-1])
    if (
        post
        or town in lexicon.cities
        or (named and text[word.end : word.end + 1] in _ENDS_TOWN)
        or (header and word.folded != "md" and (plain or _is_header(text, word)))
    ):
        start = _trimmed(text, word.start - len(match.group()), word.start, lexicon)
        if text[start : word.end].isupper():
            start = _capitals_start(text, start, word.start - 1, lexicon)
        end = post.end() if post else word.end
        sure = named and town in lexicon.eponyms
        yield Found(start, end, "LOCATION", "town-state", sure=sure)


def _is_header(text: str, word: Word) -> bool:
    line = line_before(text, word.start, 120)
    folded = line.casefold()
    return any(word in folded for word in ("department", "hospital", "clinic", "center", "centre"))


def _is_scan(text: str, word: Word, before: str, lexicon: Lexicon) -> bool:
    """Tell CT the scan from Ct the court: a sentence in capitals stands before it."""
    words = re.findall(r"[^\W\d_]{3,}", before)
    return text[word.start : word.end] == "CT" and any(map(lexicon.is_ordinary, words))


def _street(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    match = _STREET.search(line_before(text, word.start, 60)) if word.capital else None
    suite = _SUITE.match(text, word.end)
    if match and suite and not _is_scan(text, word, match.group(), lexicon):
        yield Found(word.start - len(match.group()), suite.end(), "LOCATION", "street")


def _box(text: str, word: Word, _: Lexicon) -> Iterator[Found]:
    match = _BOX.match(text, word.end)
    before = re.search(r"P\.?[ ]?O\.?[ ]?$", text[max(0, word.start - 6) : word.start], re.I)
    if match and before:
        yield Found(word.start - len(before.group()), match.end(), "LOCATION", "box")


def _zip(text: str, word: Word, _: Lexicon) -> Iterator[Found]:
    match = _ZIP.match(text, word.end)
    if match:
        yield Found(*match.span(1), "LOCATION", "postcode")


def _office(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    """Find the place in "at our Kettle Creek office" and in "from Kettle Creek"."""
    line = line_before(text, word.start, 40)
    landscape = word.folded in _LANDSCAPE
    match = (_IN_LAND if landscape else _OUR).search(line)
    if match is None or (landscape and not word.capital):
        return
    start = word.start - len(line) + match.start(1)
    end = word.end if landscape else word.start - 1
    place = text[start:end]
    if not _is_shouted_sentence(place, lexicon) and not any(
        map(lexicon.is_report_word, place.split())
    ):
        yield Found(start, end, "LOCATION", "town-office", sure=False)


def _lives(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    match = _LIVES.match(text, word.end)
    if match and not word.capital:
        for found in _place(text, match.end(), lexicon, "town-lives"):
            yield Found(found.start, found.end, "LOCATION", found.rule, sure=False)


def _saint(text: str, word: Word, _: Lexicon) -> Iterator[Found]:
    """Find a hospital named after a saint, behind a word of place (at Saint Luke's)."""
    match = _SAINT.match(text, word.end) if word.capital else None
    if match and _AT.search(line_before(text, word.start, 12)):
        yield Found(word.start, match.end(), "HOSPITAL", "hospital-saint", sure=False)


def _room(text: str, word: Word, _: Lexicon) -> Iterator[Found]:
    match = _ROOM.match(text, word.end)
    if match:
        yield Found(*match.span(1), "LOCATION", "room", sure=False)


def find(text: str) -> Iterator[Found]:
    """Find a hospital's name above its department, and Canadian postcodes."""
    for match in _DEPARTMENT.finditer(text):
        yield Found(*match.span(1), "HOSPITAL", "hospital-header", sure=False)
    for pattern in (_CANADIAN, _BRITISH):
        for match in pattern.finditer(text):
            if not text[match.start() - 1 : match.start()].isalnum():
                town = _BEFORE_POST.search(line_before(text, match.start(), 24))
                start = match.start() - (len(town.group(1)) if town else 0)
                yield Found(start, match.end(), "LOCATION", "postcode", sure=False)


def listed(text: str, found_words: Words, lexicon: Lexicon) -> Iterator[Found]:
    """Find towns and hospitals of the word lists, of one word or two."""
    for at in found_words.among(lexicon.place_starts):
        if not found_words.is_capital(at):
            continue
        word = found_words[at]
        is_last = at + 1 == len(found_words)
        after = None if is_last or not found_words.is_capital(at + 1) else found_words[at + 1]
        joined = after is not None and after.start - word.end <= 2
        pair = f"{word.folded} {after.folded}" if after is not None and joined else ""
        if pair in lexicon.eponyms:
            continue
        for name, end in ((pair, after.end if after else 0), (word.folded, word.end)):
            if name in lexicon.hospitals:
                yield Found(word.start, end, "HOSPITAL", "hospital-listed", sure=False)
            elif name in lexicon.cities:
                yield Found(word.start, end, "LOCATION", "town-listed", sure=" " in name)


KINDS: Final = triggers("kinds_of_hospital")
"""Words that make the capitalised words before them the name of a hospital."""
_WEAK_KINDS: Final = frozenset(
    {"surgery", "imaging", "care", "general", "associates", "radiology", "health", "medical"}
    | {"cancer", "university", "regional", "trust", "nursing", "rehabilitation", "va", "children"}
)
_NOT_IN_PLACES: Final = frozenset(
    {"with", "for", "is", "are", "was", "in", "on", "by", "from", "to", "at", "or", "if", "this"}
    | {"no", "not", "his", "her", "preop", "secondary", "than", "has", "had", "be", "as"}
)
"""Words that end the search for a hospital's name in capitals (TRANSFERRED FROM ... HOSPITAL)."""
_PLAIN_STATES: Final = triggers("states_that_are_no_words")
_CREDENTIAL_STATES: Final = frozenset({"md", "pa", "ct", "ms", "mb", "or", "in"})
"""States that stand behind a name or a comma for something else (Smith, MD; CHEST, PA)."""
_ENDS_TOWN: Final = ("", " ", "\n", ".", ",", ";", ")")
_STATES: Final = triggers("states")
_STREETS: Final = triggers("streets")
_LABELS: Final = frozenset(
    {"facility", "site", "location", "hospital", "institution", "campus", "osh", "organization"}
)

RULES: Final = (
    Rule(KINDS, _kind, capital=True),
    Rule(frozenset({"from", "at", "to"}), _preposition),
    Rule(frozenset({"saint", "st"}), _saint, capital=True),
    Rule(_LABELS, _labelled),
    Rule(frozenset(_STATES), _state, capital=True),
    Rule(_STREETS, _street, capital=True),
    Rule(frozenset({"box"}), _box),
    Rule(frozenset({"zip", "postcode", "postal"}), _zip),
    Rule(triggers("words_of_living"), _lives),
    Rule(_LANDSCAPE, _office, capital=True),
    Rule(frozenset({"office", "site", "campus", "branch"}), _office),
    Rule(frozenset({"room", "rm", "bed", "ward"}), _room),
)  # fmt: skip
