"""What tests of this folder share: servers, and the commands that read reports."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import httpx
import pytest
import typer

from pipeline.cli import extract
from pipeline.cli.common import audit
from tests.fixtures.extraction.stage import Serve, serving

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


@pytest.fixture(scope="session")
def app() -> typer.Typer:
    """Give ``radcal extract``, ``pool``, ``annotate``, ``vocabulary`` and ``audit extraction``."""
    made = typer.Typer()
    made.add_typer(audit, name="audit")
    extract.register(made)
    return made
