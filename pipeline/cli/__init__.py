"""The command line: one file per command group, each importing its work only when called."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Annotated, Final

try:
    import typer

    from pipeline.cli.common import audit
    from pipeline.run import seldom_searched
    from pipeline.run.shield import FORESEEN, in_words, shielded, stoppable
except KeyboardInterrupt:
    sys.exit("radcal: interrupted.")

__all__ = ["app", "main"]

_GROUPS: Final = (
    "pipeline.cli.calibrate",
    "pipeline.cli.profile",
    "pipeline.cli.survey",
    "pipeline.cli.extract",
    "pipeline.cli.model",
    "pipeline.cli.deidentify",
    "pipeline.cli.check",
    "pipeline.cli.run",
    "pipeline.cli.serve",
    "pipeline.cli.keep",
    "pipeline.cli.returns",
    "pipeline.neighbours.measures",
)
"""Modules of this package, and the package beside it; each has ``register(app)``."""

_PANELS: Final = {
    "The job": ("init", "check", "run", "demo", "open", "status", "serve", "returns", "cases"),
    "One step at a time": (
        ("deidentify", "extract", "survey", "calibrate", "profile", "simulate", "vocabulary")
    ),
    "Trust the instrument": ("audit", "annotate", "pool", "model"),
    "Look after the workspace": (
        ("backup", "key", "prune", "purge", "reidentify", "rotate", "stored")
    ),
    "Neighbouring measures": ("disagreement", "scalar", "difficulty", "lm"),
}
"""The commands as ``--help`` groups them, in the order in which somebody new meets them."""

app = typer.Typer(
    name="radcal",
    help="Do a radiologist's words of certainty mean what they think they mean?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _say_version(asked: bool) -> None:
    if asked:
        from pipeline.store.provenance import version

        typer.echo(f"radcal {version()}")
        raise typer.Exit


@app.callback()
def _whole(
    version: Annotated[
        bool,
        typer.Option("--version", help="Say which version.", callback=_say_version, is_eager=True),
    ] = False,
) -> None:
    pass


def _register() -> None:
    app.add_typer(audit, name="audit")
    for module in _GROUPS:
        importlib.import_module(module).register(app)
    panels = {name: panel for panel, names in _PANELS.items() for name in names}
    places = {name: at for at, name in enumerate(panels)}
    app.registered_commands.sort(key=lambda each: places.get(str(each.name), len(places)))
    for command in app.registered_commands:
        command.rich_help_panel = panels.get(str(command.name), "Others")
    for group in app.registered_groups:
        group.rich_help_panel = panels.get(str(group.name), "Others")


@stoppable()
def main() -> None:
    """Run a command; a failure becomes one message and its exit code, never a traceback.

    What the system stops is told as well, from the first module on. Unforeseen exceptions are named
    by type and place only (`pipeline.run.shield`).
    """
    os.umask(0o077)
    seldom_searched()
    # Before numpy is loaded: figures must not hang on how many threads a library takes.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        _register()
        shielded(app)
    except (*FORESEEN, KeyboardInterrupt, SystemExit) as error:
        if isinstance(error, SystemExit) and error.code != 130:  # typer's, without a word
            raise
        message, code = in_words(KeyboardInterrupt() if isinstance(error, SystemExit) else error)
        typer.echo(f"radcal: {message}", err=True)
        sys.exit(code)
