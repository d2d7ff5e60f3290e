"""``radcal serve`` runs the whole job on a schedule; ``radcal status`` says how the last run ended.

Status also tells what is up to date, what is stale and why, so that nobody need run to find out.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import typer

from pipeline.cli.common import ConfigArgument, Output, option, taking, worded
from pipeline.errors import ConfigurationError, RadcalError
from pipeline.run.shield import stoppable
from pipeline.store.files import held, plain, require_readable

if TYPE_CHECKING:
    from prefect.deployments.runner import RunnerDeployment
    from prefect.runner import Runner

    from pipeline.run.books import LastRun
    from pipeline.store.workspace import Workspace

_START_SECONDS: Final = 180.0
_TIMES = ("started_at", "ended_at", "exit_code", "last_success_at", "last_period")


def register(app: typer.Typer) -> None:
    """Add this group's commands."""
    app.command("status")(taking(status))
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
    settle(home := workspace.root / "prefect")
    shared = "PREFECT_API_URL" in os.environ
    # Two would start every run twice: one of each is refused, and reported as a failure.
    alone = held(workspace.root / "serve.lock")
    with stoppable(), alone, _server(given.port, home / "server.log") as address:
        os.environ["PREFECT_API_URL"] = address
        _serve(given, settings.input.time_zone, shared=shared)


def _serve(given: Serve, time_zone: str, *, shared: bool) -> None:
    from prefect.runner import Runner

    runner = Runner(limit=1, pause_on_shutdown=shared)
    for each in jobs(given, time_zone):
        runner.add_deployment(each)
    logging.getLogger("radcal").setLevel(logging.INFO)
    # Prefect's own way out on SIGTERM forgets to stop its runner, and warns of it.
    runner.handle_sigterm = signal.getsignal(signal.SIGTERM)  # type: ignore[assignment,method-assign]
    with suppress(KeyboardInterrupt):
        asyncio.run(_until_stopped(runner))
    typer.echo("Stopped; nothing is run until `radcal serve` is started again.", err=True)


def jobs(given: Serve, time_zone: str) -> Iterator[RunnerDeployment]:
    """Give what is run on a schedule, and say when each comes next.

    No job has a limit of its own: a run that died with its machine would keep its place for good,
    and none would follow. The runner runs one at a time.
    """
    from prefect.schedules import Cron
    from prefect.types.entrypoint import EntrypointType

    from pipeline.flows import nightly, whole_job

    each = ("nightly", nightly, given.cron), ("monthly", whole_job, given.monthly)
    for name, flow, cron in each:
        typer.echo(f"{name}: next at {next_at(cron, time_zone)} ({time_zone})", err=True)
        made = flow.to_deployment(
            name,
            schedule=Cron(cron, timezone=time_zone),
            parameters={"config": str(given.config.resolve())},
            tags=["radcal"],
            entrypoint_type=EntrypointType.MODULE_PATH,
        )
        yield cast("RunnerDeployment", made)


async def _until_stopped(runner: Runner) -> None:
    def told(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        if not isinstance(context.get("exception"), asyncio.CancelledError):
            loop.default_exception_handler(context)

    # Python 3.11 shows a traceback of a connection that is cut when a run's process is ended.
    asyncio.get_running_loop().set_exception_handler(told)
    await runner.start()


def next_at(cron: str, time_zone: str) -> str:
    """Say when a schedule comes next.

    Raises
    ------
    ConfigurationError
        If it is none, or never comes: 31 February.
    """
    from prefect.server.schemas.schedules import CronSchedule

    try:
        (when,) = asyncio.run(CronSchedule(cron=cron, timezone=time_zone).get_dates(1))
    except ValueError:
        raise ConfigurationError(
            f'--cron, --monthly: {cron!r} is no time that ever comes; write it as "0 2 * * *".'
        ) from None
    return f"{when:%Y-%m-%d %H:%M}"


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


def status(config: ConfigArgument, output: Output) -> None:
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
    if not output.as_json:
        output.tell(found)  # what follows may find the vault damaged
    ahead = outlook(site)
    next_ = {"next_period": ahead.next_period, "nothing_would_be_delivered": ahead.refused}
    told = {name: value for name, value in next_.items() if value}
    lines = list(worded(told))
    for each in ahead.stages:
        items = "" if each.items is None else f"{each.to_make:,} of {each.items:,} to make"
        lines.append(
            f"{each.stage:<12} {each.state:<11} {items:<22} {'; '.join(each.why)}".rstrip()
        )
    output.show({**found, **told, "stages": plain(ahead.stages)}, lines)


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
    if last.state == "unknown":
        told["last_run"] = f"{last.outcome}; a later record, runs/last.json, is damaged or gone"
    told |= {name: value for name in _TIMES if (value := getattr(last, name)) is not None}
    if last.error is not None:
        told["error"] = last.error.message
    if running:
        told["stage"] = last.stages[-1].stage if last.stages else "starting"
    return {**told, **(last.counts or {})}
