"""What asking a server costs, and how full its hands are kept.

Run: ``python benchmarks/extraction_server.py [--clients]``. A server in a process of its own
answers X-ray reports after latencies drawn from a lognormal distribution (mean 1.3 s, sigma .6 of
the logarithm) with the rules' own findings written as a model would. Limits: at 16 and at 256
questions at once, 1.5 ms of CPU a report for everything this side does (prompt, HTTP, reading,
grounding, holding against the vocabulary), and 90 % of the questions allowed at once under way
until the last is put.

``--clients`` asks for instant answers through httpx and through aiohttp, and says what a question
costs, and how much of that httpx's pool takes: at every request and every reply it looks through
all its connections, so that its cost grows with the questions under way. aiohttp, which the engine
uses, keeps idle connections by address and finds one at once.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import multiprocessing
import os
import random
import time
from collections.abc import Awaitable, Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TypeAlias

import aiohttp
import httpcore
import httpx

from extraction.engines.kinds import ServerEngine
from extraction.engines.prompted import Asked, PromptedReader
from extraction.engines.settings import ServerSettings
from extraction.finding import OTHER, Extracted, Outcome
from extraction.prompt.examples import NONE, Line, written
from extraction.rules.engine import RuleEngine

GOLD = Path(__file__).resolve().parents[1] / "tests" / "fixtures" / "extraction" / "gold_xr.jsonl"
MEAN_SECONDS, SIGMA = 1.3, 0.6
LIMIT_MS, LIMIT_OCCUPANCY = 1.5, 0.9
RUNS = ((16, 400), (256, 6_000))
QUESTIONS, QUESTION = 1_500, b"x" * 8_000


class Seat(asyncio.Protocol):
    """One connection; counts the seconds for which questions are under way."""

    answers: dict[str, bytes] = {}  # noqa: RUF012 (set for each run)
    allowed: int
    seconds_busy = 0.0
    under_way = 0
    changed = 0.0
    began = 0.0
    left = 0
    rng = random.Random(0)  # noqa: S311 (latencies, no secrets)
    ended: asyncio.Event

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self.transport = transport
        self.got = b""

    def data_received(self, data: bytes) -> None:
        """Answer every whole request after a while."""
        self.got += data
        while (end := self.got.find(b"\r\n\r\n")) >= 0:
            head, rest = self.got[:end], self.got[end + 4 :]
            length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0] or 0)
            if len(rest) < length:
                return
            self.got = rest[length:]
            if head.startswith(b"GET"):
                self.send(b'{"object": "list", "data": []}')
                continue
            self.count(1)
            if not self.answers:
                self.reply(b'{"choices": [{"text": "- none"}]}')
                continue
            prompt = json.loads(rest[:length])["prompt"]
            body = self.answers[prompt.rsplit("###", 1)[1].split(" Film ", 1)[0]]
            latency = self.rng.lognormvariate(math.log(MEAN_SECONDS) - SIGMA**2 / 2, SIGMA)
            asyncio.get_running_loop().call_later(latency, self.reply, body)

    def reply(self, body: bytes) -> None:
        """Send one answer."""
        self.count(-1)
        self.send(body)

    def send(self, body: bytes) -> None:
        """Write one response."""
        head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
        self.transport.write(head.encode() + b"\r\n\r\n" + body)  # type: ignore[attr-defined]

    @classmethod
    def count(cls, change: int) -> None:
        """Add up the questions under way until the last one has come."""
        now = time.monotonic()
        if not cls.began:
            cls.began = cls.changed = now
        if cls.left > 0:
            cls.seconds_busy += cls.under_way * (now - cls.changed)
            cls.changed = now
        cls.under_way += change
        cls.left -= change > 0


def serve(pipe: Connection) -> None:
    """Serve one run after the other; each ends when its figures are asked for."""

    async def run() -> None:
        server = await asyncio.get_running_loop().create_server(Seat, "127.0.0.1", 0)
        pipe.send(server.sockets[0].getsockname()[1])
        while (job := await asyncio.to_thread(pipe.recv)) is not None:
            Seat.answers, Seat.left = job["answers"], job["reports"]
            Seat.seconds_busy = Seat.began = 0.0
            pipe.send("ready")
            await asyncio.to_thread(pipe.recv)
            pipe.send(Seat.seconds_busy / (Seat.changed - Seat.began))

    asyncio.run(run())


def said(outcome: Outcome, text: str) -> str:
    """Write the rules' findings as a model would."""
    if not isinstance(outcome, Extracted):
        return NONE + "\n"
    lines = (Line(text[f.start : f.end], f.pathology, f.phrase or OTHER) for f in outcome.findings)
    return "".join(f"{written(line)}\n" for line in lines)


def answers(texts: list[str]) -> dict[str, bytes]:
    """Give the right answer to each report, by the end of its prompt."""
    reader = PromptedReader(context_tokens=8192, answer_tokens=1536)
    found = {}
    for text, outcome in zip(texts, RuleEngine().extract(texts, modality="XR"), strict=True):
        asked = reader.ask(f"{text} Film 0.", modality="XR")
        if isinstance(asked, Asked):
            choice = {"text": said(outcome, text), "finish_reason": "stop"}
            end = asked.question.prompt.rsplit("###", 1)[1].split(" Film ", 1)[0]
            found[end] = json.dumps({"choices": [choice]}).encode()
    return found


Ask: TypeAlias = Callable[[], Awaitable[object]]


async def costs(ask: Ask, allowed: int) -> float:
    """Put questions through so many workers, their connections warm; give ms of CPU for each."""

    async def work(each: Iterator[int]) -> None:
        for _ in each:
            await ask()

    for number in (allowed, QUESTIONS):
        began, left = time.process_time(), iter(range(number))
        await asyncio.gather(*(work(left) for _ in range(allowed)))
    return 1000 * (time.process_time() - began) / QUESTIONS


async def by_httpx(url: str, allowed: int) -> float:
    """Ask through httpx."""
    limits = httpx.Limits(max_connections=allowed, max_keepalive_connections=allowed)
    async with httpx.AsyncClient(limits=limits, trust_env=False) as client:
        return await costs(lambda: client.post(url, content=QUESTION), allowed)


async def by_aiohttp(url: str, allowed: int) -> float:
    """Ask through aiohttp."""
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=allowed)) as session:

        async def ask() -> None:
            async with session.post(url, data=QUESTION) as response:
                await response.read()

        return await costs(ask, allowed)


def clients(url: str) -> None:
    """Print what both clients cost, and what of it httpx's pool takes."""
    spent = 0.0
    assign = httpcore.AsyncConnectionPool._assign_requests_to_connections

    def timed(pool: httpcore.AsyncConnectionPool) -> object:
        nonlocal spent
        began = time.process_time()
        try:
            return assign(pool)
        finally:
            spent += time.process_time() - began

    httpcore.AsyncConnectionPool._assign_requests_to_connections = timed  # type: ignore[method-assign]
    for allowed in (16, 64, 256):
        spent = 0.0
        theirs, ours = asyncio.run(by_httpx(url, allowed)), asyncio.run(by_aiohttp(url, allowed))
        pool = 1000 * spent / (QUESTIONS + allowed)
        print(
            f"  {allowed:>3} at once: httpx {theirs:5.2f} ms CPU a question, {pool:5.2f} of them "
            f"its pool; aiohttp {ours:5.2f} ms; ratio {theirs / ours:.0f}"
        )


def main() -> None:
    """Measure each number of questions at once."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--clients", action="store_true", help="httpx beside aiohttp")
    given = arguments.parse_args()
    known = [json.loads(line)["text"] for line in GOLD.read_text(encoding="utf-8").splitlines()]
    ours, theirs = multiprocessing.Pipe()
    context = multiprocessing.get_context("spawn")
    process = context.Process(target=serve, args=(theirs,), daemon=True)
    process.start()
    port = ours.recv()
    if given.clients:
        print(f"extraction_server --clients on {os.cpu_count()} cores; instant answers")
        clients(f"http://127.0.0.1:{port}/v1/completions")
        process.terminate()
        return
    print(
        f"extraction_server on {os.cpu_count()} cores; latencies lognormal, mean {MEAN_SECONDS} s"
    )
    for allowed, number in RUNS:
        texts = [f"{known[n % len(known)]} Film {n}." for n in range(number)]
        ours.send({"answers": answers(known), "reports": number})
        ours.recv()
        settings = ServerSettings(url=f"http://127.0.0.1:{port}", model="m", concurrency=allowed)
        engine = ServerEngine(settings)
        cpu, wall = time.process_time(), time.monotonic()
        outcomes = engine.extract(texts, modality="XR")
        cpu, wall = time.process_time() - cpu, time.monotonic() - wall
        ours.send("done")
        occupancy = ours.recv() / allowed
        failed = sum(type(outcome).__name__ == "Failed" for outcome in outcomes)
        print(
            f"  {allowed:>3} at once: {1000 * cpu / number:5.2f} ms CPU a report "
            f"(limit {LIMIT_MS}), occupancy {occupancy:.3f} (limit {LIMIT_OCCUPANCY}), "
            f"{number / wall:6.1f} reports/s over {wall:.1f} s, {failed} of {number} failed"
        )
    ours.send(None)
    process.join()


if __name__ == "__main__":
    main()
