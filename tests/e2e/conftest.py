"""One demonstration run, shared by all tests of this folder."""

from __future__ import annotations

import pytest

from tests.e2e.commands import DEMO, Demo, radcal


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    """Run `radcal demo` once for all tests."""
    folder = tmp_path_factory.mktemp("demo")
    return Demo(folder, radcal(*DEMO, cwd=folder))
