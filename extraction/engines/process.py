"""A model in a process of its own, under its own Python: started when first asked, one per object.

Questions of several threads join there, and each answer goes back to who asked. All that is known
of the process lives in one event loop on one thread, so nothing here waits for a lock. A process
that gives no sign of life for too long is killed. One that dies is started again; what it was busy
with is asked again few at a time, then one by one, so that a question that kills is found: it gets
no answer, and the others do. A model that dies again and again without an answer is given up.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from extraction.engines.child import Child, ChildEnded, answer_of
from extraction.engines.completer import Completion, LoopThread, Question, Usage, settled
from extraction.engines.settings import LocalSettings
from extraction.errors import ModelOutageError

_AT_ONCE: Final = (1_000_000, 8, 1)
"""Questions under way at once, by how often the process died over one that waits."""

_VAIN_STARTS: Final = 4
_LOOKS_PER_SILENCE: Final = 10


@dataclass(slots=True)
class _Pending:
    """A question, who waits for it, whether it is under way, and how often that was deadly."""

    question: Question
    answer: asyncio.Future[Completion]
    sent: bool = False
    deaths: int = 0


@dataclass(slots=True)
class _State:
    """What the event loop knows; nobody else touches it."""

    pending: dict[int, _Pending] = field(default_factory=dict)
    child: Child | None = None
    running: asyncio.Task[None] | None = None
    number: int = 0
    vain_starts: int = 0
    broken: str = ""
    heard: float = 0.0
    since: float = 0.0
    silent: bool = False


class ModelProcess:
    """Completes prompts with a model on this machine; see `extraction.engines.completer.Completer`.

    Parameters
    ----------
    settings
        Which model, and how it may be run.

    Notes
    -----
    `complete` raises `ModelOutageError` where the model cannot be loaded or was given up.
    """

    def __init__(self, settings: LocalSettings) -> None:
        self._settings = settings
        self._starting = threading.Lock()
        self._loop: LoopThread | None = None
        self._state = _State()
        self.usage = Usage()
        self.facts: dict[str, object] = {}

    @property
    def ill(self) -> bool:
        """Whether the model was given up."""
        return bool(self._state.broken)

    def complete(self, questions: Sequence[Question]) -> list[Completion]:
        """Answer questions, each in its place."""
        if not questions:
            return []
        with self._starting:
            self._loop = self._loop or LoopThread()
            future = self._loop.submit(self._complete(questions))
        return future.result()

    def close(self) -> None:
        """End the process; the next question starts another."""
        with self._starting:
            loop, self._loop = self._loop, None
        if loop is not None:
            loop.stop(self._end())
            self._state = _State()

    async def _complete(self, questions: Sequence[Question]) -> list[Completion]:
        if self._state.broken:
            raise ModelOutageError(self._state.broken)
        waiting = [self._note(question) for question in questions]
        self._feed()
        if self._state.running is None or self._state.running.done():
            self._state.running = asyncio.create_task(self._run())
        return await settled(waiting)

    def _note(self, question: Question) -> asyncio.Future[Completion]:
        state = self._state
        if not state.pending:
            state.heard = state.since = time.monotonic()
        state.number += 1
        pending = _Pending(question, asyncio.get_running_loop().create_future())
        state.pending[state.number] = pending
        return pending.answer

    def _feed(self) -> None:
        """Send what waits, the most suspect first, as many as may be under way at once."""
        state = self._state
        waiting = [(n, p) for n, p in state.pending.items() if not p.sent]
        if state.child is None or not waiting:
            return
        waiting.sort(key=lambda numbered: -numbered[1].deaths)
        most = _AT_ONCE[max(pending.deaths for pending in state.pending.values())]
        room = max(most - (len(state.pending) - len(waiting)), 0)
        for number, pending in waiting[:room]:
            state.child.send(number, pending.question)
            pending.sent = True

    async def _run(self) -> None:
        """Keep a process up as long as questions are under way."""
        while self._state.pending:
            try:
                child = await Child.start(self._settings)
            except ModelOutageError as error:
                self._give_up(str(error))
                return
            try:
                await self._listen(child)
            finally:
                self._state.child = None
                await child.end()

    async def _listen(self, child: Child) -> None:
        """Take a process's answers until it ends, and note what it left unanswered."""
        state, answered = self._state, self.usage.answered
        state.child, state.silent = child, False
        state.heard = state.since = time.monotonic()
        self.facts = dict(child.facts)
        self._feed()
        watch = asyncio.create_task(self._watch(child))
        try:
            while True:
                self._take(await child.receive())
        except ChildEnded as ended:
            vain = bool(state.pending) and self.usage.answered == answered
            state.vain_starts = state.vain_starts + 1 if vain else 0
            if state.vain_starts >= _VAIN_STARTS:
                how = "no sign of life" if state.silent else str(ended)
                self._give_up(
                    f"the model's process ended {state.vain_starts} times without an answer "
                    f"({how}). Nothing of this batch was kept; check the memory, then run again."
                )
            self._bury()
        finally:
            watch.cancel()

    async def _watch(self, child: Child) -> None:
        """Kill a process that is asked and gives no sign of life."""
        state, longest = self._state, self._settings.timeout_seconds
        while True:
            await asyncio.sleep(longest / _LOOKS_PER_SILENCE)
            if state.pending and time.monotonic() - state.heard > longest:
                state.silent = True
                child.kill()

    def _take(self, message: dict[str, Any]) -> None:
        self._state.heard = time.monotonic()
        if "counters" in message:
            self.usage.counters = dict(message["counters"])
        elif "id" in message:
            self._settle(int(message["id"]), answer_of(message))
            self._feed()

    def _settle(self, number: int, answer: Completion) -> None:
        state = self._state
        pending = state.pending.pop(number, None)
        if pending is None:
            return
        self.usage.add(pending.question, answer)
        if not state.pending:
            self.usage.seconds += time.monotonic() - state.since
        if not pending.answer.done():
            pending.answer.set_result(answer)

    def _bury(self) -> None:
        """Note over which questions the process died; give up one that has proved deadly."""
        for number, pending in list(self._state.pending.items()):
            pending.deaths += pending.sent
            pending.sent = False
            if pending.deaths >= len(_AT_ONCE):
                self._settle(number, "model stopped")

    def _give_up(self, why: str) -> None:
        self._state.broken = why
        for number, pending in list(self._state.pending.items()):
            if not pending.answer.done():
                pending.answer.set_exception(ModelOutageError(why))
            self._settle(number, "model stopped")

    async def _end(self) -> None:
        running = self._state.running
        if running is not None and not running.done():
            running.cancel()
            await asyncio.wait({running})
        for number in list(self._state.pending):
            self._settle(number, "model stopped")
