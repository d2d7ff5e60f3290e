"""``radcal status``: what is up to date, what is stale and why, and how the last run ended."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pipeline.cli.common import JsonOption, emit

if TYPE_CHECKING:
    from pipeline.run.books import LastRun
    from pipeline.store.workspace import Workspace

__all__ = ["register"]

_TIMES = ("started_at", "ended_at", "exit_code", "last_success_at", "last_period")


def register(app: typer.Typer) -> None:
    """Add this group's command."""
    app.command("status")(status)


def status(
    config: Annotated[Path, typer.Argument(help="The configuration, radcal.toml.")],
    *,
    as_json: JsonOption = False,
) -> None:
    """Tell what the next run would do and why, and how the last one ended."""
    from pipeline.run.books import last_run
    from pipeline.run.outlook import outlook
    from pipeline.site.site import Site
    from pipeline.store.files import plain

    site = Site.open(str(config.resolve()))
    store = site.workspace
    found: dict[str, object] = {"last_run": "never"}
    if store.root.is_dir():
        found = _last(store, last_run(store.root))
    stages = outlook(site)
    if as_json:
        emit({**found, "stages": plain(stages)}, as_json=True, quiet=False)
        return
    emit(found, as_json=False, quiet=False)
    for each in stages:
        items = "" if each.items is None else f"{each.to_make:,} of {each.items:,} to make"
        typer.echo(f"{each.stage:<12} {each.state:<11} {items:<22} {'; '.join(each.why)}".rstrip())


def _last(store: Workspace, last: LastRun | None) -> dict[str, object]:
    """Say who holds the workspace, and how its last run ended or how far it is."""
    holder = store.holder()
    told: dict[str, object] = {
        "workspace": str(store.root),
        "lock": f"held by process {holder}" if holder else "free",
    }
    if last is None:
        return {**told, "last_run": "never, or its record cannot be read"}
    running = last.state == "running"
    told["last_run"] = "killed" if running and not holder else last.outcome or "running"
    told |= {name: value for name in _TIMES if (value := getattr(last, name)) is not None}
    if last.error is not None:
        told["error"] = last.error.message
    if running:
        told["stage"] = last.stages[-1].stage if last.stages else "starting"
    if newest := _newest_month(store, last):
        told["next_period"] = newest
    return {**told, **(last.counts or {})}


def _newest_month(store: Workspace, last: LastRun) -> str:
    """Give the newest month with observations: what `radcal run` issues if not told otherwise."""
    from pipeline.errors import RadcalError
    from pipeline.stages.tally import Tallied

    try:
        blocks = [
            store.facts("analysis", "tallies", key, Tallied) for key in last.last_tallies or ()
        ]
    except RadcalError:
        return ""
    return max((month for block in blocks for month in block.months), default="")
