"""The learned judge: what it takes beyond the rules, and gives back of what they took unsurely.

A token that no rule took is taken where a miss is the dearer mistake: with a probability p of being
an identifier and a `caution` c (a miss weighs as much as c needless removals), where p > 1/(1 + c).
What stands in one expression with something taken is likelier the rest of it than a mistake of its
own, and harms less where it is none: beside it a miss weighs `_NEAR` times as much.
A word that is no identifier by itself, but in a place's name, is taken beside something taken only
above `_BESIDE`, alone above `_SURE`; a name that a disease or sign bears too
(G. Wilson), where no noun or letter makes it theirs, above `_GUARDED`.
Texts are judged by the shard, for speed; what is made of one depends on no other.
A span that a rule took by its looks alone is given back where every token of it has a p below
`_GIVEN_BACK`, whatever the caution. Every word and figure is asked about but plain words among
plain words, locked phrases and guarded clinical expressions (Foley catheter, Kerley B, 3 x 2 cm):
no weight can reach those. Of a text of a few words only what is nearly sure is taken, and nothing
given back, because the networks learned from whole reports. The weights are data (`weights.npz`,
its card `weights.toml`), made by `benchmarks/judge/train.py`.
"""

from __future__ import annotations

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

CAUTION: Final = 12.0
"""How many needless removals a missed identifier weighs, unless a site says otherwise."""
Span: TypeAlias = tuple[int, int]
_Span = TypeVar("_Span", Removed, Span)
Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float32]
Bools: TypeAlias = NDArray[np.bool_]
_GIVEN_BACK: Final = 0.05
_NEAR: Final = 4
_SPREAD: Final = 2
"""So many tokens on either side may go with one that is taken."""
_LIVELY: Final = 4
"""So far from a token that may be an identifier plain words are asked about."""
_AGE, _DATE = CATEGORIES.index("AGE"), CATEGORIES.index("DATE")
_TIMES: Final = (CATEGORIES.index("DATE"), CATEGORIES.index("TIME"))
_PLACES: Final = (CATEGORIES.index("HOSPITAL"), CATEGORIES.index("LOCATION"))
_REASONS: Final = 3
_FEWEST: Final = 12
"""A text of fewer tokens is no report."""
_SHORT: Final = 0.85
"""The least chance at which a token of such a text goes."""
_SURE: Final = 0.3
"""The least chance at which what is mostly no identifier by itself goes alone."""
_BESIDE: Final = 0.2
"""The least chance at which such a word goes beside what was taken."""
_MOST: Final = 64_000
"""How many distinct words are kept before a shard begins anew: 40 MB."""
_GUARDED: Final = 0.3
"""The least chance at which a guarded word goes: as a name that a disease bears too."""
_MAY_ASK: Final = np.array([vote not in ("lock", "guard", "outside") for vote in VOTES])
_GUARD: Final = VOTES.index("guard")


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
    """

    asked: Ints
    case: model.Case
    shares: Floats
    kinds: Ints

    def chances(self, weights: Weights) -> Floats:
        """Give how likely each is an identifier."""
        return model.calibrated(1 - self.shares[:, 0], self.kinds, weights)

    def labels(self) -> Ints:
        """Give the likeliest category of each, as a number into `CATEGORIES`."""
        labels: Ints = self.shares[:, 1:].argmax(axis=1)
        return labels


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
        self._threshold, self._near = 1 / (1 + caution), 1 / (1 + _NEAR * caution)
        self._rules = {rule: at for at, rule in enumerate(self.weights.rules)}
        self._begin()

    def settle(self, hearings: Sequence[Hearing]) -> list[list[Found]]:
        """Give back what a rule took unsurely and nothing speaks for; tell what it missed.

        Parameters
        ----------
        hearings
            The texts of a shard; their claims are changed in place.

        Returns
        -------
        What the rules missed in each text.
        """
        if not hearings:
            return []
        court = self._open(hearings)
        weighed = self._weigh(court)
        asked, chances = weighed.asked, weighed.chances(self.weights)
        firsts, lasts = court.shard.overlapping(_joined(court.shard, court.doubtful))
        taken = court.ballot.owners >= 0
        missable = ~taken[asked]
        unlikely = np.zeros(len(taken) + 1, dtype=np.int64)
        unlikely[asked[chances < _GIVEN_BACK] + 1] = 1
        among = np.cumsum(unlikely)
        back = (lasts > firsts) & (among[lasts] - among[firsts] == lasts - firsts)
        for text, given in groupby(compress(court.doubtful, back), key=itemgetter(0)):
            hearings[text].claims.give_back(each for _, each in given)
        taken &= ~_covered(firsts[back], lasts[back], len(taken))
        labels = weighed.labels()
        idle = self.words.trait("idle")[court.shard.words[asked]] & ~np.isin(labels, _PLACES)
        short = (court.shard.counts < _FEWEST)[court.shard.text[asked]]
        guarded = court.ballot.votes[asked] == _GUARD
        least = np.select([short, guarded], [_SHORT, _GUARDED]).clip(min=self._threshold)
        taken[asked[missable & (chances > least)]] = True
        near = asked[missable & (chances > self._near) & ~(short | guarded | idle)]
        likely = self._spread(court.shard, taken, near)[asked] & missable
        return self._missed(court, asked[likely], labels[likely], chances[likely])

    def _spread(self, shard: Shard, taken: Bools, near: Ints) -> Bools:
        """Take the slots `near` that stand in one expression with what is taken."""
        joins = (self._gaps.trait("joins") & ~self._gaps.trait("stops"))[shard.gaps]
        may = np.zeros(len(taken), dtype=bool)
        may[near] = True
        for _ in range(_SPREAD):
            taken = taken | may & ((np.roll(taken, 1) & joins) | np.roll(taken & joins, -1))
        return taken

    def opinions(self, hearings: Sequence[Hearing]) -> list[list[Opinion]]:
        """Give the judge's view of every token of some texts that it is asked about."""
        opinions: list[list[Opinion]] = [[] for _ in hearings]
        if not hearings:
            return opinions
        court = self._open(hearings)
        weighed = self._weigh(court)
        shard, asked = court.shard, weighed.asked
        best = np.argsort(-model.reasons(self.weights, weighed.case), axis=1)[:, :_REASONS]
        text = shard.text[asked]
        columns = (
            text, shard.starts[asked] - shard.bases[text], shard.ends[asked] - shard.bases[text],
            weighed.chances(self.weights), weighed.labels(), court.ballot.owners[asked], best,
        )  # fmt: skip
        rows = zip(*(each.tolist() for each in columns), strict=True)
        for at, start, end, chance, label, owner, inputs in rows:
            rule = court.removed[owner][1].rule if owner >= 0 else ""
            named = tuple(model.INPUTS[each] for each in inputs)
            opinions[at].append(Opinion(start, end, chance, CATEGORIES[label], rule, named))
        return opinions

    def weigh(self, hearings: Sequence[Hearing]) -> tuple[Shard, Weighed]:
        """Give all that is known of every token that is asked about, for training."""
        court = self._open(hearings)
        return court.shard, self._weigh(court)

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
        spans = _joined(shard, removed)
        ballot = hold(shard, marks, spans, [each.category for _, each in removed])
        phrases = _numbered(hearing.phrases for hearing in hearings)
        certain = _covered(*shard.overlapping(_joined(shard, phrases)), len(shard.words))
        doubtful = _numbered(
            hearing.claims.doubtful() if count >= _FEWEST else ()
            for hearing, count in zip(hearings, shard.counts, strict=True)
        )
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
        number = self._rules.get
        own = np.array([number(each.rule, -1) for _, each in court.removed] + [-1])
        case = model.Case(
            evidence, self._word_rows.of(self.words.strings),
            self._gap_rows.of(self._gaps.strings), own[ballot.owners[evidence.slots]],
            np.flatnonzero(court.may_ask[evidence.slots]),
        )  # fmt: skip
        asked = evidence.slots[case.asked]
        shares = model.probabilities(self.weights, case)
        kinds = self.words.trait("kind")[shard.words[asked]]
        kinds = np.where(ballot.owners[asked] >= 0, KINDS.index("taken"), kinds)
        return Weighed(asked, case, shares, kinds)

    def _missed(
        self, court: _Court, slots: Ints, labels: Ints, chances: Floats
    ) -> list[list[Found]]:
        """Join likely identifiers that no rule took into runs, for each text."""
        shard = court.shard
        found: list[list[Found]] = [[] for _ in shard.counts]
        follows = self._gaps.trait("joins")[shard.gaps[slots]]
        follows[:1] = False
        follows[1:] &= np.diff(slots) == 1
        opens = np.flatnonzero(~follows)
        closes = np.append(opens, len(slots))[1:] - 1
        if not len(slots):
            return found
        best = np.maximum.reduceat(chances, opens)
        can_be = self._can_be(court, slots, labels, opens, best)
        texts = shard.text[slots[opens]]
        guarded = court.ballot.votes[slots] == _GUARD
        sure = np.maximum.reduceat(guarded, opens)
        columns = (
            texts, shard.starts[slots[opens]] - shard.bases[texts],
            shard.ends[slots[closes]] - shard.bases[texts], labels[opens], sure,
        )  # fmt: skip
        rows = zip(*(each[can_be].tolist() for each in columns), strict=True)
        for text, start, end, label, over_guard in rows:
            found[text].append(Found(start, end, CATEGORIES[label], JUDGE, sure=over_guard))
        return found

    def _can_be(self, court: _Court, slots: Ints, labels: Ints, opens: Ints, best: Floats) -> Bools:
        """Tell which runs can be identifiers: by their words, or beside what a rule took.

        Words that every report holds are none but as the rest of a place's name, a year or a number
        of two figures is none by itself, unless the `best` chance of the run says so; an age is one
        from 90 on, and years alone are no date whatever the chance.
        """
        words, owners = court.shard.words, court.ballot.owners
        sizes = np.diff(np.append(opens, len(slots)))
        idle, lone, old, years = (
            np.add.reduceat(self.words.trait(name)[words[slots]], opens, dtype=np.int64)
            for name in ("idle", "lone", "old", "year")
        )
        ages = labels[opens] == _AGE
        joins = self._gaps.trait("joins")[court.shard.gaps]
        first, last = slots[opens], slots[opens] + sizes - 1
        beside = (owners[first - 1] >= 0) & joins[first]
        beside |= (owners[last + 1] >= 0) & joins[last + 1]
        number = (lone == 1) & (sizes == 1) & ~ages & ~beside
        counted = np.where(np.isin(labels[opens], _TIMES), 0, lone)
        words_alone = (idle > 0) & (idle + counted == sizes)
        words_alone &= ~(beside & (np.isin(labels[opens], _PLACES) | (best > _BESIDE)))
        near = beside | np.isin(first - 1, slots) | np.isin(last + 1, slots)  # 08|05|2024
        years_alone = (years > 0) & (idle + years == sizes) & ~near & (labels[opens] == _DATE)
        likely = (best > _SURE) | ~(number | words_alone)
        can_be: Bools = np.where(ages, old > 0, likely & ~years_alone)
        return can_be


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
