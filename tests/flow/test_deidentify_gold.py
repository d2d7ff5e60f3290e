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
    check(audit(read_gold(path)))


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
    "b": Floor(0.995, 0.997, 0.25),
    "c": Floor(0.994, 0.996, 0.5),
    "d": Floor(0.994, 0.996, 0.15),
    "e": Floor(0.997, 0.997, 0.2),
    "g": Floor(0.997, 0.997, 0.3),
    "h": Floor(0.995, 0.997, 0.15),
    "i": Floor(0.991, 0.992, 0.2),
    "j": Floor(0.997, 0.997, 0.15),
    "k": Floor(0.997, 0.997, 0.45),
    "l": Floor(0.991, 0.994, 0.5),
    "m": Floor(0.979, 0.989, 0.85),
    "n": Floor(0.991, 0.993, 0.35),
    "o": Floor(0.996, 0.995, 0.3),
    "p": Floor(0.986, 0.992, 0.75),
    "q": Floor(0.997, 0.997, 0.25),
    "r": Floor(0.994, 0.996, 0.45),
    "s": Floor(0.996, 0.996, 0.4),
    "t": Floor(0.996, 0.992, 0.6),
    "u": Floor(0.997, 0.997, 0.35),
    "v": Floor(0.992, 0.99, 0.45),
    "w": Floor(0.994, 0.996, 0.8),
    "x": Floor(0.997, 0.997, 0.7, clinical=2),
    "y": Floor(0.992, 0.992, 0.5),
    "z": Floor(0.997, 0.996, 0.55),
    "aa": Floor(0.997, 0.997, 0.35),
    "ab": Floor(0.994, 0.997, 0.3),
    "ac": Floor(0.997, 0.997, 0.5),
    "ad": Floor(0.997, 0.995, 0.2),
    "ae": Floor(0.993, 0.993, 0.45, clinical=1),
    "af": Floor(0.997, 0.997, 0.3),
    "ag": Floor(0.986, 0.994, 0.55),
    "ah": Floor(0.997, 0.996, 0.95),
    "ai": Floor(0.97, 0.988, 0.7),
    "ak": Floor(0.994, 0.994, 0.75),
    "al": Floor(0.997, 0.996, 0.5),
    "am": Floor(0.997, 0.996, 0.75),
    "an": Floor(0.995, 0.993, 0.9, clinical=1),
    "ao": Floor(0.992, 0.992, 1),
    "ap": Floor(0.989, 0.993, 0.85),
    "aq": Floor(0.995, 0.988, 1.05),
    "ar": Floor(0.989, 0.993, 1.3),
    "as": Floor(0.995, 0.995, 1.15),
    "at": Floor(0.984, 0.975, 1.35),
    "au": Floor(0.997, 0.997, 0.65),
    "av": Floor(0.997, 0.996, 0.65),
    "aw": Floor(0.995, 0.994, 0.35),
    "ax": Floor(0.996, 0.996, 0.4),
    "ay": Floor(0.997, 0.997, 0.45),
    "az": Floor(0.997, 0.993, 0.35),
    "ba": Floor(0.997, 0.997, 0.4),
    "bb": Floor(0.995, 0.997, 0.65),
    "bc": Floor(0.997, 0.996, 0.35),
    "bd": Floor(0.995, 0.996, 0.35),
    "be": Floor(0.997, 0.997, 0.5),
    "bf": Floor(0.982, 0.991, 0.3),
    "bg": Floor(0.986, 0.991, 0.65),
    "bh": Floor(0.997, 0.997, 0.4),
    "bi": Floor(0.997, 0.997, 0.5),
    "bk": Floor(0.997, 0.997, 0.25),
    "bl": Floor(0.994, 0.997, 0.7),
    "bm": Floor(0.997, 0.995, 0.9),
    "bn": Floor(0.997, 0.997, 0.45),
    "bo": Floor(0.995, 0.994, 0.4),
    "bp": Floor(0.997, 0.997, 0.3),
    "bq": Floor(0.994, 0.995, 0.75),
    "br": Floor(0.975, 0.987, 0.7),
    "bs": Floor(0.994, 0.995, 0.45),
    "bt": Floor(0.993, 0.992, 0.55),
    "bu": Floor(0.983, 0.99, 1.3),
    "bv": Floor(0.997, 0.996, 1.35, clinical=1),
    "bw": Floor(0.984, 0.989, 0.3),
    "bx": Floor(0.983, 0.987, 0.95),
    "by": Floor(0.985, 0.992, 0.75),
    "bz": Floor(0.995, 0.993, 0.65),
    "ca": Floor(0.997, 0.997, 0.5),
    "cb": Floor(0.994, 0.993, 0.5),
    "cc": Floor(0.903, 0.937, 0.35, whole=0.065),
    "cd": Floor(0.965, 0.98, 0.5),
    "ce": Floor(0.994, 0.991, 1.2),
    "cf": Floor(0.997, 0.987, 0.85),
    "cg": Floor(0.997, 0.997, 0.7),
    "ch": Floor(0.989, 0.995, 0.4),
    "ci": Floor(0.997, 0.995, 0.5),
    "cj": Floor(0.956, 0.973, 0.6),
    "ck": Floor(0.968, 0.978, 0.9),
    "cl": Floor(0.997, 0.995, 0.5),
    "cm": Floor(0.994, 0.989, 0.65),
    "cn": Floor(0.997, 0.997, 0.25),
    "co": Floor(0.997, 0.997, 0.45),
    "cp": Floor(0.994, 0.997, 0.5),
    "cq": Floor(0.994, 0.997, 0.5),
    "cr": Floor(0.997, 0.997, 0.6),
    "cs": Floor(0.988, 0.993, 0.4),
    "ct": Floor(0.997, 0.997, 0.3),
    "cu": Floor(0.964, 0.978, 0.7),
    "cv": Floor(0.981, 0.987, 1.2),
    "cx": Floor(0.981, 0.988, 0.45),
    "cy": Floor(0.997, 0.994, 0.55),
    "cz": Floor(0.981, 0.986, 0.65),
    "da": Floor(0.997, 0.997, 0.35),
    "db": Floor(0.988, 0.995, 0.55),
    "dc": Floor(0.954, 0.97, 0.55, whole=0.03),
    "dd": Floor(0.989, 0.993, 0.75),
    "de": Floor(0.994, 0.992, 0.5),
    "df": Floor(0.991, 0.993, 0.95),
    "dg": Floor(0.974, 0.983, 0.8),
    "dh": Floor(0.992, 0.996, 0.25),
    "di": Floor(0.988, 0.988, 1.25, phrases=1),
    "dj": Floor(0.997, 0.997, 0.8),
    "ea": Floor(0.927, 0.95, 0.65, whole=0.05),
    "eb": Floor(0.974, 0.985, 0.65, clinical=1),
    "ec": Floor(0.973, 0.98, 0.85),
    "ee": Floor(0.992, 0.987, 0.5),
    "ef": Floor(0.997, 0.997, 0.65),
    "eg": Floor(0.995, 0.996, 0.4),
    "fa": Floor(0.957, 0.971, 0.8, whole=0.03),
    "fb": Floor(0.926, 0.953, 0.75, clinical=1, whole=0.05),
    "fc": Floor(0.958, 0.971, 0.65, whole=0.03),
    "fd": Floor(0.987, 0.987, 0.55),
    "fe": Floor(0.974, 0.979, 0.7),
    "fg": Floor(0.982, 0.989, 0.55),
    "ga": Floor(0.91, 0.942, 0.45, whole=0.06),
    "gb": Floor(0.958, 0.974, 1.05),
    "gc": Floor(0.97, 0.977, 1.15),
    "gd": Floor(0.975, 0.984, 0.8),
    "ge": Floor(0.969, 0.98, 0.75),
    "ha": Floor(0.992, 0.994, 0.35),
    "hb": Floor(0.997, 0.997, 0.3),
    "hc": Floor(0.993, 0.993, 0.45),
    "hd": Floor(0.965, 0.974, 0.3),
    "ia": Floor(0.835, 0.892, 0.7, whole=0.11),
    "ib": Floor(0.997, 0.979, 0.4),
    "ic": Floor(0.954, 0.965, 0.6, whole=0.035),
    "ie": Floor(0.997, 0.997, 0.45),
    "ig": Floor(0.915, 0.953, 0.7, whole=0.05),
    "ja": Floor(0.956, 0.969, 0.45, whole=0.035),
    "jb": Floor(0.993, 0.982, 0.55),
    "jc": Floor(0.983, 0.987, 0.45),
    "jd": Floor(0.975, 0.984, 0.45),
    "je": Floor(0.991, 0.988, 0.7),
    "jf": Floor(0.993, 0.99, 0.35),
    "jg": Floor(0.997, 0.997, 0.5),
    "jh": Floor(0.997, 0.997, 0.7),
    "ji": Floor(0.997, 0.997, 0.8, clinical=1),
    "jj": Floor(0.997, 0.997, 0.45),
    "jk": Floor(0.991, 0.995, 1),
    "jl": Floor(0.987, 0.991, 0.2),
    "jm": Floor(0.995, 0.996, 0.5),
    "ka": Floor(0.934, 0.957, 0.7, whole=0.045),
    "kb": Floor(0.997, 0.987, 1.45),
    "kc": Floor(0.997, 0.997, 0.45),
    "kd": Floor(0.997, 0.997, 0.35),
    "ke": Floor(0.978, 0.984, 0.4),
    "kf": Floor(0.994, 0.996, 0.45),
    "kg": Floor(0.994, 0.997, 0.55),
    "kh": Floor(0.991, 0.985, 0.6),
    "ki": Floor(0.987, 0.989, 0.2),
    "kj": Floor(0.997, 0.997, 0.65),
    "la": Floor(0.996, 0.992, 0.7, clinical=1),
    "lb": Floor(0.995, 0.994, 0.45, clinical=1),
    "ma": Floor(0.968, 0.983, 0.2),
    "mb": Floor(0.997, 0.997, 0.6),
    "mc": Floor(0.997, 0.997, 0.25),
    "na": Floor(0.997, 0.997, 0.55),
    "nb": Floor(0.985, 0.981, 1.3),
    "nc": Floor(0.997, 0.969, 0.85, whole=0.035),
    "pa": Floor(0.997, 0.992, 1.75),
    "pb": Floor(0.994, 0.997, 0.65),
    "qa": Floor(0.997, 0.997, 0.45),
    "qb": Floor(0.984, 0.953, 1.4),
    "qc": Floor(0.983, 0.991, 0.7),
    "qd": Floor(0.993, 0.976, 3.8, clinical=1),
    "ra": Floor(0.997, 0.993, 0.8),
    "rb": Floor(0.994, 0.982, 2.1, clinical=1),
    "sa": Floor(0.997, 0.997, 0.9),
    "sb": Floor(0.992, 0.981, 1.9),
    "ta": Floor(0.997, 0.984, 2.85),
    "tb": Floor(0.997, 0.993, 4.2),
    "tc": Floor(0.997, 0.991, 2.35),
    "td": Floor(0.988, 0.98, 3.15),
    "te": Floor(0.997, 0.997, 1.3),
    "tf": Floor(0.997, 0.98, 1.65),
    "tg": Floor(0.979, 0.987, 1.1),
    "th": Floor(0.966, 0.975, 1.55, clinical=1, phrases=1),
    "ti": Floor(0.976, 0.983, 2.35),
    "tj": Floor(0.994, 0.986, 2.9, clinical=2),
    "tk": Floor(0.983, 0.985, 1.9),
    "tl": Floor(0.988, 0.982, 3.5),
    "ua": Floor(0.997, 0.997, 0.95),
    "ub": Floor(0.984, 0.954, 2.05),
    "uc": Floor(0.988, 0.994, 0.8),
    "ud": Floor(0.99, 0.989, 2.15),
    "va": Floor(0.997, 0.978, 1.2),
    "vb": Floor(0.997, 0.981, 1.2),
    "vc": Floor(0.997, 0.995, 1.2),
    "vd": Floor(0.994, 0.992, 1.15),
    "ve": Floor(0.979, 0.989, 2.45),
    "vf": Floor(0.985, 0.992, 2.6),
    "vg": Floor(0.979, 0.983, 1.95),
    "vh": Floor(0.997, 0.997, 2.05),
    "wa": Floor(0.975, 0.966, 1.15),
    "wb": Floor(0.993, 0.976, 1.4),
    "wc": Floor(0.997, 0.977, 1.35),
    "wd": Floor(0.97, 0.959, 3.45),
    "we": Floor(0.997, 0.967, 1.55),
    "wf": Floor(0.997, 0.98, 1.75),
    "wg": Floor(0.997, 0.975, 2),
    "wh": Floor(0.971, 0.962, 3.85, whole=0.03),
    "wi": Floor(0.96, 0.97, 0.85),
    "wj": Floor(0.928, 0.945, 1.45, whole=0.05),
    "wk": Floor(0.997, 0.997, 0.55),
    "wl": Floor(0.977, 0.992, 1.55),
}
"""By set (fixtures/deid/blind.py); nothing learned from UA to UD, WA to WL."""


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
