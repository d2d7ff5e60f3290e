"""A model tried before it is trusted: its tokens, its bounds, ten known answers, its speed.

Everything is asked through the engine that would read the reports. A trial is no measure of
quality: that is an audit on labelled reports.
"""

from __future__ import annotations

import time
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, cast

from extraction.engines.completer import Question, Reply
from extraction.engines.model import ModelEngine
from extraction.finding import Extracted, Failed, Modality
from extraction.prompt.template import MARK, estimated_tokens

NEEDED: Final = 8
"""Of ten known statements, those that must be read right."""

_MODALITIES: Final[tuple[Modality, ...]] = ("XR", "CT")
_PLAIN: Final = "FINDINGS: The lungs are clear."


@dataclass(frozen=True, slots=True)
class Known:
    """A report with one statement, and its answer."""

    modality: Modality
    text: str
    pathology: str
    phrase: str


@dataclass(frozen=True, slots=True)
class Tried:
    """One thing that was tried; ``passed=None`` where it could not be."""

    name: str
    passed: bool | None
    required: str
    found: str
    note: str = ""


def known() -> tuple[Known, ...]:
    """Give the ten reports."""
    file = Path(__file__).with_name("known.toml")
    rows = tomllib.loads(file.read_text(encoding="utf-8"))["report"]
    return tuple(Known(cast("Modality", m), text, name, phrase) for m, text, name, phrase in rows)


def trial(engine: ModelEngine, *, reports: int = 64) -> Iterator[Tried]:
    """Try a model, cheapest first.

    Parameters
    ----------
    engine
        As it would read the reports.
    reports
        How many reports the speed is measured on.
    """
    for modality in _MODALITIES:
        yield _tokens(engine, modality)
    yield _bound(engine)
    yield _same(engine)
    yield _ten(engine)
    yield _speed(engine, reports)


def _tokens(engine: ModelEngine, modality: Modality) -> Tried:
    """Count what a prompt really takes, against what it was thought to take."""
    asked = engine.question(_PLAIN, modality=modality)
    name = f"tokens of a prompt, {'X-ray' if modality == 'XR' else 'CT'}"
    if not isinstance(asked, Question):
        return _lost(name, "room for an example", "none", "raise context_tokens")
    (reply,) = engine.put([replace(asked, max_tokens=1, regex="", schema="")])
    if not isinstance(reply, Reply):
        return _lost(name, "an answer", reply, "the model gave none")
    estimate = estimated_tokens(asked.words)
    if not (found := reply.prompt_tokens):
        return Tried(name, None, f"at most {estimate:,}", "not said", "the server counts none")
    return Tried(name, found <= estimate, f"at most {estimate:,}, as thought", f"{found:,}")


def _bound(engine: ModelEngine) -> Tried:
    """Ask for what the model would not say of itself."""
    name, required = "answers bound to their grammar", "- none, or whole lines"
    asked = engine.question(_PLAIN, modality="XR")
    if not isinstance(asked, Question) or not (asked.regex or asked.schema):
        return Tried(name, None, required, "not asked for", "free answers fail more often")
    forced = replace(asked, prompt=asked.prompt and "Say hello.", turns=asked.turns and (
        ("user", "Say hello."),
    ))  # fmt: skip
    (reply,) = engine.put([replace(forced, max_tokens=200, temperature=1.0)])
    if not isinstance(reply, Reply):
        return _lost(name, required, reply, "the server refuses to bind answers")
    said = reply.text.strip().removesuffix(MARK).lstrip()
    held = said.startswith(("- none", '- "', "{")) or said[:3].strip("- ").isdigit()
    return Tried(name, held, required, "held" if held else "not held")


def _same(engine: ModelEngine) -> Tried:
    """Ask the same thing twice."""
    name = "the same question twice"
    asked = engine.question(_PLAIN, modality="XR")
    if not isinstance(asked, Question):
        return Tried(name, None, "one answer", "not asked")
    replies = engine.put([asked, asked])
    said = {reply.text for reply in replies if isinstance(reply, Reply)}
    if lost := [reply for reply in replies if not isinstance(reply, Reply)]:
        return _lost(name, "one answer", lost[0], "the model gave none")
    return Tried(name, len(said) == 1, "one answer", f"{len(said)} answer(s)")


def _ten(engine: ModelEngine) -> Tried:
    """Read ten reports whose answers are known."""
    right, failed = 0, 0
    for modality in _MODALITIES:
        some = [row for row in known() if row.modality == modality]
        answers = engine.answers([row.text for row in some], modality=modality)
        for row, answer in zip(some, answers, strict=True):
            outcome = answer.outcome
            findings = outcome.findings if isinstance(outcome, Extracted) else ()
            right += (row.pathology, row.phrase) in {(f.pathology, f.phrase) for f in findings}
            failed += isinstance(outcome, Failed)
    return Tried(
        "ten statements with known answers",
        right >= NEEDED,
        f"at least {NEEDED} right",
        f"{right} right, {failed} failed",
        "no measure of quality: audit it on labelled reports",
    )


def _speed(engine: ModelEngine, reports: int) -> Tried:
    """Read reports, none alike, and say what a million would take."""
    rows = [row for row in known() if row.modality == "XR"]
    texts = [f"{rows[n % len(rows)].text} Film {n}." for n in range(reports)]
    began = time.perf_counter()
    answers = engine.answers(texts, modality="XR")
    seconds = time.perf_counter() - began
    failed = sum(isinstance(answer.outcome, Failed) for answer in answers)
    days = seconds / reports * 1e6 / 86_400
    return Tried(
        "speed",
        failed < reports,
        "answers",
        f"{reports / seconds:,.1f} reports/s, {failed} of {reports} failed",
        f"a million such reports, of one sentence, take {days:,.1f} days; real ones longer",
    )


def _lost(name: str, required: str, found: str, note: str) -> Tried:
    return Tried(name, passed=False, required=required, found=found, note=note)
