"""``radcal status``: what is up to date, what is stale and why, and how the last run ended."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from pipeline.cli.common import JsonOption, emit

__all__ = ["register"]

Facts = dict[str, Any]


def register(app: typer.Typer) -> None:
    """Add this group's command."""
    app.command("status")(status)


def status(
    config: Annotated[Path, typer.Argument(help="The configuration, radcal.toml.")],
    *,
    as_json: JsonOption = False,
) -> None:
    """Tell what the next run would do and why, and how the last one ended."""
    from pipeline.run.plan import plan
    from pipeline.site.site import Site

    site = Site.open(str(config.resolve()))
    found = _last(site) if site.workspace.root.is_dir() else {"last_run": "never"}
    stages = plan(site)
    if as_json:
        emit({**found, "stages": [asdict(each) for each in stages]}, as_json=True, quiet=False)
        return
    emit(found, as_json=False, quiet=False)
    for each in stages:
        items = "" if each.items is None else f"{each.to_make:,} of {each.items:,} to make"
        typer.echo(f"{each.stage:<12} {each.state:<11} {items:<22} {'; '.join(each.why)}".rstrip())


def _last(site: Any) -> Facts:
    from pipeline.run.record import last_record

    record, holder = last_record(site.workspace.root) or {}, site.workspace.holder()
    told: Facts = {"workspace": str(site.workspace.root)}
    told["lock"] = f"held by process {holder}" if holder else "free"
    if not record:
        return {**told, "last_run": "never, or its record cannot be read"}
    running = record["state"] == "running"
    told["last_run"] = "killed" if running and not holder else record.get("outcome", "running")
    for name in ("started_at", "ended_at", "exit_code", "last_success_at", "last_period"):
        if name in record:
            told[name] = record[name]
    if "error" in record:
        told["error"] = record["error"]["message"]
    if running:
        told["stage"] = record["stages"][-1]["stage"] if record["stages"] else "starting"
    newest = _newest_month(site, record)
    if newest:
        told["next_period"] = newest
    return {**told, **record.get("counts", {})}


def _newest_month(site: Any, record: Facts) -> str:
    """Give the newest month with observations: what `radcal run` issues if not told otherwise."""
    from pipeline.errors import RadcalError

    try:
        blocks = [
            site.workspace.facts("analysis", "tallies", key)
            for key in record.get("last_tallies", ())
        ]
    except RadcalError:
        return ""
    return max((str(month) for block in blocks for month in block["months"]), default="")
