"""One report in, one clean report out: the order of the rules, and the promise about phrases.

    lock certainty phrases → addresses → labelled IDs → dates → names → phones → bare IDs
      → ages → places → listed names → judge: what was needless → second layer, if any → known
      identifiers → judge: what was missed → replace → count phrases again → leak scan

Certainty phrases are locked before anything else looks at the text, every rule respects the lock,
and the phrases are counted again at the end: a report that lost or gained one is withheld.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import compress, starmap
from typing import Final, Literal, NamedTuple, TypeAlias

from extraction.certainty import certainty_spans
from pipeline.deidentify import known as known_pass
from pipeline.deidentify import locks
from pipeline.deidentify import rules as house_rules
from pipeline.deidentify.judge import CAUTION, Hearing, Judge, Opinion, Weights
from pipeline.deidentify.known import KnownIdentifiers, LeakScan
from pipeline.deidentify.rules.joins import JUDGE, join
from pipeline.deidentify.rules.rows import shipped
from pipeline.deidentify.rules.window import Window, Words
from pipeline.deidentify.second_layer import SecondLayer
from pipeline.deidentify.spans import Category, Claims, Clean, Found, Outcome, Quarantined, Removed
from pipeline.deidentify.surrogates import Surrogates
from pipeline.errors import ConfigurationError
from pipeline.names import lexicon as lexicons
from pipeline.names.grammar import as_read
from pipeline.names.lexicon import Lexicon, triggers, unaccented

Replacement: TypeAlias = Callable[[str, Category], str]
_TOKEN: Final[Replacement] = "[{1}]".format

_SPOKEN: Final = frozenset({"NAME", "HOSPITAL", "LOCATION", "ID"})
_INITIALS: Final = 4
"""Fewer letters, not written as a title, may be somebody's initials."""
_PLACES: Final = frozenset({"HOSPITAL", "LOCATION"})
_COUNTRIES: Final = triggers("countries")
_LABELS: Final = triggers("labels_of_numbers") | triggers("labels_of_numbers_abroad")
_SMALL: Final = triggers("small_words")
_WORD: Final = re.compile(r"[^\W_]+")
_REST: Final = re.compile(r"-[ \t]?\r?\n[ \t]{0,8}([^\W\d_]{2,20})(?![\w-])")
"""The second half of a word that a line's end breaks."""
# What stays as it is written: of what was taken by its looks, and of what was taken surely.
_LEFT: Final = triggers("never_alone") | triggers("left_by_looks"), triggers("never_alone")
# The same of days: a word that joins is no part of the day beside it.
_JOINS: Final = _LEFT[True] | {"and", "at", "from", "or"}
_SHARD: Final = 50_000
"""So many characters are before the judge at once: what it makes of them stays in the cache."""
_NOBODY: Final = KnownIdentifiers()


@dataclass(frozen=True, slots=True)
class Options:
    """How identifiers are replaced, and how long a text may be.

    Attributes
    ----------
    replacement
        ``token`` writes ``[NAME]``; ``surrogate`` writes invented values, consistent within a
        patient and a process, dates moved by the `Surrogates` given to `clean`.
    max_characters
        A longer text is withheld, unread.
    caution
        How many needless removals a missed identifier weighs; 0 asks no judge (its training).
    """

    replacement: Literal["token", "surrogate"] = "token"
    max_characters: int = 200_000
    caution: float = CAUTION


class _Report(NamedTuple):
    """One report to clean."""

    text: str
    known: KnownIdentifiers
    surrogates: Surrogates | None


class Deidentifier:
    """Takes identifiers out of report texts by its `rules`; holds no state between reports."""

    def __init__(
        self,
        options: Options | None = None,
        vocabulary: Lexicon | None = None,
        second_layer: SecondLayer | None = None,
        weights: Weights | None = None,
    ) -> None:
        self.options = options or Options()
        self._second_layer = second_layer
        self.lexicon = vocabulary or lexicons.load()
        caution = self.options.caution
        self._judge = Judge(self.lexicon, caution=caution, weights=weights) if caution > 0 else None
        self.rules = house_rules.load(self.lexicon)
        self._stays = house_rules.Rules([shipped("stays")])
        self._refuse_idle_rows()
        self._surrogates = Surrogates(secrets.token_bytes(32))

    def clean(
        self,
        text: str,
        *,
        known: KnownIdentifiers = _NOBODY,
        scan: LeakScan | None = None,
        surrogates: Surrogates | None = None,
    ) -> Outcome:
        """Clean one report.

        Parameters
        ----------
        text
            The report as exported.
        known
            What its record's structured fields say.
        scan
            The leak scan of its batch; without one the record's own fields are scanned for.
        surrogates
            The patient's surrogates; without them surrogate dates stay tokens.
        """
        return self.batch([text], known=[known], scan=scan, surrogates=[surrogates])[0]

    def batch(
        self,
        texts: Sequence[str],
        *,
        known: Sequence[KnownIdentifiers] | None = None,
        scan: LeakScan | None = None,
        surrogates: Sequence[Surrogates | None] | None = None,
        advance: Callable[[int], None] | None = None,
    ) -> list[Outcome]:
        """Clean a batch, scanning each text for the identifiers of everyone in it.

        A clean text depends on the report, its own known identifiers and the site's lists, never
        on the other reports; whether it is withheld depends on the scan too.

        Parameters
        ----------
        texts, known, surrogates
            As for `clean`, one of each for every report.
        scan
            The leak scan; without one everyone in these reports is scanned for.
        advance
            Is told how many reports more are clean.

        Raises
        ------
        ValueError
            If the sequences differ in length.
        """
        known = [_NOBODY] * len(texts) if known is None else known
        scan = scan or LeakScan.from_known(known, lexicon=self.lexicon)
        makers = [None] * len(texts) if surrogates is None else surrogates
        reports = starmap(_Report, zip(texts, known, makers, strict=True))
        outcomes: list[Outcome] = []
        for some in _in_shards(reports):
            outcomes += self._cleaned(some, scan)
            if advance is not None:
                advance(len(some))
        return outcomes

    def _cleaned(self, reports: Sequence[_Report], scan: LeakScan) -> Iterator[Outcome]:
        """Clean the reports of a shard, which the judge weighs at once."""
        short = [len(each.text) <= self.options.max_characters for each in reports]
        read = self._heard([each.text for each in compress(reports, short)])
        missed = iter(self._judge.settle(read) if self._judge and read else [[] for _ in read])
        heard = iter(read)
        for report, is_short in zip(reports, short, strict=True):
            if is_short:
                yield self._finished(report, next(heard), next(missed), scan)
            else:
                yield Quarantined("text-too-long")

    def _finished(
        self, report: _Report, heard: Hearing, missed: Sequence[Found], scan: LeakScan
    ) -> Outcome:
        text, phrases = report.text, heard.phrases
        removed = self._removed(heard, report.known, missed)
        is_bare = self.options.replacement == "token"
        write = _TOKEN if is_bare else (report.surrogates or self._surrogates).replace
        clean = _replaced(text, removed, write)
        kept = locks.kept(text, phrases, heard.claims.locks, removed)
        if removed and locks.words(clean, certainty_spans(clean)) != kept:
            return Quarantined("phrases-changed")
        bare = clean if is_bare else _replaced(text, removed, _TOKEN)
        if scan.hits(bare):  # an invented name may be a patient's
            return Quarantined("leak")
        return Clean(clean, removed, len(kept))

    def opinions(self, texts: Sequence[str]) -> list[list[Opinion]]:
        """Give the judge's view of every word and figure that it may be asked about, by report."""
        if self._judge is None:
            return [[] for _ in texts]
        shards = _in_shards(_Report(text, _NOBODY, None) for text in texts)
        heard = (self._heard([report.text for report in some]) for some in shards)
        return [each for some in heard for each in self._judge.opinions(some)]

    def read(self, text: str) -> Hearing:
        """Give what the rules alone make of a report, as the judge hears it."""
        return self._heard([text])[0]

    def _heard(self, texts: Sequence[str]) -> list[Hearing]:
        """Read some texts, whose words are found at once."""
        shown = list(map(as_read, texts))
        return list(map(self._hear, texts, shown, Words.each(shown)))

    def _hear(self, as_written: str, text: str, words: Words) -> Hearing:
        phrases = certainty_spans(as_written)
        claims = Claims(as_written, locks.firm(as_written, phrases))
        for start, end in locks.guarded(text, words, self.lexicon):
            claims.guard(start, end)
        window = Window(text, words, self.lexicon)
        _take(claims, self.rules.find(window), self.lexicon)
        claims.told = [(each.start, each.end) for each in self._stays.find(window)]
        return Hearing(text, words, claims, phrases)

    def _refuse_idle_rows(self) -> None:
        """Refuse a site's row that takes what nothing may take."""
        for at, row in enumerate(house_rules.of_site(self.lexicon), start=1):
            text, spans = house_rules.marked(row)
            claims = self.read(text).claims
            if not all(starmap(claims.has_taken, spans)):
                raise ConfigurationError(
                    f"{house_rules.RULES}, rule {at} ({row.name}): what its example marks with ⟦⟧ "
                    "stays in the text, all or in part, because words of certainty, clinical "
                    "expressions and words that name nobody are kept. Mark the identifier alone."
                )

    def _removed(
        self, heard: Hearing, known: KnownIdentifiers, missed: Sequence[Found]
    ) -> tuple[Removed, ...]:
        text, claims = heard.text, heard.claims
        if self._second_layer is not None:
            _take(claims, self._second_layer.find(text), self.lexicon)
        claims.give_back(each for each in claims.removed() if _is_idle(claims, each))
        if known != _NOBODY or self.lexicon.own_people:
            for each in known_pass.find(text, heard.words, known, self.lexicon):
                claims.take(each.start, each.end, each.category, each.rule, sure=each.sure)
        _take(claims, missed, self.lexicon)
        last = (each for each in claims.removed() if each.rule == JUDGE)  # known ones stay taken
        claims.give_back(each for each in last if _is_idle(claims, each))
        _mend(claims, self.lexicon)
        join(claims)
        return claims.removed()


def _in_shards(reports: Iterable[_Report]) -> Iterator[list[_Report]]:
    """Give reports in shards of some length, so that memory stays flat."""
    some: list[_Report] = []
    held = 0
    for report in reports:
        some.append(report)
        held += len(report.text)
        if held >= _SHARD:
            yield some
            some, held = [], 0
    if some:
        yield some


def _take(claims: Claims, found: Iterable[Found], lexicon: Lexicon) -> None:
    """Take what was found, in order; words that name nobody only as the rest of a place."""
    rests = []
    for each in found:
        if not _names_nobody(claims.text, each, lexicon):
            claims.take(each.start, each.end, each.category, each.rule, sure=each.sure)
        elif each.category in _PLACES and not claims.text[each.start : each.end].islower():
            rests.append(each)
    for each in rests:
        if claims.is_beside(each.start, each.end):
            claims.take(each.start, each.end, each.category, each.rule, sure=each.sure)


def _mend(claims: Claims, lexicon: Lexicon) -> None:
    """Take what a line's end parts from a name: a listed name with it, or a word of no report."""
    for each in claims.removed():
        rest = _REST.match(claims.text, each.end) if each.category == "NAME" else None
        if rest is not None:
            first = _WORD.findall(claims.text, each.start, each.end)[-1:]
            is_name = unaccented("".join((*first, rest[1]))) in lexicon.all_names
            if is_name or (rest[1].islower() and not lexicon.is_ordinary(rest[1])):
                claims.join(each.start, rest.end(), "NAME", each.rule)


def _is_idle(claims: Claims, each: Removed) -> bool:
    """Tell what is no identifier by its neighbours, or what is left of one and names nobody."""
    rest = each.category in _PLACES and claims.is_beside(each.start, each.end)
    told = any(first <= each.start and each.end <= last for first, last in claims.told)
    left = _JOINS if each.category == "DATE" else _LEFT[True]
    return not rest and (told or claims.text[each.start : each.end] in left)


def _names_nobody(text: str, each: Found, lexicon: Lexicon) -> bool:
    shown = text[each.start : each.end]
    if shown in _LEFT[each.sure] or each.category not in _SPOKEN:
        return shown in _LEFT[each.sure]
    words = _WORD.findall(shown)
    place, plain = each.category in _PLACES, set(map(unaccented, words))
    label = each.category == "ID" and plain <= _LABELS
    maker = (place or not each.sure) and locks.is_maker(text, each.start, each.end)
    if label or maker or locks.is_no_identifier(text, each.start, each.end):
        return True
    named = [word for word in plain if not word.isdigit()]
    if not each.sure and named and all(locks.is_no_name(word, lexicon) for word in named):
        return True
    if not ((plain - _SMALL if place else plain) <= lexicon.nobodys or plain <= _COUNTRIES):
        return False
    return all(len(word) >= _INITIALS or _is_word(word, place=place) for word in words)


def _is_word(word: str, *, place: bool) -> bool:
    """Tell whether a short word is written as none of initials would be."""
    return (place and word.islower()) or (word.istitle() and len(word) > len("Dr"))


def _replaced(text: str, removed: Sequence[Removed], write: Replacement) -> str:
    parts: list[str] = []
    at = 0
    for each in removed:
        parts += (text[at : each.start], write(text[each.start : each.end], each.category))
        at = each.end
    return "".join((*parts, text[at:]))
