"""The annotated reports that the judge learns from: 149 sets' and our own, all invented.

``ours`` are our generator's reports and contexts, with lines full of what looks like an identifier
and is none (`nothing_to_find.txt`) put into some of them.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from pipeline.deidentify.audit import GoldReport, GoldSpan
from pipeline.deidentify.judge.model import Weights

FOLDS = tuple(
    tuple(each.split())
    for each in (
        "a i q u ab",
        "b j r v y",
        "c k s w",
        "d l t z aa",
        "e m o x ad ae",
        "g h n p ac",
        "af ag ah ai ak al am",
        "an ao ap aq ar as at",
        "au av aw ax ay az ba bb bc",
        "bd be bf bg bh bi bk bl bm bn",
        "bo bp bq br bs bt",
        "bz ca cb cg ch ci cp cq",
        "bu bv bw bx by",
        "cc cd ce cf",
        "cj ck cl cm cn co",
        "cr cs ct cu cv cx cy cz dc",
        "dd de df dg dh di dj",
        "ea eb ec ee ef eg",
        "fa fb fc fd fe fg",
        "ga gb gc gd ge",
        "ia ib ic ie ig",
        "ja jb jc jd je jf jg jh ji",
        "ka kb kc kd ke kf kg kh ki kj",
    )
)
"""Authors left out of the training together."""
UNLEARNED = tuple(
    tuple(each.split())
    for each in (
        "da db", "ha hb hc hd", "jj jk jl jm", "la lb", "ma mb mc", "na nb nc", "pa pb",
        "qa qb", "qc qd", "ra rb",
    )
)  # fmt: skip
"""Sets from which no network learned, by who wrote them: the line over runs is fit to them."""
AUTHORS = tuple(sorted(name for fold in FOLDS for name in fold))
REPORTS = 150
"""So many reports of an author are shown; the larger sets repeat their bodies with other values."""
_FOLDER = Path(__file__).parents[2] / "tests" / "fixtures" / "deid"
sys.path.append(str(_FOLDER))
_LINES = 6


def save(weights: Weights, path: Path) -> None:
    """Write all tables, rounded to half precision but for the smallest, without pickle."""
    arrays = {}
    for name in weights.__dataclass_fields__:
        value = getattr(weights, name)
        arrays[name] = (
            np.array(value) if isinstance(value, tuple)
            else value.astype(np.float16 if value.size > 128 else np.float32)
        )  # fmt: skip
    with path.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)


def file_of(fold: Sequence[str]) -> str:
    """Name the file of the weights without some authors."""
    return f"without_{'-'.join(fold)}.npz" if fold else "weights.npz"


def authors() -> dict[str, list[GoldReport]]:
    """Give the reports of each author who never saw the rules."""
    blind = importlib.import_module("blind")
    return {name: _gold(blind.read(name)) for name in AUTHORS}


def unlearned() -> dict[str, list[GoldReport]]:
    """Give the reports of each set from which no network learned."""
    blind = importlib.import_module("blind")
    return {name: _gold(blind.read(name)) for sets in UNLEARNED for name in sets}


def ours() -> dict[str, list[GoldReport]]:
    """Give our own reports."""
    generator, contexts = map(importlib.import_module, ("generator", "contexts"))
    return {
        "own": _gold(generator.generate(200, 7)),
        "seen": _gold(contexts.generate("seen", 100, 5)),
        "held out": _gold(contexts.generate("held_out", 100, 5)),
        "hard": hard(_gold(generator.generate(300, 23)), seed=11),
    }


def hard(reports: list[GoldReport], *, seed: int) -> list[GoldReport]:
    """Put lines without an identifier into reports; put a third of them into capitals."""
    rng = np.random.default_rng(seed)
    text = (_FOLDER / "nothing_to_find.txt").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [_with_lines(report, lines, rng) for report in reports]


def _with_lines(report: GoldReport, lines: list[str], rng: np.random.Generator) -> GoldReport:
    inside = {at for span in report.spans for at in range(span.start, span.end)}
    breaks = [at for at, c in enumerate(report.text) if c == "\n" and at not in inside]
    at = int(rng.choice(breaks)) if breaks else len(report.text)
    joint = "\n" if rng.random() < 0.5 else " "
    added = "\n" + joint.join(rng.choice(lines, _LINES, replace=False).tolist())
    text = report.text[:at] + added + report.text[at:]
    if rng.random() < 1 / 3 and len(text.upper()) == len(text):
        text = text.upper()
    spans = tuple(
        GoldSpan(start=s.start + moved, end=s.end + moved, label=s.label)
        for s in report.spans
        for moved in (len(added) if s.start >= at else 0,)
    )
    return GoldReport(id=report.id, text=text, spans=spans)


def _gold(rows: list[dict[str, object]]) -> list[GoldReport]:
    return [GoldReport.model_validate(row) for row in rows]
