"""The posterior of a reader's (shift, slope) → the first statement about the reader: the pattern.

With margins d (shift) and g (slope), a line lies

    undercalls  shift > d    overcalls     shift < −d
    too sure    slope < 1−g  too cautious  slope > 1+g

What is stated is a set of these parts. For a given line, a set is

sound   (nothing in it is false) if every part lies beyond half its margin and at least one beyond
        its whole margin;
whole   (nothing important is missing) if every part reaches the share `_WORTH` of being clearly off
        (`ProfileSettings.clear_shift`, `clear_slope`) and no part outside the set is clearly off.

A set may be stated if it is sound with probability `ProfileSettings.pattern_probability`, and with
`own_probability` once the instrument's possible share is taken off. Among these the set that is
most probably both sound and whole is stated: soundness comes first, because a false statement is
worse than an incomplete one.

Where a shift is read. The printed shift is the line's at even odds (logit 0), so that it means the
same in every department and issue; whether a shift is clear or worth a word is judged there too.
But a slope alone moves the line up or down everywhere else, so at words other than even odds a
slope looks like a shift. A shift therefore counts only if it lies on one side both at even odds and
at the reader's usual word (the mean log-odds of the words they write); it is sound if it is beyond
its limit at either place.

No pattern rests on one word. Two kinds of words are checked. (1) A word in one finding that is used
too rarely for `habits` to judge it: the pattern must be sound with `own_probability` without it,
for each such word that moves the line far (`line.Lines.moved`). (2) The word that most probably
holds a habit, with probability P: averaged over both cases, P · P(sound without any of its uses) +
(1 − P) · P(sound) must reach `own_probability`, because a habit of one word says nothing about all
words, and the advice that follows from a pattern must hold for all. Nor does a pattern rest on one
finding: it must be sound with probability `_ELSEWHERE` by what all other findings show, unless one
has nearly all hedges. A pattern that fails is not stated, and the word or finding is named instead
(`Verdict.carried`). Nor on one site: with P the probability that sites differ (`sites`),
P · P(sound at each, if they do) + (1 − P) · P(sound) must reach `_AT_EACH`; where it does not, and
where nothing would be stated but P · P(clearly off at a site, if they do) is above one half, the
reader is told that sites differ, and nothing of all exams. What is told is seen to hold at each
site where, if sites differ, it does with probability `_SEEN`.

Nor is told what has mended since: that the line changed and it is sound no longer (`lately`) may
have the probability `PAST` at most. Else the line has ``mended``, or ``moved`` where it is likelier
than not clearly off now, as one of which nothing would be stated may have. What is told is seen to
hold of late where, had the reader changed, it does with `_SEEN` wherever that was.

The instrument's possible share (`shared`) is not the reader's own: a part counts, as clear or as
beyond half its margin, only where it also does with that share taken off. Nor is CT's own doubt the
reader's: where CT hedges, a label is the chance that its word gives, and the part counts only where
it stands too with the line as it would be (`line.leaned`) were that word taken for what it leans
to. A part that fails only because of this is reported as shared if the department has it too, and
else as explained. Where the department as a whole shows what the instrument may explain, as much is
in doubt of every reader: a part has to stand beyond `_MORE` of its margin with that taken off.

Overlapping issues. A reader who was judged in the issue before was judged on most of these exams
already. To state anything else than then takes `again_probability`, and what was stated then stands
as long as it is right with `kept_probability`; otherwise every overlapping issue would be another
chance of a false statement.

Verification: were a CT λ times as likely given disease, whatever the X-ray said, every shift would
rise by log λ (Begg and Greenes 1983); the slope would stay. The tipping point is the λ that brings
a shift back inside its margin; a shift with a plausible one can only be asked about, and is stated
from `asked_probability` on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal

import numpy as np

from calibration.arrays import FloatArray
from calibration.profile.lately import Later
from calibration.profile.results import Cell, Coordinate, Part, Pattern, Untold, Verdict
from calibration.profile.settings import ProfileSettings
from calibration.profile.shared import (
    EVENLY,
    PARTS,
    PAST,
    SETS,
    STATED,
    Common,
    Evidence,
    judge_sets,
    parts_of,
    sound_sets,
)
from calibration.profile.sites import Sites

_MOST = 64.0
_SURELY = 0.4
_HALF, _MORE = 0.5, 0.75
_ELSEWHERE, _AT_EACH, _EVEN, _SEEN = 0.7, 0.6, 0.5, 0.9
# Shares of a clear shift and of a clear slope from which a part may be stated ("worth a word").
_WORTH = (0.7, 0.5)


@dataclass(frozen=True, slots=True)
class _Parts:
    """Parts that hold of a line: the reader's own, those most readers share, those explained away.

    ``sound`` is the probability that none of the reader's own parts is false; ``carried`` is the
    cell without which no part would be left; ``apart`` says that none holds at each site, ``past``
    that none does now.
    """

    own: tuple[Part, ...] = ()
    shared: tuple[Part, ...] = ()
    explained: tuple[Part, ...] = ()
    sound: float = float("nan")
    carried: Cell | None = None
    apart: bool = False
    past: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """What a reader is judged on: the line, the usual word, the instrument's possible share.

    ``common`` are the parts that the department shares, ``before`` what the issue before told of
    the reader; None where there was none, or none that judged him. Without what was seen of one
    of ``cells`` the line would move as ``moved`` (C, 2) says, and as ``lean`` (2,) says with CT's
    doubt taken for what it leans to. With ``rest`` the last of ``cells`` is a word that holds a
    habit with probability ``suspected``, and ``rest`` the line without it. ``contested`` says
    whether the department shows what the instrument may explain.
    """

    evidence: Evidence
    usual: float
    done: Common
    common: tuple[Part, ...]
    hedges: float
    exams: int
    untold: Untold | None = None
    before: tuple[Part, ...] | None = None
    cells: tuple[Cell, ...] = ()
    moved: FloatArray = field(default_factory=lambda: np.zeros((0, 2)))
    suspected: float = 0.0
    rest: Evidence | None = None
    elsewhere: tuple[Evidence, ...] = ()
    lean: FloatArray = field(default_factory=lambda: np.zeros(2))
    contested: bool = False
    sites: Sites = field(default_factory=Sites)
    later: Later = field(default_factory=Later)

    def stated(self, settings: ProfileSettings) -> _Parts:
        """Find the parts that hold, and sort them into own, shared and explained."""
        line, d, g = self.evidence.draws, settings.shift_margin, settings.slope_margin
        rest, half = line - self.done.at(EVENLY[2]), (_HALF * d, _HALF * g, _HALF * g)
        off = np.array([settings.clear_shift, *settings.clear_slope])
        least = off * [_WORTH[0], _WORTH[1], _WORTH[1]]
        clear, worth = (parts_of(line, self.usual, each, even=True) for each in (off, least))
        near, beyond = parts_of(line, self.usual, half), parts_of(line, self.usual, (d, g, g))
        left = np.array(half) * (_MORE / _HALF if self.contested else 1.0)
        stands = parts_of(rest, self.usual, left) & parts_of(rest + self.lean, self.usual, left)
        whole, alone = judge_sets(near, beyond, clear, worth)
        kept = (*judge_sets(near & stands, beyond, clear & stands, worth), alone)
        own, sound = self._chosen(kept, settings)
        free = replace(settings, asked_probability=0.0)
        held, every = (self._chosen(each, free)[0] for each in (kept, (whole, alone, alone)))
        gone = [part for part in every if part not in held]
        firm, carried = self._without(settings), None
        if own and len(firm):
            weakest = self.cells[int(np.argmin(firm[:, STATED.index(own)]))]
            own, sound = self._chosen((*kept, firm.min(axis=0)), settings)
            carried = None if own else weakest
        if apart := bool(own) and self.sites.apart is not None:
            firm = np.array([*firm, self._mixed(settings)])
            own, sound = self._chosen((*kept, firm.min(axis=0)), settings)
        apart, past = apart and not own, bool(own) and bool(self.later.changed)
        if past:
            now = np.where(self.later.changed - self.since(settings) > PAST, 0.0, 1.0)
            own, sound = self._chosen((*kept, np.min([*firm, now], axis=0)), settings)
        return _Parts(
            own=own,
            shared=tuple(part for part in gone if part in self.common),
            explained=tuple(part for part in gone if part not in self.common),
            sound=sound,
            carried=carried,
            apart=apart,
            past=past and not own,
        )

    def _chosen(
        self, judged: tuple[FloatArray, ...], settings: ProfileSettings
    ) -> tuple[tuple[Part, ...], float]:
        """Take the set most probably whole of those that are sound enough; none if none is.

        ``judged`` are P(sound and whole) and P(sound) of what is left of the line, P(sound) of the
        line alone, and of the line without the cell that it takes most from.
        """
        whole, sound, alone, *firm = judged
        least, again = settings.pattern_probability, settings.again_probability
        needed = np.full(len(SETS), least if self.before is None else max(least, again))
        own = np.full(len(SETS), settings.own_probability)
        if _is_asked(float(self.evidence.mean[0]), settings):
            asked = np.maximum(needed, settings.asked_probability)
            needed = np.where(SETS[:, :2].any(axis=1), asked, needed)
        if self.before:
            told = STATED.index(self.before)
            needed[told] = own[told] = settings.kept_probability
        enough = (alone >= needed) & (np.min([sound, *firm], axis=0) >= own)
        if not enough.any():
            return (), float("nan")
        best = int(np.argmax(np.where(enough, whole, -1.0)))
        return STATED[best], float(sound[best])

    def _without(self, settings: ProfileSettings) -> FloatArray:
        """P(each of `SETS` is sound) of the line without each of the cells, shape (C, 8)."""
        line, p, sound = self.evidence.draws, self.suspected, partial(self._sound, settings)
        found = [sound(line + move) for move in self.moved]
        # Of a finding less is asked than of a word: it takes more of what is known with it.
        found += [sound(o.draws) + settings.own_probability - _ELSEWHERE for o in self.elsewhere]
        if self.rest is not None:
            found.append(p * sound(self.rest.draws) + (1.0 - p) * sound(line))
        return np.array(found).reshape(-1, len(SETS))

    def _sound(self, settings: ProfileSettings, line: FloatArray) -> FloatArray:
        """P(each of `SETS` is sound) of a line, shape (8,)."""
        limits = np.array([settings.shift_margin, settings.slope_margin, settings.slope_margin])
        near, far = (parts_of(line, self.usual, k * limits) for k in (_HALF, 1.0))
        return np.asarray(sound_sets(near, far).mean(axis=0))

    def at_sites(self) -> tuple[Evidence, ...]:
        """Give the line at each site, if they differ; none where none are compared."""
        apart = self.sites.apart
        return () if apart is None else apart.lines(self.evidence)

    def at_each(self, lines: Sequence[Evidence], settings: ProfileSettings) -> FloatArray:
        """P(each of `SETS` is sound) of the line of which it is least so, shape (8,)."""
        each = [self._sound(settings, line.draws) for line in lines]
        return np.asarray(np.min(each, axis=0))

    def _mixed(self, settings: ProfileSettings) -> FloatArray:
        """Average that over sites that differ and that do not; of it less is asked."""
        p, alike = self.sites.differ, self._sound(settings, self.evidence.draws)
        mixed = p * self.at_each(self.at_sites(), settings) + (1.0 - p) * alike
        return np.asarray(mixed + settings.own_probability - _AT_EACH)

    def since(self, settings: ProfileSettings) -> FloatArray:
        """P(the line changed, and each of `SETS` has been sound since), shape (8,)."""
        each = [self._sound(settings, line.draws) for line in self.later.lines(self.evidence)]
        return np.asarray(self.later.probability @ np.reshape(each, (-1, len(SETS))))

    def off_since(self, settings: ProfileSettings) -> float:
        """P(the line changed, and has been clearly off since)."""
        at = (line.at(self.usual) for line in self.later.lines(self.evidence))
        return float(self.later.probability @ [line.clearly_off(settings) for line in at])

    def own(self, settings: ProfileSettings) -> tuple[tuple[float, Evidence], ...]:
        """Give the reader's own line at the usual word, as (weight, line) whose weights sum to 1.

        Two lines, with and without the word, where one word carries the pattern; else one.
        """
        parts, p = self.stated(settings), self.suspected
        each = [(1.0, self.evidence)]
        if self.rest is not None and parts.carried is self.cells[-1]:
            each = [(1.0 - p, self.evidence), (p, self.rest)]
        left = ((w, line.less(self.done) if parts.shared else line) for w, line in each)
        return tuple((w, line.at(self.usual)) for w, line in left)


def judge_pattern(case: Case, *, settings: ProfileSettings) -> Pattern:
    """State a reader's pattern, or that there is none, or that it can't be told yet."""
    evidence = case.evidence
    enough = case.hedges >= settings.least_statements and case.untold != "one label"
    parts = case.stated(settings) if enough else _Parts()
    stated = parts.own
    d, g = settings.shift_margin, settings.slope_margin
    settled = bool(stated) or (enough and _nothing(case, settings))
    untold = case.untold or ("instrument" if parts.explained else None)
    whole_word = case.untold == "one phrase" and parts.carried and not parts.carried.finding
    untold = "one cell" if parts.carried and not whole_word else untold
    parted = _parted(case, parts, settings, told=bool(stated or untold or not enough))
    settled, untold = settled and not parted, parted or untold
    shift, slope = _coordinates(evidence, settings)
    slight = _slight(case, settings) if settled and not stated else None
    seen = partial(_seen, case, stated=stated, settings=settings)
    verdict = Verdict(
        state="pattern" if stated else "none" if settled else "too few",
        parts=stated,
        question=not {*PARTS[:2]}.isdisjoint(stated) and _is_asked(shift.value, settings),
        more_exams=None if settled or untold else _more(case, settings),
        shared=parts.shared,
        explained=parts.explained,
        slight=slight[0] if slight else None,
        chance=slight[1] if slight else float("nan"),
        untold=None if settled else untold,
        carried=None if settled else parts.carried,
        sound=parts.sound,
        beside=tuple(part for part in stated if part in case.common),
        sites=seen(at=case.at_sites()) if settled and case.sites.several else None,
        lately=seen(at=case.later.lines(evidence)) if settled and case.later.known else None,
    )
    return Pattern(
        verdict, shift, slope, evidence.correlation, evidence.inside((-d, d), (-g, g)),
        evidence.at(case.usual).clearly_off(settings), _tipping(shift.value, settings),
    )  # fmt: skip


def _nothing(case: Case, settings: ProfileSettings) -> bool:
    """Whether "none" may be said: no part is likely, and being clearly off is not."""
    own, limit = case.own(settings), settings.too_few_probability
    off = sum(w * line.clearly_off(settings) for w, line in own)
    return off <= limit and (_slight(case, settings) is None or off <= limit * _SURELY)


def _parted(case: Case, parts: _Parts, settings: ProfileSettings, *, told: bool) -> Untold | None:
    """Say why what is so of all exams is not so of each site, or now; None where it may be.

    Where nothing is ``told`` one is clearly off at a site, or since a change, likelier than not.
    """
    off = (each.at(case.usual).clearly_off(settings) for each in case.at_sites())
    if parts.apart or (not told and case.sites.differ * max(off, default=0.0) > _EVEN):
        return "sites"
    since = case.off_since(settings)
    if parts.past:
        still = (1.0 - case.later.changed) * case.evidence.at(case.usual).clearly_off(settings)
        return "mended" if since + still <= _EVEN else "moved"
    return "moved" if not told and since > _EVEN else None


def _seen(
    case: Case, at: Sequence[Evidence], stated: tuple[Part, ...], settings: ProfileSettings
) -> Literal["hold", "open"]:
    """Say whether what is told is seen to hold of each line that may be one: of a site, or now."""
    if stated and at:
        holds = float(case.at_each(at, settings)[STATED.index(stated)])
    else:
        off = (each.at(case.usual).clearly_off(settings) for each in at)
        holds = 1.0 - max(off, default=1.0)
    return "hold" if holds >= _SEEN else "open"


def _slight(case: Case, settings: ProfileSettings) -> tuple[Part, float] | None:
    """Name the likeliest part, with its chance, where it is likelier than "none" alone allows."""
    each = [(w, line.beyond(settings)) for w, line in case.own(settings)]
    beyond = {part: sum(w * of[part] for w, of in each) for part in PARTS}
    part = max(beyond, key=lambda name: beyond[name])
    return (part, beyond[part]) if beyond[part] > settings.none_probability else None


def _coordinates(evidence: Evidence, settings: ProfileSettings) -> tuple[Coordinate, Coordinate]:
    beyond = evidence.beyond(settings)
    (shift, slope), (a, b) = evidence.mean, evidence.sd
    side = beyond["undercalls"] if shift > 0 else beyond["overcalls"]
    steep = beyond["too cautious"] if slope > 0 else beyond["too sure"]
    return Coordinate.normal(shift, a, side), Coordinate.normal(slope + 1.0, b, steep)


def _is_asked(shift: float, settings: ProfileSettings) -> bool:
    """Whether a plausible ordering of CTs explains a shift, so that it is put as a question."""
    low, high = settings.plausible_ordering
    return bool(low <= _tipping(shift, settings) <= high)


def _tipping(shift: float, settings: ProfileSettings) -> float:
    beyond = abs(shift) - settings.shift_margin
    return float(np.exp(np.copysign(beyond, shift))) if beyond > 0 else float("nan")


def _more(case: Case, settings: ProfileSettings) -> int | None:
    """Exams needed beyond these for a verdict, if the estimate stays where it is."""
    if case.hedges <= 0 or case.exams <= 0:
        return None
    least = max(settings.least_statements / case.hedges, 1.0)
    for factor in np.geomspace(least, least * _MOST, 60):
        sharper = Evidence(case.evidence.mean, case.evidence.covariance / factor)
        then = replace(
            case, evidence=sharper, moved=case.moved[:0], rest=None, sites=Sites(), later=Later()
        )
        if then.stated(settings).own or _nothing(then, settings):
            return rounded_up((factor - 1.0) * case.exams)
    return None


def rounded_up(value: float) -> int:
    """At least 10, and to two digits upwards: a promise no finer than the guess behind it.

    >>> rounded_up(3.0), rounded_up(123.0)
    (10, 130)
    """
    unit = 10 ** max(int(np.floor(np.log10(max(value, 1.0)))) - 1, 1)
    return int(max(np.ceil(value / unit) * unit, 10))
