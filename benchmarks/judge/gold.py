"""The annotated reports that the judge learns from: many authors' and our own, all invented.

``ours`` are our generator's reports and contexts, with lines full of what looks like an identifier
and is none (`nothing_to_find.txt`) put into some of them.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from pipeline.deidentify.audit import GoldReport, GoldSpan
from pipeline.deidentify.judge.model import Weights

FOLDS = tuple(
    tuple(each.split())
    for each in (
        "da db qa qb ra rb ta tb",
        "ha hb hc hd ma mb mc qc qd tc td te tf",
        "jj jk jl jm na nb nc sa sb tg th",
        "la lb pa pb ti tj tk tl",
    )
)
"""Authors left out of the training together; a writer's sets all stand in one fold."""
UNLEARNED = (*(f"y{at}" for at in "mnopqrstuvwx"), *(f"u{at}" for at in "efghijklmnop"))
"""Authors from whom nothing learned."""
REPORTS = 150
"""So many reports of an author are shown; the larger sets repeat their bodies with other values."""
_FOLDER = Path(__file__).parents[2] / "tests" / "fixtures" / "deid"
sys.path.append(str(_FOLDER))
_LINES = 6
NEWER = tuple(name for fold in FOLDS for name in fold)
OLDER = tuple(
    sorted(
        {p.name.partition(".")[0] for p in (_FOLDER / "blind").iterdir()}.difference(
            NEWER, UNLEARNED
        )
    )
)
"""Authors that are left out, and those that all networks learn from."""


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


def authors(names: Iterable[str] = (*OLDER, *NEWER)) -> dict[str, list[GoldReport]]:
    """Give the reports of some authors who never saw the rules."""
    blind = importlib.import_module("blind")
    return {name: _gold(blind.read(name)) for name in names}


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
