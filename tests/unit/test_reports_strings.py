"""The catalogue and the code agree on every key."""

from __future__ import annotations

import re
from pathlib import Path

from calibration.survey import builtin
from reports.strings import Strings

ROOT = Path(__file__).parents[2]
ROOMS = (ROOT / "reports", ROOT / "pipeline" / "run")
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
