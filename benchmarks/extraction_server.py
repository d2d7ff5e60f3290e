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
from typing import Any, TypeAlias

import aiohttp
import httpcore
import httpx
from aiohttp import web

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
INSTANT = b'{"choices": [{"text": "- none"}]}'


class Busy:
    """The seconds for which questions are under way, until the last of a run has come."""

    def __init__(self, reports: int) -> None:
        self.seconds, self.under_way, self.left = 0.0, 0, reports
        self.began = self.changed = 0.0

    def count(self, change: int) -> None:
        """Note that a question has come or was answered."""
        now = time.monotonic()
        self.began, self.changed = self.began or now, self.changed or now
        if self.left > 0:
            self.seconds += self.under_way * (now - self.changed)
            self.changed = now
        self.under_way += change
        self.left -= change > 0


def serve(pipe: Connection) -> None:
    """Serve one run after the other; each ends when its figures are asked for."""
    job: dict[str, Any] = {"answers": {}, "busy": Busy(0)}
    rng = random.Random(0)  # noqa: S311 (latencies, no secrets)

    async def listed(_: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": []})

    async def complete(request: web.Request) -> web.Response:
        asked, busy, body = await request.read(), job["busy"], INSTANT
        busy.count(1)
        if job["answers"]:
            prompt = json.loads(asked)["prompt"]
            body = job["answers"][prompt.rsplit("###", 1)[1].split(" Film ", 1)[0]]
            mean = math.log(MEAN_SECONDS) - SIGMA**2 / 2
            await asyncio.sleep(rng.lognormvariate(mean, SIGMA))
        busy.count(-1)
        return web.Response(body=body, content_type="application/json")

    async def run() -> None:
        app = web.Application()
        app.add_routes([web.get("/v1/models", listed), web.post("/v1/completions", complete)])
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0, backlog=512).start()
        pipe.send(runner.addresses[0][1])
        while (asked := await asyncio.to_thread(pipe.recv)) is not None:
            job.update(answers=asked["answers"], busy=Busy(asked["reports"]))
            pipe.send("ready")
            await asyncio.to_thread(pipe.recv)
            busy = job["busy"]
            pipe.send(busy.seconds / (busy.changed - busy.began))

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
            end = asked.prompt.rsplit("###", 1)[1].split(" Film ", 1)[0]
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
    async with httpx.AsyncClient(limits=limits, timeout=60, trust_env=False) as client:
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
