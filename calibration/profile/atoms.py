"""Statements of 0 % and 100 %: how often CT contradicts them, against the department's.

For reader r the odds of being wrong in finding f are the department's, taken from the other
readers, times e^δ with δ ~ N(0, σ²); σ is estimated over the readers. A finding's rate among the
others is drawn toward their rate over all findings, `_WORTH` statements' worth. One reader far off
must not set what is expected of the others: by the distance z of the reader's log-odds over all
findings from the readers' median, in standard errors with σ at its prior, a reader's statements
count with the weight of a Cauchy distribution, w = 2 / (1 + z²), at most 1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit, logit, ndtr

from calibration.arrays import FloatArray, divided
from calibration.estimate import Z95
from calibration.profile.results import NOTHING, AtomJudgement, AtomState, Interval
from calibration.profile.settings import ProfileSettings

_WORTH = 20.0
_SIGMA, _SIGMA_WORTH = 0.4, 4.0
_MARGIN = float(np.log(1.25))
_SHOWN = 0.95
_TAIL = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class AtomCounts:
    """Statements of one kind, (R, F) each: as made, and effective ones for the intervals.

    ``phrases`` are those that each reader wrote; ``wrong`` is the label mass against the
    statement: positive for "absent", the rest of 1 for "present".
    """

    phrases: tuple[tuple[str, ...], ...]
    positive_is_wrong: bool
    n: FloatArray
    wrong: FloatArray
    effective: FloatArray

    @property
    def effective_wrong(self) -> FloatArray:
        """Label mass against the effective statements."""
        return divided(self.wrong, self.n, nothing=0.0) * self.effective


def judge_atoms(counts: AtomCounts, *, settings: ProfileSettings) -> list[AtomJudgement]:
    """Judge every reader's statements of one kind."""
    if len(counts.n) < 2 or np.count_nonzero(counts.n.sum(axis=1)) < 2:
        return [
            uncompared(counts, r) if n > 0 else _judgement(counts, r, state="too few")
            for r, n in enumerate(counts.n.sum(axis=1))
        ]
    n, wrong = counts.effective, counts.effective_wrong
    weight = _weights(counts)
    base, doubt = others(counts)
    heard, most = weight * counts.n.sum(axis=1), _most(counts.n, weight)
    delta, variance = _fitted(n, wrong, base)
    error = np.sqrt(variance + doubt)
    return [
        replace(
            _judged(counts, r, base[r], float(delta[r]), float(error[r]), settings),
            others=float(heard.sum() - heard[r]),
            most=float(most[r]),
        )
        for r in range(len(counts.n))
    ]


def judge_both(
    counts: AtomCounts, leaned: AtomCounts, *, settings: ProfileSettings
) -> list[AtomJudgement]:
    """Judge as `judge_atoms`, and say "more often" or "less often" only where ``leaned`` does too.

    These are the counts with CT's hedges taken for what they lean to: a CT that says "probably" is
    less sure than "present", and contradicts it no more than a CT that is plain.
    """
    found, other = (judge_atoms(each, settings=settings) for each in (counts, leaned))
    return [
        replace(each, state="as others")
        if each.state in {"more often", "less often"} and each.state != lean.state
        else each
        for each, lean in zip(found, other, strict=True)
    ]


def uncompared(counts: AtomCounts, r: int) -> AtomJudgement:
    """Give a reader's own counts, held against nobody's."""
    return _judgement(counts, r, state="no comparison")


def others(counts: AtomCounts) -> tuple[FloatArray, FloatArray]:
    """Log-odds of being wrong among the other readers (R, F), and its variance per reader (R,)."""
    weight = _weights(counts)
    own_n, own_wrong = weight[:, None] * counts.n, weight[:, None] * counts.wrong
    n, wrong = own_n.sum(axis=0) - own_n, own_wrong.sum(axis=0) - own_wrong
    total, all_wrong = n.sum(axis=1, keepdims=True), wrong.sum(axis=1, keepdims=True)
    overall = (all_wrong + 0.5) / (total + 1.0)
    rate = (wrong + _WORTH * overall) / (n + _WORTH)
    doubt = 1.0 / (all_wrong + 0.5) + 1.0 / (total - all_wrong + 0.5)
    return np.asarray(logit(rate)), doubt[:, 0]


def _most(n: FloatArray, weight: FloatArray) -> FloatArray:
    """Largest share that one other reader has in what is expected of each, shape (R,)."""
    heard = weight[:, None] * n
    whole = heard.sum(axis=1)
    each = n / (heard.sum(axis=0) - heard + _WORTH)
    overall = _WORTH * each.sum(axis=1) / np.maximum(whole.sum() - whole, 1.0)
    shares = each @ heard.T + np.outer(overall, whole)
    np.fill_diagonal(shares, 0.0)
    return np.asarray(shares.max(axis=1) / np.maximum(n.sum(axis=1), 1.0))


def _weights(counts: AtomCounts) -> FloatArray:
    """How much each reader counts in what is expected of the others, shape (R,)."""
    n, wrong = counts.effective.sum(axis=1), counts.effective_wrong.sum(axis=1)
    odds = np.log((wrong + 0.5) / (n - wrong + 0.5))
    error = 1.0 / (wrong + 0.5) + 1.0 / (n - wrong + 0.5)
    z = (odds - np.median(odds[n > 0])) / np.sqrt(_SIGMA**2 + error)
    return np.asarray(np.minimum((_TAIL + 1.0) / (_TAIL + z**2), 1.0))


def _fitted(n: FloatArray, wrong: FloatArray, base: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Posterior mode and variance of δ (R,), σ by EM."""
    delta, sigma = np.zeros(len(n)), _SIGMA
    variance = np.full(len(n), sigma**2)
    for _ in range(50):
        for _ in range(8):
            p = expit(base + delta[:, None])
            variance = 1.0 / ((n * p * (1.0 - p)).sum(axis=1) + sigma**-2)
            step = variance * ((wrong - n * p).sum(axis=1) - delta / sigma**2)
            delta = delta + np.clip(step, -1.0, 1.0)
        held = _SIGMA_WORTH * _SIGMA**2 + float((delta**2 + variance).sum())
        before, sigma = sigma, float(np.sqrt(held / (_SIGMA_WORTH + len(n))))
        if abs(np.log(sigma / before)) < 1e-3:
            break
    return delta, variance


def _judged(
    counts: AtomCounts,
    r: int,
    base: FloatArray,
    delta: float,
    error: float,
    settings: ProfileSettings,
) -> AtomJudgement:
    """Hold a reader's odds, e^δ times the others', against theirs."""
    n = counts.n[r]
    total = float(n.sum())
    if total <= 0:
        return _judgement(counts, r, state="too few")
    ends = delta + Z95 * error * np.array([0.0, -1.0, 1.0])
    rate = Interval(*(float(n @ expit(base + end)) / total for end in ends))
    more, less = (float(ndtr((side * delta - _MARGIN) / error)) for side in (1.0, -1.0))
    state: AtomState = "as others"
    if total < settings.least_uses:
        state = "too few"
    elif max(more, less) >= _SHOWN:
        state = "more often" if more > less else "less often"
    return replace(
        _judgement(counts, r, state=state, expected=float(n @ expit(base))),
        rate=rate,
        ratio=Interval(*np.exp(ends).tolist()),
        probability=more if delta > 0 else less,
    )


def _judgement(
    counts: AtomCounts, r: int, *, state: AtomState, expected: float = float("nan")
) -> AtomJudgement:
    """State counts, and what nobody else's rates can say of as missing."""
    total, wrong = float(counts.n[r].sum()), float(counts.wrong[r].sum())
    flip = not counts.positive_is_wrong
    return AtomJudgement(
        phrases=counts.phrases[r],
        n=total,
        positive=total - wrong if flip else wrong,
        expected=total - expected if flip else expected,
        wrong=wrong,
        expected_wrong=expected,
        rate=NOTHING,
        ratio=NOTHING,
        probability=float("nan"),
        state=state,
    )
