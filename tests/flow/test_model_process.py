"""Flow: the offline engines' process, played by a program that does whatever a model's may do."""

from __future__ import annotations

import ast
import dataclasses
import json
import shutil
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from extraction.engines import model_process
from extraction.engines.kinds import OfflineEngine
from extraction.engines.model import ModelEngine, Terms
from extraction.engines.settings import LocalSettings
from extraction.engines.weights import revision
from extraction.errors import ModelOutageError, ModelSettingsError
from extraction.finding import Extracted, Failed, NothingStated, Outcome
from extraction.prompt.examples import NONE
from extraction.prompt.template import MARK
from pipeline.site.engines import OutcomeMemory
from tests.fixtures.extraction.answers import ANSWER, FAILING, REPORT, STATED

STAND_IN = Path(__file__).parent.parent / "fixtures" / "extraction" / "model_stand_in.py"
OTHER = "FINDINGS: Endotracheal tube in place."
PLAIN = "FINDINGS: Right jugular line in place."
Made = Callable[..., tuple[OfflineEngine, Path]]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """Make a folder that looks like a model; nothing loads it."""
    folder = tmp_path / "small"
    folder.mkdir()
    (folder / "config.json").write_text('{"max_position_embeddings": 8192}')
    (folder / "tokenizer.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(bytes(range(256)) * 8192)
    return folder


@pytest.fixture
def played(model: Path, tmp_path: Path) -> Made:
    def made(*answers: object, **more: object) -> tuple[OfflineEngine, Path]:
        program = tmp_path / "python"
        program.write_text(f"#!{sys.executable}\n{STAND_IN.read_text()}")
        program.chmod(0o700)
        options = {k: more.pop(k) for k in ("tolerated_outage", "memory") if k in more}
        own = ("timeout_seconds", "backend", "data_parallel", "tensor_parallel")
        settings = {k: more.pop(k) for k in own if k in more}
        (tmp_path / "plays.json").write_text(json.dumps({"answers": answers, **more}))
        local = LocalSettings(
            model=model, python=program, **({"backend": "vllm", "timeout_seconds": 60.0} | settings)
        )
        return OfflineEngine(local, Terms(**options)), tmp_path / "asked.jsonl"

    return made


def lines(path: Path, name: str) -> list[dict[str, object]]:
    found = [json.loads(line) for line in path.read_text().splitlines()]
    return [entry for entry in found if name in entry]


def read(engine: ModelEngine, *texts: str) -> list[Outcome]:
    with closing(engine):
        return engine.extract(texts, modality="XR")


def stated(outcome: Outcome) -> list[tuple[str, str | None]]:
    assert isinstance(outcome, Extracted), outcome
    return [(f.pathology, f.phrase) for f in outcome.findings]


RIGHT = [ANSWER, False]
NOTHING = [NONE, False]


def test_questions_are_greedy_bound_and_stop_at_the_mark(played: Made) -> None:
    engine, asked = played(RIGHT)
    assert [stated(outcome) for outcome in read(engine, REPORT, REPORT)] == [STATED] * 2
    assert len(lines(asked, "start")) == 1
    question = lines(asked, "prompt")[0]
    assert (question["temperature"], question["stop"]) == (0.0, [MARK])
    assert "pleural effusion" in str(question["regex"])
    assert engine.usage.structured == engine.usage.answered == 2
    assert (engine.usage.prompt_tokens, engine.usage.cached_tokens) == (200, 120)


@pytest.mark.parametrize("case", FAILING)
def test_failed_answer_is_asked_once_more_then_counted(case: str, played: Made) -> None:
    text, cut, reason = FAILING[case]
    engine, asked = played([text, cut])
    assert read(engine, REPORT) == [Failed(reason)]
    first, second = lines(asked, "prompt")
    assert first["prompt"] != second["prompt"]
    assert int(str(second["max_tokens"])) > int(str(first["max_tokens"]))


def test_second_answer_counts_when_it_is_right(played: Made) -> None:
    engine, asked = played(["rubbish", False], RIGHT)
    assert stated(read(engine, REPORT)[0]) == STATED
    assert len(lines(asked, "prompt")) == 2


def test_process_killed_in_the_middle_is_started_again_and_nothing_is_lost(played: Made) -> None:
    engine, asked = played(RIGHT, "dies", RIGHT)
    assert [stated(outcome) for outcome in read(engine, *[REPORT] * 20)] == [STATED] * 20
    assert len(lines(asked, "start")) == 2


def test_report_that_kills_the_process_fails_alone(played: Made) -> None:
    engine, _ = played(NOTHING, deadly="tube")
    found = read(engine, *[PLAIN] * 15, OTHER, *[PLAIN] * 15)
    assert found[15] == Failed("model stopped")
    assert found[:15] + found[16:] == [NothingStated()] * 30


def test_process_that_always_dies_ends_the_batch_with_an_error(played: Made) -> None:
    engine, asked = played("dies")
    with closing(engine):
        with pytest.raises(ModelOutageError, match=r"ended 4 times .*signal 9") as caught:
            engine.extract([REPORT] * 9, modality="XR")
        with pytest.raises(ModelOutageError, match="ended 4 times"):
            engine.extract([REPORT], modality="XR")
    assert len(lines(asked, "start")) == 4
    assert "effusion" not in str(caught.value)


def test_silent_process_is_killed_and_what_it_was_asked_is_asked_another(played: Made) -> None:
    engine, asked = played(NOTHING, "hangs", NOTHING, timeout_seconds=1.5)
    assert read(engine, PLAIN, OTHER) == [NothingStated()] * 2
    assert len(lines(asked, "start")) == 2


def test_process_that_breaks_the_protocol_counts_as_dead(played: Made) -> None:
    engine, asked = played("babbles", RIGHT)
    assert stated(read(engine, REPORT)[0]) == STATED
    assert len(lines(asked, "start")) == 2


def test_refused_question_is_not_asked_again(played: Made) -> None:
    engine, asked = played("refuses", NOTHING)
    assert read(engine, REPORT, OTHER) == [Failed("request refused"), NothingStated()]
    assert len(lines(asked, "prompt")) == 2


@pytest.mark.parametrize(
    ("load", "why"),
    [
        ("dies", r"ended with code 3.*torch.OutOfMemoryError: tried to allocate 16 GiB"),
        ("refuses", "ValueError: no such architecture"),
        ("hangs", "not within 1.5 s"),
    ],
)
def test_model_that_cannot_be_loaded_is_an_error_that_says_why(
    load: str, why: str, played: Made
) -> None:
    engine, asked = played(load=load, timeout_seconds=1.5 if load == "hangs" else 60.0)
    with closing(engine):
        for _ in range(2):
            with pytest.raises(ModelOutageError, match=why):
                engine.extract([REPORT], modality="XR")
    assert len(lines(asked, "start")) == 1


def test_outage_beyond_what_is_tolerated_is_an_error(played: Made) -> None:
    engine, _ = played("refuses", tolerated_outage=0.05)
    with pytest.raises(ModelOutageError, match=r"vllm model small: 2 of 2 reports"):
        read(engine, REPORT, REPORT)


def test_shards_read_side_by_side_share_one_process(played: Made) -> None:
    engine, asked = played(RIGHT)
    found: list[Outcome] = []
    threads = [
        threading.Thread(target=lambda: found.extend(engine.extract([REPORT] * 5, modality="XR")))
        for _ in range(6)
    ]
    with closing(engine):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert [stated(outcome) for outcome in found] == [STATED] * 30
    assert len(lines(asked, "start")) == 1


def test_closed_engine_may_be_asked_again(played: Made) -> None:
    engine, asked = played(RIGHT)
    assert [stated(outcome) for outcome in read(engine, REPORT) + read(engine, REPORT)] == (
        [STATED] * 2
    )
    assert len(lines(asked, "start")) == 2


def test_our_secrets_do_not_reach_the_process(
    played: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RADCAL_SERVER_KEY", "secret")
    engine, asked = played(RIGHT)
    read(engine, REPORT)
    assert lines(asked, "start") == [{"start": "no secret", "cards": "all"}]


def test_remembered_report_is_not_asked_again_and_a_failed_one_is(
    played: Made, tmp_path: Path
) -> None:
    memory = OutcomeMemory(tmp_path / "kept" / "outcomes.sqlite")
    engine, asked = played(RIGHT, ["rubbish", False], memory=memory)
    first = read(engine, REPORT, OTHER)
    again, _ = played(RIGHT, memory=memory)
    second = read(again, OTHER, REPORT, REPORT)
    assert first == [second[1], Failed("unreadable answer")]
    assert second[0] == Failed("ungrounded answer")
    assert [stated(outcome) for outcome in second[1:]] == [STATED] * 2
    assert len(lines(asked, "prompt")) == 3 + 2
    assert again.counts()["reports_remembered"] == 2
    kept = (tmp_path / "kept" / "outcomes.sqlite").read_bytes()
    assert b"represent pneumonia" not in kept
    assert b"Left base" not in kept


def test_memory_that_is_damaged_is_begun_anew(played: Made, tmp_path: Path) -> None:
    path = tmp_path / "outcomes.sqlite"
    path.write_bytes(b"no database" * 1000)
    engine, _ = played(RIGHT, memory=OutcomeMemory(path))
    assert stated(read(engine, REPORT)[0]) == STATED
    assert len(OutcomeMemory(path).recall([])) == 0


def test_revision_changes_with_the_weights_and_not_with_the_place(
    model: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "elsewhere"
    shutil.copytree(model, copy)
    assert revision(copy) == revision(model)
    weights = bytearray((copy / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    (copy / "model.safetensors").write_bytes(bytes(weights))
    assert revision(copy) != revision(model)


def test_engine_version_names_model_and_revision_and_changes_with_the_precision(
    played: Made, model: Path
) -> None:
    engine, _ = played(RIGHT)
    name, digest, vocabulary = engine.version.split("+")
    assert name == f"small@{revision(model)}"
    assert vocabulary == engine.vocabulary.digest
    half = LocalSettings(backend="vllm", model=model, python=Path(sys.executable), dtype="bfloat16")
    assert OfflineEngine(half).version.split("+")[1] != digest


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model": Path("/nowhere")}, "no model's folder"),
        ({"python": Path("/nowhere/python")}, "make install-vllm"),
        ({"context_tokens": 100_000}, "context_tokens is 100000, and the model holds 8192"),
        ({"backend": "transformers"}, "transformers cannot bind answers"),
        ({"python": Path("/no"), "answer_tokens": 9_000}, "leaves no room.*make install-vllm"),
    ],
)
def test_settings_that_cannot_work_are_refused_before_anything_is_read(
    changes: dict[str, object], message: str, model: Path
) -> None:
    given = {"backend": "vllm", "model": model, "python": Path(sys.executable)} | changes
    with pytest.raises(ModelSettingsError, match=message):
        LocalSettings(**given)  # type: ignore[arg-type]


def test_program_under_the_models_python_imports_nothing_of_ours() -> None:
    allowed = {*sys.stdlib_module_names, "torch", "transformers", "vllm"}
    for module in Path(model_process.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names = [str(node.module)]
            assert {name.split(".")[0] for name in names} <= allowed, module.name


def test_copies_on_cards_of_their_own_share_the_questions(played: Made) -> None:
    engine, asked = played(RIGHT, data_parallel=2, tensor_parallel=2)
    assert [stated(outcome) for outcome in read(engine, *[REPORT] * 5)] == [STATED] * 5
    assert sorted(str(each["cards"]) for each in lines(asked, "start")) == ["0,1", "2,3"]
    assert len(lines(asked, "prompt")) == engine.usage.questions == engine.usage.answered == 5
    assert engine.facts["model_data_parallel"] == 2


def test_eight_bits_are_part_of_what_decides_an_answer(model: Path) -> None:
    python = Path(sys.executable)
    plain = LocalSettings(backend="vllm", model=model, python=python)
    versions = {
        OfflineEngine(dataclasses.replace(plain, **changes)).version
        for changes in ({}, {"weights": "fp8"}, {"cache": "fp8"}, {"data_parallel": 2})
    }
    assert len(versions) == 3
