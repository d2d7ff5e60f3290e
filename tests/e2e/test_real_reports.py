"""Real report texts through the whole job: paired at random, so only the accounting is judged.

CT of another patient bears no word out, which is what the gate on their order asks for: the job
is stopped as a hospital's would be, and goes on once that gate is told to let it pass.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import hl7
import numpy as np
import pandas as pd
import pytest

from tests.e2e.commands import Finished, here

HERE = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("RADCAL_SHARED_DATA", HERE.parent / "shared" / "data"))

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (SHARED / "xr").is_dir(), reason="no real reports at hand"),
]

CONFIG = """
[reports]
demonstration = true

[input]
paths = ["exams.csv"]

[deidentification]
max_quarantined_share = 0.05
"""
LET_PASS = """
[calibration]
min_rise = 0
"""
KEY = "Zr7-kT2_mQ9vLx4WbN8sYc1HdE6pJgUaF3iOo5RtXyS"


def xray_texts() -> list[str]:
    openi = pd.read_csv(SHARED / "xr" / "openi.csv", dtype=str, keep_default_na=False)
    joined = (
        "INDICATION: " + openi["indication"] + "\nFINDINGS: " + openi["findings"]
        + "\nIMPRESSION: " + openi["impression"]
    )  # fmt: skip
    lines = (SHARED / "xr" / "cmc2007_chest.jsonl").read_text(encoding="utf-8").splitlines()
    cmc = [json.loads(line) for line in lines]
    return [
        *joined,
        *(f"HISTORY: {r['clinical_history']}\nIMPRESSION: {r['impression']}" for r in cmc),
    ]


def hl7_texts() -> list[str]:
    raw = (SHARED / "hl7" / "messages.hl7").read_bytes().decode("utf-8", "replace")
    messages = ["MSH" + part for part in raw.replace("\n", "\r").split("MSH")[1:]]
    texts = []
    for message in messages:
        parsed = hl7.parse(message.strip("\r") + "\r")
        rows = [s for s in parsed if str(s[0]) == "OBX" and len(s) > 5 and str(s[2]) != "RP"]
        texts.append("\n".join(str(row[5]).replace("~", "\n") for row in rows))
    return texts


def exams() -> pd.DataFrame:
    """One row per real text; each X-ray is given a CT of the same invented patient by chance."""
    rng = np.random.default_rng(7)
    ct = pd.read_csv(SHARED / "ct" / "ctrate_labelled.csv", dtype=str, keep_default_na=False)
    xr, fed = xray_texts(), hl7_texts()
    cts = [*ct["report_text"], *fed]
    order = rng.permutation(len(xr))
    rows = []
    for number, index in enumerate(order):
        patient, day = f"{70000000 + number}", pd.Timedelta(days=int(rng.integers(0, 300)))
        at = pd.Timestamp("2025-11-01T08:00:00Z") + day
        rows.append(exam("XR", number, patient, at, xr[index], f"r{rng.integers(8)}"))
        if number < len(cts):
            later = at + pd.Timedelta(hours=int(rng.integers(2, 11)))
            rows.append(exam("CT", number, patient, later, cts[number], "r9"))
    return pd.DataFrame(rows)


def exam(
    modality: str, number: int, patient: str, at: pd.Timestamp, text: str, reader: str
) -> dict[str, object]:
    return {
        "accession": f"{modality}{900000 + number}",
        "patient_id": patient,
        "reader_id": reader,
        "modality": modality,
        "exam_name": f"{modality} CHEST",
        "performed_at": at.isoformat(),
        "signed_at": (at + pd.Timedelta(minutes=30)).isoformat(),
        "patient_age_years": 60,
        "text": text,
    }


@pytest.fixture(scope="module")
def export(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, pd.DataFrame]:
    folder = tmp_path_factory.mktemp("real")
    table = exams()
    table.to_csv(folder / "exams.csv", index=False)
    return folder, table


@pytest.fixture(scope="module")
def stopped(export: tuple[Path, pd.DataFrame]) -> Finished:
    folder, _ = export
    (folder / "radcal.toml").write_text(CONFIG)
    return here("run", "radcal.toml", "--json", cwd=folder, RADCAL_VAULT_KEY=KEY)


@pytest.fixture(scope="module")
def job(
    export: tuple[Path, pd.DataFrame], stopped: Finished
) -> tuple[Path, pd.DataFrame, Finished]:
    folder, table = export
    (folder / "radcal.toml").write_text(CONFIG + LET_PASS)
    done = here("run", "radcal.toml", "--json", cwd=folder, RADCAL_VAULT_KEY=KEY)
    return folder, table, done


def manifest(folder: Path) -> dict[str, dict[str, int]]:
    paths = (folder / "workspace" / "runs").glob("*/manifest.json")
    latest = max(paths, key=lambda path: path.stat().st_mtime_ns)
    return dict(json.loads(latest.read_text(encoding="utf-8")))


def test_reports_joined_to_others_cts_are_delivered_to_nobody(
    export: tuple[Path, pd.DataFrame], stopped: Finished
) -> None:
    assert stopped.code == 4, stopped.err
    assert "1 of 7 gates failed" in stopped.err
    assert "joined to other patients' CTs" in stopped.err
    assert not list((export[0] / "workspace").rglob("feedback.pdf"))


def test_real_reports_end_in_pages(job: tuple[Path, pd.DataFrame, Finished]) -> None:
    folder, _, done = job
    assert done.code in (0, 3), done.err
    assert len(list((folder / "workspace" / "delivery").rglob("feedback.pdf"))) == 8
    assert len(list((folder / "workspace" / "delivery").rglob("review.pdf"))) == 1


def test_every_report_is_accounted_for(job: tuple[Path, pd.DataFrame, Finished]) -> None:
    folder, table, _ = job
    told = manifest(folder)
    a = told["accounting"]
    assert a["rows_in"] == len(table)
    assert a["rows_kept"] + a["rows_quarantined"] == a["rows_in"]
    assert a["exams_cleaned"] + a["exams_withheld"] == a["rows_kept"]
    empty = int((table["text"].str.strip() == "").sum())
    assert told["sources"][0]["quarantined"] == ({"missing_text": empty} if empty else {})
    readings = pd.concat(
        pd.read_parquet(p) for p in (folder / "workspace/analysis/readings").glob("*.parquet")
    )
    assert len(readings) == a["reports_read"] + a["reports_failed"] == 2 * a["pairs"]
    assert (readings.loc[readings["outcome"] == "failed", "reason"] != "").all()
    assert sum(told["failed_reports"].values()) == a["reports_failed"]


def test_unmapped_cues_are_listed_with_their_counts(
    job: tuple[Path, pd.DataFrame, Finished],
) -> None:
    told = manifest(job[0])
    assert sum(told["unmapped_cues"].values()) == told["accounting"]["statements_unmapped"]


def test_nearly_all_real_reports_can_be_read(job: tuple[Path, pd.DataFrame, Finished]) -> None:
    a = manifest(job[0])["accounting"]
    assert a["reports_failed"] <= 0.02 * (a["reports_read"] + a["reports_failed"])
    assert a["statements"] > 3 * a["reports_read"]
