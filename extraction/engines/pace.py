"""How many questions a server is asked at once: more as long as more are answered for it.

The number starts at sixteen. Whenever enough answers came while questions waited, their rate is
compared with the rate at the last, smaller number. Where it rose by a tenth or more the number
grows by half; else it goes back and rests for a while. A server that says it is busy lowers it.
A number that was set stays as it is.
"""

from __future__ import annotations

import math
from typing import Final

__all__ = ["CEILING", "START", "Pace"]

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
