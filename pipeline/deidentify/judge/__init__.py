"""The learned judge: what it takes beyond the rules, and gives back of what they took unsurely.

What is decided is a run: tokens that no rule took and that stand in one expression, each with a
chance of `_FAINT` at least. A line weighs its likeliest token, its size and its text (`_features`),
and it is taken where a miss is the dearer mistake: with a chance p of being an identifier and a
`caution` c (a miss weighs as much as c needless removals), where p > 1/(1 + c).
Of such a run, and beside anything taken, go the tokens that alone have p > 1/(1 + `_NEAR` c), for
they are likelier the rest of it than a mistake of their own, and harm less where they are none. A
word that every report holds goes so only where it names the same kind of thing. A name that a
disease or sign bears too (G. Wilson) is heard above `_GUARDED`.
Texts are judged by the shard, for speed; what is made of one depends on no other.
A span that a rule took by its looks alone is given back where every token of it has a p below
`_GIVEN_BACK`, whatever the caution. Every word and figure is asked about but plain words among
plain words, locked phrases and guarded clinical expressions (Foley catheter, Kerley B, 3 x 2 cm):
no weight can reach those. Of a text of fewer tokens than `_REPORT` less is known, and most such
are plain: there c falls with their number. The networks learned from reports and pieces of them.
The weights are data (`weights.npz`, its card `weights.toml`), made by `benchmarks/judge/train.py`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import compress, groupby
from operator import itemgetter
from typing import Final, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from pipeline.deidentify.judge import model
from pipeline.deidentify.judge.evidence import VOTES, Ballot, gather, hold
from pipeline.deidentify.judge.model import Weights
from pipeline.deidentify.judge.tokens import KINDS, Describer, Shard, lay_out
from pipeline.deidentify.rules.joins import JUDGE
from pipeline.deidentify.rules.window import Words
from pipeline.deidentify.spans import CATEGORIES, GUARD, Category, Claims, Found, Removed
from pipeline.names.lexicon import Lexicon

__all__ = ["CAUTION", "Hearing", "Judge", "Opinion", "Weights"]

CAUTION: Final = 16.0
"""How many needless removals a missed identifier weighs, unless a site says otherwise."""
Span: TypeAlias = tuple[int, int]
_Span = TypeVar("_Span", Removed, Span)
Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float32]
Bools: TypeAlias = NDArray[np.bool_]
_GIVEN_BACK: Final = 0.05
_NEAR: Final = 4.5
_LIVELY: Final = 4
"""So far from a token that may be an identifier plain words are asked about."""
_NAME, _DATE, _AGE = map(CATEGORIES.index, ("NAME", "DATE", "AGE"))
_PLACES: Final = (CATEGORIES.index("HOSPITAL"), CATEGORIES.index("LOCATION"))
_ALIKE: Final = np.array([0, 1, 1, 2, 2, 2, 2, 3, 4, 4, -1, -1, -1, -1])
"""What kind each vote but none is of: a name, a day, a number, an age, a place."""
_REASONS: Final = 3
_REPORT: Final = 24
"""A text of fewer tokens is a piece of a report, and judged with so much less caution."""
_FAINT: Final = 1 / 101
"""The least chance at which a token is heard at all."""
_IDLE: Final = 1 / 13
"""The least chance at which a word that every report holds opens a run."""
_MOST: Final = 64_000
"""How many distinct words are kept before a shard begins anew: 40 MB."""
_GUARDED: Final = 0.3
"""The least chance at which a guarded word goes: as a name that a disease bears too."""
_MAY_ASK: Final = np.array([vote not in ("lock", "guard", "outside") for vote in VOTES])
_GUARD: Final = VOTES.index("guard")


class _Runs(NamedTuple):
    """Where each run begins among some tokens, how many it holds, and which is its likeliest."""

    opens: Ints
    sizes: Ints
    best: Ints


class Hearing(NamedTuple):
    """What the judge hears of one text.

    Attributes
    ----------
    text
        The report, in capitals where it has none.
    words
        Its words.
    claims
        What the rules made of it.
    phrases
        Its words of certainty in order, the open ones as well: no token of them is asked about.
    """

    text: str
    words: Words
    claims: Claims
    phrases: Sequence[Span]


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
class Weighed:
    """What is known of the asked slots of a shard.

    Attributes
    ----------
    asked
        (n,) the slots.
    case
        What speaks for each token of the shard.
    shares
        (n, labels) each one's share of each label.
    kinds
        (n,) which of `tokens.KINDS` it is of.
    chances, labels
        (n,) how likely each is an identifier, and its likeliest category as a number into
        `CATEGORIES`.
    """

    asked: Ints
    case: model.Case
    shares: Floats
    kinds: Ints
    chances: Floats
    labels: Ints


@dataclass(frozen=True, slots=True)
class _Court:
    """A shard of texts before the judge.

    Attributes
    ----------
    shard, ballot
        The texts laid out, and what the rules made of them.
    removed
        Every span that the rules took, with the number of its text.
    may_ask
        (slots,) which may be asked about: not what a rule took surely.
    doubtful
        Every span that may be given back, with the number of its text.
    """

    shard: Shard
    ballot: Ballot
    removed: Sequence[tuple[int, Removed]]
    may_ask: Bools
    doubtful: Sequence[tuple[int, Removed]]


class Judge:
    """Weighs the tokens of texts; keeps nothing of them but sums of weights by word."""

    def __init__(
        self, lexicon: Lexicon, *, caution: float = CAUTION, weights: Weights | None = None
    ) -> None:
        self.weights = weights or model.load_weights()
        self._describer = Describer(lexicon)
        self._caution = caution
        self._rules = {rule: at for at, rule in enumerate(self.weights.rules)}
        self._begin()

    def settle(self, hearings: Sequence[Hearing]) -> list[list[Found]]:
        """Give back what a rule took unsurely and nothing speaks for; tell what it missed.

        Parameters
        ----------
        hearings
            The texts of a shard, one at least; their claims are changed in place.

        Returns
        -------
        What the rules missed in each text.
        """
        court = self._open(hearings)
        weighed = self._weigh(court)
        asked, chances = weighed.asked, weighed.chances
        firsts, lasts = court.shard.overlapping(_joined(court.shard, court.doubtful))
        taken = court.ballot.owners >= 0
        missable = ~taken[asked]
        unlikely = asked[chances < _GIVEN_BACK] + 1
        among = np.cumsum(np.bincount(unlikely, minlength=len(taken) + 1))
        back = (lasts > firsts) & (among[lasts] - among[firsts] == lasts - firsts)
        for text, given in groupby(compress(court.doubtful, back), key=itemgetter(0)):
            hearings[text].claims.give_back(each for _, each in given)
        taken &= ~_covered(firsts[back], lasts[back], len(taken))
        least = self._least(court, weighed)
        heard = np.flatnonzero(missable & (chances > least))
        runs = self._runs(court.shard, asked[heard], chances[heard])
        odds = self._features(court.shard, weighed, heard, runs) @ self.weights.runs
        sizes = court.shard.counts[court.shard.text[asked]]
        caution = self._caution * np.minimum(sizes / _REPORT, 1)
        whole = odds > -np.log(caution[heard[runs.best]])
        near = missable & (chances > 1 / (1 + _NEAR * caution))
        taken[asked[heard[np.repeat(whole, runs.sizes) & near[heard]]]] = True
        taken |= self._beside(court, weighed, taken, asked[near & (least <= _IDLE)])
        return self._missed(court, weighed, taken[asked] & missable)

    def _least(self, court: _Court, weighed: Weighed) -> Floats:
        """Give the least chance at which each asked token is heard."""
        shard, asked = court.shard, weighed.asked
        idle = self.words.trait("idle")[shard.words[asked]] & ~np.isin(weighed.labels, _PLACES)
        guarded = court.ballot.votes[asked] == _GUARD
        return np.select([guarded, idle], [_GUARDED, _IDLE], _FAINT)

    def _runs(self, shard: Shard, slots: Ints, chances: Floats) -> _Runs:
        """Join slots that stand in one expression into runs."""
        follows = self._gaps.trait("joins")[shard.gaps[slots]] & (np.diff(slots, prepend=-1) == 1)
        opens = np.flatnonzero(~follows)
        best = np.lexsort((-chances, np.cumsum(~follows)))[opens]
        return _Runs(opens, np.diff(opens, append=len(slots)), best)

    def _features(self, shard: Shard, weighed: Weighed, heard: Ints, runs: _Runs) -> Floats:
        """Tell what is known of each run of heard tokens: its likeliest, its size, its text."""
        best = heard[runs.best]
        odds = model.log_odds(weighed.chances[best])
        text, word = shard.text[weighed.asked[best]], shard.words[weighed.asked[best]]
        lengths = self.words.trait("length")[shard.words[weighed.asked[heard]]]
        crowds = (odds > -math.log(32)) & (odds < 0), odds >= 0
        return np.column_stack([
            np.ones(len(best)), odds, model.log_odds(1 - weighed.shares[best, 0]),
            np.log(runs.sizes), np.log1p(np.add.reduceat(lengths, runs.opens)),
            *(np.log1p(np.bincount(text, each)[text] - each) for each in crowds),
            np.eye(len(CATEGORIES))[weighed.labels[best]], np.eye(len(KINDS))[weighed.kinds[best]],
            weighed.case.evidence.facts[weighed.case.asked[best]],
            *(self.words.trait(name)[word] for name in ("lone", "year", "old", "letters")),
        ])  # fmt: skip

    def _beside(self, court: _Court, weighed: Weighed, taken: Bools, near: Ints) -> Bools:
        """Tell which slots `near` stand in one expression with what is taken.

        A word that every report holds does where it is of the same kind, and no name or opener.
        """
        traits = (self.words.trait(name)[court.shard.words] for name in ("idle", "opens"))
        joins = (self._gaps.trait("joins") & ~self._gaps.trait("stops"))[court.shard.gaps]
        (plain, opens), labels = traits, court.ballot.votes - 1
        labels[weighed.asked] = weighed.labels
        may: Bools = np.bincount(near, minlength=len(taken)) > plain & (labels == _NAME)
        alike = np.diff(_ALIKE[labels], prepend=-1) == 0
        behind = np.roll(taken, 1) & joins & (alike | ~plain)
        before = np.roll(taken & joins, -1) & ((np.roll(alike, -1) & ~opens) | ~plain)
        may &= behind | before
        return may

    def opinions(self, hearings: Sequence[Hearing]) -> list[list[Opinion]]:
        """Give the judge's view of every token of some texts that it is asked about."""
        opinions: list[list[Opinion]] = [[] for _ in hearings]
        court = self._open(hearings)
        weighed = self._weigh(court)
        shard, asked = court.shard, weighed.asked
        best = np.argsort(-model.reasons(self.weights, weighed.case), axis=1)[:, :_REASONS]
        text = shard.text[asked]
        columns = (
            text, shard.starts[asked] - shard.bases[text], shard.ends[asked] - shard.bases[text],
            weighed.chances, weighed.labels, court.ballot.owners[asked], best,
        )  # fmt: skip
        rows = zip(*(each.tolist() for each in columns), strict=True)
        for at, start, end, chance, label, owner, inputs in rows:
            rule = court.removed[owner][1].rule if owner >= 0 else ""
            named = tuple(model.INPUTS[each] for each in inputs)
            opinions[at].append(Opinion(start, end, chance, CATEGORIES[label], rule, named))
        return opinions

    def _begin(self) -> None:
        weights, describer = self.weights, self._describer
        self.words, self._gaps = describer.glossaries()
        self._word_rows = model.Rows(weights.token_features, weights.tokens, describer.tokens)
        self._gap_rows = model.Rows(weights.gap_features, weights.gaps, partial(map, describer.gap))

    def _open(self, hearings: Sequence[Hearing]) -> _Court:
        """Lay the texts out and tell which tokens may be asked about."""
        if max(len(self.words), len(self._gaps)) > _MOST:
            self._begin()
        shard = lay_out([each.text for each in hearings], self.words, self._gaps)
        removed = _numbered(hearing.claims.removed() for hearing in hearings)
        marks = b"".join(hearing.claims.marks for hearing in hearings)
        categories = [each.category for _, each in removed]
        ballot = hold(shard, marks, _joined(shard, removed), categories)
        phrases = _numbered(hearing.phrases for hearing in hearings)
        certain = _covered(*shard.overlapping(_joined(shard, phrases)), len(shard.words))
        doubtful = _numbered(hearing.claims.doubtful() for hearing in hearings)
        in_doubt = _covered(*shard.overlapping(_joined(shard, doubtful)), len(shard.words))
        guards = np.frombuffer(marks, dtype=np.uint8) == GUARD
        alone = guards[shard.starts] & ~guards[shard.starts - 1] & ~guards[shard.ends]
        alone &= self.words.trait("letters")[shard.words]
        may_ask = _MAY_ASK[ballot.votes] | alone
        may_ask &= ~certain & ((ballot.owners < 0) | in_doubt)
        lively = (shard.words > 0) & (~self.words.trait("idle")[shard.words] | (ballot.owners >= 0))
        may_ask &= np.convolve(lively, np.ones(2 * _LIVELY + 1), mode="same") > 0
        return _Court(shard, ballot, removed, may_ask, doubtful)

    def _weigh(self, court: _Court) -> Weighed:
        """Weigh every token that may be asked about, by all of its text."""
        shard, ballot = court.shard, court.ballot
        evidence = gather(shard, ballot, words=self.words, gaps=self._gaps)
        own = np.array([self._rules.get(each.rule, -1) for _, each in court.removed] + [-1])
        case = model.Case(
            evidence, self._word_rows.of(self.words.strings),
            self._gap_rows.of(self._gaps.strings), own[ballot.owners[evidence.slots]],
            np.flatnonzero(court.may_ask[evidence.slots]),
        )  # fmt: skip
        asked = evidence.slots[case.asked]
        shares = model.probabilities(self.weights, case)
        kinds = self.words.trait("kind")[shard.words[asked]]
        kinds = np.where(ballot.owners[asked] >= 0, KINDS.index("taken"), kinds)
        chances = model.calibrated(1 - shares[:, 0], kinds, self.weights)
        return Weighed(asked, case, shares, kinds, chances, shares[:, 1:].argmax(axis=1))

    def _missed(self, court: _Court, weighed: Weighed, among: Bools) -> list[list[Found]]:
        """Join the asked tokens that are identifiers and no rule took into runs, for each text."""
        shard, slots, labels = court.shard, weighed.asked[among], weighed.labels[among]
        runs = self._runs(shard, slots, weighed.chances[among])
        found: list[list[Found]] = [[] for _ in shard.counts]
        first, last = slots[runs.opens], slots[runs.opens] + runs.sizes - 1
        sure = np.add.reduceat(court.ballot.votes[slots] == _GUARD, runs.opens, dtype=int) > 0
        texts, kinds = shard.text[first], labels[runs.opens]
        bases = shard.bases[texts]
        columns = texts, shard.starts[first] - bases, shard.ends[last] - bases, kinds, sure
        can_be = self._can_be(court, slots, kinds, runs)
        rows = zip(*(each[can_be].tolist() for each in columns), strict=True)
        for text, start, end, label, over_guard in rows:
            found[text].append(Found(start, end, CATEGORIES[label], JUDGE, sure=over_guard))
        return found

    def _can_be(self, court: _Court, slots: Ints, labels: Ints, runs: _Runs) -> Bools:
        """Tell which runs can be identifiers: an age from 90 on, no years alone as a date."""
        idle, old, years = (
            np.add.reduceat(self.words.trait(name)[court.shard.words[slots]], runs.opens, dtype=int)
            for name in ("idle", "old", "year")
        )
        joins, ruled = self._gaps.trait("joins")[court.shard.gaps], court.ballot.owners >= 0
        first, behind = slots[runs.opens], slots[runs.opens] + runs.sizes
        beside = (ruled[first - 1] & joins[first]) | (ruled[behind] & joins[behind])
        beside |= np.isin(first - 1, slots) | np.isin(behind, slots)  # 08|05|2024
        years_alone = (years > 0) & (idle + years == runs.sizes) & ~beside & (labels == _DATE)
        return np.where(labels == _AGE, old > 0, ~years_alone)


def _numbered(spans: Iterable[Sequence[_Span]]) -> list[tuple[int, _Span]]:
    """Give the spans of some texts, each with the number of its text."""
    return [(text, each) for text, some in enumerate(spans) for each in some]


def _joined(shard: Shard, spans: Iterable[tuple[int, Removed | Span]]) -> list[Span]:
    """Give spans of texts, each with the number of its text, as places in the texts joined."""
    bases = shard.bases.tolist()
    return [(bases[text] + each[0], bases[text] + each[1]) for text, each in spans]


def _covered(firsts: Ints, lasts: Ints, size: int) -> Bools:
    """Tell which slots lie in any of the stretches from first to before last."""
    edges = np.bincount(firsts, minlength=size + 1) - np.bincount(lasts, minlength=size + 1)
    return np.cumsum(edges)[:size] > 0
