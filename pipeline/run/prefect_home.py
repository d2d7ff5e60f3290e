"""Prefect's settings for this program: its files in the workspace, silent, and offline."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["settle"]


def settle(home: Path) -> None:
    """Set what the user has not set; call before Prefect is imported."""
    home.mkdir(mode=0o700, exist_ok=True)
    os.environ.setdefault("PREFECT_HOME", str(home))
    os.environ.setdefault("PREFECT_SERVER_ANALYTICS_ENABLED", "false")
    os.environ.setdefault("DO_NOT_TRACK", "1")
    os.environ.setdefault("PREFECT_LOGGING_LEVEL", "CRITICAL")
    os.environ.setdefault("PREFECT_LOGGING_SERVER_LEVEL", "CRITICAL")
    os.environ.setdefault("PREFECT_RESULTS_DEFAULT_SERIALIZER", "json")
    # A first start makes its database; a busy machine may need longer than the default 20 s.
    os.environ.setdefault("PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS", "120")
