"""One report in, one clean report out: the order of the rules, and the promise about phrases.

    lock certainty phrases → addresses → labelled IDs → dates → names → phones → bare IDs
      → ages → places → listed names → judge: what was needless → second layer, if any → known
      identifiers → judge: what was missed → replace → count phrases again → leak scan

Certainty phrases are locked before anything else looks at the text, every rule respects the lock,
and the phrases are counted again at the end: a report that lost or gained one is withheld.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from extraction import certainty_spans
from pipeline.deidentify import known as known_pass
from pipeline.deidentify import locks
from pipeline.deidentify.judge import CAUTION, Judge, Opinion, Weights
from pipeline.deidentify.known import KnownIdentifiers
from pipeline.deidentify.leaks import LeakScan
from pipeline.deidentify.result import Category, Clean, Outcome, Quarantined, Removed
from pipeline.deidentify.rules import (
    Found,
    Index,
    Words,
    abroad,
    acronyms,
    addresses,
    ages,
    beside,
    cues,
    dates,
    digits,
    families,
    fields,
    guards,
    hospitals,
    initials,
    institutions,
    labels,
    languages,
    listed,
    neighbours,
    particles,
    postal,
    roles,
    shapes,
    sites,
    slots,
    spoken,
    strangers,
    streets,
    titles,
    towns,
    typists,
    uncued,
)
from pipeline.deidentify.second_layer import SecondLayer
from pipeline.deidentify.spans import Claims
from pipeline.deidentify.surrogates import Surrogates
from pipeline.names import lexicon as lexicons
from pipeline.names.grammar import as_capitals
from pipeline.names.lexicon import Lexicon, triggers

__all__ = ["Deidentifier", "Options"]

Replacement: TypeAlias = Callable[[str, Category], str]
Span: TypeAlias = tuple[int, int]

_RULES: Final = (
    *labels.ID_RULES, *dates.RULES, *spoken.RULES, *slots.RULES, *fields.RULES, *particles.RULES,
    *cues.LABEL_RULES, *titles.RULES, *cues.RULES, *shapes.RULES, *initials.RULES,
    *roles.RULES, *typists.RULES,
    *labels.PHONE_RULES, *ages.RULES, *abroad.RULES, *hospitals.RULES,
    *institutions.RULES, *sites.RULES, *streets.RULES, *towns.RULES,
)  # fmt: skip
_FIRST: Final = frozenset({"telephone", "street-abroad"})
"""Rules whose figures would be taken for something else (ap. 302, #07-11)."""
_SPOKEN: Final = frozenset({"NAME", "HOSPITAL"})
_NEVER_ALONE: Final = triggers("never_alone")
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
        How many needless removals a missed identifier weighs; 0 leaves the rules to themselves.
    """

    replacement: Literal["token", "surrogate"] = "token"
    max_characters: int = 200_000
    caution: float = CAUTION


class Deidentifier:
    """Takes identifiers out of report texts; holds no state between reports."""

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
        self._judge = _judge(self.lexicon, self.options.caution, weights)
        self._index = Index(_RULES)
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
        if len(text) > self.options.max_characters:
            return Quarantined("text-too-long")
        phrases = certainty_spans(text)
        locked = locks.firm(text, phrases)
        removed = self._removed(text, phrases, locked, known)
        clean = _replaced(text, removed, self._replacement(surrogates))
        kept = locks.kept(text, phrases, locked, removed)
        tokens = self.options.replacement == "token"
        if locks.standing(text, clean, phrases, removed, tokens=tokens) != kept:
            return Quarantined("phrases-changed")
        if (scan or LeakScan.from_known([known], lexicon=self.lexicon)).hits(clean):
            return Quarantined("leak")
        return Clean(clean, removed, len(kept))

    def batch(self, texts: Sequence[str], *, known: Sequence[KnownIdentifiers]) -> list[Outcome]:
        """Clean a batch, scanning each text for the identifiers of everyone in it.

        Raises
        ------
        ValueError
            If the two sequences differ in length.
        """
        scan = LeakScan.from_known(known, lexicon=self.lexicon)
        pairs = zip(texts, known, strict=True)
        return [self.clean(text, known=each, scan=scan) for text, each in pairs]

    def _replacement(self, surrogates: Surrogates | None) -> Replacement:
        if self.options.replacement == "token":
            return _token
        return (surrogates or self._surrogates).replace

    def claims(self, text: str) -> Claims:
        """Give what the rules alone make of a report: locks, guards and identifiers."""
        return self._ruled(text, locks.firm(text, certainty_spans(text)))

    def opinions(self, text: str) -> list[Opinion]:
        """Give the judge's view of every word and figure that it is asked about."""
        if self._judge is None:
            return []
        phrases = certainty_spans(text)
        claims = self._ruled(text, locks.firm(text, phrases))
        return self._judge.opinions(as_capitals(text), claims, phrases)

    def _ruled(self, text: str, firm: Sequence[Span]) -> Claims:
        claims = Claims(text, firm)
        text = as_capitals(text)
        every = Words(text)
        for start, end in guards.find(text, every, self.lexicon):
            claims.guard(start, end)
        _take(claims, self._found(text, every, claims))
        return claims

    def _removed(
        self, text: str, phrases: Sequence[Span], firm: Sequence[Span], known: KnownIdentifiers
    ) -> tuple[Removed, ...]:
        claims = self._ruled(text, firm)
        text = as_capitals(text)
        missed = self._judge.settle(text, claims, phrases) if self._judge else []
        if self._second_layer is not None:
            _take(claims, self._second_layer.find(text))
        if known:
            for each in known_pass.find(text, Words(text), known, self.lexicon):
                claims.take(each.start, each.end, each.category, each.rule, sure=each.sure)
        _take(claims, missed)
        return claims.removed()

    def _found(self, text: str, every: Words, claims: Claims) -> Iterator[Found]:
        lexicon = self.lexicon
        triggered = self._index.find(text, every, lexicon)
        yield from addresses.find(text)
        yield from (found for found in triggered if found.rule in _FIRST)
        yield from (found for found in triggered if found.category in ("ID", "DATE", "TIME"))
        yield from postal.find(text, lexicon)
        yield from languages.find(every, lexicon)
        yield from ages.find(text)
        yield from digits.find(text)
        yield from spoken.find(text)
        yield from fields.find(text, lexicon)
        yield from (found for found in triggered if found.category == "NAME")
        yield from shapes.find(text, lexicon)
        yield from initials.find(text, lexicon)
        yield from roles.find(text, lexicon)
        yield from typists.find(text)
        yield from (found for found in triggered if found.category in ("PHONE", "AGE"))
        yield from hospitals.find(text)
        yield from streets.find(text, lexicon)
        yield from towns.find(text)
        yield from (found for found in triggered if found.category in ("HOSPITAL", "LOCATION"))
        yield from sites.find(text, every, lexicon)
        yield from towns.listed(text, every, lexicon)
        yield from acronyms.find(text, every, lexicon)
        yield from listed.find(text, every, lexicon, claims.is_taken)
        yield from uncued.find(text, every, lexicon, claims.is_taken)
        yield from strangers.find(text, every, lexicon, claims.is_taken)
        yield from neighbours.find(text, every, lexicon, claims.is_taken)
        yield from families.find(text, every, lexicon, claims.is_taken)
        yield from beside.find(text, claims.is_taken)


def _judge(lexicon: Lexicon, caution: float, weights: Weights | None) -> Judge | None:
    return Judge(lexicon, caution=caution, weights=weights) if caution > 0 else None


def _take(claims: Claims, found: Iterable[Found]) -> None:
    for each in found:
        if each.category in _SPOKEN and claims.text[each.start : each.end] in _NEVER_ALONE:
            continue
        claims.take(each.start, each.end, each.category, each.rule, sure=each.sure)


def _token(_: str, category: Category) -> str:
    return f"[{category}]"


def _replaced(text: str, removed: Sequence[Removed], write: Replacement) -> str:
    parts: list[str] = []
    at = 0
    for each in removed:
        parts += (text[at : each.start], write(text[each.start : each.end], each.category))
        at = each.end
    return "".join((*parts, text[at:]))
