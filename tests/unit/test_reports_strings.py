"""The catalogue and the code agree on every key."""

from __future__ import annotations

import re
from pathlib import Path
from string import Formatter

from calibration.survey import builtin
from reports.drawing.marks import Text
from reports.drawing.style import style_for
from reports.pages import committee
from reports.strings import Strings
from tests.fixtures.reports import sample_contents as samples

ROOT = Path(__file__).parents[2]
ROOMS = (ROOT / "reports", ROOT / "pipeline" / "run", ROOT / "pipeline" / "pages")
CALL = re.compile(
    r"""(?:words|strings|say|several|series)\(\s*f?(["'])([a-z_0-9.{}'\[\]()" ]+?)\1[,)\s]""",
    re.DOTALL,
)
KEYS = Strings.load().sentences
PREFIXED = ("disagreement", "stated")
"""Groups whose pages look below their own prefix first."""


def _code() -> str:
    texts = (p.read_text(encoding="utf-8") for room in ROOMS for p in sorted(room.rglob("*.py")))
    return "\n".join(texts)


def _asked(code: str) -> list[str]:
    return [key for _, key in CALL.findall(code)]


def test_every_key_asked_for_by_name_is_in_the_catalogue() -> None:
    named = {key for key in _asked(_code()) if "{" not in key}
    plural = {key.rsplit(".", 1)[0] for key in KEYS if key.endswith((".one", ".many"))}
    groups = {key.split(".")[0] for key in KEYS}
    below = {key.split(".", 1)[1] for key in KEYS if key.split(".")[0] in PREFIXED}
    assert len(named) > 60
    assert sorted(named - set(KEYS) - plural - groups - below) == []


def test_every_sentence_of_the_catalogue_is_used() -> None:
    code = _code()
    asked = set(_asked(code))
    stems = [key.split("{")[0] for key in asked if "{" in key]
    unused = [
        key
        for key in KEYS
        if key not in asked
        and f'"{key}"' not in code
        and f'"{key.rsplit(".", 1)[0]}"' not in code
        and f'"{key.split(".")[0]}"' not in code
        and not key.startswith("wording.")
        and not any(stem and key.startswith(stem) for stem in stems)
    ]
    assert unused == []


def test_every_hedge_of_the_scale_has_its_wording() -> None:
    table = builtin("diagnostic-certainty-scale")
    hedges = [p for p, mean in zip(table.phrases, table.means, strict=True) if 0 < mean < 1]
    assert [p for p in hedges if f"wording.{p}" not in KEYS] == []
    assert all("{finding}" in KEYS[f"wording.{p}"] for p in hedges)


def _slots(sentence: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(sentence) if name}


def test_the_german_catalogue_has_the_same_keys_in_the_same_order_and_the_same_slots() -> None:
    german = Strings.load(language="de").sentences
    assert list(german) == list(KEYS)
    assert [key for key in KEYS if _slots(KEYS[key]) != _slots(german[key])] == []


def test_no_sentence_was_left_in_english() -> None:
    german = Strings.load(language="de").sentences
    long = [key for key in KEYS if len(KEYS[key].split()) > 4 and not key.startswith("wording.")]
    same = [key for key in long if german[key] == KEYS[key]]
    assert [key for key in same if len(re.findall(r"[a-z]{3,}", KEYS[key])) > 8] == []


def test_a_german_page_writes_its_numbers_as_german_does() -> None:
    drawn = {
        language: [
            mark.string
            for page in committee.pages(
                samples.committee(), style=style_for("A4", language=language)
            )
            for mark in page.marks
            if isinstance(mark, Text)
        ]
        for language in ("en", "de")
    }
    assert "24,117" in drawn["en"]
    assert "24.117" in drawn["de"]
    assert "24,117" not in drawn["de"]
