r"""Texts as the judge sees them: their tokens, what stands between them, and which can be asked.

A **token** is a run of letters and figures, an apostrophe inside it included; a **gap** is what
stands before a token, or behind the last. Both are described by short words (features) that depend
on nothing but themselves and the word lists:

    s:Xxx   the shape         l:given   a list that holds it       w:dictated   the word itself
    e:ski   its ending        g:, \n     a gap as written           k:break      its kind
    u:c5    how English writes it (`usage_features`)
    m:n6    whether it is spelt as a name (`grammar.spelling_features`)

So each distinct string is described once however often it stands in a shard: a `Glossary` numbers
them, and a `Shard` is numbers only.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import count, islice
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pipeline.deidentify.rules.window import Runs
from pipeline.names.grammar import SPELLING, spelling_features
from pipeline.names.lexicon import Lexicon, trigger_lists, triggers, unaccented

__all__ = ["REACH", "USAGE", "Describer", "Glossary", "Shard", "lay_out", "usage"]

Ints: TypeAlias = NDArray[np.int64]

_LISTS: Final = (
    "given_names", "surnames", "frequent_surnames", "rare_names", "unreported", "ordinary",
    "known", "common_words", "report_words", "not_names", "eponyms", "eponym_nouns", "openers",
    "acronyms", "namesakes", "products", "person_words",
    "cities", "towns", "place_starts", "site_starts",
)  # fmt: skip
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_RUNS: Final = re.compile(r"A+|a+|0+")
_LONG: Final = 4
_SIGNS: Final = {
    at: "0" if chr(at).isdigit() else "A" if chr(at).isupper() else "a" for at in range(0x2020)
}
"""What kind of sign each character is that a token can hold."""
_ENDING: Final = 3
_LABEL: Final = 3
_MIN_ENDING: Final = 5
_DAYS, _MONTHS, _HOURS, _MINUTES = 31, 12, 24, 60
_GREAT_AGES: Final = range(90, 115)
_LONGEST: Final = 9
_GREAT_AGE: Final = re.compile(r"(?:9\d|1[01]\d)(?!\d)|ninet|hundred", re.IGNORECASE)
_NOBODYS: Final = triggers("credentials_alone") | triggers("countries") | triggers("titles_only")
"""Words that are no identifier by themselves, with whatever capitals."""
_LABELS: Final = triggers("labels_of_numbers") | triggers("labels_of_numbers_abroad")
"""Words that are none in capitals: what stands behind them may be one."""
_SEX_AGE_OR_ARTICLE: Final = re.compile(r"[MF](?:[1-8]?\d)?|[1-8]?\d[MF]|a")
_DAY_LISTS: Final = (
    "days_of_other_languages", "months_abroad", "months_of_other_languages", "feasts",
)  # fmt: skip
_DAYS_IN_WORDS: Final = frozenset(("noon", "midnight", "midday")).union(
    *(map(unaccented, triggers(name)) for name in _DAY_LISTS)
) - {"ago", "out", "set"}
_BLANKS: Final = re.compile(r"[ \t]{2,}")
_SHOWN: Final = 5
_JOINS: Final = frozenset({" ", "-", ". ", ".", ", ", "/", "", ":", " & "})
USAGE: Final = SPELLING.with_name("usage.npz")
_COLUMNS: Final = ("frequency", "capital", "shouted", "cluster", "titled")
_BRANCH: Final = 32
_SPELT: Final = 3
REACH: Final = 8
"""So many empty slots part two texts: as far as a layer of the network looks (`model`)."""

WORD_TRAITS: Final = np.dtype(
    [("length", "i4"), ("folded", "i4"), ("plain", "?"), ("small", "?"), ("some_small", "?"),
     ("idle", "?"), ("lone", "?"), ("old", "?"), ("letters", "?"), ("year", "?"), ("opens", "?"),
     ("kind", "i1")]
)  # fmt: skip
"""A word's length, the number of its folded form, whether it is a word in small letters that every
report may hold, is in small letters, and has any; whether by itself it can be no identifier,
because it is such a word or a credential (idle) or a year or a number of two figures (lone), and
whether it tells an age over 89, is all letters, is a year, and opens names but is none (*of*);
which of `KINDS` it is."""
KINDS: Final = ("idle", "figures", "small", "Capital", "CAPITALS", "taken")
"""What a token is: none by itself, not all letters, as it is written, or taken by a rule."""
_GAP_FLAGS: Final = ("breaks", "heads", "joins", "stops")
GAP_TRAITS: Final = np.dtype([("length", "i4"), *((flag, "?") for flag in _GAP_FLAGS)])
"""A gap's length, whether it breaks the line, makes a label of the token before it, may stand
inside an identifier, and may end a sentence."""


class Glossary:
    """Numbers distinct strings from 1, and keeps what is true of each; 0 stands for none."""

    def __init__(self, kind: np.dtype[Any], traits: Callable[[str], tuple[int, ...]]) -> None:
        self._numbers: defaultdict[str, int] = defaultdict(count(1).__next__)
        self._describe = traits
        self._traits = np.zeros(1, dtype=kind)
        self.strings: list[str] = [""]

    def __len__(self) -> int:
        """Count the strings, none among them."""
        return len(self.strings)

    def numbers(self, strings: Sequence[str]) -> Ints:
        """Give the number of each string, new ones added."""
        number = self._numbers.__getitem__
        numbers = np.fromiter(map(number, strings), dtype=np.int64, count=len(strings))
        if len(self._numbers) >= len(self):
            self._add()
        return numbers

    def trait(self, name: str) -> NDArray[Any]:
        """Give one trait of all strings by their numbers."""
        values: NDArray[Any] = self._traits[name]
        return values

    def _add(self) -> None:
        first, size = len(self.strings), len(self._numbers) + 1
        self.strings += reversed(list(islice(reversed(self._numbers), size - first)))
        if size > len(self._traits):  # twice as many, so that growing costs no more
            spare = np.zeros(2 * size - first, dtype=self._traits.dtype)
            self._traits = np.concatenate([self._traits, spare])
        self._traits[first:size] = list(map(self._describe, self.strings[first:]))


@dataclass(frozen=True, slots=True)
class Shard:
    """Some texts as one row of slots, `REACH` empty ones before, between and behind them.

    Attributes
    ----------
    words, gaps
        (slots,) numbers of the tokens and of what stands before each; the gap behind a text's last
        token stands in the empty slot behind it.
    text
        (slots,) the number of the text; an empty slot belongs to the text before it.
    starts, ends
        (slots,) places of the tokens in the texts joined, one character between two of them.
    bases
        (texts,) where each text begins there.
    firsts, counts
        (texts,) the first slot and the number of tokens of each text.
    """

    words: Ints
    gaps: Ints
    text: Ints
    starts: Ints
    ends: Ints
    bases: Ints
    firsts: Ints
    counts: Ints

    def overlapping(self, spans: Sequence[tuple[int, int]]) -> tuple[Ints, Ints]:
        """Give the first slot of each span (of the texts joined) and the one behind its last."""
        starts, ends = np.array(spans, dtype=np.int64).reshape(-1, 2).T
        first = np.searchsorted(self.ends, starts, side="right")
        return first, np.searchsorted(self.starts, ends)


def lay_out(texts: Sequence[str], words: Glossary, gaps: Glossary) -> Shard:
    """Take texts to pieces."""
    runs = Runs(texts, figures=True)
    cuts = np.searchsorted(runs.starts, runs.bases)
    counts, numbers = np.diff(cuts), np.arange(len(texts))
    text = np.concatenate([np.zeros(REACH, np.int64), np.repeat(numbers, counts + REACH)])
    firsts = cuts[:-1] + REACH * (numbers + 1)
    full = np.arange(len(runs.starts)) + REACH * (np.repeat(numbers, counts) + 1)
    starts, ends, word_numbers, gap_numbers = np.zeros((4, len(text)), dtype=np.int64)
    starts[REACH:] = ends[REACH:] = runs.bases[text[REACH:] + 1] - 1
    starts[full], ends[full] = runs.starts, runs.ends
    word_numbers[full] = words.numbers(runs.shown.split())
    held = np.concatenate([full, firsts + counts])
    begins, closes = ends[held - 1] + np.diff(text)[held - 1], starts[held]
    is_blank = (closes - begins == 1) & (runs.signs[begins] == ord(" "))  # most are
    places = zip(begins[~is_blank].tolist(), closes[~is_blank].tolist(), strict=True)
    gap_numbers[held[is_blank]] = gaps.numbers([" "])
    gap_numbers[held[~is_blank]] = gaps.numbers([runs.text[start:end] for start, end in places])
    return Shard(word_numbers, gap_numbers, text, starts, ends, runs.bases[:-1], firsts, counts)


class Describer:
    """Describes tokens and gaps by the word lists of a site."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon
        self._lists = [(f"l:{name}", getattr(lexicon, name)) for name in _LISTS]
        self._calling: dict[str, list[str]] = {}
        for name in trigger_lists():
            for word in triggers(name):
                self._calling.setdefault(word, []).append(f"l:t-{name}")
        self._folds: dict[str, int] = {}

    def glossaries(self) -> tuple[Glossary, Glossary]:
        """Give empty glossaries of words and of gaps."""
        self._folds = {}
        return Glossary(WORD_TRAITS, self._word_traits), Glossary(GAP_TRAITS, _gap_traits)

    def _word_traits(self, token: str) -> tuple[int, ...]:
        folded, plain = token.casefold(), self._is_plain(token)
        number = self._folds.setdefault(folded, len(self._folds) + 1)
        idle = (
            (plain and unaccented(token) not in _DAYS_IN_WORDS)
            or folded in _NOBODYS
            or (token.isupper() and len(token) >= _LABEL and folded in _LABELS)
            or _SEX_AGE_OR_ARTICLE.fullmatch(token) is not None
        )
        year = _YEAR.fullmatch(token) is not None
        lone = year or (token.isdigit() and len(token) <= len("31"))
        old = _GREAT_AGE.match(token) is not None
        kinds = idle, lone, old, token.removesuffix("'s").removesuffix("’s").isalpha()
        some_small = any(map(str.islower, token))
        kind = (idle, not kinds[-1], token.islower(), some_small, True).index(True)
        opens = folded in self._lexicon.openers
        return len(token), number, plain, token.islower(), some_small, *kinds, year, opens, kind

    def _is_plain(self, token: str) -> bool:
        """Tell whether a token is a word in small letters that is no name."""
        if not token.isalpha() or not token.islower():
            return False
        plain = unaccented(token)
        return self._lexicon.is_ordinary(plain) or plain in self._lexicon.known

    def tokens(self, tokens: Sequence[str]) -> Iterator[list[str]]:
        """Give the features of each token."""
        plain = list(map(plain_form, tokens))
        return map(self._token, tokens, plain, spelling_features(plain))

    def _token(self, token: str, plain: str, spelling: Iterable[str]) -> list[str]:
        if not token:
            return ["pad"]
        features = [f"s:{shape(token)}"]
        if token.isdigit():
            return [*features, *number_kinds(token)]
        features += [name for name, words in self._lists if plain in words]
        features += self._calling.get(plain, ())
        if token.isalpha() or not any(map(str.isdigit, token)):
            if self._lexicon.is_stranger(plain):
                features.append("l:stranger")
            if self._lexicon.is_ordinary(plain):
                features.append("l:formed")
            if len(plain) >= _MIN_ENDING:
                features.append(f"e:{plain[-_ENDING:]}")
            features += usage_features(plain)
            if len(plain) >= _SPELT:
                features += spelling
        features.append(f"w:{plain}")
        return features

    @staticmethod
    def gap(gap: str) -> Iterator[str]:
        """Give the features of a gap."""
        if not gap:
            yield "k:joined"
            return
        lines = gap.count("\n")
        if lines:
            yield "k:break" if lines == 1 else "k:breaks"
        elif _BLANKS.search(gap):
            yield "k:blanks"
        marks = gap.strip()
        if marks:
            yield f"k:first{marks[0]}"
            yield f"k:last{marks[-1]}"
        elif not lines:
            yield "k:blank"
        yield f"g:{_BLANKS.sub('  ', _without_margins(gap))[:_SHOWN]}"


def _without_margins(gap: str) -> str:
    """Leave out the blanks on both sides of every line break."""
    before, *between = gap.split("\n")
    if not between:
        return gap
    *lines, behind = (each.lstrip(" \t\r") for each in between)
    return "\n".join((*(each.rstrip(" \t\r") for each in (before, *lines)), behind))


def _gap_traits(gap: str) -> tuple[int, ...]:
    return len(gap), "\n" in gap, gap.lstrip(" \t")[:1] in (":", "="), gap in _JOINS, gap == ". "


def plain_form(token: str) -> str:
    """Fold a token as the name lists are written, without a final 's."""
    folded = unaccented(token).replace("’", "'")
    return folded.removesuffix("'s").replace("'", "")


def shape(token: str) -> str:
    """Give a token's letters and figures as a pattern: Xxx, XXXX, 00, A000."""
    if token.isdigit():
        if _YEAR.fullmatch(token):
            return "year"
        return f"0x{min(len(token), 10)}"
    return _shortened(token.translate(_SIGNS))


@lru_cache(maxsize=4096)
def _shortened(signs: str) -> str:
    return _RUNS.sub(lambda run: run.group()[:_LONG], signs)


def number_kinds(figures: str) -> Iterator[str]:
    """Tell what a number may be: a day, a month, a clock with or without minutes, a great age."""
    value = int(figures[:_LONGEST])
    if len(figures) <= len("31"):
        if 1 <= value <= _DAYS:
            yield "n:day"
        if 1 <= value <= _MONTHS:
            yield "n:month"
        if value < _HOURS:
            yield "n:hour"
    elif len(figures) == len("2359") and value < _HOURS * 100 and value % 100 < _MINUTES:
        yield "n:clock"
    if value in _GREAT_AGES:
        yield "n:old"


def usage_features(word: str) -> list[str]:
    """Describe a folded word by how English at large writes it.

    Some 130,000 words have five small numbers, from a million word forms of three thousand
    million words of forum text (`USAGE`, made by ``benchmarks/judge/usage.py``):

        f   how frequent it is, 0 to 4
        c   how often it has a capital to how often none, 0 (below .03) to 7 (above 40)
        u   how often it is all capitals to how often not, 0 (below .1) to 3 (above 2)
        b   the end of the path to its Brown cluster, 8 bits (Brown et al. 1992), 0 for none
        t   the same of the word with a capital

    A surname that is a word (Price) is in one cluster without a capital and in another with one.
    """
    numbers = usage().get(word)
    if numbers is None:
        return ["u:none"]
    frequency, capital, shouted, *paths = numbers
    features = [f"u:f{frequency}", f"u:c{capital}", f"u:u{shouted}"]
    for name, path in zip("bt", paths, strict=True):
        if path:
            features += f"u:{name}{path % _BRANCH}", f"u:{name}8-{path}"
    return features


@cache
def usage() -> Mapping[str, tuple[int, ...]]:
    """Give the numbers of each word that English uses, as `usage_features` has them."""
    with np.load(USAGE, allow_pickle=False) as read:
        words = read["words"].tobytes().decode().split("\n")
        columns = [read[name].tolist() for name in _COLUMNS]
    return dict(zip(words, zip(*columns, strict=True), strict=True))
