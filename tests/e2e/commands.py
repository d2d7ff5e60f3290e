"""Commands as a user runs them: in a process of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

RADCAL = "from pipeline.cli import main; main()"


@dataclass(frozen=True)
class Finished:
    """A command that ended: its exit code and what it printed."""

    code: int
    out: str
    err: str

    @property
    def summary(self) -> dict[str, object]:
        return dict(json.loads(self.out))


def radcal(
    *arguments: object, cwd: Path, under: Sequence[str] = (), **environment: str
) -> Finished:
    """Run a command with a temporary folder of its own, so that what it leaves there is seen.

    `under` is a program that runs it, such as a tracer.
    """
    temporary = cwd / "tmp"
    temporary.mkdir(exist_ok=True)
    done = subprocess.run(
        [*under, sys.executable, "-c", RADCAL, *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, "TMPDIR": str(temporary), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    return Finished(done.returncode, done.stdout, done.stderr)


@dataclass(frozen=True)
class Demo:
    """A demonstration that was run: its folder and what the command said."""

    folder: Path
    finished: Finished

    @property
    def workspace(self) -> Path:
        return self.folder / "demo" / "workspace"

    @property
    def truth(self) -> Path:
        return self.folder / "demo" / "hospital" / "truth"

    @property
    def key(self) -> str:
        return (self.folder / "demo" / "vault.key").read_text().strip()

    def delivery(self) -> Path:
        (period,) = (p for p in (self.workspace / "delivery").iterdir() if p.is_dir())
        return period
