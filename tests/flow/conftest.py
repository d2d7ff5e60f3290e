"""Prefect's own test server, started once for all tests of this folder that need one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import httpx
import pytest

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
