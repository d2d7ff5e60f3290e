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
        ("held_out", 0.96, 0.98, 4),  # "April showers? no."
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
    "a": Floor(0.995, 0.997, 0.2),
    "b": Floor(0.995, 0.997, 0.3),
    "c": Floor(0.992, 0.995, 0.55),
    "d": Floor(0.982, 0.992, 0.15),
    "e": Floor(0.997, 0.997, 0.2),
    "g": Floor(0.996, 0.997, 0.2),
    "h": Floor(0.995, 0.997, 0.15),
    "i": Floor(0.991, 0.992, 0.2),
    "j": Floor(0.997, 0.997, 0.15),
    "k": Floor(0.997, 0.995, 0.45, phrases=1),
    "l": Floor(0.991, 0.993, 0.45),
    "m": Floor(0.979, 0.987, 0.9),
    "n": Floor(0.991, 0.994, 0.35),
    "o": Floor(0.997, 0.996, 0.4),
    "p": Floor(0.986, 0.993, 0.75),
    "q": Floor(0.997, 0.997, 0.25),
    "r": Floor(0.994, 0.996, 0.5),
    "s": Floor(0.996, 0.997, 0.4),
    "t": Floor(0.996, 0.992, 0.6),
    "u": Floor(0.996, 0.997, 0.35),
    "v": Floor(0.995, 0.99, 0.5),
    "w": Floor(0.991, 0.994, 0.8),
    "x": Floor(0.994, 0.997, 0.65, clinical=1),
    "y": Floor(0.995, 0.995, 0.5),
    "z": Floor(0.997, 0.997, 0.5),
    "aa": Floor(0.997, 0.997, 0.4),
    "ab": Floor(0.997, 0.997, 0.35),
    "ac": Floor(0.997, 0.997, 0.45),
    "ad": Floor(0.995, 0.992, 0.2),
    "ae": Floor(0.993, 0.993, 0.5, clinical=1),
    "af": Floor(0.997, 0.997, 0.35),
    "ag": Floor(0.99, 0.994, 0.55),
    "ah": Floor(0.997, 0.996, 1),
    "ai": Floor(0.984, 0.993, 0.55),
    "ak": Floor(0.997, 0.994, 0.95),
    "al": Floor(0.997, 0.996, 0.45),
    "am": Floor(0.997, 0.996, 0.8),
    "an": Floor(0.995, 0.994, 0.9, clinical=1),
    "ao": Floor(0.995, 0.996, 0.95),
    "ap": Floor(0.989, 0.993, 0.85),
    "aq": Floor(0.997, 0.989, 1.1),
    "ar": Floor(0.986, 0.993, 1.3),
    "as": Floor(0.995, 0.994, 1.15),
    "at": Floor(0.984, 0.975, 1.3),
    "au": Floor(0.997, 0.997, 0.7),
    "av": Floor(0.997, 0.997, 0.7),
    "aw": Floor(0.995, 0.994, 0.35),
    "ax": Floor(0.996, 0.997, 0.4),
    "ay": Floor(0.997, 0.996, 0.5),
    "az": Floor(0.996, 0.995, 0.3),
    "ba": Floor(0.997, 0.997, 0.45),
    "bb": Floor(0.995, 0.997, 0.55),
    "bc": Floor(0.997, 0.996, 0.35),
    "bd": Floor(0.995, 0.995, 0.4),
    "be": Floor(0.997, 0.997, 0.45),
    "bf": Floor(0.982, 0.988, 0.35),
    "bg": Floor(0.986, 0.992, 0.75),
    "bh": Floor(0.997, 0.997, 0.4),
    "bi": Floor(0.997, 0.997, 0.5),
    "bk": Floor(0.994, 0.995, 0.3),
    "bl": Floor(0.997, 0.997, 0.75),
    "bm": Floor(0.997, 0.995, 0.95),
    "bn": Floor(0.997, 0.997, 0.5),
    "bo": Floor(0.995, 0.994, 0.4),
    "bp": Floor(0.997, 0.997, 0.35),
    "bq": Floor(0.994, 0.995, 0.8),
    "br": Floor(0.979, 0.989, 0.75),
    "bs": Floor(0.994, 0.995, 0.5),
    "bt": Floor(0.993, 0.992, 0.6),
    "bu": Floor(0.988, 0.993, 1.25),
    "bv": Floor(0.997, 0.994, 1.5, clinical=1),
    "bw": Floor(0.984, 0.989, 0.3),
    "bx": Floor(0.983, 0.987, 0.9),
    "by": Floor(0.98, 0.989, 0.8),
    "bz": Floor(0.995, 0.993, 0.55),
    "ca": Floor(0.997, 0.997, 0.6),
    "cb": Floor(0.994, 0.993, 0.5),
    "cc": Floor(0.92, 0.948, 0.35, whole=0.055),
    "cd": Floor(0.968, 0.982, 0.6),
    "ce": Floor(0.997, 0.991, 1.1),
    "cf": Floor(0.994, 0.983, 0.9),
    "cg": Floor(0.997, 0.997, 0.8),
    "ch": Floor(0.989, 0.995, 0.5),
    "ci": Floor(0.997, 0.995, 0.4),
    "cj": Floor(0.953, 0.971, 0.75, whole=0.03),
    "ck": Floor(0.964, 0.976, 1.1),
    "cl": Floor(0.997, 0.995, 0.5),
    "cm": Floor(0.994, 0.987, 0.6),
    "cn": Floor(0.997, 0.997, 0.2),
    "co": Floor(0.997, 0.997, 0.45),
    "cp": Floor(0.994, 0.997, 0.55),
    "cq": Floor(0.997, 0.997, 0.6),
    "cr": Floor(0.997, 0.997, 0.5),
    "cs": Floor(0.988, 0.991, 0.5),
    "ct": Floor(0.997, 0.997, 0.3),
    "cu": Floor(0.964, 0.978, 0.85),
    "cv": Floor(0.981, 0.987, 1.3),
    "cx": Floor(0.981, 0.988, 0.4, phrases=1),
    "cy": Floor(0.997, 0.994, 0.6),
    "cz": Floor(0.979, 0.985, 0.7),
    "da": Floor(0.997, 0.997, 0.3),
    "db": Floor(0.988, 0.995, 0.55),
    "dc": Floor(0.957, 0.974, 0.7),
    "dd": Floor(0.989, 0.993, 0.95, clinical=1),
    "de": Floor(0.994, 0.992, 0.5),
    "df": Floor(0.991, 0.993, 1.1),
    "dg": Floor(0.977, 0.985, 0.85),
    "dh": Floor(0.989, 0.994, 0.25),
    "di": Floor(0.99, 0.99, 1.3, phrases=2),
    "dj": Floor(0.997, 0.997, 0.85),
    "ea": Floor(0.918, 0.944, 0.85, whole=0.055),
    "eb": Floor(0.97, 0.983, 0.65),
    "ec": Floor(0.98, 0.985, 0.9),
    "ee": Floor(0.992, 0.989, 0.45),
    "ef": Floor(0.997, 0.997, 0.75),
    "eg": Floor(0.995, 0.996, 0.5),
    "fa": Floor(0.961, 0.974, 0.95),
    "fb": Floor(0.922, 0.95, 0.75, clinical=1, whole=0.05),
    "fc": Floor(0.963, 0.973, 0.7),
    "fd": Floor(0.984, 0.985, 0.6),
    "fe": Floor(0.974, 0.979, 0.75),
    "fg": Floor(0.978, 0.987, 0.6),
    "ga": Floor(0.91, 0.942, 0.5, whole=0.06),
    "gb": Floor(0.958, 0.976, 1.2),
    "gc": Floor(0.967, 0.975, 1.25),
    "gd": Floor(0.984, 0.99, 0.8),
    "ge": Floor(0.961, 0.975, 0.75),
    "ha": Floor(0.992, 0.994, 0.35),
    "hb": Floor(0.997, 0.997, 0.3),
    "hc": Floor(0.993, 0.993, 0.5),
    "hd": Floor(0.976, 0.984, 0.3),
    "ia": Floor(0.825, 0.885, 0.85, whole=0.115),
    "ib": Floor(0.997, 0.979, 0.35),
    "ic": Floor(0.943, 0.96, 0.7, whole=0.045),
    "ie": Floor(0.997, 0.99, 0.45),
    "ig": Floor(0.922, 0.957, 0.7, whole=0.045),
    "ja": Floor(0.964, 0.975, 0.5),
    "jb": Floor(0.997, 0.99, 0.55),
    "jc": Floor(0.975, 0.982, 0.45),
    "jd": Floor(0.983, 0.986, 0.5),
    "je": Floor(0.991, 0.988, 0.65),
    "jf": Floor(0.993, 0.99, 0.4),
    "jg": Floor(0.997, 0.997, 0.6),
    "jh": Floor(0.997, 0.997, 0.75),
    "ji": Floor(0.992, 0.996, 0.8, clinical=1),
    "jj": Floor(0.997, 0.997, 0.45),
    "jk": Floor(0.991, 0.995, 1),
    "jl": Floor(0.987, 0.991, 0.25),
    "jm": Floor(0.995, 0.996, 0.45),
    "ka": Floor(0.927, 0.951, 0.75, whole=0.05),
    "kb": Floor(0.997, 0.987, 1.65),
    "kc": Floor(0.997, 0.997, 0.55),
    "kd": Floor(0.997, 0.997, 0.4),
    "ke": Floor(0.984, 0.988, 0.5),
    "kf": Floor(0.994, 0.996, 0.55),
    "kg": Floor(0.994, 0.997, 0.7),
    "kh": Floor(0.997, 0.983, 0.6),
    "ki": Floor(0.984, 0.987, 0.25),
    "kj": Floor(0.997, 0.997, 0.65),
    "la": Floor(0.996, 0.992, 0.7, clinical=1),
    "lb": Floor(0.997, 0.996, 0.5),
    "ma": Floor(0.968, 0.983, 0.25),
    "mb": Floor(0.997, 0.997, 0.7),
    "mc": Floor(0.997, 0.997, 0.35),
    "na": Floor(0.997, 0.997, 0.55),
    "nb": Floor(0.985, 0.984, 1.45),
    "nc": Floor(0.997, 0.94, 0.9, whole=0.06),
    "pa": Floor(0.997, 0.992, 1.55),
    "pb": Floor(0.994, 0.997, 0.7),
    "qa": Floor(0.993, 0.997, 0.6),
    "qb": Floor(0.989, 0.962, 1.3),
    "qc": Floor(0.978, 0.99, 0.55),
    "qd": Floor(0.993, 0.972, 3.35, clinical=1),
    "ra": Floor(0.997, 0.995, 0.85),
    "rb": Floor(0.994, 0.982, 2.25, clinical=1),
    "sa": Floor(0.997, 0.997, 1.1),
    "sb": Floor(0.992, 0.981, 2.15),
    "ta": Floor(0.997, 0.984, 2.65),
    "tb": Floor(0.997, 0.993, 4.35),
    "tc": Floor(0.997, 0.993, 2.25),
    "td": Floor(0.988, 0.98, 2.95),
    "te": Floor(0.997, 0.994, 1.15),
    "tf": Floor(0.997, 0.98, 1.55),
    "tg": Floor(0.979, 0.987, 1.05),
    "th": Floor(0.969, 0.979, 1.55, clinical=1, phrases=2),
    "ti": Floor(0.99, 0.988, 2.35),
    "tj": Floor(0.989, 0.986, 2.75),
    "tk": Floor(0.983, 0.987, 1.95),
    "tl": Floor(0.976, 0.977, 3.55),
    "ua": Floor(0.997, 0.997, 0.95),
    "ub": Floor(0.989, 0.971, 1.95),
    "uc": Floor(0.993, 0.995, 0.9),
    "ud": Floor(0.99, 0.989, 1.75),
    "va": Floor(0.997, 0.983, 1),
    "vb": Floor(0.997, 0.987, 1.1),
    "vc": Floor(0.997, 0.995, 1.15),
    "vd": Floor(0.994, 0.995, 1),
    "ve": Floor(0.979, 0.984, 2.4),
    "vf": Floor(0.971, 0.985, 2.9),
    "vg": Floor(0.977, 0.981, 2.1),
    "vh": Floor(0.997, 0.997, 2.05),
    "wa": Floor(0.975, 0.976, 1.15),
    "wb": Floor(0.997, 0.982, 1.25),
    "wc": Floor(0.997, 0.994, 1.3),
    "wd": Floor(0.984, 0.982, 3.05),
    "we": Floor(0.997, 0.985, 1.4),
    "wf": Floor(0.997, 0.996, 1.4),
    "wg": Floor(0.997, 0.979, 1.8),
    "wh": Floor(0.992, 0.989, 3.45),
    "wi": Floor(0.979, 0.983, 0.95, phrases=1),
    "wj": Floor(0.969, 0.974, 1.65),
    "wk": Floor(0.997, 0.997, 0.6),
    "wl": Floor(0.977, 0.992, 1.05),
    "xa": Floor(0.997, 0.997, 0.95),
    "xb": Floor(0.997, 0.993, 1),
    "xc": Floor(0.976, 0.982, 1.4),
    "xd": Floor(0.997, 0.992, 1.1),
    "xe": Floor(0.963, 0.981, 1.4, clinical=1),
    "xf": Floor(0.997, 0.997, 1.75),
    "xg": Floor(0.994, 0.994, 0.55),
    "xh": Floor(0.979, 0.99, 0.95),
    "xi": Floor(0.997, 0.982, 1.65),
    "xj": Floor(0.997, 0.974, 1.45),
    "xk": Floor(0.992, 0.993, 2.05),
    "xl": Floor(0.992, 0.989, 2.15),
    "xm": Floor(0.997, 0.995, 2.5),
    "xn": Floor(0.997, 0.996, 1.45, phrases=1),
    "xo": Floor(0.964, 0.961, 1.15),
    "xp": Floor(0.997, 0.997, 1),
    "ya": Floor(0.994, 0.994, 1.1),
    "yb": Floor(0.983, 0.973, 3.95),
    "yc": Floor(0.997, 0.993, 1.15),
    "yd": Floor(0.949, 0.956, 3.2, whole=0.045),
    "ye": Floor(0.997, 0.981, 2.15, clinical=1),
    "yf": Floor(0.968, 0.95, 3.3, whole=0.04),
    "yg": Floor(0.993, 0.992, 2.85, clinical=1),
    "yh": Floor(0.997, 0.992, 1.8, phrases=1),
    "yi": Floor(0.997, 0.997, 0.35),
    "yj": Floor(0.952, 0.954, 2.6, phrases=2),
    "yk": Floor(0.982, 0.99, 1.4),
    "yl": Floor(0.953, 0.97, 1.8),
}
"""By set (fixtures/deid/blind.py); nothing learned from YA to YL."""


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
    assert result.recall["NAME"].value >= floor.names
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
