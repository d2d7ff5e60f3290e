"""`radcal serve`: the whole job on a schedule on one machine, with nothing else to install."""

from __future__ import annotations

import logging
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, cast

import typer

from pipeline.errors import ConfigurationError, RadcalError

if TYPE_CHECKING:
    from prefect.deployments.runner import RunnerDeployment

__all__ = ["register"]

_START_SECONDS: Final = 180.0


def register(app: typer.Typer) -> None:
    """Add this group's commands."""
    app.command("serve")(serve)


def serve(
    config: Annotated[Path, typer.Argument(help="The configuration, radcal.toml.")],
    cron: Annotated[
        str, typer.Option(help="When to take in new exports and check them (no pages).")
    ] = "0 2 * * *",
    monthly: Annotated[str, typer.Option(help="When to make and deliver the pages.")] = "0 5 2 * *",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port of the local server and its pages; 0 any.")
    ] = 4200,
) -> None:
    """Run the job on a schedule until stopped; times are in the configuration's time zone.

    Without PREFECT_API_URL a Prefect server is started on loopback; it keeps counts and paths,
    never text or identifiers.
    """
    from pipeline.config import load
    from pipeline.run.server import settle
    from pipeline.store.workspace import Workspace

    settings = load(config)
    workspace = Workspace.of(settings)
    workspace.prepare()
    os.environ.setdefault("PREFECT_LOGGING_LEVEL", "INFO")
    os.environ.setdefault("PREFECT_LOGGING_EXTRA_LOGGERS", "radcal")
    settle(workspace.root / "prefect")
    shared = "PREFECT_API_URL" in os.environ
    with _server(port, workspace.root / "prefect" / "server.log") as address:
        os.environ["PREFECT_API_URL"] = address
        _serve(str(config.resolve()), cron, monthly, settings.input.time_zone, shared=shared)


def _serve(config: str, cron: str, monthly: str, time_zone: str, *, shared: bool) -> None:
    from prefect import serve as serve_deployments
    from prefect.schedules import Cron
    from prefect.types.entrypoint import EntrypointType

    from pipeline.flows import nightly, whole_job

    try:
        schedules = [Cron(when, timezone=time_zone) for when in (cron, monthly)]
    except ValueError as error:
        msg = f'--cron, --monthly: not a schedule ({error}); write it as "0 2 * * *".'
        raise ConfigurationError(msg) from None
    settings: dict[str, Any] = {
        "parameters": {"config": config},
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
    configured = os.environ.get("PREFECT_API_URL")
    if configured:
        yield configured
        return
    port = port or _free_port()
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
        _wait_for(server, address, log)
        typer.echo(f"Prefect's pages: http://127.0.0.1:{port}", err=True)
        yield address
    finally:
        server.terminate()
        server.wait()


def _wait_for(server: subprocess.Popen[bytes], address: str, log: Path) -> None:
    import httpx

    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline and server.poll() is None:
        try:
            if httpx.get(f"{address}/health", timeout=5).is_success:
                return
        except httpx.TransportError:
            time.sleep(0.5)
    msg = f"Prefect's server did not start; see {log}. Is its port taken? (--port 0 takes any.)"
    raise RadcalError(msg)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
