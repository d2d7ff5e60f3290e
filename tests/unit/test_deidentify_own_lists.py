"""A site's own word lists: used, checked, and part of what a cleaned shard depends on."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from pipeline.cli.deidentify import register
from pipeline.deidentify import Clean, Deidentifier, Options
from pipeline.errors import ConfigurationError
from pipeline.names.lexicon import contents, own_lexicon

TEXT = "Nodule in 2019, from Warm Water. Likely a granuloma."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lists = tmp_path / "words"
    lists.mkdir()
    (lists / "sites.txt").write_text("# ours\nWarm Water\n", encoding="utf-8")
    return lists


def test_a_sites_own_name_goes_only_with_its_list(folder: Path) -> None:
    rules, own = Options(caution=0), own_lexicon(folder, option="--words")
    without, found = Deidentifier(rules).clean(TEXT), Deidentifier(rules, own).clean(TEXT)
    assert isinstance(without, Clean)
    assert isinstance(found, Clean)
    assert without.text == TEXT
    assert found.text == "Nodule in 2019, from [HOSPITAL]. Likely a granuloma."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Foley agrees that this is likely a granuloma.", "[NAME] agrees that this is likely"),
        ("Images with Wilson, likely pneumonia.", "Images with [NAME], likely pneumonia."),
        ("Wilson's disease is known. Foley catheter in place.", "Wilson's disease is known. Foley"),
        ("Right Pancoast tumour likely.", "Right Pancoast tumour likely."),
    ],
)
def test_people_whom_a_site_lists_go_though_a_disease_bears_their_name(
    folder: Path, text: str, expected: str
) -> None:
    (folder / "surnames.txt").write_text("Foley\nWilson\n", encoding="utf-8")
    found = Deidentifier(vocabulary=own_lexicon(folder, option="--words")).clean(text)
    assert isinstance(found, Clean)
    assert found.text.startswith(expected)


def test_a_folder_without_our_lists_is_refused(folder: Path, tmp_path: Path) -> None:
    (folder / "doctors.txt").write_text("Doe", encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"doctors\.txt is none.*surnames\.txt"):
        own_lexicon(folder, option="deidentification.word_lists")
    with pytest.raises(ConfigurationError, match="no list lies there"):
        contents(tmp_path / "absent", option="--words")


def test_a_list_that_is_no_text_is_refused_without_quoting_it(folder: Path) -> None:
    (folder / "sites.txt").write_bytes(b"\xff\xfeM\xff")
    with pytest.raises(ConfigurationError, match="cannot be read as UTF-8"):
        contents(folder, option="--words")


def test_a_byte_order_mark_is_no_part_of_a_list(folder: Path) -> None:
    (folder / "sites.txt").write_text("Warm Water\n", encoding="utf-8-sig")
    (folder / "rules.toml").write_text("# ours\n", encoding="utf-8-sig")
    own = own_lexicon(folder, option="--words")
    assert "warm water" in own.sites
    assert own.rules == "# ours\n"
    assert contents(folder, option="--words")["sites.txt"] == "Warm Water\n"


def test_command_takes_the_lists(folder: Path, tmp_path: Path) -> None:
    table, out = tmp_path / "in.csv", tmp_path / "out.csv"
    table.write_text(f'report_id,text\nr1,"{TEXT}"\n', encoding="utf-8")
    app = typer.Typer()
    register(app)
    app.command("other")(lambda: None)
    asked = ["deidentify", str(table), "--out", str(out), "--words", str(folder)]
    outcome = CliRunner().invoke(app, asked, catch_exceptions=False)
    assert outcome.exit_code == 0, outcome.output
    assert "from [HOSPITAL]." in out.read_text(encoding="utf-8")
