"""The deployments on a real Prefect server: scheduled, refused, worked on, nothing given away."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pandas as pd
import pytest
import yaml

from tests.e2e.commands import here
from tests.fixtures.loopback import free_port, receiver, wait_until_it_answers
from tests.fixtures.postgres import USER, has_postgres, postgres

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
PASSWORD = "9d1c3f5b7a2e4c6d8f0a1b2c3d4e5f6a"
PREFECT = (sys.executable, "-m", "prefect", "--no-prompt")
PATIENCE_S = 240.0


@dataclass(frozen=True)
class Site:
    """A server that knows the deployments, and the simulated hospital they work on."""

    folder: Path
    api: str
    environment: dict[str, str]
    kept: Callable[[], str]
    received: list[str]
    """What the quality office's address was sent."""

    def set_up(self) -> None:
        """Tell the server what radcal needs, as an operator does."""
        done = subprocess.run(
            [ROOT / "deploy" / "prefect-setup.sh"],
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def prefect(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*PREFECT, *arguments],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )

    def order(self, **parameters: str) -> httpx.Response:
        """Ask for a run of the monthly deployment, as the server's page and command line do."""
        (monthly,) = (d for d in self.ask("deployments/filter") if d["name"] == "monthly")
        asked = {"parameters": monthly["parameters"] | parameters, "state": {"type": "SCHEDULED"}}
        path = f"{self.api}/deployments/{monthly['id']}/create_flow_run"
        return httpx.post(path, json=asked, timeout=60)

    def ask(self, path: str, **question: object) -> list[dict[str, Any]]:
        answer = httpx.post(f"{self.api}/{path}", json=question, timeout=60)
        answer.raise_for_status()
        return list(answer.json())


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Give a hospital with a server as compose has it; on SQLite where there is no PostgreSQL."""
    folder = tmp_path_factory.mktemp("site")
    made = here("simulate", "--out", "hospital", "--pairs", "24", "--readers", "3", cwd=folder)
    assert made.code == 0, made.err
    (folder / "radcal.toml").write_text(
        '[reports]\ndemonstration = true\n[input]\npaths = ["hospital/exams.csv"]\n'
        "[calibration]\nbootstrap = 100\n[execution]\nworkers = 1\n"
    )
    api = f"http://127.0.0.1:{(port := free_port())}/api"
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "PREFECT_HOME": str(folder / "prefect"),
        "PREFECT_API_URL": api,
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "DO_NOT_TRACK": "1",
        "RADCAL_VAULT_KEY": "k7Jq2mXw9TzR4bVn8sLp3dFg6hYc1aQe",
        "RADCAL_CONFIG": str(folder / "radcal.toml"),
        "RADCAL_TIME_ZONE": "Europe/Berlin",
    }
    start = (*PREFECT, "server", "start", "--host", "127.0.0.1", "--port", str(port))
    with database(folder) as (kept, settings):
        server = subprocess.Popen(
            [ROOT / "deploy" / "container" / "entrypoint.sh", *start],
            env=environment | settings,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            wait_until_it_answers(server, f"{api}/health")
            with receiver() as (address, received):
                environment["RADCAL_NOTIFICATION_BLOCK"] = _notification_block(api, address)
                site = Site(folder, api, environment, kept, received)
                for _ in ("installation", "upgrade"):
                    site.set_up()
                yield site
        finally:
            server.terminate()
            server.wait()


@contextmanager
def database(folder: Path) -> Iterator[tuple[Callable[[], str], dict[str, str]]]:
    """Give what the server keeps, as text, and the settings that compose's server has for it."""
    if not has_postgres():
        yield lambda: _dumped(folder / "prefect" / "prefect.db"), {}
        return
    secret = folder / "database_password"
    secret.write_text(PASSWORD + "\n")
    with postgres(PASSWORD) as running:
        login = ("-h", "127.0.0.1", "-p", str(running.port), "-U", USER)
        running.run("createdb", *login, "prefect", password=PASSWORD)
        composed = yaml.safe_load((ROOT / "deploy/container/compose.yaml").read_text())
        yield (
            lambda: running.dump("prefect", password=PASSWORD),
            composed["services"]["server"]["environment"]
            | {
                "PREFECT_SERVER_DATABASE_HOST": "127.0.0.1",
                "PREFECT_SERVER_DATABASE_PORT": str(running.port),
                "PREFECT_SERVER_DATABASE_USER": USER,
                "RADCAL_DATABASE_PASSWORD_FILE": str(secret),
            },
        )


def _dumped(file: Path) -> str:
    with sqlite3.connect(file) as kept:
        return "\n".join(kept.iterdump())


def _notification_block(api: str, address: str) -> str:
    """Make a block that sends messages, as a site does on the server's page."""
    with httpx.Client(base_url=api, timeout=60) as server:
        kinds = server.post("/block_types/filter", json={}).json()
        kind = next(k["id"] for k in kinds if k["slug"] == "custom-webhook")
        asked = {"block_schemas": {"block_type_id": {"any_": [kind]}}}
        schema = server.post("/block_schemas/filter", json=asked).json()[0]["id"]
        block = {
            "name": "quality-office",
            "data": {
                "name": "quality-office",
                "url": address,
                "method": "POST",
                "json_data": {"subject": "{{subject}}", "body": "{{body}}"},
            },
            "block_type_id": kind,
            "block_schema_id": schema,
        }
        made = server.post("/block_documents/", json=block)
        made.raise_for_status()
        return str(made.json()["id"])


@pytest.fixture(scope="module")
def worked(site: Site) -> dict[str, Any]:
    """Ask for one monthly run and let a worker do it; gives the run as the server tells it."""
    assert site.order().is_success
    worker = site.prefect("worker", "start", "--pool", "radcal", "--run-once")
    assert worker.returncode == 0, worker.stdout + worker.stderr
    (run,) = site.ask("flow_runs/filter", flow_runs={"start_time": {"is_null_": False}})
    return run


def test_both_deployments_stand_with_schedules_in_the_sites_time_zone(site: Site) -> None:
    found = {d["name"]: d for d in site.ask("deployments/filter")}
    assert sorted(found) == ["monthly", "nightly"]
    for deployment in found.values():
        (schedule,) = deployment["schedules"]
        assert schedule["schedule"]["timezone"] == "Europe/Berlin"
        assert deployment["enforce_parameter_schema"]
        assert deployment["parameters"] == {"config": str(site.folder / "radcal.toml")}
        assert deployment["global_concurrency_limit"] is None
    assert found["monthly"]["schedules"][0]["schedule"]["cron"] == "0 5 2 * *"


def test_only_the_model_server_has_a_limit(site: Site) -> None:
    limits = {limit["tag"]: limit["concurrency_limit"] for limit in _tags(site)}
    assert limits == {"gpu": 1}
    (pool,) = (p for p in site.ask("work_pools/filter") if p["name"] == "radcal")
    assert pool["concurrency_limit"] is None


def test_setting_up_again_after_an_upgrade_doubles_no_message(site: Site) -> None:
    automations = site.ask("automations/filter")
    doing = {a["name"]: a["actions"][0] for a in automations}
    assert len(doing) == len(automations) == 3
    assert doing.pop("radcal-run-died")["state"] == "CRASHED"
    block = site.environment["RADCAL_NOTIFICATION_BLOCK"]
    assert {each["block_document_id"] for each in doing.values()} == {block}


def _tags(site: Site) -> list[dict[str, Any]]:
    return site.ask("concurrency_limits/filter")


@pytest.mark.parametrize(("name", "value"), [("config", "Roe, Jane"), ("period", "last month")])
def test_parameter_that_is_no_path_or_month_is_refused(site: Site, name: str, value: str) -> None:
    assert site.order(**{name: value}).is_client_error
    assert not [r for r in site.ask("flow_runs/filter") if "Roe" in str(r["parameters"])]


def test_parameter_that_the_job_does_not_have_is_refused(site: Site) -> None:
    refused = site.prefect("deployment", "run", "radcal/monthly", "--param", 'text="x"')
    assert refused.returncode != 0
    assert site.ask("flow_runs/filter", flow_runs={"start_time": {"is_null_": False}}) == []


def test_worker_takes_the_run_to_delivered_pages(site: Site, worked: dict[str, Any]) -> None:
    assert worked["state"]["type"] == "COMPLETED"
    pages = sorted(p.name for p in (site.folder / "workspace" / "delivery").glob("*/*/*.pdf"))
    assert pages == ["feedback.pdf"] * 3 + ["review.pdf"]
    for page in (site.folder / "workspace" / "delivery").glob("*/*/*.pdf"):
        assert page.stat().st_mode & 0o777 == 0o600


def test_run_leaves_its_tables_links_and_events_on_the_server(
    site: Site, worked: dict[str, Any]
) -> None:
    artifacts = {a["key"]: a for a in site.ask("artifacts/latest/filter")}
    assert set(artifacts) >= {"radcal-stages", "radcal-gates", "radcal-pages"}
    assert '"ingest"' in artifacts["radcal-stages"]["data"]
    assert "FAILED" not in artifacts["radcal-gates"]["data"]
    assert "/delivery/" in artifacts["radcal-pages"]["data"]
    for event in ("radcal.gates.passed", "radcal.pages.delivered"):
        wait_until_it_is_kept(site, event)


def wait_until_it_is_kept(site: Site, event: str) -> None:
    """Wait for an event, which the server keeps with the next ones, some seconds later."""
    until = time.monotonic() + PATIENCE_S
    while event not in site.kept():
        assert time.monotonic() < until, f"the server never kept {event}"
        time.sleep(1.0)


def test_server_holds_no_identifier_and_no_text(site: Site, worked: dict[str, Any]) -> None:
    exams = pd.read_csv(site.folder / "hospital" / "exams.csv", dtype="str").fillna("")
    kept = site.kept()
    assert worked["id"] in kept
    for column in ("accession", "patient_id", "patient_name", "reader_name", "text"):
        for value in set(exams[column]) - {""}:
            shown = value if column != "text" else value.strip().splitlines()[-1].strip()
            assert len(shown) < 5 or shown not in kept, f"a value of {column} is in the database"


def tree(process: int) -> list[int]:
    """Name a process and all that it and its own started."""
    threads = Path(f"/proc/{process}/task").glob("*/children")
    started = [int(each) for children in threads for each in children.read_text().split()]
    return [process, *(each for one in started for each in tree(one))]


def test_run_that_died_with_its_worker_keeps_no_other_from_being_run(
    site: Site, worked: dict[str, Any]
) -> None:
    def state_of(run: str) -> str:
        (found,) = site.ask("flow_runs/filter", flow_runs={"id": {"any_": [run]}})
        return str(found["state"]["type"])

    died = site.order().json()["id"]
    command = [*PREFECT, "worker", "start", "--pool", "radcal", "--limit", "1"]
    worker = subprocess.Popen(
        command, env=site.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        until = time.monotonic() + PATIENCE_S
        while state_of(died) != "RUNNING":
            assert time.monotonic() < until, "the run never began"
            time.sleep(0.2)
    finally:
        for process in tree(worker.pid):  # the worker first: it would tell of the run
            os.kill(process, signal.SIGKILL)
        worker.wait()
    next_run = site.order().json()["id"]
    site.prefect("worker", "start", "--pool", "radcal", "--limit", "1", "--run-once")
    assert (state_of(died), state_of(next_run)) == ("RUNNING", "COMPLETED")
    assert worked["id"] not in {died, next_run}


def test_gate_that_fails_is_told_to_the_quality_office_once(
    site: Site, worked: dict[str, Any]
) -> None:
    config = site.folder / "radcal.toml"
    config.write_text(config.read_text() + "[pairing]\nwindow_hours = 0.001\n")
    assert site.order().is_success
    site.prefect("worker", "start", "--pool", "radcal", "--run-once")
    until = time.monotonic() + PATIENCE_S
    while not (told := [m for m in site.received if "gate(s) failed" in m]):
        assert time.monotonic() < until, "no message came"
        time.sleep(0.5)
    assert len(told) == 1
    assert "1 gate(s) failed, nothing was delivered" in told[0]
    assert not [m for m in site.received if m not in told and "a run failed" not in m]
