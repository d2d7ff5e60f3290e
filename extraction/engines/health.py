"""How a server fares, and how many questions it is asked at once.

Silence is the time in which nothing at all arrived while questions were under way. How much of it
is too much grows with the slowest reply seen, so that a slow server is not taken for a hung one.

The number of questions starts at sixteen. Whenever enough answers came while questions waited,
their rate is compared with the rate at the last, smaller number. Where it rose by a tenth or more
the number grows by half; else it goes back and rests for a while. A server that says it is busy
lowers it. A number that was set stays as it is.
"""

from __future__ import annotations

import math
import secrets
import time
from dataclasses import dataclass
from typing import Final

from extraction.engines.settings import ServerSettings

LONGEST_BUSY: Final = 600.0
"""Seconds for which a server may say that it is busy before its questions fail."""

VAIN_TRIALS: Final = 2
"""Trials without an answer after which a silent server is given up."""

_ILL_AFTER: Final = 3
_LONGEST_PAUSE: Final = 30.0
_SLOWEST_TIMES: Final = 4.0


@dataclass(slots=True)
class Health:
    """One server, as its questions fared.

    Attributes
    ----------
    settings
        How patient to be.
    looked, proven
        Whether it was looked at, and whether it ever answered a question.
    failures
        Questions that failed for good, one after the other.
    trial, vain_trials
        Whether it was silent and has not answered since; trials without an answer.
    heard, slowest
        When something last arrived, and the seconds of the slowest reply.
    held_until, busy_since
        Until when nothing is put, and since when it says it is busy.
    """

    settings: ServerSettings
    looked: bool = False
    proven: bool = False
    failures: int = 0
    trial: bool = False
    vain_trials: int = 0
    heard: float = 0.0
    slowest: float = 0.0
    held_until: float = 0.0
    busy_since: float | None = None

    @property
    def ill(self) -> bool:
        """Whether it was silent, or the last questions failed for good."""
        return self.trial or self.failures >= _ILL_AFTER

    @property
    def longest_silence(self) -> float:
        """Seconds in which something has to arrive."""
        return max(self.settings.silence_seconds, _SLOWEST_TIMES * self.slowest)

    @property
    def silent(self) -> bool:
        """Whether nothing arrived for too long; a trial has the time of a reply instead."""
        return not self.trial and time.monotonic() - self.heard > self.longest_silence

    @property
    def held_seconds(self) -> float:
        """Seconds for which nothing is to be put; at most 0 if something may be."""
        return self.held_until - time.monotonic()

    def answered(self, seconds: float) -> None:
        """Take note of a reply that took so long."""
        self.heard, self.busy_since = time.monotonic(), None
        self.slowest = max(self.slowest, seconds)
        self.proven, self.failures, self.trial, self.vain_trials = True, 0, False, 0

    def begins(self) -> None:
        """Take note that questions are put after a time without any."""
        self.heard = max(self.heard, time.monotonic())

    def patient(self) -> bool:
        """Whether a server that says it is busy has not said only that for too long."""
        now = time.monotonic()
        self.busy_since = now if self.busy_since is None else self.busy_since
        return now - self.busy_since < LONGEST_BUSY

    def hold(self, seconds: float) -> bool:
        """Put nothing for as long as a busy server asks; say whether it is the first to ask."""
        first = self.held_seconds <= 0
        jitter = _drawn(self.settings.backoff_seconds)
        until = time.monotonic() + min(seconds, LONGEST_BUSY) + jitter
        self.held_until = max(self.held_until, until)
        self.heard = max(self.heard, self.held_until)
        return first

    def pause(self, attempt: int, asked_seconds: float | None) -> float:
        """Give the seconds before another attempt, drawn at random, or as the server asks."""
        drawn = _drawn(min(self.settings.backoff_seconds * 2 ** (attempt - 1), _LONGEST_PAUSE))
        return drawn if asked_seconds is None else min(asked_seconds + drawn, _LONGEST_PAUSE)


def _drawn(longest: float) -> float:
    return secrets.SystemRandom().uniform(longest / 2, longest)


START: Final = 16
"""Questions at once, before anything is known of the server."""

CEILING: Final = 512
"""Most questions at once."""

_GROWTH: Final = 1.5
_GAIN: Final = 1.1
_ROUNDS: Final = 2
_REST: Final = 20
_RETREAT: Final = 0.7


class Pace:
    """The number of questions at once.

    Parameters
    ----------
    fixed
        A number that does not change; None to adapt.

    Attributes
    ----------
    limit
        Questions that may be under way now.
    """

    def __init__(self, fixed: int | None = None) -> None:
        self._fixed = fixed is not None
        self.limit = fixed or START
        self._lower: tuple[int, float] | None = None
        self._counted = -self.limit
        self._since = 0.0
        self._rest = 0

    def answered(self, now: float, *, waiting: bool) -> None:
        """Take note of an answer.

        Parameters
        ----------
        now
            Seconds on any clock that never goes back.
        waiting
            Whether questions waited for their turn; only then the rate says what the server takes.
        """
        if self._fixed:
            return
        if not waiting:
            self._restart()
            return
        if self._counted < 0:  # answers to questions that were put before the number changed
            self._counted += 1
            self._since = now
            return
        self._counted += 1
        if self._counted >= _ROUNDS * self.limit:
            self._judge(self._counted / max(now - self._since, 1e-9))

    def refused(self) -> None:
        """Take note that the server said it was busy."""
        if not self._fixed:
            self._change(max(1, int(self.limit * _RETREAT)))
            self._lower, self._rest = None, _REST

    def _judge(self, rate: float) -> None:
        if self._rest:
            self._rest -= 1
            self._restart()
        elif self._lower is None or rate >= _GAIN * self._lower[1]:
            self._lower = self.limit, rate
            self._change(min(CEILING, math.ceil(self.limit * _GROWTH)))
        else:
            self._change(self._lower[0])
            self._lower, self._rest = None, _REST

    def _change(self, limit: int) -> None:
        self.limit = limit
        self._restart()

    def _restart(self) -> None:
        self._counted = -self.limit
