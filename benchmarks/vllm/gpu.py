"""What one GPU can tell, in one go: run when one can be had, dry on a processor before.

Run: ``python benchmarks/vllm/gpu.py [--dry] [--structured] [--reports N]`` after ``make
install-vllm``. On a GPU the model has the shape of Llama-3-8B and made-up weights
(``load_format="dummy"``); ``--dry`` takes a tiny Llama on a processor, few reports, short answers
and few examples, so that every step but fp8 has run before the hour is paid for: in a minute and a
half of two idle cores. Prints, for
answers quoted by words and by number and for bf16 and fp8 keys and values: reports a second through
the engine and through bare vLLM on the same questions, their ratio (limit .85 on a GPU), tokens a
second, and the peak of the card's memory, which `memory_share` sets. Made-up weights fail every
answer, so each report is asked twice: the ratio and the tokens a second are to be believed, and
the reports a second are no trained model's.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path
from typing import Literal

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from extraction.engines.completer import Completion, Question
from extraction.engines.kinds import OfflineEngine
from extraction.engines.settings import LocalSettings, Precision
from extraction.prompt.forms import AnswerForm
from extraction.prompt.template import Manner

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "tests" / "fixtures" / "extraction"
PROMPTS = [ROOT / "extraction" / "prompt" / name for name in ("xr.toml", "ct.toml")]
BARE = Path(__file__).with_name("bare.py")
LIMIT, WARM_UP = 0.85, 16
QUOTED: tuple[Literal["words", "number"], ...] = ("words", "number")
CACHES: tuple[Precision, ...] = ("auto", "fp8")
ANSWERS = {"words": 104, "number": 46}
"""Tokens of an answer, since made-up weights never end one: the gold's mean and a third more."""

DRY_REPORTS, DRY_ANSWER, DRY_CONTEXT, DRY_WARM_UP = 6, 12, 3_072, 2


class Peak:
    """The most memory of the first card that was seen in use, in MiB; None without a card."""

    def __enter__(self) -> Peak:
        self.value: int | None = None
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        query = [
            "nvidia-smi",
            "-i",
            "0",
            "--query-gpu=memory.used",
            "--format=csv,noheader,nounits",
        ]
        while not self._ended.wait(1.0):
            try:
                done = subprocess.run(query, capture_output=True, text=True, check=True)
            except (OSError, subprocess.SubprocessError):
                return
            self.value = max(self.value or 0, int(done.stdout.split()[0]))


def texts(number: int) -> list[str]:
    """Give reports of the fixtures, no two alike."""
    lines = (FIXTURES / "gold_xr.jsonl").read_text(encoding="utf-8").splitlines()
    known = [json.loads(line)["text"] for line in lines]
    return [f"{known[n % len(known)]} Image {n}." for n in range(number)]


def model(python: Path, folder: Path, *, dry: bool) -> Path:
    """Make the model."""
    made = folder / "model"
    program = [python, "-I", FIXTURES / "tiny_llama.py", "tiny" if dry else "8b", made, *PROMPTS]
    subprocess.run(program, check=True, capture_output=True)
    return made


def pipeline(
    settings: LocalSettings, reports: int, warm_up: int
) -> tuple[list[Question], dict[str, float]]:
    """Read reports through the engine; give what was asked, and tokens and seconds."""
    with closing(OfflineEngine(settings)) as engine:
        asked: list[Question] = []
        complete = engine._process.complete

        def recorded(questions: Sequence[Question]) -> list[Completion]:
            asked.extend(questions)
            return complete(questions)

        engine._process.complete = recorded  # type: ignore[method-assign]
        given = texts(warm_up + reports)
        engine.extract(given[:warm_up], modality="XR")
        warmed, before = len(asked), asdict(engine.usage)
        engine.extract(given[warm_up:], modality="XR")
        after = asdict(engine.usage)
    names = {"seconds": "seconds", "written": "answer_tokens", "read": "prompt_tokens"}
    return asked, {"warmed": warmed} | {k: after[v] - before[v] for k, v in names.items()}


def bare(settings: LocalSettings, asked: list[Question], warmed: int) -> dict[str, float]:
    """Run the same questions through vLLM alone."""
    job = {
        "settings": asdict(settings),
        "questions": [asdict(question) for question in asked],
        "warm_up": warmed,
    }
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        file.write(json.dumps(job, default=str))
        file.flush()
        command = [settings.python, "-I", BARE, ROOT / "extraction" / "engines", file.name]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("RESULT "))
    return dict(json.loads(line.removeprefix("RESULT ")))


def measured(settings: LocalSettings, reports: int, *, dry: bool) -> dict[str, object]:
    """Read reports both ways."""
    with Peak() as peak:
        asked, ours = pipeline(settings, reports, DRY_WARM_UP if dry else WARM_UP)
        theirs = bare(settings, asked, int(ours["warmed"]))
    rates = [reports / found["seconds"] for found in (ours, theirs)]
    written = [found["written"] / found["seconds"] for found in (ours, theirs)]
    return {
        "quoted": settings.manner.form.quoted,
        "cache": settings.cache,
        "reports_per_second": round(rates[0], 2),
        "bare_reports_per_second": round(rates[1], 2),
        "ratio_of_written_tokens_per_second": round(written[0] / written[1], 3),
        "written_tokens_per_second": round(written[0], 1),
        "peak_memory_mib": peak.value,
    }


def main() -> None:
    """Measure every setting, one JSON line each."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--dry", action="store_true", help="a tiny model on a processor")
    arguments.add_argument("--structured", action="store_true", help="bind answers to the grammar")
    arguments.add_argument("--reports", type=int)
    arguments.add_argument("--python", type=Path, default=ROOT / ".venv-vllm" / "bin" / "python")
    given = arguments.parse_args()
    reports = given.reports or (DRY_REPORTS if given.dry else 4_000)
    with tempfile.TemporaryDirectory() as folder:
        plain = LocalSettings(
            backend="vllm",
            model=model(given.python, Path(folder), dry=given.dry),
            python=given.python,
            structured=given.structured,
            memory_share=0.15 if given.dry else 0.9,
            max_sequences=32 if given.dry else None,
            context_tokens=DRY_CONTEXT if given.dry else 8192,
            load_format="auto" if given.dry else "dummy",
        )
        for cache in CACHES[: 1 if given.dry else None]:
            for quoted in QUOTED:
                settings = replace(
                    plain, cache=cache, answer_tokens=DRY_ANSWER if given.dry else ANSWERS[quoted],
                    manner=Manner(form=AnswerForm(quoted)),
                )  # fmt: skip
                print(json.dumps(measured(settings, reports, dry=given.dry)), flush=True)
    print(f"limit: a ratio of {LIMIT} on a GPU; dry figures only show that every step runs")


if __name__ == "__main__":
    main()
