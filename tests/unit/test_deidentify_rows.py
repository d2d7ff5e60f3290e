"""Every row of the tables takes what its own example marks; a site's table is one of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.deidentify import Clean, Deidentifier, Options
from pipeline.deidentify.rules import ORDER, SITE, takes_its_example
from pipeline.deidentify.rules.rows import Row, read, shipped
from pipeline.errors import ConfigurationError
from pipeline.names.lexicon import load, own_lexicon

LEXICON = load()
ROWS = [
    pytest.param(row, id=f"{table} {row.example}")
    for table in (*ORDER, "stays")
    if isinstance(table, str) and table != SITE
    for row in shipped(table)
]


@pytest.mark.parametrize("row", ROWS)
def test_a_row_takes_what_its_example_marks_and_nothing_else_of_it(row: Row) -> None:
    assert takes_its_example(row, LEXICON)


BADGE = """
[[rule]]
name = "id-badge"
category = "ID"
words = ["lanyard"]
after = '[ ]([A-Z]{2}~\\d{3})'
example = "lanyard ⟦QX~417⟧"
"""


def test_a_site_adds_its_odd_badge_number_in_one_row(tmp_path: Path) -> None:
    (tmp_path / "rules.toml").write_text(BADGE, encoding="utf-8")
    text = "Images hung by lanyard QX~417 today. Likely a granuloma."
    rules = Options(caution=0)
    site = Deidentifier(rules, own_lexicon(tmp_path, option="--words"))
    without, found = Deidentifier(rules).clean(text), site.clean(text)
    assert isinstance(without, Clean)
    assert isinstance(found, Clean)
    assert without.text == text
    assert found.text == "Images hung by lanyard [ID] today. Likely a granuloma."


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("[[rule]]", r"rules\.toml, rule 1: name: Field required"),
        (BADGE.replace("words", "wordz"), r"rule 1: wordz: Extra inputs"),
        (BADGE.replace('words = ["lanyard"]', ""), "neither words nor lists nor an anchor"),
        (BADGE.replace("{2}", "{2"), None),
        (BADGE.replace("([A-Z]", "([A-Z"), "rule 1: unterminated character set"),
        (BADGE + 'checks = ["unicorn"]', "rule 1: 'unicorn'"),
        (BADGE.replace('"lanyard"', '"staff badge"'), r"rule 1: words\.0: .*single words in small"),
        (BADGE.replace('"lanyard"', '"Lanyard"'), r"rule 1: words\.0: .*single words in small"),
        (BADGE.replace("example", "# example"), "example: an expression with ⟦ ⟧ around what goes"),
        ("rule =", "no TOML"),
        (BADGE.replace("'", '"'), "no TOML: .*single quotes"),
        (BADGE.replace("[[rule]]", "[[rules]]"), r"left unread.*\[\[rule\]\]"),
        (BADGE.replace("[[rule]]", "[rule]"), r"left unread.*\[\[rule\]\]"),
        (BADGE.replace("[[rule]]", ""), r"left unread.*\[\[rule\]\]"),
    ],
    ids=[
        "bare",
        "misspelt key",
        "no place",
        "odd quantifier",
        "no regex",
        "no check",
        "two words",
        "a capital",
        "no example",
        "no TOML",
        "double quotes",
        "many rules",
        "one rule",
        "no rule",
    ],
)
def test_a_row_that_is_none_is_told_with_its_number(table: str, message: str | None) -> None:
    if message is None:
        assert read(table, "rules.toml")[0].name == "id-badge"
        return
    with pytest.raises(ConfigurationError, match=message):
        read(table, "rules.toml")


@pytest.mark.parametrize(
    "example",
    ["strap ⟦QX~417⟧", "lanyard ⟦QX~41⟧7", "lanyard ⟦QX~417⟧ and ⟦QX~418⟧", "⟦lanyard⟧ QX~417"],
    ids=["nothing", "less", "more", "another"],
)
def test_a_sites_row_that_does_not_take_its_example_is_refused_by_its_number(
    tmp_path: Path, example: str
) -> None:
    table = BADGE + BADGE.replace("lanyard ⟦QX~417⟧", example)
    (tmp_path / "rules.toml").write_text(table, encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"rule 2 \(id-badge\).*its\s+example") as error:
        Deidentifier(vocabulary=own_lexicon(tmp_path, option="--words"))
    assert "QX" not in str(error.value)


@pytest.mark.parametrize(
    ("anchor", "example"),
    [("likely", "⟦likely⟧ a granuloma"), ("possible (?:QX)", "a ⟦possible QX⟧ here")],
    ids=["a word of certainty", "one and an identifier"],
)
def test_a_sites_row_for_what_nothing_may_take_is_refused_and_not_idle(
    tmp_path: Path, anchor: str, example: str
) -> None:
    row = f"[[rule]]\nname = 'odd'\ncategory = 'ID'\nanchor = '{anchor}'\nexample = '{example}'\n"
    (tmp_path / "rules.toml").write_text(BADGE + row, encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"rule 2 \(odd\).*words of certainty"):
        Deidentifier(vocabulary=own_lexicon(tmp_path, option="--words"))


def test_a_process_that_outlives_a_sites_lists_reads_them_anew(tmp_path: Path) -> None:
    (tmp_path / "surnames.txt").write_text("Quarantana\n", encoding="utf-8")
    assert "quarantana" in own_lexicon(tmp_path, option="--words").own_people
    (tmp_path / "surnames.txt").write_text("Zeppelin\n", encoding="utf-8")
    assert "zeppelin" in own_lexicon(tmp_path, option="--words").own_people
