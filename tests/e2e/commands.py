"""Commands as a user runs them: in a process of their own, or in this one if that says as much."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pytest

from pipeline import cli
from pipeline.site.site import Site

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


def here(*arguments: object, cwd: Path | None = None, **environment: str) -> Finished:
    """Run a command in this process, from the console's entry on: its messages and its exit code.

    Starting a process costs seconds. What only a process of its own shows (signals, what it leaves
    in memory or in a temporary folder, a server beside it) wants :func:`radcal`.
    """
    out, err = io.StringIO(), io.StringIO()
    with _as_if_alone(cwd or Path.cwd(), ["radcal", *map(str, arguments)], environment):
        with redirect_stdout(out), redirect_stderr(err):
            try:
                cli.main()
                code = 0
            except SystemExit as ended:
                code = int(ended.code or 0)
        return Finished(code, out.getvalue(), err.getvalue())


@contextmanager
def _as_if_alone(cwd: Path, argv: list[str], environment: dict[str, str]) -> Iterator[None]:
    """Leave nothing of a command behind: environment, place, umask, sites that were opened."""
    before, umask = dict(os.environ), os.umask(0o022)
    Site.forget()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", argv)
        patch.chdir(cwd)
        patch.delenv("RADCAL_VAULT_KEY_FILE", raising=False)
        for name, value in environment.items():
            patch.setenv(name, value)
        if cli.app.registered_commands:
            patch.setattr(cli, "_register", lambda: None)
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)
            os.umask(umask)
            Site.forget()


DEMO = ("demo", "--out", "demo", "--pairs", 1775, "--readers", 8, "--json")
"""Eight readers instead of twelve, of as many pairs each as the README's demonstration has."""


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
