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
    "a": Floor(0.996, 0.997, 0.15),
    "b": Floor(0.996, 0.997, 0.25),
    "c": Floor(0.995, 0.996, 0.55),
    "d": Floor(0.993, 0.994, 0.2),
    "e": Floor(0.996, 0.997, 0.25),
    "g": Floor(0.997, 0.997, 0.3),
    "h": Floor(0.995, 0.996, 0.15),
    "i": Floor(0.981, 0.991, 0.25),
    "j": Floor(0.997, 0.997, 0.2),
    "k": Floor(0.997, 0.996, 0.35, phrases=1),
    "l": Floor(0.99, 0.993, 0.35),
    "m": Floor(0.975, 0.988, 0.75),
    "n": Floor(0.99, 0.993, 0.3),
    "o": Floor(0.994, 0.994, 0.35),
    "p": Floor(0.985, 0.988, 0.7),
    "q": Floor(0.997, 0.996, 0.3),
    "r": Floor(0.993, 0.993, 0.5),
    "s": Floor(0.995, 0.997, 0.4),
    "t": Floor(0.995, 0.988, 0.5),
    "u": Floor(0.995, 0.996, 0.45),
    "v": Floor(0.994, 0.99, 0.4, clinical=1),
    "w": Floor(0.988, 0.99, 0.65),
    "x": Floor(0.997, 0.996, 0.6, clinical=1),
    "y": Floor(0.993, 0.995, 0.45),
    "z": Floor(0.997, 0.994, 0.45),
    "aa": Floor(0.997, 0.996, 0.4),
    "ab": Floor(0.997, 0.996, 0.3),
    "ac": Floor(0.995, 0.996, 0.45),
    "ad": Floor(0.997, 0.992, 0.15),
    "ae": Floor(0.992, 0.985, 0.4, clinical=1),
    "af": Floor(0.997, 0.997, 0.3),
    "ag": Floor(0.985, 0.992, 0.45),
    "ah": Floor(0.998, 0.99, 0.8),
    "ai": Floor(0.99, 0.992, 0.45),
    "ak": Floor(0.997, 0.992, 0.8),
    "al": Floor(0.997, 0.996, 0.4),
    "am": Floor(0.997, 0.995, 0.8),
    "an": Floor(0.994, 0.991, 0.8),
    "ao": Floor(0.991, 0.99, 0.95),
    "ap": Floor(0.988, 0.992, 0.7),
    "aq": Floor(0.994, 0.982, 0.95),
    "ar": Floor(0.99, 0.99, 1.25),
    "as": Floor(0.991, 0.992, 1.1),
    "at": Floor(0.982, 0.971, 1.25),
    "au": Floor(0.997, 0.996, 0.75),
    "av": Floor(0.997, 0.996, 0.5),
    "aw": Floor(0.994, 0.993, 0.35),
    "ax": Floor(0.992, 0.994, 0.4),
    "ay": Floor(0.994, 0.991, 0.45),
    "az": Floor(0.997, 0.992, 0.3),
    "ba": Floor(0.997, 0.997, 0.4),
    "bb": Floor(0.994, 0.996, 0.4),
    "bc": Floor(0.997, 0.996, 0.3),
    "bd": Floor(0.994, 0.995, 0.4),
    "be": Floor(0.997, 0.997, 0.45),
    "bf": Floor(0.981, 0.991, 0.35),
    "bg": Floor(0.985, 0.99, 0.65),
    "bh": Floor(0.997, 0.997, 0.4),
    "bi": Floor(0.997, 0.996, 0.5),
    "bk": Floor(0.997, 0.997, 0.2),
    "bl": Floor(0.997, 0.997, 0.6),
    "bm": Floor(0.988, 0.989, 1),
    "bn": Floor(0.993, 0.996, 0.55),
    "bo": Floor(0.993, 0.993, 0.35),
    "bp": Floor(0.997, 0.997, 0.35),
    "bq": Floor(0.993, 0.994, 0.7),
    "br": Floor(0.97, 0.982, 0.8),
    "bs": Floor(0.992, 0.994, 0.55),
    "bt": Floor(0.992, 0.989, 0.55),
    "bu": Floor(0.987, 0.988, 1.3),
    "bv": Floor(0.997, 0.997, 1.4, clinical=1),
    "bw": Floor(0.98, 0.98, 0.35),
    "bx": Floor(0.987, 0.99, 0.85),
    "by": Floor(0.979, 0.984, 0.7),
    "bz": Floor(0.994, 0.988, 0.5),
    "ca": Floor(0.997, 0.997, 0.45),
    "cb": Floor(0.993, 0.993, 0.4),
    "cc": Floor(0.909, 0.94, 0.35, whole=0.065),
    "cd": Floor(0.967, 0.981, 0.5),
    "ce": Floor(0.997, 0.99, 1.15),
    "cf": Floor(0.992, 0.984, 0.85),
    "cg": Floor(0.997, 0.997, 0.6),
    "ch": Floor(0.983, 0.991, 0.4),
    "ci": Floor(0.997, 0.996, 0.35),
    "cj": Floor(0.951, 0.965, 0.6, whole=0.035),
    "ck": Floor(0.97, 0.975, 0.75),
    "cl": Floor(0.997, 0.991, 0.5),
    "cm": Floor(0.992, 0.981, 0.65),
    "cn": Floor(0.997, 0.997, 0.2),
    "co": Floor(0.997, 0.997, 0.35),
    "cp": Floor(0.993, 0.996, 0.5),
    "cq": Floor(0.992, 0.997, 0.55),
    "cr": Floor(0.997, 0.997, 0.55),
    "cs": Floor(0.987, 0.987, 0.35),
    "ct": Floor(0.997, 0.997, 0.25),
    "cu": Floor(0.963, 0.977, 0.7, whole=0.035),
    "cv": Floor(0.989, 0.993, 1.05),
    "cx": Floor(0.977, 0.985, 0.4, phrases=1),
    "cy": Floor(0.997, 0.987, 0.6),
    "cz": Floor(0.983, 0.985, 0.6),
    "da": Floor(0.997, 0.996, 0.2),
    "db": Floor(0.987, 0.991, 0.6),
    "dc": Floor(0.941, 0.964, 0.5, whole=0.035),
    "dd": Floor(0.984, 0.99, 0.7),
    "de": Floor(0.993, 0.987, 0.45),
    "df": Floor(0.989, 0.99, 1),
    "dg": Floor(0.972, 0.982, 0.7),
    "dh": Floor(0.991, 0.995, 0.3),
    "di": Floor(0.989, 0.989, 1.05, phrases=2),
    "dj": Floor(0.997, 0.997, 0.7),
    "ea": Floor(0.923, 0.943, 0.65, whole=0.055),
    "eb": Floor(0.969, 0.981, 0.55, clinical=1),
    "ec": Floor(0.972, 0.981, 0.95),
    "ee": Floor(0.987, 0.983, 0.45),
    "ef": Floor(0.997, 0.998, 0.6),
    "eg": Floor(0.994, 0.993, 0.35),
    "fa": Floor(0.959, 0.973, 0.8),
    "fb": Floor(0.929, 0.954, 0.7, clinical=1, whole=0.05),
    "fc": Floor(0.97, 0.977, 0.7),
    "fd": Floor(0.986, 0.986, 0.5),
    "fe": Floor(0.973, 0.978, 0.6),
    "fg": Floor(0.977, 0.981, 0.45),
    "ga": Floor(0.909, 0.94, 0.5, whole=0.085),
    "gb": Floor(0.957, 0.975, 0.95),
    "gc": Floor(0.969, 0.976, 1.05),
    "gd": Floor(0.98, 0.983, 0.7),
    "ge": Floor(0.952, 0.964, 0.65, whole=0.04),
    "ha": Floor(0.991, 0.993, 0.3),
    "hb": Floor(0.997, 0.994, 0.25),
    "hc": Floor(0.992, 0.992, 0.45),
    "hd": Floor(0.958, 0.955, 0.3, whole=0.035),
    "ia": Floor(0.838, 0.891, 0.7, whole=0.145),
    "ib": Floor(0.997, 0.974, 0.45),
    "ic": Floor(0.949, 0.964, 0.65, whole=0.04),
    "ie": Floor(0.997, 0.997, 0.35),
    "ig": Floor(0.909, 0.95, 0.65, whole=0.05),
    "ja": Floor(0.951, 0.965, 0.5, whole=0.04),
    "jb": Floor(0.985, 0.98, 0.5),
    "jc": Floor(0.978, 0.983, 0.35),
    "jd": Floor(0.982, 0.987, 0.5),
    "je": Floor(0.99, 0.987, 0.7),
    "jf": Floor(0.992, 0.989, 0.4),
    "jg": Floor(0.997, 0.993, 0.55),
    "jh": Floor(0.997, 0.997, 0.75),
    "ji": Floor(0.997, 0.997, 0.7, clinical=1),
    "jj": Floor(0.997, 0.997, 0.55),
    "jk": Floor(0.99, 0.99, 1),
    "jl": Floor(0.982, 0.984, 0.3),
    "jm": Floor(0.994, 0.991, 0.5),
    "ka": Floor(0.93, 0.956, 0.6, whole=0.05),
    "kb": Floor(0.997, 0.985, 1.4),
    "kc": Floor(0.997, 0.997, 0.4),
    "kd": Floor(0.997, 0.997, 0.3),
    "ke": Floor(0.973, 0.983, 0.4),
    "kf": Floor(0.993, 0.995, 0.5),
    "kg": Floor(0.993, 0.995, 0.65),
    "kh": Floor(0.99, 0.978, 0.6),
    "ki": Floor(0.986, 0.989, 0.25),
    "kj": Floor(0.997, 0.997, 0.65),
    "la": Floor(0.994, 0.99, 0.65, clinical=1),
    "lb": Floor(0.99, 0.99, 0.5, clinical=1),
    "ma": Floor(0.966, 0.972, 0.25),
    "mb": Floor(0.997, 0.997, 0.9),
    "mc": Floor(0.997, 0.997, 0.5),
    "na": Floor(0.997, 0.997, 0.6),
    "nb": Floor(0.964, 0.958, 1.2, whole=0.04),
    "nc": Floor(0.997, 0.939, 1.45, whole=0.06),
    "pa": Floor(0.99, 0.972, 1.35, whole=0.015),
    "pb": Floor(0.988, 0.997, 0.8),
    "qa": Floor(0.997, 0.997, 0.3),
    "qb": Floor(0.985, 0.909, 1.25, whole=0.04),
    "qc": Floor(0.961, 0.983, 0.5),
    "qd": Floor(0.97, 0.943, 4.4, clinical=1, whole=0.031),
    "ra": Floor(0.994, 0.99, 0.75),
    "rb": Floor(0.987, 0.948, 2.45, clinical=1),
    "sa": Floor(0.992, 0.993, 0.9),
    "sb": Floor(0.98, 0.937, 1.95),
}
"""By set (fixtures/deid/blind.py); no network learned from DA, DB, HA to HD, JJ to JM, LA to SB;
the line over runs is fit to these but SA and SB."""


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
