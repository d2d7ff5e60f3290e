"""Where a neighbouring measure's result goes: one JSON file without NaN, or a page."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from calibration.plain import Plain

__all__ = ["OutOption", "write", "write_bytes"]

OutOption = Annotated[Path, typer.Option("--out", help="Result, one JSON file.")]


def write(path: Path, content: Mapping[str, Plain]) -> None:
    """Write a result as JSON, whole or not at all."""
    write_bytes(path, json.dumps(content, allow_nan=False).encode())


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    from pipeline.store.files import replacing

    with replacing(path) as partial:
        partial.write_bytes(content)
