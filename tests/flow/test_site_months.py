"""A month is the site's by its own clocks; a workspace begun with UTC's months keeps them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pandas as pd
import pytest

from pipeline.simulate import simulate
from pipeline.site.site import Finding, Site, site_findings
from pipeline.vault.upkeep import retained_from
from tests.fixtures.here import coded

KEY = "Zr7-kT2_mQ9vLx4WbN8sYc1HdE6pJgUaF3iOo5RtXyS"
LAST, FIRST = "2026-03-31 23:30", "2026-04-01 00:30"
"""Half an hour before and after the month's end, as the hospital's clocks said."""


def opened(folder: Path, zone: str) -> Site:
    (folder / "radcal.toml").write_text(
        f'[input]\npaths = ["exams.csv"]\ntime_zone = "{zone}"\n', encoding="utf-8"
    )
    Site.forget()
    return Site.open(str(folder / "radcal.toml"))


def told(site: Site) -> list[str]:
    """Give the months that are stated of the exams, by their times."""
    keys = [each.key for each in coded(site)]
    exams = site.workspace.read("analysis", "clean_exams", keys)
    return sorted(exams["performed_month"])


def about_months(site: Site) -> Finding:
    (found,) = (each for each in site_findings(site) if each.subject == "months")
    return found


@pytest.mark.parametrize("zone", ["Australia/Sydney", "Pacific/Auckland", "America/Los_Angeles"])
def test_months_end_by_the_sites_clocks_and_by_utc_where_they_always_did(
    zone: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RADCAL_VAULT_KEY", KEY)
    exams = simulate(pairs=4, readers=2, seed=2).exams.drop_duplicates("patient_id").head(2)
    local = exams.assign(performed_at=[LAST, FIRST], signed_at=[LAST, FIRST])
    local.astype(str).to_csv(tmp_path / "exams.csv", index=False)
    site = opened(tmp_path, zone)
    assert told(site) == ["2026-03", "2026-04"]
    assert about_months(site).told == f"of {zone}"
    # As a vault of 0.9.0: the same exams stay in the months of the issues that they stood in.
    with closing(sqlite3.connect(site.vault_path)) as vault, vault:
        vault.execute("DELETE FROM meta WHERE name = 'months'")
    site = opened(tmp_path, zone)
    at = pd.to_datetime([LAST, FIRST]).tz_localize(zone).tz_convert("UTC")
    assert told(site) == sorted(at.strftime("%Y-%m"))
    assert about_months(site).state == "note"
    assert f"UTC's and not {zone}'s" in about_months(site).told


def test_the_first_day_that_a_purge_keeps_begins_at_the_sites_midnight(tmp_path: Path) -> None:
    store = opened(tmp_path, "Australia/Sydney").workspace
    before = retained_from(store, None, pd.Timestamp("2026-04-01"), "Australia/Sydney")
    assert before == pd.Timestamp("2026-03-31T13:00Z")
    assert f"{before:%Y-%m}" == "2026-04"
