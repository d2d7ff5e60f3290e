"""``radcal model check``: whether a language model is fit to read, before it reads anything."""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import typer

from extraction.engines.weights import has_chat_template, revision, weight_digests, weight_files
from pipeline.cli.common import Output, group, option, taking
from pipeline.cli.extraction_shared import (
    ModelChoice,
    VocabularyOption,
    closing_model,
    named_engine,
)
from pipeline.errors import ConfigurationError, GateFailedError
from pipeline.store.files import write_whole

if TYPE_CHECKING:
    from extraction.audit.trial import Tried

_DRIVER: Final = 580
_LICENCES: Final = ("LICENSE*", "LICENCE*", "license*", "USE_POLICY*", "NOTICE*")
_QUERY: Final = (
    "nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader,nounits",
)  # fmt: skip


def register(app: typer.Typer) -> None:
    """Add ``radcal model``."""
    model = group("Language models that read reports.")
    model.command("check")(taking(check))
    app.add_typer(model, name="model")


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckGiven:
    """Options of ``radcal model check``."""

    engine: str = option("vllm", "vllm, transformers or server.")
    choice: ModelChoice
    vocabulary: VocabularyOption = None
    reports: int = option(64, "Reports to measure the speed on.", min=1)
    out: Path | None = option(None, "Also write the JSON here.")
    pdf: Path | None = option(None, "Also draw the page here.")
    output: Output


def check(given: CheckGiven) -> None:
    """Try a model: machine, folder, tokens, grammar, ten known answers, speed; go or no-go.

    Exit code 4 is no-go. It is no measure of quality: see ``radcal audit extraction``.
    """
    from extraction.audit.trial import trial

    if given.engine == "rules" or given.choice.guided:
        said = "--guided lets the rules read" if given.choice.guided else "--engine rules"
        raise ConfigurationError(
            f"{said}: there is no model to check; use vllm, transformers or server alone."
        )
    engine = named_engine(given.engine, given.choice, vocabulary=given.vocabulary)
    tried: list[Tried] = []
    digests: dict[str, str] = {}
    with closing_model(engine):
        if given.engine in ("vllm", "transformers"):
            digests = weight_digests(Path(str(given.choice.model)))
            tried += [*_machine(), *_folder(Path(str(given.choice.model)), digests)]
        tried += trial(engine, reports=given.reports)  # type: ignore[arg-type]
    failed = [each for each in tried if each.passed is False]
    named = f"{engine.name} {engine.version}"
    checks = [asdict(each) for each in tried]
    content = {"model": named, "go": not failed, "weights": digests, "checks": checks}
    if given.out is not None:
        write_whole(given.out, f"{json.dumps(content, indent=2)}\n".encode())
    if given.pdf is not None:
        _draw(given.pdf, named, tried)
    given.output.show(content, _lines(content, tried))
    if failed:
        names = "; ".join(f"{each.name}: {each.found}" for each in failed)
        raise GateFailedError(f"no go: {len(failed)} of {len(tried)} checks did not pass: {names}.")


def _lines(content: Mapping[str, object], tried: list[Tried]) -> Iterator[str]:
    yield f"{content['model']}: {'go' if content['go'] else 'no go'}"
    states = {True: "passed", False: "FAILED", None: "not tried"}
    for each in tried:
        note = f"  ({each.note})" if each.note else ""
        yield f"  {states[each.passed]:<10} {each.name}: {each.found}{note}"


def _machine() -> Iterator[Tried]:
    """Say which GPUs there are; without one a model is computed on the processor, slowly.

    A driver that is there and does not answer is a check that failed, not a machine without a GPU.
    """
    from extraction.audit.trial import Tried

    required = f"driver {_DRIVER} for CUDA 13"
    try:
        done = subprocess.run(  # noqa: S603 (a fixed command, no argument of anybody's)
            _QUERY, capture_output=True, text=True, timeout=30, check=True
        )
    except FileNotFoundError:
        yield Tried("GPU and driver", None, required, "none seen", "reads on a processor")
        return
    except (OSError, subprocess.SubprocessError) as error:
        code = getattr(error, "returncode", None)
        said = type(error).__name__ if code is None else f"exit code {code}"
        yield Tried("GPU and driver", False, required, f"{_QUERY[0]} gives no answer ({said})")
        return
    for line in done.stdout.splitlines():
        name, driver, memory = (cell.strip() for cell in line.rsplit(",", 2))
        major = driver.partition(".")[0]
        held = f"{int(memory):,} MiB" if memory.isdigit() else "memory not told"
        fits = major.isdigit() and int(major) >= _DRIVER
        yield Tried("GPU and driver", fits, required, f"{name}, driver {driver}, {held}")


def _folder(model: Path, digests: Mapping[str, str]) -> Iterator[Tried]:
    """Say what the folder holds: revision and digest of the weights, their size, licence."""
    from extraction.audit.trial import Tried

    size = sum(path.stat().st_size for path in weight_files(model))
    whole = hashlib.sha256("".join(f"{n} {d}\n" for n, d in digests.items()).encode()).hexdigest()
    yield Tried(
        "weights", bool(digests), "weights",
        f"{size / 1e9:,.2f} GB, revision {revision(model)}, SHA-256 of all files {whole}",
        "with a chat template" if has_chat_template(model) else "a base model: no chat template",
    )  # fmt: skip
    licences = sorted({path.name for name in _LICENCES for path in model.glob(name)})
    yield Tried(
        "licence file", True if licences else None, "one beside the weights",
        ", ".join(licences) or "none", "" if licences else "ask where the weights came from",
    )  # fmt: skip


def _draw(path: Path, model: str, tried: list[Tried]) -> None:
    from reports.content import Gate
    from reports.pages.run_report import to_document

    gates = [Gate(t.name, t.passed, t.required, t.found, t.note) for t in tried]
    write_whole(path, to_document(model, gates))
