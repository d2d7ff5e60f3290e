"""The operating system's side of a model's process: start it, send, receive, end it, never hang.

The process gets a session of its own, so that what it starts ends with it, and none of our secrets:
variables whose name starts with ``RADCAL_`` are left out of its environment.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections import deque
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, Final

from extraction.engines.completer import Completion, Question, Reply
from extraction.engines.settings import LocalSettings
from extraction.errors import ModelOutageError

_BOOT: Final = "import sys; sys.path.append(sys.argv[1]); from model_process import main; main()"
_QUIET: Final = {"OMP_WAIT_POLICY": "PASSIVE"}
"""Threads that wait for work sleep: spinning costs a shared processor more than it computes."""
_LONGEST_LINE: Final = 16_000_000
_LINES_KEPT: Final = 60
_ERROR_LINES: Final = 3
_GRACE_SECONDS: Final = 10.0


class ChildEnded(Exception):
    """The process ended or broke the protocol; says how, without a word of a prompt."""


class Child:
    """One running process that holds a model."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._printed: deque[str] = deque(maxlen=_LINES_KEPT)
        self._keeps = True
        self._draining = asyncio.create_task(self._drain())
        self.facts: Mapping[str, object] = {}

    @classmethod
    async def start(cls, settings: LocalSettings) -> Child:
        """Start the process and wait until the model is loaded.

        Raises
        ------
        ModelOutageError
            If it cannot be; the message holds what the model's own libraries said.
        """
        environment = _QUIET | {k: v for k, v in os.environ.items() if not k.startswith("RADCAL_")}
        if settings.cards is not None:
            environment["CUDA_VISIBLE_DEVICES"] = ",".join(map(str, settings.cards))
        try:
            process = await asyncio.create_subprocess_exec(
                settings.python, "-I", "-c", _BOOT, Path(__file__).parent,
                stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE, limit=_LONGEST_LINE, start_new_session=True,
                env=environment,
            )  # fmt: skip
        except OSError as error:
            raise ModelOutageError(
                f"{settings.python} cannot be started ({error.strerror})."
            ) from None
        child = cls(process)
        try:
            await child._load(settings)
        except BaseException:
            await child.end()
            raise
        return child

    async def _load(self, settings: LocalSettings) -> None:
        self._write({field.name: getattr(settings, field.name) for field in fields(settings)})
        silence = settings.timeout_seconds
        try:
            message = await asyncio.wait_for(self.receive(), silence)
        except TimeoutError:
            self.kill()
            raise ModelOutageError(_unloaded(settings, f"not within {silence:g} s")) from None
        except ChildEnded as ended:
            await asyncio.wait({self._draining}, timeout=_GRACE_SECONDS)
            raise ModelOutageError(_unloaded(settings, self._last_words(str(ended)))) from None
        if "ready" not in message:
            why = self._last_words(f"{message.get('failed')}: {message.get('why')}")
            raise ModelOutageError(_unloaded(settings, why))
        self.facts = message["ready"]
        self._keeps = False
        self._printed.clear()

    def send(self, number: int, question: Question) -> None:
        """Send a question under a number; a process that has ended takes it silently."""
        self._write({"id": number, **asdict(question)})

    async def receive(self) -> dict[str, Any]:
        """Give the next message.

        Raises
        ------
        ChildEnded
            If there will be none.
        """
        output = self._process.stdout
        line = b"?"
        try:
            line = await output.readline() if output is not None else b""
            message = json.loads(line) if line else None
        except (ValueError, OSError):
            message = None
        if line and not isinstance(message, dict):
            self.kill()
        if not isinstance(message, dict):
            raise ChildEnded("it broke the protocol" if line else await self._how_it_ended())
        if "died" in message:
            raise ChildEnded(str(message["died"]))
        return message

    def kill(self) -> None:
        """End the process and all it started, now."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    async def end(self) -> None:
        """Let the process free its model and end; kill it if it takes its time."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            await asyncio.wait_for(self._process.wait(), _GRACE_SECONDS)
        except TimeoutError:
            pass
        finally:
            self.kill()
            await self._process.wait()
            await asyncio.wait({self._draining}, timeout=_GRACE_SECONDS)
            self._draining.cancel()

    def _write(self, message: dict[str, object]) -> None:
        if self._process.stdin is not None and not self._process.stdin.is_closing():
            self._process.stdin.write(json.dumps(message, default=str).encode() + b"\n")

    async def _drain(self) -> None:
        """Read what libraries print: kept while the model loads, else dropped."""
        shown = bool(os.environ.get("RADCAL_DEBUG"))
        printed = self._process.stderr
        while printed is not None:
            try:
                line = await printed.readline()
            except ValueError:
                continue
            if not line:
                return
            text = line.decode(errors="replace").rstrip()
            if self._keeps and text:
                self._printed.append(text)
            if shown:
                sys.stderr.write(text + "\n")

    async def _how_it_ended(self) -> str:
        try:
            code = await asyncio.wait_for(self._process.wait(), _GRACE_SECONDS)
        except TimeoutError:
            return "it broke off its answers"
        if code < 0:
            return f"killed by signal {-code} ({signal.strsignal(-code)})"
        return f"ended with code {code}"

    def _last_words(self, how: str) -> str:
        """Say how loading failed, with the last errors that were printed."""
        errors = [line for line in self._printed if "Error" in line or "error:" in line]
        return " | ".join([how, *errors[-_ERROR_LINES:]])


def answer_of(message: Mapping[str, Any]) -> Completion:
    """Turn a process's answer into a completion."""
    if message.get("refused"):
        return "request refused"
    prompt, cached, written = message["tokens"]
    return Reply(
        message["text"], bool(message["cut"]), prompt, cached, written, tuple(message["logprobs"])
    )


def _unloaded(settings: LocalSettings, why: str) -> str:
    return (
        f"the model {settings.model.name} could not be loaded by {settings.backend}: {why}. "
        "Check the folder, the environment of vllm_python, and whether the memory is free; "
        "RADCAL_DEBUG=1 shows what the engine prints."
    )
