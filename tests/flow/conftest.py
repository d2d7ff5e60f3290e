"""What tests of this folder share: servers, and the commands that read reports."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest
import typer

from pipeline.cli import extract
from pipeline.cli.common import audit
from tests.fixtures.extraction.stage import Serve, serving

ROOT = Path(__file__).resolve().parents[2]
ATTEMPTS = 5
"""The harness gives its server's first answer five seconds, which a busy machine may need."""


@pytest.fixture(scope="session")
def prefect_server() -> Iterator[None]:
    """Give flows a temporary database and server of their own."""
    from prefect.testing.utilities import prefect_test_harness

    with ExitStack() as stack:
        for attempt in range(ATTEMPTS):
            try:
                stack.enter_context(prefect_test_harness(server_startup_timeout=180))
                break
            except httpx.TransportError:
                if attempt == ATTEMPTS - 1:
                    raise
        yield


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Start model servers that play what a test asks them to."""
    with serving() as start:
        yield start


@pytest.fixture(scope="module")
def small_cache() -> Iterator[None]:
    """Let vLLM take little memory."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VLLM_CPU_KVCACHE_SPACE", "1")
        yield


@pytest.fixture(scope="session")
def tiny_llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a tiny model with random weights, of the Python that `make test-vllm` names."""
    folder = tmp_path_factory.mktemp("models") / "tiny-llama"
    prompts = [ROOT / "extraction" / "prompt" / name for name in ("xr.toml", "ct.toml")]
    made = ROOT / "tests" / "fixtures" / "extraction" / "tiny_llama.py"
    subprocess.run(
        [os.environ["RADCAL_VLLM_PYTHON"], "-I", made, "tiny", folder, *prompts],
        check=True,
        capture_output=True,
    )
    return folder


@pytest.fixture(scope="session")
def app() -> typer.Typer:
    """Give ``radcal extract``, ``pool``, ``annotate``, ``vocabulary`` and ``audit extraction``."""
    made = typer.Typer()
    made.add_typer(audit, name="audit")
    extract.register(made)
    return made
