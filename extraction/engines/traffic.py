"""The questions under way to one server: who waits, who is put, what is tried again, when to stop.

All of it lives in one event loop. Questions of several blocks stand in one line, so that the slow
last answers of one block do not leave the server idle. Three things end the waiting early:

- a server that lets nobody in (401, 403, 404) at its first answer;
- silence: nothing arrived for too long while questions were under way. Then the server is looked
  at, and if it answers that, one question is tried alone; only its answer opens the line again;
- three questions in a row that failed for good: each further one gets one attempt without a pause.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from extraction.engines.completer import Completion, Question, Reply, settled
from extraction.engines.health import VAIN_TRIALS, Health, Pace
from extraction.engines.link import Link, Setback
from extraction.engines.settings import ServerSettings
from extraction.errors import ModelOutageError, ModelRefusedError
from extraction.finding import FailureReason

_LOOKS_PER_SILENCE: Final = 10


@dataclass(slots=True)
class _Job:
    """A question, who waits for it, how often it was put in vain and lost in a silence."""

    question: Question
    answer: asyncio.Future[Completion]
    attempts: int = 0
    silences: int = 0


class Traffic:
    """Puts questions through a link, as many at once as the server takes.

    Parameters
    ----------
    settings
        How hard the server may be asked.

    Attributes
    ----------
    pace
        How many questions may be under way; outlives connections.
    said
        Status and words of the last refusal; "" if there was none.
    """

    def __init__(self, settings: ServerSettings) -> None:
        self._settings = settings
        self._link = Link(settings)
        self._health = Health(settings)
        self._waiting: deque[_Job] = deque()
        self._under_way: dict[asyncio.Task[None], _Job] = {}
        self._watching: asyncio.Task[None] | None = None
        self._broken: ModelOutageError | None = None
        self.pace = Pace(settings.concurrency)
        self.said = ""

    @property
    def ill(self) -> bool:
        """Whether the last questions failed for good, one after the other."""
        return self._health.ill

    async def open(self) -> None:
        """Make ready to ask; the first time, look at what is served."""
        self._link.open()
        if not self._health.looked:
            self._health.looked = True
            await self._look()

    async def close(self) -> None:
        """Close every connection."""
        await self._link.close()

    async def answers(self, questions: Sequence[Question]) -> list[Completion]:
        """Answer questions, each in its place.

        Raises
        ------
        ModelOutageError
            If the server lets nobody in, or was silent again after it was tried.
        """
        if self._broken is not None:
            raise self._broken
        loop = asyncio.get_running_loop()
        jobs = [_Job(question, loop.create_future()) for question in questions]
        self._waiting.extend(jobs)
        if not self._under_way:
            self._health.begins()
        if self._watching is None or self._watching.done():
            self._watching = asyncio.create_task(self._watch())
        if self._health.trial and not self._under_way:
            await self._try_again()
        self._fill()
        return await settled(job.answer for job in jobs)

    async def _look(self) -> None:
        """Look at the server before the first question."""
        found = await self._link.look()
        if isinstance(found, Setback):
            if found.kind == "closed to us":
                self._break(self._refused(found))
            self._health.trial = found.reason == "timed out"
        elif problem := found.problem(self._settings):
            self._break(ModelRefusedError(f"{self._place}: {problem}."))

    def _fill(self) -> None:
        """Put as many of those that wait as may be under way."""
        pause = self._health.held_seconds
        if pause > 0:
            asyncio.get_running_loop().call_later(pause, self._fill)
            return
        allowed = 1 if self._health.trial else self.pace.limit
        while self._waiting and len(self._under_way) < allowed:
            job = self._waiting.popleft()
            task = asyncio.create_task(self._serve(job))
            self._under_way[task] = job
            task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._under_way.pop(task, None)
        if self._broken is None:
            self._fill()

    async def _serve(self, job: _Job) -> None:
        """Put one question until it is answered, fails for good, or has to wait for its turn."""
        while True:
            put = time.monotonic()
            result = await self._link.ask(job.question)
            if isinstance(result, Reply):
                self._answered(job, result, time.monotonic() - put)
                return
            pause = self._after(job, result)
            if pause is None:
                return
            await asyncio.sleep(pause)

    def _answered(self, job: _Job, reply: Reply, seconds: float) -> None:
        self._health.answered(seconds)
        self.pace.answered(time.monotonic(), waiting=bool(self._waiting))
        _settle(job, reply)

    def _after(self, job: _Job, setback: Setback) -> float | None:
        """Say what follows a setback: the pause before the next attempt, or None for no more."""
        health = self._health
        if setback.reason != "timed out":
            health.heard = time.monotonic()
        self.said = setback.words or self.said
        if setback.kind == "closed to us" and not health.proven:
            self._break(self._refused(setback))
            return None
        if setback.kind == "busy" and health.patient():
            self._hold(job, setback.pause_seconds or 0.0)
            return None
        job.attempts += 1
        if setback.kind == "refused":
            _settle(job, setback.reason)
            return None
        last = job.attempts >= self._settings.attempts or self.ill or setback.reason == "timed out"
        if not last:
            return health.pause(job.attempts, setback.pause_seconds)
        if setback.kind == "closed to us":
            self._break(self._refused(setback))
        else:
            self._fail(job, setback.reason)
        return None

    def _fail(self, job: _Job, reason: FailureReason) -> None:
        """Give a question up; a trial that fails takes those that wait with it."""
        self._health.failures += 1
        _settle(job, reason)
        if self._health.trial:
            self._vain(reason)

    def _hold(self, job: _Job, seconds: float) -> None:
        """Let everybody wait as long as a busy server asks; nobody's attempt is counted."""
        if self._health.hold(seconds):
            self.pace.refused()
        self._waiting.appendleft(job)

    async def _watch(self) -> None:
        """Notice silence while questions are under way."""
        while self._waiting or self._under_way:
            await asyncio.sleep(self._health.longest_silence / _LOOKS_PER_SILENCE)
            if self._under_way and self._health.silent:
                await self._fell_silent()

    async def _fell_silent(self) -> None:
        """Take back what is under way, and find out whether the server is still there."""
        self._health.trial = True
        lost = list(self._under_way.items())
        self._under_way.clear()
        for task, job in reversed(lost):
            task.cancel()
            job.silences += 1
            if job.silences < VAIN_TRIALS:
                self._waiting.appendleft(job)
            else:
                _settle(job, "timed out")
        await self._try_again()
        self._fill()

    async def _try_again(self) -> None:
        """Look at a server that was silent; without a sign of it nobody needs to wait."""
        if isinstance(found := await self._link.look(), Setback):
            self._vain(
                "server unreachable" if found.reason == "server unreachable" else "timed out"
            )

    def _vain(self, reason: FailureReason) -> None:
        """Fail all who wait for a server that was tried in vain; the second time, give it up."""
        self._health.vain_trials += 1
        if self._health.vain_trials >= VAIN_TRIALS:
            msg = (
                f"{self._place}: no answer for {self._settings.silence_seconds:g} s and longer, "
                f"and none to {VAIN_TRIALS} trials after that ({reason}). Nothing of this batch "
                "was kept; look at the server, then run again. A server that is slow, not hung, "
                "needs a longer server_silence_seconds or fewer questions at once."
            )
            self._break(ModelOutageError(msg))
        while self._waiting:
            self._health.failures += 1
            _settle(self._waiting.popleft(), reason)

    def _refused(self, setback: Setback) -> ModelRefusedError:
        return ModelRefusedError(
            f"{self._place} lets nobody in or does not know what it was asked for: "
            f"{setback.words}. Nothing more was asked; check its address, the model's name and "
            "RADCAL_SERVER_KEY, then run again."
        )

    def _break(self, error: ModelOutageError) -> None:
        """End everything with an error."""
        self._broken = error
        for job in [*self._waiting, *self._under_way.values()]:
            if not job.answer.done():
                job.answer.set_exception(error)
        self._waiting.clear()
        current = asyncio.current_task()
        for task in list(self._under_way):
            if task is not current:
                task.cancel()

    @property
    def _place(self) -> str:
        return f"extraction server {self._settings.url}"


def _settle(job: _Job, answer: Completion) -> None:
    if not job.answer.done():
        job.answer.set_result(answer)
