"""Which code made a result: the version for people, and hashes of the source for keys.

A stage's key holds the hash of all the code that its module reaches through its imports, and of the
data files beside that code, so that changed code or a changed word list makes its shards anew even
where nobody raised a version. Imports for type checkers only run nothing and do not count.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Final

_HOUSE: Final = Path(__file__).resolve().parents[2]
_PACKAGES: Final = ("calibration", "extraction", "reports", "pipeline")
_DATA: Final = (".toml", ".csv", ".npz", ".txt", ".json", ".jsonl")


def version() -> str:
    """Give the installed version of radcal."""
    return metadata.version("radcal")


def reached(roots: Iterable[str], house: Path = _HOUSE) -> frozenset[str]:
    """Name the modules of this program that these reach by importing, themselves included."""
    found: set[str] = set()
    todo = list(roots)
    while todo:
        module = todo.pop()
        if module not in found:
            found.add(module)
            todo += _imports(module, house)
    return frozenset(found)


@cache
def code_by_room(roots: frozenset[str], house: Path = _HOUSE) -> dict[str, str]:
    """Hash what these modules reach, and the data files beside it, room by room."""
    rooms: dict[str, list[Path]] = {}
    for module in sorted(reached(roots, house)):
        path = _file(module, house)
        room = module if path.name == "__init__.py" else module.rpartition(".")[0]
        files = rooms.setdefault(".".join(room.split(".")[:2]), [])
        files += [path, *_data_beside(path.parent)]
    return {room: _digest(sorted(set(files)), house) for room, files in rooms.items()}


def _digest(files: Iterable[Path], house: Path) -> str:
    digest = hashlib.sha256()
    for path in files:
        digest.update(str(path.relative_to(house)).encode() + b"\0")
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


@cache
def _data_beside(folder: Path) -> tuple[Path, ...]:
    """Find the data in a folder and in those of its folders that hold no code of their own."""
    own = [path for path in folder.iterdir() if path.suffix in _DATA]
    below = [each for each in folder.iterdir() if each.is_dir() and not any(each.rglob("*.py"))]
    return (*own, *(path for each in below for path in each.rglob("*") if path.suffix in _DATA))


@cache
def _imports(module: str, house: Path) -> tuple[str, ...]:
    tree = ast.parse(_file(module, house).read_bytes())
    return tuple(sorted({name for name in _named(tree, house) if name.split(".")[0] in _PACKAGES}))


def _named(tree: ast.AST, house: Path) -> Iterator[str]:
    """Give each module that a tree imports; a name from a package stands for its ``__init__``."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            inside = (f"{node.module}.{alias.name}" for alias in node.names)
            yield from (name if _is_module(name, house) else node.module for name in inside)
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            yield from (name for other in node.orelse for name in _named(other, house))
        elif not isinstance(node, ast.expr):
            yield from _named(node, house)


@cache
def _is_module(name: str, house: Path) -> bool:
    return name.split(".")[0] in _PACKAGES and _file(name, house).is_file()


def _file(module: str, house: Path) -> Path:
    place = house.joinpath(*module.split("."))
    face = place / "__init__.py"
    return face if face.is_file() else place.with_name(f"{place.name}.py")
