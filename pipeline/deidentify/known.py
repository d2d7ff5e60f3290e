"""Known identifiers: what the record's own fields say, looked for in its text; then a last scan.

Names are matched word by word, capitalised or in capitals only, on token boundaries, with one
typing error allowed in words of six letters or more; words of one or two letters are left to the
other rules. Accents do not count, nor whether ö is written oe (Köhler, Kohler, Koehler), nor a
hyphen at a line's end, nor markup or marks between letters (K.ö.h.l.e.r), nor figures that a
scanner reads for letters (0konkwo). A name that is also
a word of reports (White, Long, Case) is taken only where it stands as a name: beside another known
part, after an initial, or capitalised inside a sentence that is not itself in capitals; a disease's
or device's (Wilson, Foley) wherever no noun or letter makes it clinical (Wilson's disease, Kerley
B). Numbers are matched whole, with or without their punctuation.

`LeakScan` holds the cleaned text against the identifiers of everyone in the batch. It fails closed,
so what counts as a hit is chosen to be certain, not merely suspicious:

- a **number** (patient id, accession, phone) of anyone, whole, with four digits or more;
- a **full name** of anyone: two of their name words side by side, in either order, capitalised;
- a **rare family name** of anyone: a capitalised word of four letters or more that is no word of
  reports, no clinical name and not part of an eponym (Parkinson disease).

Somebody's surname White, Long, May or Fields is therefore no hit in "White matter" or "lung
Fields", while "May White" side by side is one if a May White is in the batch.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from rapidfuzz.distance import DamerauLevenshtein

from pipeline.deidentify import locks
from pipeline.deidentify.rules.checks import patterns, word_list
from pipeline.deidentify.rules.window import Word, Words, capital_forms, capital_words, folded_words
from pipeline.deidentify.spans import Found
from pipeline.names import lexicon as lexicons
from pipeline.names.lexicon import Lexicon, unaccented

_FIGURES: Final = re.compile(r"\d[A-Za-z0-9]{0,40}")
_LETTERS: Final = re.compile(r"(?:[A-Za-z]{1,30}|(?<![A-Za-z])[A-Z]{1,6}(?P<gap>[-_.#/ ]))$")
_JOINER: Final = re.compile(r"[-_./ #()\u2010-\u2015]{1,2}")
_MAX_PARTS: Final = 5
_MAX_GAP: Final = 2
_NOT_ALNUM: Final = re.compile(r"[^a-z0-9]")
_NOT_CODE: Final = bytes(code for code in range(128) if not chr(code).isalnum())
_JOIN: Final = re.compile(r"[ \t]{0,3}[,^ \t-]?[ \t]{0,3}(?:[A-Za-z]\.?[ \t]{1,2})?")
_MIN_LETTERS: Final = 3
_MIN_FUZZY_LETTERS: Final = 6
_MIN_DIGITS: Final = 4
_SUFFIXES: Final = word_list("beside_names")
_SPELT_OUT: Final = str.maketrans({"ä": "ae", "ö": "oe", "ø": "oe", "ü": "ue", "å": "aa"})
_SPELT: Final = re.compile("(?<=[aou])e|(?<=a)a")
_BROKEN: Final = re.compile(r"(?<![^\W\d_])([^\W\d_]{1,40})-\r?\n[ \t]{0,8}([^\W\d_]{1,40})")
# Letters with markup, marks or, between single ones, a blank among them.
_APART: Final = re.compile(
    r"[^\W\d_]+(?:(?:(?:</?[A-Za-z][^<>]{0,80}>){1,4}|(?:[^\w\s<>]|_){1,2}"
    r"|(?<=\b\w)[^\w\s<>]? (?=\w\b))[^\W\d_]+)+"
)
_SEEN: Final = {code for code in range(128) if not chr(code).isalpha()}
_AMONG: Final = dict.fromkeys(_SEEN | {0xAD, 0xB7, *range(0x2000, 0x2070), 0xFEFF})
_LETTER: Final = re.compile(r"</?[A-Za-z][^<>]{0,80}>|([^\W\d_])")
_UNSEEN: Final = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]")
"""Characters that are there and have no shape: breaks, joiners, directions."""
_MISREAD: Final = str.maketrans("0158i", "olsbl")
"""What a scanner takes for one another."""


@dataclass(frozen=True, slots=True)
class KnownIdentifiers:
    """The names of people, and the numbers and codes, that a record's structured fields hold."""

    names: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()


@lru_cache(maxsize=1 << 14)
def name_words(name: str) -> tuple[frozenset[str], ...]:
    """Give the spellings, without accents, of each word of a name long enough to be looked for."""
    words = folded_words(unicodedata.normalize("NFC", name).replace("’", "'"))
    return tuple(_spellings(w) for w in words if len(w) >= _MIN_LETTERS and w not in _SUFFIXES)


def _spellings(word: str) -> frozenset[str]:
    plain, spelt = unaccented(word), unaccented(word.translate(_SPELT_OUT))
    every = {plain, spelt, _SPELT.sub("", plain) if len(plain) > _MIN_RARE_LETTERS else plain}
    return frozenset(each.replace("'", mark) for each in every for mark in ("", "’"))


def normalised_number(number: str) -> str:
    """Fold a number or code to its letters and digits; '' if it is too short to look for."""
    folded = _NOT_ALNUM.sub("", number.casefold())
    return folded if sum(c.isdigit() for c in folded) >= _MIN_DIGITS else ""


def find(text: str, words: Words, known: KnownIdentifiers, lexicon: Lexicon) -> Iterator[Found]:
    """Find this record's own identifiers in its text."""
    yield from _numbers(text, known)
    names = {spelt for name in known.names for word in name_words(name) for spelt in word}
    yield from _damaged(text, names)
    hits = _hits(words, names, lexicon)
    for at, word in hits.items():
        if _stands_as_name(text, words, hits, at, lexicon):
            sure = not _is_clinical(text, words, hits, at, lexicon)
            yield Found(word.start, word.end, "NAME", "known-name", sure=sure)


def _damaged(text: str, names: set[str]) -> Iterator[Found]:
    """Find names that a line's end or marks break, or with figures that were read for letters."""
    long = [name for name in names if len(name) >= _MIN_RARE_LETTERS]
    yield from _spelt_apart(text, long)
    for match in _BROKEN.finditer(text) if "-\n" in text or "-\r" in text else ():
        if unaccented(match[1] + match[2]) in names:
            yield Found(*match.span(), "NAME", "known-name")
    read = {name.translate(_MISREAD) for name in long}
    for start, end in _parts(text):
        if text[start:end].casefold().translate(_MISREAD) in read:
            yield Found(start, end, "NAME", "known-name")


def _spelt_apart(text: str, names: Sequence[str]) -> Iterator[Found]:
    """Find names with markup or marks among their letters."""
    plain = unaccented(text)
    bare = (_LETTER.sub(r"\1", plain) if "<" in plain else plain).translate(_AMONG)
    apart = [name for name in names if bare.count(name) > plain.count(name)]
    each = _LETTER.finditer(text if apart else "")
    at = [(letter.start(), c) for letter in each for c in unaccented(letter[1] or "")]
    letters = "".join(c for _, c in at)
    for found in (one for name in apart for one in re.finditer(re.escape(name), letters)):
        start, end = at[found.start()][0], at[found.end() - 1][0] + 1
        is_whole = not (text[start - 1 : start].isalpha() or text[end : end + 1].isalpha())
        if is_whole and _APART.fullmatch(text, start, end):
            yield Found(start, end, "NAME", "known-name")


def _numbers(text: str, known: KnownIdentifiers) -> Iterator[Found]:
    wanted = {number for raw in known.numbers if (number := normalised_number(raw))}
    if not wanted:
        return
    folded_text = text.casefold().encode("ascii", "ignore").translate(None, _NOT_CODE)
    if not any(number.encode() in folded_text for number in wanted):
        return  # not even with everything between its figures left out
    for start, end, folded in _candidates(text):
        if folded in wanted:
            yield Found(start, end, "ID", "known-number")


def _candidates(text: str) -> Iterator[tuple[int, int, str]]:
    """Give runs of letter-digit parts joined by one separator: each part, and up to five joined."""
    parts = _parts(text)
    alone = len(parts) - 1
    for first, (start, end) in enumerate(parts):
        if end - start < _MIN_DIGITS and (first == alone or parts[first + 1][0] - end > _MAX_GAP):
            continue  # most figures: few, and nothing to join
        folded = text[start:end].casefold()
        if len(folded) >= _MIN_DIGITS and any(map(str.isdigit, folded)):
            yield start, end, folded
        for following, stop in parts[first + 1 : first + _MAX_PARTS]:
            if following - end > _MAX_GAP or _JOINER.fullmatch(text, end, following) is None:
                break
            end = stop
            folded += text[following:stop].casefold()
            yield start, end, folded


def _parts(text: str) -> list[tuple[int, int]]:
    """Find figures with the letters around them, and capitals a separator before them."""
    parts: list[tuple[int, int]] = []
    done = 0
    for match in _FIGURES.finditer(text):
        start, end = match.span()
        before = None
        if start and _may_belong(text, start):
            before = _LETTERS.search(text[max(done, start - 31) : start])
        if before and before.group("gap"):
            parts.append((start - len(before.group()), start - 1))
        elif before:
            start -= len(before.group())
        done = end
        parts.append((start, done))
    return parts


def _may_belong(text: str, start: int) -> bool:
    """Tell fast whether letters stand before a figure, or capitals and a separator."""
    before = text[start - 1]
    return before.isalpha() or (before in "-_.#/ " and text[start - 2 : start - 1].isupper())


def _hits(found_words: Words, names: set[str], lexicon: Lexicon) -> dict[int, Word]:
    """Give the capitalised words that are a name, with one typing error allowed in long ones."""
    long = [n for n in names if len(n) >= _MIN_FUZZY_LETTERS and not lexicon.is_word(n)]
    firsts = {name[0] for name in long}
    plain = found_words.plain
    return {
        at: found_words[at]
        for at in itertools.compress(itertools.count(), found_words.capital)
        if plain[at] in names
        or plain[at] in lexicon.own_people
        or (plain[at][:1] in firsts and _is_mistyped(plain[at], long, lexicon))
    }


def _is_mistyped(folded: str, names: list[str], lexicon: Lexicon) -> bool:
    if len(folded) < _MIN_FUZZY_LETTERS or lexicon.is_word(folded):
        return False
    alike = (name for name in names if name[0] == folded[0])
    return any(DamerauLevenshtein.distance(n, folded, score_cutoff=1) <= 1 for n in alike)


def _stands_as_name(
    text: str, words: Words, hits: Mapping[int, Word], at: int, lexicon: Lexicon
) -> bool:
    folded = words.folded[at]
    is_eponym = folded in lexicon.eponyms and folded not in lexicon.ordinary
    if is_eponym or not lexicon.is_word(folded) or _beside_another(text, hits, at):
        return True
    return not text.isupper() and _capital_inside_sentence(text, words, at)


def _is_clinical(text: str, words: Words, hits: dict[int, Word], at: int, lexicon: Lexicon) -> bool:
    """Tell whether a noun, a letter or the half of a stranger (Swan-Ganz) makes a name clinical."""
    end = words.span(at)[1]
    for behind in range(at + 1, min(at + 4, len(words))):
        folded = words.folded[behind]
        if folded in lexicon.eponym_nouns or folded.endswith(("itis", "oma", "osis", "pathy")):
            return not any(map(text[end : words.span(behind)[0]].__contains__, ".;:"))
        is_eponym, is_half = folded in lexicon.eponyms, words.gap(behind) == "-"
        if is_eponym and is_half and behind not in hits:
            return True
        if not is_eponym and not is_half:
            break
    return patterns("guards")["letter"].match(text, end) is not None


def _beside_another(text: str, hits: Mapping[int, Word], at: int) -> bool:
    for other in (at - 1, at + 1, at - 2, at + 2):
        if other in hits and hits[other].folded != hits[at].folded:
            left, right = sorted((other, at))
            if _JOIN.fullmatch(text, hits[left].end, hits[right].start):
                return True
    return False


def _capital_inside_sentence(text: str, words: Words, at: int) -> bool:
    """Tell whether the words on both sides, on the same line, are in small letters."""
    if at == 0 or at + 1 == len(words):
        return False
    before, word, after = words[at - 1], words[at], words[at + 1]
    if before.capital or after.capital or text[before.end : word.start] not in (" ", "  "):
        return False
    return text[word.end : after.start] in (" ", "  ", ", ")


_MIN_RARE_LETTERS: Final = 4
_BESIDE: Final = re.compile(r"[ \t]{0,2}[,^\n-]?[ \t]{0,4}")
"""What may stand between two words of one name; a full stop parts them."""


@dataclass(frozen=True, slots=True)
class LeakScan:
    """Everything that must not stand in any cleaned text of a batch.

    Attributes
    ----------
    numbers
        Normalised numbers and codes.
    pairs
        Two different words of one person's name.
    rare
        Name words that no report uses as words.
    """

    numbers: frozenset[str]
    pairs: frozenset[frozenset[str]]
    rare: frozenset[str]
    lexicon: Lexicon
    words: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        """Collect every word that could make a hit."""
        object.__setattr__(self, "words", self.rare.union(*self.pairs))

    @classmethod
    def from_known(
        cls, known: Iterable[KnownIdentifiers], *, lexicon: Lexicon | None = None
    ) -> LeakScan:
        """Collect the identifiers of a batch."""
        lexicon = lexicon or lexicons.load()
        numbers: set[str] = set()
        names: set[str] = set()
        for record in known:
            numbers.update(map(normalised_number, record.numbers))
            names.update(record.names)
        words = [name_words(name) for name in names]
        both = (pair for each in words for pair in itertools.combinations(each, 2))
        pairs = {frozenset((a, b)) for one, other in both for a in one for b in other if a != b}
        spelt = {spelling for each in words for word in each for spelling in word}
        rare = {s for s in spelt if len(s) >= _MIN_RARE_LETTERS and not lexicon.is_word(s)}
        return cls(frozenset(numbers - {""}), frozenset(pairs), frozenset(rare), lexicon)

    def hits(self, text: str) -> int:
        """Count identifiers left in a cleaned text, as it is written or as it is read."""
        return max(map(self._hits, {text, _as_read(text)}))

    def _hits(self, text: str) -> int:
        found = sum(n in self.numbers for _, _, n in _candidates(text)) if self.numbers else 0
        hit = bool(self.words) and not self.words.isdisjoint(capital_forms(text))
        words = capital_words(text) if hit else []
        suspects = [word for word in words if word.folded in self.rare]
        paired = sum(self._is_pair(text, a, b) for a, b in itertools.pairwise(words))
        return found + paired + (self._unguarded(text, suspects) if suspects else 0)

    def _is_pair(self, text: str, a: Word, b: Word) -> bool:
        if frozenset((a.folded, b.folded)) not in self.pairs:
            return False
        return _BESIDE.fullmatch(text, a.end, b.start) is not None

    def _unguarded(self, text: str, suspects: list[Word]) -> int:
        spans = list(locks.guarded(text, Words.of(text), self.lexicon))
        return sum(not any(a <= w.start and w.end <= b for a, b in spans) for w in suspects)


def _as_read(text: str) -> str:
    r"""Give what the eye reads: ligatures and wide letters plain, nothing that no eye sees.

    Examples
    --------
    >>> _as_read("Gri\ufb03th Ko\u00adwa\u200blska \uff11\uff12")
    'Griffith Kowalska 12'
    """
    return _UNSEEN.sub("", unicodedata.normalize("NFKC", text))
