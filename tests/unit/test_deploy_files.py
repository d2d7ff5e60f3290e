"""The files of deploy/, read as the programs they are for would read them."""

from __future__ import annotations

import configparser
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from prefect.events.schemas.automations import AutomationCore
from prefect.flows import load_flow_from_entrypoint
from prefect.settings import get_current_settings
from prefect.utilities.callables import parameter_schema

from pipeline import config
from pipeline.store.provenance import version
from pipeline.store.workspace import IRREPLACEABLE

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
PREFECT = yaml.safe_load((DEPLOY / "prefect.yaml").read_text())
COMPOSE = yaml.safe_load((DEPLOY / "container" / "compose.yaml").read_text())


def manifests() -> Iterator[dict[str, Any]]:
    for path in sorted((DEPLOY / "kubernetes").glob("*.yaml")):
        yield from yaml.safe_load_all(path.read_text())


def pods() -> Iterator[tuple[str, dict[str, Any]]]:
    for manifest in manifests():
        spec = manifest.get("spec", {})
        spec = spec.get("jobTemplate", {}).get("spec", spec)
        if "template" in spec:
            yield manifest["metadata"]["name"], spec["template"]["spec"]


@pytest.mark.parametrize("deployment", PREFECT["deployments"], ids=lambda d: d["name"])
def test_deployment_names_a_flow_and_gives_only_its_parameters(deployment: dict[str, Any]) -> None:
    flow = load_flow_from_entrypoint(deployment["entrypoint"])
    known = parameter_schema(flow.fn).properties
    assert set(deployment["parameters"]) == {"config"} <= set(known)
    assert deployment["enforce_parameter_schema"] is True


@pytest.mark.parametrize("guide", [DEPLOY / "README.md", DEPLOY.parent / "docs" / "operations.md"])
@pytest.mark.parametrize(
    "kept", ["raw/vault.sqlite", *(f"/{table}" for table in IRREPLACEABLE), "analysis/profiles"]
)
def test_a_backup_holds_what_no_run_can_make_again(guide: Path, kept: str) -> None:
    assert kept in guide.read_text().partition("\n## Backup\n")[2].partition("\n## ")[0]


def test_flows_take_paths_and_months_and_nothing_else() -> None:
    from pipeline.flows import nightly, whole_job

    properties = parameter_schema(whole_job.fn).properties
    assert set(properties) == {"config", "period"}
    assert re.search(properties["config"]["pattern"], "/etc/radcal/radcal.toml")
    assert not re.search(properties["config"]["pattern"], "Impression: likely pneumonia.")
    month = properties["period"]["anyOf"][0]["pattern"]
    assert re.search(month, "2026-09")
    assert not re.search(month, "2026-13")
    assert set(parameter_schema(nightly.fn).properties) == {"config"}


def test_one_run_at_a_time_is_the_workers_doing_and_no_place_on_the_server_is_kept() -> None:
    assert not [d for d in PREFECT["deployments"] if "concurrency_limit" in d]
    (worker,) = dict(pods())["worker"]["containers"]
    for command in (COMPOSE["services"]["worker"]["command"], worker["args"]):
        assert command[command.index("--limit") + 1] == "1"


def test_a_server_that_restarts_finds_the_places_before_the_model_server_that_are_taken() -> None:
    leases = "prefect.server.concurrency.lease_storage.filesystem"
    name = "PREFECT_SERVER_CONCURRENCY_LEASE_STORAGE"
    composed, pod = COMPOSE["services"]["server"], dict(pods())["server"]
    (container,) = pod["containers"]
    given = {each["name"]: each.get("value") for each in container["env"]}
    assert composed["environment"][name] == given[name] == leases
    assert "server:/var/lib/radcal" in composed["volumes"]
    (home,) = (v for v in pod["volumes"] if v["name"] == "home")
    assert home["persistentVolumeClaim"]["claimName"] in claims()


def claims() -> set[str]:
    return {m["metadata"]["name"] for m in manifests() if m["kind"] == "PersistentVolumeClaim"}


def test_a_run_that_gives_no_sign_of_life_is_called_crashed_after_three_signs_are_missing() -> None:
    (died,) = yaml.safe_load((DEPLOY / "dead-runs.yaml").read_text())["automations"]
    trigger = AutomationCore.model_validate(died).trigger.model_dump()
    signs = get_current_settings().flows.heartbeat_frequency
    assert signs is not None
    assert trigger["within"].total_seconds() > 3 * signs
    assert trigger["after"] <= trigger["expect"]


def test_automations_are_what_prefect_takes_and_expect_events_that_are_emitted() -> None:
    found = yaml.safe_load((DEPLOY / "automations.yaml").read_text())["automations"]
    expected = {
        event
        for a in found
        for event in AutomationCore.model_validate(a).trigger.model_dump()["expect"]
    }
    source = (DEPLOY.parent / "pipeline" / "run" / "notices.py").read_text()
    assert {e for e in expected if e.startswith("radcal")} == {"radcal.gates.failed"}
    assert '"radcal.gates.failed"' in source


@pytest.mark.parametrize("name", COMPOSE["services"])
def test_container_is_confined(name: str) -> None:
    service = COMPOSE["services"][name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in service["security_opt"]
    assert not service["user"].startswith("0")
    assert "ports" not in service
    assert service["networks"] == ["inside"]
    assert COMPOSE["networks"]["inside"]["internal"] is True
    assert not [k for k in service.get("environment", {}) if re.search("PASSWORD$|KEY$|TOKEN$", k)]


@pytest.mark.parametrize("pod", [pytest.param(pod, id=name) for name, pod in pods()])
def test_pod_keeps_to_the_restricted_standard(pod: dict[str, Any]) -> None:
    assert pod["automountServiceAccountToken"] is False
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    for container in pod["containers"] + pod.get("initContainers", []):
        context = container["securityContext"]
        assert context["allowPrivilegeEscalation"] is False
        assert context["readOnlyRootFilesystem"] is True
        assert context["capabilities"] == {"drop": ["ALL"]}
        assert {"cpu", "memory"} <= set(container["resources"]["limits"])


def test_cluster_denies_all_traffic_that_is_not_named() -> None:
    policies = {
        m["metadata"]["name"]: m["spec"] for m in manifests() if m["kind"] == "NetworkPolicy"
    }
    assert policies["deny-all"] == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
    for name, spec in policies.items():
        for rule in spec.get("egress", []) + spec.get("ingress", []):
            assert rule["ports"], f"{name} allows every port"
            assert rule.get("to") or rule.get("from"), f"{name} allows everyone"


@pytest.mark.parametrize("path", sorted(DEPLOY.rglob("Containerfile*")), ids=lambda p: p.name)
def test_image_is_pinned_and_does_not_run_as_root(path: Path) -> None:
    text = path.read_text()
    for default in re.findall(r"^ARG \w+=(\S+)", text, re.MULTILINE):
        assert re.search(r"\d+\.\d+\.\d+", default)
    assert re.findall(r"^USER (\S+)", text, re.MULTILINE)[-1] == "10001:10001"
    assert "--require-hashes" in text
    assert "HEALTHCHECK" in text


def test_images_and_bundle_install_what_the_tests_ran_with() -> None:
    def pins(path: Path) -> dict[str, str]:
        return dict(re.findall(r"^([a-z0-9.-]+)==([^\s;\\]+)", path.read_text(), re.MULTILINE))

    runtime, tested = pins(DEPLOY / "runtime.lock"), pins(DEPLOY.parent / "requirements.lock")
    assert runtime.items() <= tested.items()
    assert "pytest" not in runtime


def test_bundle_has_the_wheels_of_every_patch_release_of_its_python() -> None:
    script = (DEPLOY / "airgap" / "make-bundle.sh").read_text()
    widen = re.search(
        r'^sed -E "(.+)" "\$root/deploy/runtime.lock" >"\$work/all.lock"$', script, re.M
    )
    assert widen is not None
    lock = (DEPLOY / "runtime.lock").read_text()
    some_patches = re.compile(r"python_full_version\W+\d+\.\d+\.\d+")
    assert some_patches.search(lock)
    widened = subprocess.run(
        ["sed", "-E", widen[1], DEPLOY / "runtime.lock"], check=True, capture_output=True, text=True
    ).stdout
    assert not some_patches.search(widened)
    assert re.findall("^[a-z].*==", widened, re.M) == re.findall("^[a-z].*==", lock, re.M)


def test_versions_named_in_deploy_are_this_version() -> None:
    named = re.compile(r"radcal(?:-gpu)?:(\d+\.\d+\.\d+)")
    files = [p for p in DEPLOY.rglob("*") if p.is_file()]
    found = {v for p in files for v in named.findall(p.read_text(encoding="utf-8"))}
    assert found == {version()}
    kustomization = yaml.safe_load((DEPLOY / "kubernetes" / "kustomization.yaml").read_text())
    assert {i["newTag"] for i in kustomization["images"]} == {version()}


def test_unit_is_confined_and_timers_start_it() -> None:
    unit = (DEPLOY / "systemd" / "radcal@.service").read_text()
    for line in ("ProtectSystem=strict", "IPAddressDeny=any", "UMask=0077", "NoNewPrivileges=true"):
        assert line in unit.splitlines()
    for timer in (DEPLOY / "systemd").glob("*.timer"):
        parsed = configparser.ConfigParser(interpolation=None)
        parsed.read(timer)
        assert parsed["Timer"]["Unit"] == f"radcal@{timer.stem.removeprefix('radcal-')}.service"


@pytest.mark.parametrize("path", sorted(DEPLOY.rglob("*.sh")), ids=lambda p: p.name)
def test_script_parses_and_stops_at_the_first_error(path: Path) -> None:
    first, *lines = path.read_text().splitlines()
    assert path.stat().st_mode & 0o111
    assert any(line in ("set -euo pipefail", "set -eu") for line in lines)
    subprocess.run([first.split("/")[-1].split()[-1], "-n", path], check=True)


def test_shipped_configuration_of_the_cluster_is_valid() -> None:
    path = DEPLOY / "kubernetes" / "radcal.toml"
    assert config.load(path).workspace == Path("/var/lib/radcal/workspace")
    assert tomllib.loads(path.read_text())


@pytest.mark.parametrize(("code", "ends"), [(0, 0), (1, 1), (2, 2), (3, 0), (4, 4)])
def test_scheduled_run_passes_on_every_code_but_that_of_input_set_aside(
    code: int, ends: int
) -> None:
    done = subprocess.run(
        [DEPLOY / "once.sh", "sh", "-c", f"exit {code}"], capture_output=True, check=False
    )
    assert done.returncode == ends
    assert (b"set aside" in done.stderr) == (code == 3)


def test_scheduled_run_waits_for_the_run_that_holds_the_workspace(tmp_path: Path) -> None:
    tries = tmp_path / "tries"
    stand_in = f"echo . >> {tries}; [ $(wc -l < {tries}) -ge 3 ] || exit 5"
    waiting = {"RADCAL_WAIT_SECONDS": "0", "PATH": "/usr/bin:/bin"}
    done = subprocess.run([DEPLOY / "once.sh", "sh", "-c", stand_in], env=waiting, check=False)
    assert done.returncode == 0
    assert tries.read_text().count(".") == 3
    gave_up = subprocess.run(
        [DEPLOY / "once.sh", "sh", "-c", "exit 5"],
        env={**waiting, "RADCAL_WAIT_TRIES": "2"},
        check=False,
    )
    assert gave_up.returncode == 5


def test_codes_that_a_cron_job_gives_up_on_reach_it() -> None:
    jobs = [m for m in manifests() if m["kind"] == "CronJob"]
    assert len(jobs) == 2
    for job in jobs:
        spec = job["spec"]["jobTemplate"]["spec"]
        (container,) = spec["template"]["spec"]["containers"]
        assert container["command"][-1].endswith("once.sh")
        assert "sh" not in container["args"]
        (rule,) = spec["podFailurePolicy"]["rules"]
        assert rule["onExitCodes"]["values"] == [2, 4]


def verified(units: Path) -> None:
    """Let systemd itself read the units as installed, where it is there."""
    if shutil.which("systemd-analyze") is None:
        return
    found = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", "radcal@nightly.service",
         "radcal-nightly.timer", "radcal-monthly.timer"],
        env={**os.environ, "SYSTEMD_UNIT_PATH": f"{units}:"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    ours = [line for line in found.stderr.splitlines() if "radcal" in line]
    assert (found.returncode, ours) == (0, [])


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl kustomize is not here")
def test_kustomize_builds_what_the_manifests_say(tmp_path: Path) -> None:
    built = subprocess.run(
        ["kubectl", "kustomize", DEPLOY / "kubernetes"],
        capture_output=True, text=True, check=True, env={**os.environ, "HOME": str(tmp_path)},
    ).stdout  # fmt: skip
    made = [each for each in yaml.safe_load_all(built) if each]
    named = {(each["kind"], each["metadata"]["name"]) for each in made}
    stated = {
        (each["kind"], each["metadata"]["name"])
        for name in yaml.safe_load((DEPLOY / "kubernetes" / "kustomization.yaml").read_text())[
            "resources"
        ]
        for each in yaml.safe_load_all((DEPLOY / "kubernetes" / name).read_text())
    }
    assert len({kind for kind, _ in stated}) > 5
    assert stated <= named
    images = [each["image"] for manifest in made for each in containers(manifest)]
    assert images
    assert not [image for image in images if image.endswith(":latest") or ":" not in image]


def containers(manifest: object) -> list[dict[str, Any]]:
    """Find the containers of a manifest, however deep they stand."""
    if isinstance(manifest, list):
        return [c for each in manifest for c in containers(each)]
    if not isinstance(manifest, dict):
        return []
    own = [c for name in ("containers", "initContainers") for c in manifest.get(name, ())]
    return own + [c for each in manifest.values() for c in containers(each)]


def test_units_are_installed_with_a_workspace_that_a_run_can_write(tmp_path: Path) -> None:
    prefix, root = tmp_path / "opt", tmp_path / "root"
    (prefix / "bin").mkdir(parents=True)
    program = prefix / "bin" / "radcal"
    program.write_text(
        f"#!/bin/sh\nexec {sys.executable} -c 'from pipeline.cli import main; main()' \"$@\"\n"
    )
    program.chmod(0o755)
    command = [DEPLOY / "systemd" / "install.sh", "--prefix", prefix, "--root", root]
    for _ in range(2):
        subprocess.run(
            [*command, "--allow", "10.1.2.3", "--allow", "10.1.2.4"],
            cwd=DEPLOY.parent, check=True, capture_output=True,
        )  # fmt: skip
    settings = root / "etc" / "radcal" / "radcal.toml"
    assert config.load(settings).workspace == Path("/var/lib/radcal/workspace")
    assert settings.stat().st_mode & 0o777 == 0o640
    assert (root / "etc" / "radcal" / "vault.key").stat().st_mode & 0o777 == 0o600
    unit = (root / "etc/systemd/system/radcal@.service").read_text()
    assert f"ExecStart={prefix}/share/once.sh {prefix}/bin/radcal run" in unit
    verified(root / "etc/systemd/system")
    allowed = (root / "etc/systemd/system/radcal@.service.d/network.conf").read_text()
    assert allowed.splitlines() == [
        "[Service]",
        "IPAddressAllow=10.1.2.3",
        "IPAddressAllow=10.1.2.4",
    ]


def test_every_object_is_of_the_namespace_or_kustomized_into_it() -> None:
    alone = yaml.safe_load_all((DEPLOY / "kubernetes" / "namespace.yaml").read_text())
    assert {m["metadata"].get("namespace") for m in alone if m["kind"] != "Namespace"} == {"radcal"}


def test_who_starts_compose_is_told_to_let_each_service_read_its_secrets() -> None:
    told = (DEPLOY / "container" / "compose.yaml").read_text().partition("\nname:")[0]
    ((owner, group),) = re.findall(r"chown (\d+):(\d+) \S*/secrets/database_password", told)
    readers = [
        s for s in COMPOSE["services"].values() if "database_password" in s.get("secrets", ())
    ]
    assert {each["user"].partition(":")[0] for each in readers} == {owner, group}
