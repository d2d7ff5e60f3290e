"""What the pipeline costs on top of vLLM: its tokens per second beside the bare engine's.

Run: ``python benchmarks/extraction_model.py [--reports 400] [--structured]`` after
``make install-vllm``. On a GPU the model has the shape of Llama-3-8B and made-up weights
(``load_format="dummy"``); on a processor a tiny Llama stands in, so that the comparison is
exercised: its figures say little, because next to no time is spent in the model. Both sides get the
same prompts, the second questions after failed answers included, and are warmed up alike. Limit:
the pipeline reaches 85 % of the bare engine on a GPU.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from extraction.engines.completer import Completion, Question
from extraction.engines.kinds import OfflineEngine
from extraction.engines.settings import LocalSettings

ROOT = Path(__file__).resolve().parents[1]
FIXTURES = ROOT / "tests" / "fixtures" / "extraction"
PROMPTS = [ROOT / "extraction" / "prompt" / name for name in ("xr.toml", "ct.toml")]
ON_GPU = shutil.which("nvidia-smi") is not None
LIMIT = 0.85
ANSWER_TOKENS = 128
WARM_UP = 16
BARE = Path(__file__).parent / "vllm" / "bare.py"


def texts(number: int) -> list[str]:
    """Give reports of the fixtures, no two alike."""
    lines = (FIXTURES / "gold_xr.jsonl").read_text(encoding="utf-8").splitlines()
    known = [json.loads(line)["text"] for line in lines]
    return [f"{known[n % len(known)]} Image {n}." for n in range(number)]


def model(python: Path, folder: Path) -> Path:
    """Make the model that this machine can run."""
    made = folder / ("llama-3-8b-shape" if ON_GPU else "tiny-llama")
    shape = "8b" if ON_GPU else "tiny"
    program = [python, "-I", FIXTURES / "tiny_llama.py", shape, made, *PROMPTS]
    subprocess.run(program, check=True, capture_output=True)
    return made


def pipeline(
    settings: LocalSettings, reports: int, *, warm_up: int = WARM_UP
) -> tuple[list[Question], dict[str, float]]:
    """Read reports through the engine; give what was asked, and tokens and seconds."""
    with OfflineEngine(settings) as engine:
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


def main() -> None:
    """Measure both and print them side by side."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--reports", type=int, default=2000 if ON_GPU else 100)
    arguments.add_argument("--structured", action="store_true")
    arguments.add_argument("--python", type=Path, default=ROOT / ".venv-vllm" / "bin" / "python")
    given = arguments.parse_args()
    if not given.python.is_file():
        print("extraction_model: not run, no vLLM here; `make install-vllm` first")
        return
    with tempfile.TemporaryDirectory() as folder:
        settings = LocalSettings(
            backend="vllm",
            model=model(given.python, Path(folder)),
            python=given.python,
            structured=given.structured,
            answer_tokens=ANSWER_TOKENS,
            load_format="dummy" if ON_GPU else "auto",
        )
        asked, ours = pipeline(settings, given.reports)
        theirs = bare(settings, asked, int(ours["warmed"]))
    machine = "GPU, 8B shape, made-up weights" if ON_GPU else f"CPU ({os.cpu_count()} cores), tiny"
    print(f"extraction_model on {machine}; {given.reports} reports, structured={given.structured}")
    rates = {}
    for name, found in (("pipeline", ours), ("bare vLLM", theirs)):
        rates[name] = found["written"] / found["seconds"]
        print(
            f"  {name:<10} {found['read']:>10,.0f} tokens read {found['written']:>9,.0f} written "
            f"{found['seconds']:8.2f} s  {rates[name]:10,.1f} tokens/s written "
            f"{given.reports / found['seconds']:8.1f} reports/s"
        )
    ratio = rates["pipeline"] / rates["bare vLLM"]
    print(f"  ratio {ratio:.2f} (limit {LIMIT} on a GPU; on a CPU shown, not judged)")


if __name__ == "__main__":
    main()
