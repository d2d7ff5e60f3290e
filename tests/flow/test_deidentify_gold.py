"""De-identification on annotated reports: our own invented ones, and the shared ones if at hand."""

from __future__ import annotations

import importlib.util
import json
import os
from pathlib import Path
from typing import NamedTuple

import pytest

from pipeline.deidentify import Deidentifier
from pipeline.deidentify.audit import (
    DeidAudit,
    GoldReport,
    GoldSpan,
    audit,
    names_nobody,
    read_gold,
)
from pipeline.deidentify.known import LeakScan

GENERATOR = Path(__file__).parents[1] / "fixtures" / "deid" / "generator.py"
CONTEXTS = GENERATOR.with_name("contexts.py")
BLIND = GENERATOR.with_name("blind.py")
SHARED = Path(os.environ.get("RADCAL_SHARED_DATA", Path(__file__).parents[3] / "shared" / "data"))
EXACT = ("DATE", "ID", "PHONE", "AGE90", "TIME", "EMAIL")


def own_gold(n: int, seed: int) -> list[GoldReport]:
    spec = importlib.util.spec_from_file_location("deid_gold_generator", GENERATOR)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return [GoldReport.model_validate(row) for row in module.generate(n, seed)]


def check(result: DeidAudit) -> None:
    assert result.withheld == {}
    for label in EXACT:
        assert result.recall[label].count == result.recall[label].n, label
    assert result.recall["NAME"].value >= 0.99
    assert result.recall["ALL"].value >= 0.995
    assert result.phrases_harmed == 0
    assert result.kept_harmed == 0
    assert result.superfluous.value <= 0.005


def test_our_own_gold_meets_the_targets() -> None:
    gold = own_gold(600, 7)
    assert len(gold) == 600
    result = audit(gold)
    assert result.phrases_before > 2000
    assert result.kept_before > 2000
    check(result)


def test_the_shared_gold_meets_the_targets() -> None:
    path = SHARED / "deid" / "synthetic_gold.jsonl"
    if not path.is_file():
        pytest.skip("the shared annotated reports are not here")
    found = audit(read_gold(path))
    check(found)
    assert [label for label, share in found.recall.items() if share.count < share.n] == []


def contexts(half: str, n: int, seed: int) -> list[GoldReport]:
    spec = importlib.util.spec_from_file_location("deid_contexts", CONTEXTS)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return [GoldReport.model_validate(row) for row in module.generate(half, n, seed)]


@pytest.mark.parametrize(
    ("half", "names", "everything", "clinical"),
    [
        # Wards, rooms and beds stay; "Case discussed at" loses its first word.
        ("seen", 0.985, 0.983, 1),
        ("held_out", 0.96, 0.98, 10),  # "April showers? no.", "Rose bengal. Emailed to"
    ],
)
def test_other_contexts_and_reports_in_capitals_keep_what_was_measured(
    half: str, names: float, everything: float, clinical: int
) -> None:
    result = audit(contexts(half, 200, 5))
    assert result.withheld == {}
    for label in ("DATE", "PHONE", "AGE90", "ID", "EMAIL", "URL"):
        assert result.recall[label].value >= 0.995, label
    assert result.recall["NAME"].value >= names
    assert result.recall["ALL"].value >= everything
    assert result.phrases_harmed == 0
    assert result.kept_before > 4000
    assert result.kept_harmed <= clinical


class Floor(NamedTuple):
    """What a set keeps: recall of names and of all, needless removals a report at most.

    ``clinical`` counts clinical names that may be harmed: a society behind "per"; ``whole`` is the
    share that may be left whole: sets of initials or words alone have more. ``phrases`` counts what
    is read as a word of certainty and is none: the v of a view or at court, "No:" before a number.
    """

    names: float
    everything: float
    needless: float
    clinical: int = 0
    phrases: int = 0
    whole: float = 0.025


FLOORS = {
    "a": Floor(0.994, 0.997, 0.3),
    "b": Floor(0.995, 0.997, 0.3),
    "c": Floor(0.989, 0.992, 0.6),
    "d": Floor(0.983, 0.99, 0.1),
    "e": Floor(0.997, 0.997, 0.2),
    "g": Floor(0.996, 0.997, 0.25),
    "h": Floor(0.995, 0.997, 0.15),
    "i": Floor(0.991, 0.995, 0.2),
    "j": Floor(0.997, 0.997, 0.15),
    "k": Floor(0.997, 0.997, 0.45),
    "l": Floor(0.991, 0.994, 0.5),
    "m": Floor(0.979, 0.988, 0.75),
    "n": Floor(0.991, 0.99, 0.35),
    "o": Floor(0.997, 0.997, 0.35),
    "p": Floor(0.986, 0.993, 0.7),
    "q": Floor(0.997, 0.997, 0.3),
    "r": Floor(0.994, 0.995, 0.4),
    "s": Floor(0.996, 0.997, 0.45),
    "t": Floor(0.996, 0.992, 0.45),
    "u": Floor(0.996, 0.997, 0.35),
    "v": Floor(0.995, 0.99, 0.4),
    "w": Floor(0.989, 0.993, 0.75),
    "x": Floor(0.996, 0.997, 0.7, clinical=2),
    "y": Floor(0.995, 0.995, 0.55),
    "z": Floor(0.997, 0.997, 0.5),
    "aa": Floor(0.997, 0.997, 0.4),
    "ab": Floor(0.997, 0.997, 0.35),
    "ac": Floor(0.997, 0.997, 0.45),
    "ad": Floor(0.995, 0.994, 0.2),
    "ae": Floor(0.993, 0.993, 0.45, clinical=1),
    "af": Floor(0.997, 0.996, 0.3),
    "ag": Floor(0.986, 0.994, 0.45),
    "ah": Floor(0.997, 0.996, 0.9),
    "ai": Floor(0.992, 0.993, 0.65),
    "ak": Floor(0.997, 0.994, 0.75),
    "al": Floor(0.997, 0.996, 0.55),
    "am": Floor(0.997, 0.994, 0.85),
    "an": Floor(0.995, 0.992, 0.95, clinical=1),
    "ao": Floor(0.995, 0.995, 1.05),
    "ap": Floor(0.989, 0.993, 0.9),
    "aq": Floor(0.995, 0.987, 1.1),
    "ar": Floor(0.992, 0.994, 1.25, clinical=1),
    "as": Floor(0.995, 0.995, 1.05),
    "at": Floor(0.984, 0.972, 1.3),
    "au": Floor(0.997, 0.997, 0.6),
    "av": Floor(0.997, 0.997, 0.6),
    "aw": Floor(0.995, 0.993, 0.3),
    "ax": Floor(0.996, 0.997, 0.45),
    "ay": Floor(0.997, 0.997, 0.5),
    "az": Floor(0.996, 0.993, 0.4),
    "ba": Floor(0.997, 0.997, 0.45),
    "bb": Floor(0.995, 0.997, 0.6),
    "bc": Floor(0.997, 0.997, 0.3),
    "bd": Floor(0.995, 0.995, 0.35),
    "be": Floor(0.997, 0.997, 0.45),
    "bf": Floor(0.982, 0.991, 0.3),
    "bg": Floor(0.986, 0.992, 0.75),
    "bh": Floor(0.997, 0.997, 0.4),
    "bi": Floor(0.997, 0.997, 0.45),
    "bk": Floor(0.994, 0.997, 0.3),
    "bl": Floor(0.997, 0.997, 0.8),
    "bm": Floor(0.994, 0.994, 0.9),
    "bn": Floor(0.997, 0.997, 0.5),
    "bo": Floor(0.995, 0.994, 0.4),
    "bp": Floor(0.997, 0.997, 0.35),
    "bq": Floor(0.994, 0.995, 0.85),
    "br": Floor(0.979, 0.989, 0.8),
    "bs": Floor(0.994, 0.995, 0.5),
    "bt": Floor(0.993, 0.992, 0.6),
    "bu": Floor(0.983, 0.988, 1.15),
    "bv": Floor(0.997, 0.996, 1.2, clinical=1),
    "bw": Floor(0.984, 0.989, 0.3),
    "bx": Floor(0.983, 0.984, 0.95),
    "by": Floor(0.985, 0.992, 0.8),
    "bz": Floor(0.987, 0.99, 0.6),
    "ca": Floor(0.997, 0.997, 0.6),
    "cb": Floor(0.994, 0.995, 0.4),
    "cc": Floor(0.91, 0.942, 0.35, whole=0.06),
    "cd": Floor(0.968, 0.982, 0.65),
    "ce": Floor(0.994, 0.988, 1),
    "cf": Floor(0.997, 0.983, 0.95),
    "cg": Floor(0.997, 0.996, 0.7),
    "ch": Floor(0.989, 0.995, 0.5),
    "ci": Floor(0.997, 0.995, 0.5),
    "cj": Floor(0.953, 0.971, 0.8, whole=0.03),
    "ck": Floor(0.975, 0.983, 1),
    "cl": Floor(0.997, 0.995, 0.55),
    "cm": Floor(0.994, 0.989, 0.55),
    "cn": Floor(0.997, 0.997, 0.25),
    "co": Floor(0.997, 0.997, 0.5),
    "cp": Floor(0.994, 0.997, 0.6),
    "cq": Floor(0.994, 0.995, 0.6),
    "cr": Floor(0.997, 0.997, 0.5),
    "cs": Floor(0.988, 0.988, 0.55),
    "ct": Floor(0.997, 0.997, 0.35),
    "cu": Floor(0.964, 0.978, 0.85),
    "cv": Floor(0.984, 0.989, 1.25),
    "cx": Floor(0.978, 0.986, 0.45, phrases=1),
    "cy": Floor(0.997, 0.991, 0.65),
    "cz": Floor(0.971, 0.98, 0.65),
    "da": Floor(0.997, 0.997, 0.3),
    "db": Floor(0.988, 0.995, 0.45),
    "dc": Floor(0.957, 0.974, 0.75),
    "dd": Floor(0.985, 0.991, 0.9),
    "de": Floor(0.994, 0.992, 0.45),
    "df": Floor(0.988, 0.991, 1.15),
    "dg": Floor(0.971, 0.982, 0.85),
    "dh": Floor(0.992, 0.996, 0.25),
    "di": Floor(0.982, 0.985, 1.25, phrases=1),
    "dj": Floor(0.997, 0.997, 1.05),
    "ea": Floor(0.927, 0.95, 0.85, whole=0.05),
    "eb": Floor(0.97, 0.983, 0.65),
    "ec": Floor(0.966, 0.976, 0.95),
    "ee": Floor(0.992, 0.991, 0.55),
    "ef": Floor(0.997, 0.997, 0.75),
    "eg": Floor(0.995, 0.996, 0.45),
    "fa": Floor(0.957, 0.971, 1, whole=0.03),
    "fb": Floor(0.922, 0.95, 0.8, clinical=1, whole=0.05),
    "fc": Floor(0.951, 0.964, 0.7, whole=0.035),
    "fd": Floor(0.991, 0.989, 0.65),
    "fe": Floor(0.974, 0.979, 0.8),
    "fg": Floor(0.978, 0.987, 0.6),
    "ga": Floor(0.891, 0.929, 0.5, whole=0.075),
    "gb": Floor(0.958, 0.974, 1.15),
    "gc": Floor(0.965, 0.973, 1.3, whole=0.03),
    "gd": Floor(0.978, 0.986, 0.85),
    "ge": Floor(0.946, 0.966, 0.85, whole=0.035),
    "ha": Floor(0.992, 0.994, 0.35),
    "hb": Floor(0.997, 0.997, 0.3),
    "hc": Floor(0.993, 0.993, 0.4),
    "hd": Floor(0.976, 0.984, 0.25),
    "ia": Floor(0.795, 0.865, 0.8, whole=0.135),
    "ib": Floor(0.997, 0.976, 0.4),
    "ic": Floor(0.932, 0.949, 0.65, clinical=1, whole=0.05),
    "ie": Floor(0.981, 0.981, 0.45),
    "ig": Floor(0.922, 0.957, 0.65, whole=0.045),
    "ja": Floor(0.956, 0.969, 0.55, whole=0.035),
    "jb": Floor(0.997, 0.988, 0.65),
    "jc": Floor(0.979, 0.984, 0.45),
    "jd": Floor(0.983, 0.986, 0.5),
    "je": Floor(0.991, 0.99, 0.65),
    "jf": Floor(0.993, 0.99, 0.4),
    "jg": Floor(0.997, 0.997, 0.45),
    "jh": Floor(0.997, 0.997, 0.9),
    "ji": Floor(0.997, 0.997, 0.8),
    "jj": Floor(0.997, 0.997, 0.55),
    "jk": Floor(0.991, 0.995, 0.95),
    "jl": Floor(0.983, 0.989, 0.25),
    "jm": Floor(0.995, 0.996, 0.5),
    "ka": Floor(0.916, 0.944, 0.8, whole=0.06),
    "kb": Floor(0.997, 0.987, 1.6),
    "kc": Floor(0.997, 0.992, 0.55),
    "kd": Floor(0.997, 0.997, 0.45),
    "ke": Floor(0.984, 0.988, 0.45),
    "kf": Floor(0.994, 0.996, 0.55),
    "kg": Floor(0.994, 0.997, 0.6),
    "kh": Floor(0.997, 0.985, 0.6),
    "ki": Floor(0.987, 0.991, 0.25),
    "kj": Floor(0.997, 0.997, 0.55),
    "la": Floor(0.996, 0.992, 0.7),
    "lb": Floor(0.997, 0.996, 0.55),
    "ma": Floor(0.978, 0.987, 0.2),
    "mb": Floor(0.997, 0.997, 0.6),
    "mc": Floor(0.997, 0.997, 0.3),
    "na": Floor(0.997, 0.997, 0.45),
    "nb": Floor(0.985, 0.984, 1.2),
    "nc": Floor(0.997, 0.969, 0.75, whole=0.035),
    "pa": Floor(0.997, 0.992, 1.4),
    "pb": Floor(0.994, 0.997, 0.8),
    "qa": Floor(0.993, 0.995, 0.5),
    "qb": Floor(0.989, 0.956, 1.3),
    "qc": Floor(0.983, 0.991, 0.5),
    "qd": Floor(0.993, 0.974, 3.85),
    "ra": Floor(0.997, 0.993, 0.8),
    "rb": Floor(0.994, 0.978, 2.2, clinical=1),
    "sa": Floor(0.997, 0.997, 1.05),
    "sb": Floor(0.992, 0.981, 2.25),
    "ta": Floor(0.997, 0.986, 2.35),
    "tb": Floor(0.997, 0.988, 4.2),
    "tc": Floor(0.997, 0.991, 2.2),
    "td": Floor(0.988, 0.98, 2.85),
    "te": Floor(0.997, 0.997, 1.15),
    "tf": Floor(0.997, 0.98, 1.55),
    "tg": Floor(0.979, 0.987, 1.05),
    "th": Floor(0.972, 0.979, 1.55, clinical=1, phrases=1),
    "ti": Floor(0.985, 0.986, 2.4),
    "tj": Floor(0.994, 0.988, 2.85, clinical=2),
    "tk": Floor(0.983, 0.985, 1.95),
    "tl": Floor(0.976, 0.977, 3.55),
    "ua": Floor(0.997, 0.997, 1),
    "ub": Floor(0.989, 0.965, 1.9),
    "uc": Floor(0.993, 0.995, 0.9),
    "ud": Floor(0.99, 0.985, 1.85),
    "ue": Floor(0.994, 0.997, 0.45),
    "uf": Floor(0.997, 0.997, 0.45),
    "ug": Floor(0.997, 0.997, 0.75),
    "uh": Floor(0.997, 0.995, 0.55),
    "ui": Floor(0.997, 0.995, 0.5),
    "uj": Floor(0.997, 0.994, 0.6),
    "uk": Floor(0.997, 0.995, 0.85),
    "ul": Floor(0.994, 0.991, 0.95),
    "um": Floor(0.997, 0.996, 1.15),
    "un": Floor(0.99, 0.991, 1.3),
    "uo": Floor(0.987, 0.991, 1.35, phrases=1),
    "up": Floor(0.996, 0.993, 2.7, clinical=1),
    "va": Floor(0.997, 0.989, 1.2),
    "vb": Floor(0.997, 0.985, 1.1),
    "vc": Floor(0.997, 0.995, 1.15),
    "vd": Floor(0.997, 0.995, 1.1),
    "ve": Floor(0.979, 0.987, 2.15),
    "vf": Floor(0.98, 0.989, 2.55),
    "vg": Floor(0.979, 0.983, 2.3, clinical=1),
    "vh": Floor(0.997, 0.997, 2),
    "wa": Floor(0.969, 0.974, 1.15),
    "wb": Floor(0.997, 0.982, 1.35),
    "wc": Floor(0.997, 0.99, 1.05),
    "wd": Floor(0.984, 0.979, 2.8),
    "we": Floor(0.997, 0.985, 1.5),
    "wf": Floor(0.997, 0.992, 1.45),
    "wg": Floor(0.997, 0.977, 1.7),
    "wh": Floor(0.985, 0.984, 3.45),
    "wi": Floor(0.979, 0.983, 1, phrases=1),
    "wj": Floor(0.969, 0.974, 1.95),
    "wk": Floor(0.997, 0.997, 0.65),
    "wl": Floor(0.977, 0.986, 1.2),
    "xa": Floor(0.997, 0.997, 0.65),
    "xb": Floor(0.997, 0.991, 1),
    "xc": Floor(0.972, 0.979, 1.35),
    "xd": Floor(0.997, 0.992, 1.05),
    "xe": Floor(0.963, 0.987, 1.6, clinical=1),
    "xf": Floor(0.997, 0.997, 1.75),
    "xg": Floor(0.994, 0.994, 0.55),
    "xh": Floor(0.997, 0.997, 0.95),
    "xi": Floor(0.997, 0.982, 1.65, phrases=1),
    "xj": Floor(0.997, 0.974, 1.3),
    "xk": Floor(0.992, 0.993, 2),
    "xl": Floor(0.997, 0.995, 2.1, phrases=1),
    "xm": Floor(0.997, 0.995, 2.55),
    "xn": Floor(0.997, 0.996, 1.2, phrases=1),
    "xo": Floor(0.969, 0.964, 1.3),
    "xp": Floor(0.997, 0.997, 1.05),
    "xq": Floor(0.948, 0.958, 2.05),
    "xr": Floor(0.976, 0.972, 2.05),
    "xs": Floor(0.985, 0.991, 2.3),
    "xt": Floor(0.997, 0.993, 3.8, phrases=1),
    "xu": Floor(0.997, 0.97, 1),
    "xv": Floor(0.992, 0.993, 1),
    "ya": Floor(0.994, 0.994, 1.15),
    "yb": Floor(0.987, 0.982, 3.8),
    "yc": Floor(0.997, 0.996, 1.05),
    "yd": Floor(0.973, 0.976, 2.8),
    "ye": Floor(0.997, 0.987, 2.2, clinical=1),
    "yf": Floor(0.983, 0.962, 2.15),
    "yg": Floor(0.988, 0.992, 2.6, clinical=1),
    "yh": Floor(0.997, 0.994, 1.6),
    "yi": Floor(0.997, 0.997, 0.25),
    "yj": Floor(0.964, 0.97, 2.45),
    "yk": Floor(0.987, 0.992, 1.3),
    "yl": Floor(0.978, 0.984, 1.9),
    "ym": Floor(0.99, 0.993, 0.9, phrases=1),
    "yn": Floor(0.938, 0.958, 2.7),
    "yo": Floor(0.971, 0.975, 1.1),
    "yp": Floor(0.997, 0.97, 1.1),
    "yq": Floor(0.953, 0.968, 2.95, clinical=1),
    "yr": Floor(0.981, 0.979, 3.5, clinical=1),
    "ys": Floor(0.994, 0.995, 1.2),
    "yt": Floor(0.997, 0.974, 2, clinical=1, phrases=1),
    "yu": Floor(0.979, 0.97, 2.55),
    "yv": Floor(0.966, 0.964, 2.25),
    "yw": Floor(0.984, 0.991, 1.1),
    "yx": Floor(0.929, 0.927, 2.1, whole=0.055),
    "za": Floor(0.997, 0.997, 2.3, phrases=1),
    "zb": Floor(0.991, 0.993, 2.35),
    "zc": Floor(0.973, 0.98, 1.75),
    "zd": Floor(0.917, 0.935, 1.45, whole=0.065),
    "ze": Floor(0.997, 0.993, 1.3),
    "zf": Floor(0.977, 0.979, 2.05),
    "zg": Floor(0.997, 0.987, 0.65),
    "zh": Floor(0.997, 0.997, 0.75),
    "zi": Floor(0.981, 0.99, 1.6, clinical=2),
    "zj": Floor(0.997, 0.99, 3.85),
    "zk": Floor(0.97, 0.982, 1.75),
    "zl": Floor(0.987, 0.99, 2.65),
    "zm": Floor(0.997, 0.988, 0.8),
    "zn": Floor(0.991, 0.991, 1.35),
    "zo": Floor(0.985, 0.986, 0.75),
    "zp": Floor(0.992, 0.996, 1.3),
    "zq": Floor(0.997, 0.992, 0.95),
    "zr": Floor(0.997, 0.997, 1.05),
    "zs": Floor(0.997, 0.996, 0.7, phrases=1),
    "zt": Floor(0.997, 0.993, 0.95),
    "zu": Floor(0.997, 0.988, 0.95),
    "zv": Floor(0.997, 0.981, 1.35),
    "zw": Floor(0.956, 0.967, 3.55, whole=0.03),
    "zx": Floor(0.972, 0.99, 2.75),
    "zy": Floor(0.997, 0.997, 0.15),
    "zz": Floor(0.992, 0.994, 0.75),
}
"""By set (fixtures/deid/blind.py); nothing learned from UE to UP and YM to YX."""
NAMELESS = {"xu", "yt"}
"""Sets without a name."""


def blind(name: str) -> list[GoldReport]:
    spec = importlib.util.spec_from_file_location("deid_blind", BLIND)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return [GoldReport.model_validate(row) for row in module.read(name)]


@pytest.fixture(scope="module")
def cleaner() -> Deidentifier:
    return Deidentifier()


@pytest.mark.parametrize("name", FLOORS)
def test_reports_of_an_author_who_never_saw_the_rules_keep_what_was_measured(
    cleaner: Deidentifier, name: str
) -> None:
    result, floor = audit(blind(name), cleaner), FLOORS[name]
    assert result.withheld == {}
    assert ("NAME" in result.recall) == (name not in NAMELESS)
    assert name in NAMELESS or result.recall["NAME"].value >= floor.names
    assert result.recall["ALL"].value >= floor.everything
    assert result.untouched["ALL"].value <= floor.whole
    assert result.superfluous.count / result.reports <= floor.needless
    assert result.phrases_harmed <= floor.phrases
    assert result.kept_harmed <= floor.clinical


def test_a_report_is_cleaned_alike_alone_and_among_a_thousand(cleaner: Deidentifier) -> None:
    """No product over many reports may move a chance across a threshold."""
    texts = [report.text for report in own_gold(940, 11)]
    texts += [report.text for report in blind("bg")[:60]]
    scan = LeakScan.from_known([])
    together = cleaner.batch(texts, scan=scan)
    for text, outcome in list(zip(texts, together, strict=True))[7::9]:
        assert cleaner.clean(text, scan=scan) == outcome


def test_every_set_has_its_floor() -> None:
    assert {path.name.partition(".")[0] for path in BLIND.with_name("blind").iterdir()} == {*FLOORS}


def test_spans_of_our_own_gold_point_at_what_they_say() -> None:
    for report in own_gold(50, 3):
        for span in report.spans:
            piece = report.text[span.start : span.end]
            assert piece == piece.strip()
            assert piece


def test_a_hard_negative_that_goes_is_counted() -> None:
    text = "Dr. Kerley saw it."
    row = {"id": "1", "text": text, "spans": [{"start": 4, "end": 10, "label": "KEEP"}]}
    result = audit([GoldReport.model_validate_json(json.dumps(row))])
    assert (result.kept_before, result.kept_harmed) == (1, 1)


@pytest.mark.parametrize(
    ("label", "taken", "nobody"),
    [
        ("NAME", "Zeldon", True),
        ("NAME", "Baby Girl", False),
        ("NAME", "Zel", False),
        ("HOSPITAL", "Zeldon", False),
        ("DATE", "Zeldon", False),
        ("ID", "Girl Zeldon", False),
        ("EMAIL", "Girl Zeldon", False),
    ],
)
def test_what_is_left_names_nobody_only_by_whole_words_of_its_class(
    label: str, taken: str, nobody: bool
) -> None:
    text = "Told Baby Girl Zeldon."
    span = GoldSpan(start=5, end=21, label=label)
    at = text.index(taken)
    gone = bytearray(len(text))
    gone[at : at + len(taken)] = b"\x01" * len(taken)
    assert names_nobody(text, span, gone) is nobody


def test_no_miss_in_n_has_a_bound_of_three_over_n() -> None:
    result = audit(own_gold(100, 1))
    assert result.leaking.count == 0
    assert result.leaking.interval == (0.0, 0.03)
