"""What a profile says of a reader: the pattern, habits, certainties and advice.

Signs: **shift > 0** means CT shows the finding more often than the words say, so the words are too
weak (the reader undercalls); **shift < 0**, less often (overcalls). **slope < 1** means the words
are more extreme than the truth (too sure); **slope > 1**, less extreme (too cautious). Both are on
the log-odds scale: logit P(CT positive) = logit(meaning) + shift + (slope − 1)·logit(meaning).
Intervals are central 95 % posterior intervals; NaN marks a number that does not exist.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Final, Literal, Self, TypeAlias, get_args

from calibration.estimate import Z95
from calibration.plain import INLINE, LEFT_OUT

Part: TypeAlias = Literal["overcalls", "undercalls", "too sure", "too cautious"]
Untold: TypeAlias = Literal[
    "one label", "no standard", "no hedge", "one phrase", "one cell", "instrument", "sites",
    "mended", "moved",
]  # fmt: skip
State: TypeAlias = Literal["pattern", "none", "too few", "no rise"]
Way: TypeAlias = Literal["falls", "flat", "mixed"]
Certain: TypeAlias = Literal["hold", "fail", "open"]
AtomState: TypeAlias = Literal[
    "as others", "more often", "less often", "too few", "no comparison", "no standard"
]

_VISIBLE: Final = 0.05


@dataclass(frozen=True, slots=True)
class Interval:
    """A value, as the median of a posterior, with its central 95 % interval; NaN: of nothing."""

    value: float
    low: float
    high: float

    @classmethod
    def normal(cls, value: float, error: float, *more: float) -> Self:
        """Of a normal posterior with standard deviation ``error``; ``more`` are other fields."""
        return cls(float(value), float(value - Z95 * error), float(value + Z95 * error), *more)


NOTHING: Final = Interval(float("nan"), float("nan"), float("nan"))
"""The interval of what does not exist."""


@dataclass(frozen=True, slots=True)
class Coordinate(Interval):
    """Shift or slope: value, 95 % interval, and P(beyond the margin on the side of the value)."""

    probability: float


@dataclass(frozen=True, slots=True)
class Cell:
    """One phrase in one finding; ``finding`` is empty for all, or where none were told apart."""

    phrase: str
    finding: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What may be said first about a reader.

    Attributes
    ----------
    state
        ``pattern``: stated. ``none``: being clearly off is improbable. ``too few``: it is not,
        and not shown either. ``no rise``: the reader's words do not rise with what CT shows, so
        that nothing else may be said of them (`calibration.profile.order`).
    parts
        What is stated; empty unless ``state`` is ``pattern``.
    question
        A plausible ordering of CTs explains the shift, so it is put as a question.
    shared
        Parts that hold of the reader only as far as most readers of the department share them, so
        they are not stated of the reader.
    explained
        Parts that the ordering of CTs, disease that CT misses or misread words may have caused, and
        that the department does not share; not stated either.
    more_exams
        How many more exams like these would settle it; None where settled, or beyond counting.
    slight
        With ``none``: the part that probably holds, by less than would make it clearly off.
    chance
        The probability of ``slight``; NaN without.
    untold
        With ``too few``: why no number of exams like these would settle it. ``one label``: all
        labels of the department have one value; ``no standard``: CT itself hedges of most of the
        reader's hedges (`calibration.profile.shown`); ``no hedge``: the reader wrote none; ``one
        phrase``: the reader's hedges are one phrase, whose rate cannot tell a shift from a slope;
        ``one cell``: a pattern would be stated, but not without ``carried``; ``instrument``: the
        instrument may have caused what is ``explained``; ``sites``: what holds of all exams does
        not hold at each of the reader's sites (`calibration.profile.sites`); ``moved``: nor in the
        latest of them, which ``mended`` is of a pattern (`calibration.profile.lately`).
    carried
        One word, or one in one finding, without which nothing would be told.
    sound
        With ``pattern``: the probability that nothing stated is false (`pattern`); else NaN.
    beside
        Those of ``parts`` that CT's labels show of the department's readers together as well.
    stated
        Those of ``parts`` that the reader's words show by rounded numbers (`shown`).
    sites
        Of a reader of several sites: whether what is told was seen to hold at each, or it is open.
    lately
        The same of the latest X-rays.
    """

    state: State
    parts: tuple[Part, ...] = field(metadata=LEFT_OUT)
    question: bool
    more_exams: int | None
    shared: tuple[Part, ...] = ()
    explained: tuple[Part, ...] = ()
    slight: Part | None = None
    untold: Untold | None = None
    carried: Cell | None = None
    sound: float = float("nan")
    beside: tuple[Part, ...] = ()
    chance: float = float("nan")
    stated: tuple[Part, ...] | None = field(default=None, metadata=LEFT_OUT)
    sites: Literal["hold", "open"] | None = None
    lately: Literal["hold", "open"] | None = None

    @property
    def direction(self) -> str:
        """The verdict in the words of the profile file."""
        return ", ".join(self.parts) if self.parts else self.state

    @property
    def read(self) -> bool:
        """Whether lines and words may be read at all: they rise, CT is plain, nothing changed."""
        unread = {"no standard", "sites", "mended", "moved"}
        return self.state != "no rise" and self.untold not in unread


@dataclass(frozen=True, slots=True)
class Shared:
    """What most readers of a department have in common (`calibration.profile.shared`).

    Attributes
    ----------
    shift, slope
        Posterior mean and interval of the readers' common line; 0 and 1 where too few are judged.
    readers
        Readers judged.
    parts
        What is stated of the department: shared by more than half a margin, with whatever the
        instrument may plausibly have done taken off.
    tipping
        λ: how many times as likely a CT would have to be given disease, beyond what the X-ray's
        words say, to leave half a margin of the shared shift; NaN where none is stated.
    question
        Whether that λ is plausible.
    explained
        Parts that readers share by more than half a margin, unless a plausible ordering of CTs, a
        CT that misses disease or shows what isn't there, or misread words made them; not stated.
    """

    shift: Interval
    slope: Interval
    readers: int
    parts: tuple[Part, ...]
    tipping: float
    question: bool
    explained: tuple[Part, ...] = ()

    @property
    def seen(self) -> tuple[Part, ...]:
        """All parts that CT's labels show of the readers together, whoever made them."""
        return tuple(part for part in get_args(Part) if part in self.parts + self.explained)


@dataclass(frozen=True, slots=True)
class Pattern:
    """Where a reader's hedges stand as a whole.

    Attributes
    ----------
    verdict
        What may be said.
    shift, slope
        See the module's signs.
    correlation
        Posterior correlation of shift and slope.
    within
        P(both inside their margins).
    clearly_off
        P(shift, at the reader's usual word, or slope clearly off).
    tipping
        λ: how many times as likely a CT would have to be given disease as without, beyond what
        the X-ray's words say, for the shift to fall inside its margin; NaN for a shift inside.
    """

    verdict: Verdict = field(metadata=INLINE)
    shift: Coordinate
    slope: Coordinate
    correlation: float
    within: float
    clearly_off: float
    tipping: float

    @property
    def direction(self) -> str:
        """Short for ``verdict.direction``."""
        return self.verdict.direction


@dataclass(frozen=True, slots=True)
class Habit:
    """One phrase, in one finding or in all (None), far from where the reader's others put it.

    ``expected`` is the rate it would have without the habit, ``meaning`` what the word says;
    ``probability`` is that there is a habit.
    """

    phrase: str
    finding: str | None
    n: float
    observed: float
    rate: Interval
    expected: float
    meaning: float
    probability: float

    @property
    def visible(self) -> bool:
        """Whether the rate's interval misses what was expected, by enough to be worth a word."""
        missed = not self.rate.low <= self.expected <= self.rate.high
        return missed and abs(self.rate.value - self.expected) >= _VISIBLE


@dataclass(frozen=True, slots=True)
class AtomJudgement:
    """Wrong certainties: "absent" with CT positive or "present" with CT negative.

    They are set against the department's rates on the same findings; ``phrases`` are those that the
    reader wrote, ``others`` how many statements of others stand behind what is expected, and
    ``most`` the largest share of one of them in it. ``positive`` and ``wrong`` are label mass,
    ``expected`` and ``expected_wrong`` what the department's rates give on the same findings;
    ``ratio`` is of the reader's odds of being wrong to the department's.
    """

    phrases: tuple[str, ...]
    n: float
    positive: float
    expected: float
    wrong: float
    expected_wrong: float
    rate: Interval
    ratio: Interval
    probability: float
    state: AtomState
    others: float = 0.0
    most: float = 0.0


@dataclass(frozen=True, slots=True)
class Swap:
    """Write ``instead`` for ``phrase``, in one finding or in all (None).

    ``probability`` is P(|rate − meaning of instead| < |rate − meaning of phrase|), ``gain`` the
    expected fall of the squared error per use. ``apart`` says of one considered that it may not
    stand at each of the reader's ``sites``, or now (``later``), of one advised that another, which
    gains more, may not.
    """

    phrase: str
    finding: str | None
    instead: str
    n: float
    observed: float
    rate: Interval
    meaning: float
    instead_meaning: float
    probability: float
    gain: Interval
    apart: Literal["", "sites", "later"] = field(default="", metadata=LEFT_OUT)


@dataclass(frozen=True, slots=True)
class PhraseRate:
    """A hedge in a reader's hands: uses, raw and posterior rate, and what the word says.

    It is of all findings but those of ``besides``; ``doubt`` is half of the 95 % interval of
    ``meaning`` by the survey's respondents, 0 where it was assigned.
    """

    finding: ClassVar[None] = None
    phrase: str
    n: float
    observed: float
    rate: Interval
    meaning: float
    besides: tuple[str, ...] = ()
    doubt: float = 0.0


@dataclass(frozen=True, slots=True)
class Aside:
    """Hedges in one finding, or all of a reader's (None), that do not rise with what CT shows.

    They are set aside: nothing else is told of them (`calibration.profile.order`).

    Attributes
    ----------
    way
        ``falls``: they run against CT. ``flat``: they have next to nothing to do with it.
        ``mixed``: they rise, but they, "absent" and "present" all rise by so much less than
        colleagues' that a share of these X-rays may have other patients' CTs.
    n
        Statements.
    slope
        Of these words alone, 1 for words that say what CT shows; its probability is that of being
        below 0, or else below `ProfileSettings.flat_slope`.
    sides
        Rates by their counts of words above even odds ("strong") and of all others ("weak").
    certain
        Of all findings, whether the reader's "present" and "absent" rise with what CT shows:
        they ``hold``, they ``fail`` as well, or it is ``open``; then and in one finding ``open``.
    share
        With ``mixed``: the share of CTs of other patients that would make as much of "absent" and
        "present"; else nothing.
    """

    finding: str | None
    way: Way
    n: float
    slope: Coordinate
    sides: tuple[PhraseRate, ...]
    certain: Certain
    share: Interval = NOTHING


@dataclass(frozen=True, slots=True)
class Large:
    """Hedges taken together (`calibration.profile.line`).

    ``observed`` label mass and the sum ``expected`` by the words, of n uses; ``ratio`` of the two,
    ``e50`` and ``e90``, the distance of rate and meaning that half and nine tenths of the uses stay
    within, medians of the posterior.
    """

    n: float
    observed: float
    expected: float
    ratio: Interval
    e50: float
    e90: float


@dataclass(frozen=True, slots=True)
class ReaderProfile:
    """Everything said of one reader; ``n`` statements, ``hedges`` of them hedged.

    ``rest`` are the rates of words with a habit or a swap in one finding, or without which there
    no pattern stands, in all the others;
    ``considered`` the nearest word to each rate whether or not it is advised, and its chance;
    ``sides`` the rates of all words above even odds together ("strong") and all others ("weak");
    ``findings`` those of all hedges in one finding;
    ``judged`` how many words in single findings have the uses from which a habit is looked for;
    ``aside`` is what does not rise with CT: where it is one finding's, no other figure knows it;
    ``plain`` are the hedges of which CT says plainly, by a label of 0 or 1, what is there;
    ``sites`` the rates of all hedges at each site with enough, by their counts, None where unknown,
    ``lately`` those of both sides before ``since`` and after it (`calibration.profile.lately`).
    """

    reader: str
    n: float
    hedges: float
    exams: int
    pattern: Pattern
    habits: tuple[Habit, ...]
    absent: AtomJudgement
    present: AtomJudgement
    advice: tuple[Swap, ...]
    phrases: tuple[PhraseRate, ...]
    large: Large
    rest: tuple[PhraseRate, ...] = ()
    considered: tuple[Swap, ...] = ()
    sides: tuple[PhraseRate, ...] = ()
    judged: int = 0
    findings: tuple[PhraseRate, ...] = ()
    aside: tuple[Aside, ...] = ()
    plain: float = float("nan")
    sites: tuple[PhraseRate, ...] | None = None
    since: str = ""
    lately: tuple[PhraseRate, ...] = ()
