"""The page on sources names every reason and every default place."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pipeline.config.basis import EXAM_COLUMNS, OPTIONAL_COLUMNS
from pipeline.formats.hl7v2 import DEFAULT_FIELDS
from pipeline.formats.validation import REASONS

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "sources.md").read_text(encoding="utf-8")


def test_every_reason_for_setting_aside_is_explained() -> None:
    readers = "".join(p.read_text() for p in (ROOT / "pipeline" / "formats").rglob("*.py"))
    given = set(re.findall(r'(?:SetAside\(|yield \w*,? ?|fault = |fault or )"([a-z_]+)"', readers))
    assert len(given) > 10
    assert {reason for reason in given | set(REASONS) if f"`{reason}`" not in PAGE} == set()


@pytest.mark.parametrize("name", ["accession", "performed_at", "signed_at", "status", "reader"])
def test_default_places_are_those_of_the_program(name: str) -> None:
    (line,) = [line for line in PAGE.splitlines() if line.startswith(f"| `{name}` |")]
    assert re.sub(r" \(.*?\)", "", line.split("|")[2].strip()) == DEFAULT_FIELDS[name]


def test_every_column_is_named_in_the_order_of_the_program() -> None:
    (names,) = re.findall(r"names of `\[input\.columns\]`: ([^.]*)\.", PAGE)
    assert re.findall(r"`(\w+)`", names) == [*EXAM_COLUMNS, *OPTIONAL_COLUMNS]
