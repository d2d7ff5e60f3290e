"""From HL7 messages to pairs: what was signed before the CT is the forecast, nothing later."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from pipeline.site.site import Site
from pipeline.stages.ingest import INGEST
from pipeline.tables.pairing import RETIMED, PairedExams, pair
from pipeline.tables.versions import redated
from tests.fixtures.here import Here, coded

KEY = "Zr7-kT2_mQ9vLx4WbN8sYc1HdE6pJgUaF3iOo5RtXyS"
RESIDENT, ATTENDING = "T7^Marr^Otto", "D5^Hope^Faith"


def message(
    accession: str, exam: str, performed: str, signed: str, status: str, text: str, *,
    reader: str = ATTENDING, assistant: str = "", section: str = "GDT",
) -> str:  # fmt: skip
    cells = {
        1: "1", 3: accession, 4: f"X^{exam}", 7: f"20260301{performed}00",
        22: f"20260301{signed}00" if len(signed) == 4 else signed, 25: status,
        32: reader, 33: assistant,
    }  # fmt: skip
    order = "|".join(["OBR", *(cells.get(i, "") for i in range(1, 34))])
    return "\r".join(
        ["MSH|^~\\&|RIS|N|||20260302||ORU^R01|1|P|2.4", "PID|1||M1||DOE^JANE||19500415", order,
         f"OBX|1|TX|&{section}||{text}||||||{status}\r"]
    )  # fmt: skip


CT = message("A2", "CT CHEST", "1400", "1500", "F", "Embolus.")


def paired(folder: Path, *messages: str, monkeypatch: pytest.MonkeyPatch) -> PairedExams:
    monkeypatch.setenv("RADCAL_VAULT_KEY", KEY)
    (folder / "feed.hl7").write_text("".join(messages))
    path = folder / "radcal.toml"
    path.write_text('[input]\npaths = ["feed.hl7"]\n')
    site = Site.open(str(path))
    keys = [shard.key for shard in coded(site)]
    assert INGEST.do(site, str(folder / "feed.hl7")).found.quarantined == {}
    return pair(redated(site.workspace.read("analysis", "clean_exams", keys)))


def readers(folder: Path, *identifiers: str) -> list[str]:
    with Site.open(str(folder / "radcal.toml")).open_vault(read_only=True) as vault:
        return vault.codes("reader", identifiers)


def test_the_version_signed_before_the_ct_is_the_forecast(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = paired(
        tmp_path,
        message("A1", "XR CHEST", "1000", "1030", "P", "Clear?", reader=RESIDENT),
        message("A1", "XR CHEST", "1000", "1100", "F", "Likely clear.", assistant=RESIDENT),
        message("A1", "XR CHEST", "1000", "1600", "F", "Embolus on CT.", section="ADT"),
        CT,
        monkeypatch=monkeypatch,
    )
    (row,) = found.pairs.to_dict("records")
    assert row["xr_exam_key"].split(".")[1] == "final"
    assert row["interval_hours"] == 4.0
    attending, resident = readers(tmp_path, "D5", "T7")
    assert row["reader_code"] == attending != resident
    assert found.late_versions == 1


def read_texts(folder: Path, found: PairedExams) -> pd.DataFrame:
    """Read the paired reports as a run does."""
    site = Site.open(str(folder / "radcal.toml"))
    store = site.workspace
    said = [shard.key for shard in Here(site).gather().read]
    stated = store.read("analysis", "report_findings", said)
    return stated[stated["exam_key"].isin(found.pairs["ct_exam_key"])]


@pytest.mark.parametrize("addendum", ["Called to Dr. Quell.", "ADDENDUM: called. {report}"])
def test_an_addendum_sent_alone_does_not_silence_the_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, addendum: str
) -> None:
    report = "FINDINGS: Small left pleural effusion. No pneumothorax."
    late = message("A2", "CT CHEST", "1400", "1600", "A", addendum.format(report=report))
    found = paired(
        tmp_path,
        message("A1", "XR CHEST", "1000", "1100", "F", "Likely pleural effusion."),
        message("A2", "CT CHEST", "1400", "1500", "F", report),
        late,
        monkeypatch=monkeypatch,
    )
    assert found.pairs["ct_exam_key"].item().split(".")[1] == "addendum"
    said = read_texts(tmp_path, found).set_index("pathology")["phrase"]
    assert said["pleural effusion"] == "present"
    assert said["pneumothorax"] == "absent"


def test_a_time_of_the_ct_that_a_later_run_corrects_takes_the_pair_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At first typed as 14:00; by 10:50, which is the truth, nobody had signed the X-ray."""
    film = message("A1", "XR CHEST", "1000", "1100", "F", "Likely clear.")
    assert len(paired(tmp_path, film, CT, monkeypatch=monkeypatch).pairs) == 1
    (tmp_path / "radcal.toml").write_text('[input]\npaths = ["*.hl7"]\n')
    site = Site.open(str(tmp_path / "radcal.toml"))
    first = Here(site).gather()
    (tmp_path / "more.hl7").write_text(message("A2", "CT CHEST", "1050", "1700", "C", "Embolus."))
    again = Here(Site.open(str(tmp_path / "radcal.toml"))).gather()
    assert [each.accounting().pairs for each in (first, again)] == [1, 0]
    assert [each.reading[RETIMED] for each in (first, again)] == [0, 1]


def test_a_preliminary_read_alone_is_no_forecast(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    early = message("A1", "XR CHEST", "1000", "1030", "P", "Clear?", reader=RESIDENT)
    late = message("A1", "XR CHEST", "1000", "1430", "F", "Clear.")
    found = paired(tmp_path, early, late, CT, monkeypatch=monkeypatch)
    assert len(found.pairs) == 0
    assert found.fates["fate"].tolist() == ["no signed report before the CT was performed"]


def test_a_report_signed_some_time_on_the_day_of_the_ct_is_no_forecast(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dated = message("A1", "XR CHEST", "1000", "20260301", "F", "Clear.")
    assert len(paired(tmp_path, dated, CT, monkeypatch=monkeypatch).pairs) == 0


@pytest.mark.parametrize(("sent", "counts"), [("202603011101", "corrected"), ("20260302", "final")])
def test_of_two_versions_signed_in_the_same_minute_the_correction_counts_if_sent_before_the_ct(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sent: str, counts: str
) -> None:
    versions = [message("A1", "XR CHEST", "1000", "1100", s, f"Text {s}.") for s in "CF"]
    versions = [each.replace("20260302", sent) for each in versions]
    found = paired(tmp_path, *versions, CT, monkeypatch=monkeypatch)
    (row,) = found.pairs.to_dict("records")
    assert row["xr_exam_key"].split(".")[1] == counts


def test_no_time_of_signing_stands_in_a_key_of_the_analysis_zone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    xray = message("A1", "XR CHEST", "1000", "1100", "F", "Clear.")
    found = paired(tmp_path, xray, CT, monkeypatch=monkeypatch)
    keys = found.pairs[["xr_exam_key", "ct_exam_key"]].to_numpy().ravel()
    assert not any("2026" in key or "T11" in key for key in keys)


TAKEN_BACK = {
    "every row posted as wrong": ("1200", "W"),
    "with the first report's own time of signing": ("1100", "W"),
    "deleted": ("1200", "D"),
}


@pytest.mark.parametrize(("signed", "status"), TAKEN_BACK.values(), ids=TAKEN_BACK)
def test_a_report_taken_back_in_a_later_run_is_no_forecast_any_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, signed: str, status: str
) -> None:
    xray = message("A1", "XR CHEST", "1000", "1100", "F", "Likely embolus.")
    assert len(paired(tmp_path, xray, CT, monkeypatch=monkeypatch).pairs) == 1
    Site.forget()
    wrong = message("A1", "XR CHEST", "1000", signed, status, "Likely embolus.")
    found = paired(tmp_path, wrong, xray, CT, monkeypatch=monkeypatch)
    assert len(found.pairs) == 0
    assert found.flow[1].excluded == 2


@pytest.mark.parametrize("accession", ["A1", "A2"], ids=["the X-ray", "the CT"])
def test_a_cancelled_order_takes_one_side_out_of_a_pair_and_the_next_issue_tells_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, accession: str
) -> None:
    monkeypatch.setenv("RADCAL_VAULT_KEY", KEY)
    (tmp_path / "radcal.toml").write_text('[input]\npaths = ["*.hl7"]\n')
    said = "FINDINGS: Likely pleural effusion. Likely pneumothorax."
    first = message("A1", "XR CHEST", "1000", "1100", "F", said)
    again = CT.replace("A2", "A4").replace("M1", "M2").replace("Embolus", "Pleural effusion")
    other = message("A3", "XR CHEST", "1000", "1100", "F", said).replace("M1", "M2")
    feed = [first, CT.replace("Embolus", "Pleural effusion"), other, again]
    (tmp_path / "day.hl7").write_text("".join(feed))
    here = Here(Site.open(str(tmp_path / "radcal.toml")))
    before = here.gather()
    assert (sum(b.pairs for b in before.paired), before.taken_back) == (2, 0)
    gone = next(each for each in feed if f"|{accession}|" in each)
    cancelled = gone.replace("\rOBR", "\rORC|CA\rOBR").replace("|20260302|", "|20260303|")
    (tmp_path / "night.hl7").write_text(cancelled)
    Site.forget()
    here = Here(Site.open(str(tmp_path / "radcal.toml")))
    after = here.gather()
    assert (sum(b.pairs for b in after.paired), after.taken_back) == (1, 2)
    assert dict(after.shown("en"))["versions taken back by their sender, not used"] == 2
    left = {step.reason: step.excluded for step in after.flow}
    assert left["no chest CT of the patient in the window"] == (accession == "A2")
    statements = [
        here.site.workspace.read("analysis", "observations", [t.key for t in g.tallied])
        for g in (before, after)
    ]
    assert [len(each) for each in statements] == [4, 2]


def test_a_report_sent_again_after_it_was_taken_back_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed = [
        message("A1", "XR CHEST", "1000", "1030", "F", "Embolus is unlikely.", reader=RESIDENT),
        message("A1", "XR CHEST", "1000", "1030", "W", "Embolus is unlikely."),
        message("A1", "XR CHEST", "1000", "1130", "F", "Likely embolus."),
    ]
    sent = ["20260301103500", "20260301110000", "20260301113500"]
    feed = [each.replace("|20260302|", f"|{at}|") for each, at in zip(feed, sent, strict=True)]
    found = paired(tmp_path, *reversed(feed), CT.replace("|20260302|", "|20260301150500|"),
                   monkeypatch=monkeypatch)  # fmt: skip
    (row,) = found.pairs.to_dict("records")
    assert row["reader_code"] == readers(tmp_path, "D5")[0]
    assert found.flow[1].excluded == 2
