"""A model's folder as its makers publish it: which weights it holds, and which model that makes it.

A folder has ``config.json``, a tokenizer, weights. Its revision is a hash of its small files and,
because weights are large, of their sizes and of blocks taken evenly from each: another training of
the same model has another revision.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

WEIGHTS: Final = (".safetensors", ".bin", ".pt", ".gguf")
_SMALL: Final = (".json", ".model", ".txt", ".jinja")
_BLOCKS: Final = 16
_BLOCK_BYTES: Final = 65_536


def has_chat_template(model: Path) -> bool:
    """Whether a model's folder says how it is talked to: base models do not."""
    if any((model / name).is_file() for name in ("chat_template.jinja", "chat_template.json")):
        return True
    try:
        described = json.loads((model / "tokenizer_config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(described, dict) and bool(described.get("chat_template"))


def revision(model: Path) -> str:
    """Hash what a model is, in 12 hexadecimal digits.

    Parameters
    ----------
    model
        Its folder. Small files count whole; of weights their sizes, and sixteen blocks of 64 KiB
        of each file at equal distances.
    """
    digest = hashlib.sha256()
    for file in sorted(p for p in model.iterdir() if p.suffix in (*_SMALL, *WEIGHTS)):
        digest.update(f"{file.name}\0{file.stat().st_size}\0".encode())
        for block in _blocks(file):
            digest.update(block)
    return digest.hexdigest()[:12]


def weight_files(model: Path) -> list[Path]:
    """Give the files that hold a model's weights, by name."""
    return sorted(path for path in model.iterdir() if path.suffix in WEIGHTS)


def weight_digests(model: Path) -> dict[str, str]:
    """Give the SHA-256 of every file of weights, whole, as their makers publish it."""
    found: dict[str, str] = {}
    for file in weight_files(model):
        with file.open("rb") as content:
            found[file.name] = hashlib.file_digest(content, "sha256").hexdigest()
    return found


def _blocks(file: Path) -> Iterator[bytes]:
    size = file.stat().st_size
    if file.suffix in _SMALL or size <= _BLOCKS * _BLOCK_BYTES:
        yield file.read_bytes()
        return
    with file.open("rb") as handle:
        for number in range(_BLOCKS):
            handle.seek(number * (size - _BLOCK_BYTES) // (_BLOCKS - 1))
            yield handle.read(_BLOCK_BYTES)
