"""Who is one reader is said by the site: nothing merged or parted in silence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pandas as pd
import pytest

from pipeline.errors import ConfigurationError
from pipeline.formats.readers import ONLY_CASE, SEVERAL_NAMES, ReaderRules, reader_notes
from pipeline.site.site import Site
from pipeline.vault.key import new_key
from tests.fixtures.here import coded, registered

HEAD = "accession,patient_id,reader_id,reader_name,modality,exam_name,performed_at,signed_at,status,patient_age_years,text"  # noqa: E501
KS = (("KS1", "Stone^Karla"), ("ks1", "Sand^Kim"))

Coding = Callable[..., tuple[pd.DataFrame, Mapping[str, int]]]


def rows(*readers: tuple[str, str]) -> str:
    lines = [
        f"A{i},M{i},{each},{name},XR,XR CHEST,2026-03-04T10:00,2026-03-04T11:00,final,50,Clear {i}."
        for i, (each, name) in enumerate(readers)
    ]
    return "\n".join([HEAD, *lines])


@pytest.fixture
def coding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Coding:
    monkeypatch.setenv("RADCAL_VAULT_KEY", new_key())

    def run(content: str, options: str = "") -> tuple[pd.DataFrame, Mapping[str, int]]:
        (tmp_path / "ris.csv").write_text(content)
        (tmp_path / "radcal.toml").write_text(f'[input]\npaths = ["ris.csv"]\n{options}\n')
        Site.forget()
        site = Site.open(str(tmp_path / "radcal.toml"))
        keys = [shard.key for shard in coded(site)]
        _, found = registered(site)
        return site.workspace.read("analysis", "clean_exams", keys), found.notes

    return run


def test_ids_that_differ_in_case_only_are_two_readers_and_counted(coding: Coding) -> None:
    exams, notes = coding(rows(*KS))
    assert len(set(exams["reader_code"])) == 2
    assert notes == {ONLY_CASE: 2}


def test_case_tells_no_readers_apart_where_the_site_says_so(coding: Coding) -> None:
    exams, notes = coding(rows(*KS), "[input.reader_ids]\ncase_sensitive = false")
    assert len(set(exams["reader_code"])) == 1
    assert notes == {SEVERAL_NAMES: 1}


def test_what_stands_for_no_reader_makes_no_reader_of_strangers(coding: Coding) -> None:
    exams, _ = coding(rows(("N/A", ""), ("unknown", ""), ("000", ""), ("KS1", ""), ("NA", "")))
    assert sorted(each[:1] for each in exams["reader_code"]) == ["", "", "", "R", "R"]


def test_aliases_make_several_ids_one_reader(tmp_path: Path, coding: Coding) -> None:
    (tmp_path / "ids.csv").write_text("reader_id,reader\nks1,KS1\nstone.k,KS1\n")
    exams, notes = coding(
        rows(("KS1", "Stone^Karla"), ("ks1", "Stone^K"), ("stone.k", "STONE, KARLA")),
        '[input.reader_ids]\naliases = "ids.csv"',
    )
    assert len(set(exams["reader_code"])) == 1
    assert notes == {}


def test_notes_stay_when_nothing_is_new(coding: Coding) -> None:
    first = coding(rows(*KS))[1]
    assert coding(rows(*KS))[1] == first


def test_an_alias_is_read_as_one_id_only(tmp_path: Path) -> None:
    table = tmp_path / "ids.csv"
    table.write_text("reader_id,reader\na,B\na,C\nB,D\n")
    with pytest.raises(ConfigurationError, match=r"1 id\(s\) are read as two others, 1 as an id"):
        ReaderRules.of(table, case_sensitive=True)


def test_an_id_that_is_read_as_another_is_still_looked_for_in_the_text() -> None:
    rules = ReaderRules(aliases={"ks1": "KS1"})
    exams = pd.DataFrame(
        {"reader_id": ["ks1", "R2"], "preliminary_author": ["", "ks1"], "other_ids": ["", "77"]}
    )
    found = rules.applied(exams)
    assert found["reader_id"].tolist() == ["KS1", "R2"]
    assert found["preliminary_author"].tolist() == ["", "KS1"]
    assert found["other_ids"].tolist() == ["ks1", "77"]


def test_spellings_of_one_name_are_one_name() -> None:
    written = [("7", "DOE^JANE^A"), ("7", "Doe, Jane"), ("7", ""), ("7", "Dr. Jane Doe, MD")]
    assert reader_notes(written) == {}
    assert reader_notes([*written, ("7", "Roe^Jane")]) == {SEVERAL_NAMES: 1}
