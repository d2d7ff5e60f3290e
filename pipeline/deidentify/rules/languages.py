"""Places of care named in other languages: Akademiska sjukhuset · Martini Ziekenhuis.

The word for the kind is foreign to reports in English, so it is looked for among the strangers
only; the words beside it that can be a name go with it (Skånes universitetssjukhus Lund).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pipeline.deidentify.rules.found import Found
from pipeline.deidentify.rules.words import Words
from pipeline.names.lexicon import Lexicon

__all__ = ["find"]

_KINDS: Final = tuple(
    stem + ending
    for stem in (
        *("sjukhus", "sykehus", "sygehus", "sykehjem", "sygehjem", "plejehjem", "plejecenter"),
        *("aldreboende", "aldrecenter", "vardcentral", "legesenter", "legekontor", "laegehus"),
        *("sairaala", "terveysasema", "hoivakoti", "helsehus", "universitetshospital"),
        *("ziekenhuis", "verpleeghuis", "verzorgingshuis", "zorgcentrum", "huisartsenpraktijk"),
        *("gasthuis", "medisch", "ziekenhuizen", "krankenhaus", "klinikum", "kliniken", "spital"),
        *("pflegeheim", "seniorenheim", "altenheim", "poliklinik", "hospitalier", "policlinico"),
        *("ospedale", "ospedaliera", "hopital", "polyclinique", "szpital", "nemocnice", "korhaz"),
        *("bolnica", "hastanesi", "spitalul", "ysbyty", "ehpad", "sanatorio", "kozpont"),
    )
    for ending in ("", "et", "ets", "en", "s", "er")
)
_LAST: Final = 4
_ENDS: Final = frozenset(kind[-_LAST:] for kind in _KINDS)
_JOINS: Final = frozenset({" ", "-", "\n", " \n", "\n ", "\n  ", "\n    "})
_PARTICLES: Final = frozenset(
    {"de", "der", "den", "het", "van", "sint", "di", "da", "do", "la", "le", "i", "im", "am", "og"}
)
_NEVER: Final = frozenset(
    {"at", "from", "to", "of", "in", "by", "for", "with", "and", "the", "via", "on", "or", "near"}
)
_MAX: Final = 3


def find(found_words: Words, lexicon: Lexicon) -> Iterator[Found]:
    """Find hospitals and homes by the word for them in another language."""
    for at in found_words.strangers(lexicon.familiar):
        word = found_words.plain[at]
        if word[-_LAST:] in _ENDS and word.endswith(_KINDS):
            first, last = _begin(found_words, at, lexicon), _end(found_words, at, lexicon)
            if last > first or len(word) > len("universitet"):
                start, end = found_words[first].start, found_words[last].end
                yield Found(start, end, "HOSPITAL", "hospital-foreign", sure=False)


def _begin(found_words: Words, at: int, lexicon: Lexicon) -> int:
    """Go back over the capitalised words before the kind."""
    first = at
    while first and at - first < _MAX and found_words.gap(first) in _JOINS:
        if not _belongs(found_words, first - 1, lexicon):
            break
        first -= 1
    return first


def _end(found_words: Words, at: int, lexicon: Lexicon) -> int:
    """Go on over the capitalised words, with particles between, behind the kind."""
    last = ahead = at
    while ahead + 1 < len(found_words) and ahead - at < _MAX + 1:
        ahead += 1
        if found_words.gap(ahead) not in (" ", "-"):
            break
        if found_words.plain[ahead] in _PARTICLES:
            continue
        if not _belongs(found_words, ahead, lexicon):
            break
        last = ahead
    return last


def _belongs(found_words: Words, at: int, lexicon: Lexicon) -> bool:
    word = found_words.plain[at]
    return (
        found_words.capital[at]
        and word not in _NEVER
        and not lexicon.is_report_word(word)
        and not lexicon.opens_sentence(word)
    )
