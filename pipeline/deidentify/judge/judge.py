"""What the learned judge takes beyond the rules, and what it gives back of what they took unsurely.

A token that no rule took is taken where a miss is the dearer mistake: with a probability p of being
an identifier and a `caution` c (a miss weighs as much as c needless removals), where p > 1/(1 + c).
A span that a rule took by its looks alone is given back where every token of it has a p below
`_GIVEN_BACK`, whatever the caution. Locked phrases and guarded clinical expressions are never asked
about: no weight can reach them. Figures are taken only as long codes, for short ones are measures
and scores, where the rules are better; texts of a few words are left to the rules too, because the
network learned from whole reports.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pipeline.deidentify.judge.ballot import hold
from pipeline.deidentify.judge.evidence import VOTES, Ballot, gather
from pipeline.deidentify.judge.model import (
    INPUTS,
    Case,
    Rows,
    Weights,
    calibrated,
    load_weights,
    probabilities,
    reasons,
)
from pipeline.deidentify.judge.tokens import Describer, Tokens
from pipeline.deidentify.result import CATEGORIES, Category, Removed
from pipeline.deidentify.rules.found import Found
from pipeline.deidentify.spans import Claims
from pipeline.names.lexicon import Lexicon

__all__ = ["CAUTION", "Judge", "Opinion"]

CAUTION: Final = 7.0
"""How many needless removals a missed identifier weighs, unless a site says otherwise."""
Span: TypeAlias = tuple[int, int]
RULE: Final = "judge"
_GIVEN_BACK: Final = 0.005
_REASONS: Final = 3
_FEWEST: Final = 25
"""A text of fewer tokens is no report."""
_MIN_FIGURES: Final = 3
_MIN_CODE: Final = 6
_MAY_ASK: Final = np.array([vote not in ("lock", "guard") for vote in VOTES])
_JOINS: Final = frozenset({" ", "-", ". ", ".", ", ", "/", ""})


@dataclass(frozen=True, slots=True)
class Opinion:
    """The judge's view of one token: how likely it is an identifier, of which category, and why.

    ``reasons`` are the inputs that speak for it most, by the names of `model.INPUTS`.
    """

    start: int
    end: int
    probability: float
    category: Category
    rule: str
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Heard:
    """One text before the judge."""

    tokens: Tokens
    case: Case
    labels: NDArray[np.int64]
    chances: NDArray[np.float32]

    def each(self) -> Iterator[tuple[int, float, int, str]]:
        """Give each asked token's number, chance, label and the rule that took it."""
        evidence = self.case.evidence
        return zip(
            evidence.asked.tolist(), self.chances.tolist(), self.labels.tolist(), evidence.own,
            strict=True,
        )  # fmt: skip


class Judge:
    """Weighs the tokens of a text; keeps nothing of it but sums of weights by word."""

    def __init__(
        self, lexicon: Lexicon, *, caution: float = CAUTION, weights: Weights | None = None
    ) -> None:
        self._weights = weights or load_weights()
        self._describer = Describer(lexicon)
        self._threshold = 1 / (1 + caution)
        self._words = Rows(
            self._weights.token_features, self._weights.tokens, self._describer.token
        )
        self._gaps = Rows(self._weights.gap_features, self._weights.gaps, self._describer.gap)
        self._rules = {rule: at for at, rule in enumerate(self._weights.rules)}
        self._asked: dict[str, bool] = {}

    def settle(self, text: str, claims: Claims, phrases: Sequence[Span]) -> list[Found]:
        """Give back what a rule took unsurely and nothing speaks for; tell what it missed.

        Parameters
        ----------
        text
            The report, in capitals where it has none.
        claims
            What the rules made of it; changed in place.
        phrases
            Its words of certainty, the open ones as well: no token of them is asked about.
        """
        heard = self._hear(text, claims, phrases)
        if heard is None:
            return []
        chance = {at: chance for at, chance, _, _ in heard.each()}
        claims.give_back(
            [
                span for first, last, span in _doubtful(heard.tokens, claims)
                if all(chance.get(at, 1.0) < _GIVEN_BACK for at in range(first, last))
            ]
        )  # fmt: skip
        return list(self._missed(heard))

    def opinions(self, text: str, claims: Claims, phrases: Sequence[Span]) -> list[Opinion]:
        """Give the judge's view of every token that it is asked about, as `settle` asks."""
        heard = self._hear(text, claims, phrases)
        if heard is None:
            return []
        worth = reasons(self._weights, heard.case)
        best = np.argsort(-worth, axis=1)[:, :_REASONS].tolist()
        starts, ends = heard.tokens.starts.tolist(), heard.tokens.ends.tolist()
        return [
            Opinion(
                starts[at], ends[at], chance, _category(label), rule,
                tuple(INPUTS[each] for each in inputs),
            )
            for (at, chance, label, rule), inputs in zip(heard.each(), best, strict=True)
        ]  # fmt: skip

    def _hear(self, text: str, claims: Claims, phrases: Sequence[Span]) -> _Heard | None:
        tokens = Tokens(text)
        ballot = hold(tokens, claims.marks, claims.removed())
        asked = self._to_ask(tokens, ballot)
        asked = asked[~_overlaps(tokens, asked, phrases)]
        if not len(asked) or len(tokens) < _FEWEST:
            return None
        evidence = gather(
            tokens, ballot, asked,
            word_rows=self._words.numbers(tokens.words), gap_rows=self._gaps.numbers(tokens.gaps),
        )  # fmt: skip
        own = np.array([self._rules.get(rule, -1) for rule in evidence.own])
        case = Case(evidence, self._words.summed, self._gaps.summed, own, ballot.votes[asked])
        shares = probabilities(self._weights, case)
        taken = np.array([rule != "" for rule in evidence.own])
        chances = calibrated(1 - shares[:, 0], taken, self._weights.calibration)
        return _Heard(tokens, case, shares[:, 1:].argmax(axis=1) + 1, chances)

    def _to_ask(self, tokens: Tokens, ballot: Ballot) -> NDArray[np.int64]:
        known = self._asked
        for word in dict.fromkeys(tokens.words):
            if word not in known:
                known[word] = self._describer.is_asked(word)
        asked = np.fromiter(map(known.__getitem__, tokens.words), dtype=bool, count=len(tokens))
        return np.flatnonzero(asked & _MAY_ASK[ballot.votes])

    def _missed(self, heard: _Heard) -> Iterator[Found]:
        """Find runs of tokens that no rule took and that are likely identifiers."""
        run: list[tuple[int, int]] = []
        for at, chance, label, rule in heard.each():
            if rule or chance <= self._threshold or not _may_take(heard.tokens, at):
                continue
            if run and not (at == run[-1][0] + 1 and heard.tokens.gaps[at] in _JOINS):
                yield _found(heard.tokens, run)
                run = []
            run.append((at, label))
        if run:
            yield _found(heard.tokens, run)


def _may_take(tokens: Tokens, at: int) -> bool:
    """Tell whether a token is a word, or a code too long for a measure or a score."""
    word = tokens.words[at]
    figures = sum(map(str.isdigit, word))
    return not figures or (figures >= _MIN_FIGURES and len(word) >= _MIN_CODE)


def _overlaps(tokens: Tokens, asked: NDArray[np.int64], spans: Sequence[Span]) -> NDArray[np.bool_]:
    """Tell which tokens share a character with one of the spans, which are in order."""
    if not spans:
        return np.zeros(len(asked), dtype=bool)
    starts, ends = np.array(spans, dtype=np.int64).T
    behind = np.searchsorted(ends, tokens.starts[asked], side="right")
    inside = np.minimum(behind, len(spans) - 1)
    overlap: NDArray[np.bool_] = (behind < len(spans)) & (starts[inside] < tokens.ends[asked])
    return overlap


def _found(tokens: Tokens, run: Sequence[tuple[int, int]]) -> Found:
    first, label = run[0]
    start, end = int(tokens.starts[first]), int(tokens.ends[run[-1][0]])
    return Found(start, end, _category(label), RULE, sure=False)


def _category(label: int) -> Category:
    return CATEGORIES[label - 1]  # LABELS without its first, which is none


def _doubtful(tokens: Tokens, claims: Claims) -> Iterator[tuple[int, int, Removed]]:
    """Give the tokens, first and behind the last, of each span that a rule took by its looks."""
    for each in claims.doubtful():
        first = int(np.searchsorted(tokens.ends, each.start, side="right"))
        last = int(np.searchsorted(tokens.starts, each.end))
        yield first, last, each
