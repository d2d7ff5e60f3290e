"""``radcal serve`` runs the whole job on a schedule; ``radcal status`` says how the last run ended.

Status also tells what is up to date, what is stale and why, so that nobody need run to find out.
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import typer

from pipeline.cli.common import ConfigArgument, JsonOption, emit, option, taking
from pipeline.errors import ConfigurationError, RadcalError
from pipeline.store.files import plain, require_readable

if TYPE_CHECKING:
    from prefect.deployments.runner import RunnerDeployment

    from pipeline.run.books import LastRun
    from pipeline.store.workspace import Workspace

_START_SECONDS: Final = 180.0
_TIMES = ("started_at", "ended_at", "exit_code", "last_success_at", "last_period")


def register(app: typer.Typer) -> None:
    """Add this group's commands."""
    app.command("status")(status)
    app.command("serve")(taking(serve))


@dataclass(frozen=True, slots=True, kw_only=True)
class Serve:
    """Options of ``radcal serve``."""

    config: ConfigArgument
    cron: str = option("0 2 * * *", "When to take in new exports and check them (no pages).")
    monthly: str = option("0 5 2 * *", "When to make and deliver the pages.")
    port: int = option(4200, "Port of the local server and its pages; 0 any.", min=0, max=65535)


def serve(given: Serve) -> None:
    """Run the job on a schedule until stopped; times are in the configuration's time zone.

    Without PREFECT_API_URL a Prefect server is started on loopback; it keeps counts and paths,
    never text or identifiers.
    """
    from pipeline.config import load
    from pipeline.run.server import settle
    from pipeline.store.workspace import Workspace
    from pipeline.vault.key import Key

    Key.of()  # without one every night's run would be refused
    settings = load(given.config)
    workspace = Workspace.of(settings)
    workspace.prepare()
    os.environ.setdefault("PREFECT_LOGGING_LEVEL", "INFO")
    os.environ.setdefault("PREFECT_LOGGING_EXTRA_LOGGERS", "radcal")
    settle(workspace.root / "prefect")
    shared = "PREFECT_API_URL" in os.environ
    with _server(given.port, workspace.root / "prefect" / "server.log") as address:
        os.environ["PREFECT_API_URL"] = address
        _serve(given, settings.input.time_zone, shared=shared)


def _serve(given: Serve, time_zone: str, *, shared: bool) -> None:
    from prefect import serve as serve_deployments
    from prefect.schedules import Cron
    from prefect.types.entrypoint import EntrypointType

    from pipeline.flows import nightly, whole_job

    try:
        schedules = [Cron(when, timezone=time_zone) for when in (given.cron, given.monthly)]
    except ValueError as error:
        raise ConfigurationError(
            f'--cron, --monthly: not a schedule ({error}); write it as "0 2 * * *".'
        ) from None
    settings: dict[str, Any] = {
        "parameters": {"config": str(given.config.resolve())},
        "tags": ["radcal"],
        "concurrency_limit": 1,
        "entrypoint_type": EntrypointType.MODULE_PATH,
    }
    deployments = [
        nightly.to_deployment("nightly", schedule=schedules[0], **settings),
        whole_job.to_deployment("monthly", schedule=schedules[1], **settings),
    ]
    logging.getLogger("radcal").setLevel(logging.INFO)
    serve_deployments(
        *cast("list[RunnerDeployment]", deployments), limit=1, pause_on_shutdown=shared
    )


@contextmanager
def _server(port: int, log: Path) -> Iterator[str]:
    """Give a Prefect server's address: the one configured, or one of our own on loopback."""
    from pipeline.run.server import free_port, is_up

    configured = os.environ.get("PREFECT_API_URL")
    if configured:
        yield configured
        return
    port = port or free_port()
    address = f"http://127.0.0.1:{port}/api"
    command = [sys.executable, "-m", "prefect", "server", "start"]
    with log.open("ab") as output:
        server = subprocess.Popen(  # noqa: S603 - our own interpreter
            [*command, "--host", "127.0.0.1", "--port", str(port)],
            stdout=output,
            stderr=subprocess.STDOUT,
            env=os.environ | {"PREFECT_UI_API_URL": address},
        )
    try:
        if not is_up(server, port, seconds=_START_SECONDS):
            raise RadcalError(
                f"Prefect's server did not start; see {log}. Is its port taken? (--port 0: any.)"
            )
        typer.echo(f"Prefect's pages: http://127.0.0.1:{port}", err=True)
        yield address
    finally:
        server.terminate()
        server.wait()


def status(config: ConfigArgument, *, as_json: JsonOption = False) -> None:
    """Tell what the next run would do and why, and how the last one ended."""
    from pipeline.run.books import last_run
    from pipeline.run.outlook import outlook
    from pipeline.site.site import Site, site_findings

    site = Site.open(str(config.resolve()))
    store = site.workspace
    for name in ("runs", "runs/last.json"):
        require_readable(store.root / name)
    found: dict[str, object] = {"vault_key": next(site_findings(site)).told, "last_run": "never"}
    if store.root.is_dir():
        found |= _last(store, last_run(store.root))
    if not as_json:
        emit(found, as_json=False, quiet=False)  # what follows may find the vault damaged
    ahead = outlook(site)
    told = {"next_period": ahead.next_period} if ahead.next_period else {}
    if as_json:
        emit({**found, **told, "stages": plain(ahead.stages)}, as_json=True, quiet=False)
        return
    emit(told, as_json=False, quiet=False)
    for each in ahead.stages:
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
    return {**told, **(last.counts or {})}
