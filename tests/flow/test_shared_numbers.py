"""Numbers that two patients share: nobody is dropped, and nobody's exams meet another's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from pipeline.site.site import Site
from pipeline.tables.pairing import PairedExams, pair
from pipeline.vault.codes import readable
from pipeline.vault.key import new_key
from tests.fixtures.here import coded

HEAD = "accession,patient_id,reader_id,modality,exam_name,performed_at,signed_at,status,patient_age_years,site,text"  # noqa: E501
XR = "XR,XR CHEST,2026-03-04T10:00,2026-03-04T11:00,final,50"
CT = "CT,CT CHEST,2026-03-04T14:00,2026-03-04T15:00,final,50"

Pairing = Callable[..., tuple[PairedExams, pd.DataFrame, Site]]


@pytest.fixture
def pairing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pairing:
    monkeypatch.setenv("RADCAL_VAULT_KEY", new_key())

    def run(name: str, content: str, options: str = "") -> tuple[PairedExams, pd.DataFrame, Site]:
        (tmp_path / name).write_text(content)
        (tmp_path / "radcal.toml").write_text(f'[input]\npaths = ["{name}"]\n{options}\n')
        Site.forget()
        site = Site.open(str(tmp_path / "radcal.toml"))
        keys = [shard.key for shard in coded(site)]
        exams = site.workspace.read("analysis", "clean_exams", keys)
        return pair(exams), exams, site

    return run


def table(*rows: tuple[str, str, str, str, str]) -> str:
    return "\n".join(
        [HEAD, *(f"{a},{p},D5,{exam},{site},{text}" for a, p, exam, site, text in rows)]
    )


def test_two_patients_of_one_accession_both_keep_their_pair(pairing: Pairing) -> None:
    rows = [("A1", p, XR, "", f"Likely effusion {p}.") for p in ("M1", "M2")]
    rows += [(f"C{p}", p, CT, "", "Effusion.") for p in ("M1", "M2")]
    found, exams, site = pairing("ris.csv", table(*rows))
    assert len(found.pairs) == 2
    assert found.contradictory.empty
    assert exams["study_code"].nunique() == 4
    with site.open_vault(read_only=True) as vault:
        behind = [vault.identifier_for("study", code) for code in found.pairs["xr_study_code"]]
    assert [readable(each) for each in behind] == ["A1", "A1"]
    assert len(set(behind)) == 2


def test_one_accession_of_a_film_and_a_ct_of_one_patient_is_two_studies(pairing: Pairing) -> None:
    rows = [("A1", "M1", XR, "N", "Likely effusion."), ("A1", "M1", CT, "S", "Effusion.")]
    found, _, _ = pairing("ris.csv", table(*rows), "patient_ids_shared = true")
    assert len(found.pairs) == 1
    assert found.contradictory.empty
    gone = "A1,M1,D5,,,2026-03-04T10:00,2026-03-04T18:00,retracted,50,N,"
    found, _, _ = pairing("ris.csv", f"{table(*rows)}\n{gone}", "patient_ids_shared = true")
    assert found.pairs.empty, "a word without a modality takes both back"


@pytest.mark.parametrize(("shared", "pairs"), [("false", 0), ("true", 1)])
def test_one_number_at_two_sites_is_two_people_unless_said_otherwise(
    pairing: Pairing, shared: str, pairs: int
) -> None:
    rows = [("A1", "M1", XR, "NORTH", "Likely effusion."), ("C1", "M1", CT, "SOUTH", "Effusion.")]
    found, exams, _ = pairing("ris.csv", table(*rows), f"patient_ids_shared = {shared}")
    assert len(found.pairs) == pairs
    assert exams["patient_code"].nunique() == 2 - pairs


def message(accession: str, kind: str, hour: int, authority: str, site: str) -> str:
    cells = {1: "1", 3: accession, 4: f"X^{kind} CHEST", 7: f"20260301{hour}0000",
             22: f"20260301{hour}3000", 25: "F", 32: "D5^Hope^Faith"}  # fmt: skip
    order = "|".join(["OBR", *(cells.get(i, "") for i in range(1, 33))])
    return "\r".join(
        [f"MSH|^~\\&|RIS|{site}|||20260302||ORU^R01|1|P|2.4",
         f"PID|1||M1^^^{authority}^MR||DOE^JANE||19500415", order,
         "OBX|1|TX|&GDT||Effusion.||||||F\r"]
    )  # fmt: skip


@pytest.mark.parametrize(("authority", "pairs"), [("NORTH", 1), ("SOUTH", 0)])
def test_an_assigning_authority_tells_patients_apart_whatever_the_site(
    pairing: Pairing, authority: str, pairs: int
) -> None:
    feed = message("A1", "XR", 10, "NORTH", "ED") + message("C1", "CT", 14, authority, "WARD")
    found, _, _ = pairing("feed.hl7", feed)
    assert len(found.pairs) == pairs
