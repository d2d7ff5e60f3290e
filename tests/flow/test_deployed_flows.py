"""The flows under Prefect's test harness: what a night leaves, and what a failed gate leaves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import ArtifactFilter, ArtifactFilterKey

from pipeline.errors import GateFailedError
from pipeline.flows import nightly, whole_job
from pipeline.simulate import simulate_chunks
from pipeline.simulate.generator import write_simulation

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("prefect_server")]


@pytest.fixture(scope="module")
def hospital(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("flows")
    chunks = simulate_chunks(pairs=20, readers=5, seed=3)
    write_simulation(chunks, folder / "hospital")
    return folder


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RADCAL_VAULT_KEY", "k7Jq2mXw9TzR4bVn8sLp3dFg6hYc1aQe")


def configuration(folder: Path, more: str) -> str:
    path = folder / "radcal.toml"
    text = '[reports]\ndemonstration = true\n[input]\npaths = ["hospital/exams.csv"]\n'
    path.write_text(f"{text}[execution]\nworkers = 1\n{more}\n")
    return str(path)


def artifacts(key: str) -> list[str]:
    """Give what was kept under a key, newest last."""
    with get_client(sync_client=True) as client:
        found = client.read_artifacts(
            artifact_filter=ArtifactFilter(key=ArtifactFilterKey(any_=[key]))
        )
    return [str(a.data) for a in sorted(found, key=lambda a: a.created)]


def test_night_ends_at_the_gates_and_tells_its_counts(hospital: Path) -> None:
    summary = nightly(configuration(hospital, '[store]\nworkspace = "night"'))
    assert summary.outcome == "gathered"
    assert summary.pairs == 20
    assert not (hospital / "night" / "delivery").exists()
    stages = {row["stage"]: row for row in json.loads(artifacts("radcal-stages")[-1])}
    assert list(stages) == ["ingest", "register", "de-identify", "pair", "extract", "tally"]
    assert stages["ingest"]["kept"] == stages["de-identify"]["rows"]
    assert {g["result"] for g in json.loads(artifacts("radcal-gates")[-1])} == {"passed"}


def test_failed_gate_delivers_nothing_and_whoever_is_to_be_told_is_told(hospital: Path) -> None:
    told = hospital / "told.json"
    config = configuration(
        hospital,
        f'[store]\nworkspace = "refused"\n[notify]\ncommand = ["tee", "{told}"]\n'
        "[pairing]\nwindow_hours = 0.001\nother_windows_hours = []\n",
    )
    with pytest.raises(GateFailedError):
        whole_job(config)
    assert not list((hospital / "refused" / "delivery").glob("*/*"))
    gates = json.loads(artifacts("radcal-gates")[-1])
    failed = [g["gate"] for g in gates if g["result"] != "passed"]
    assert "observations to calibrate on" in failed
    notice = json.loads(told.read_text())
    assert notice["event"] == "radcal: gates failed"
    assert all(gate in notice["message"] for gate in failed)
