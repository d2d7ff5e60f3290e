"""Decisions shown to a person: why each fell as it did, and doubtful ones as a sheet to correct.

Explained: one row for every removed span and for every gold span that was missed. A row holds
places, chances and names of inputs; no text.

The sheet shows each doubtful word in its context, with every other identifier masked. It holds
what may be identifiers: it belongs beside the reports, and nothing of it but single words for the
site's own lists, and a number, is ever kept. The judge's weights are not touched: a site's
corrections move its threshold. With yes and no for the doubtful words, the shift s that makes the
mean of σ(logit p + s) equal to the share of yes is the site's prior odds over ours, and the caution
is multiplied by e^s.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import brentq

from pipeline.deidentify.audit import GoldReport, GoldSpan, is_gone, marked
from pipeline.deidentify.engine import Deidentifier
from pipeline.deidentify.judge import Opinion
from pipeline.deidentify.known import KnownIdentifiers
from pipeline.deidentify.spans import Clean, Outcome, Removed
from pipeline.errors import InputError
from pipeline.formats.tables import require_columns
from pipeline.store.files import replacing

EXPLAINED = ("report_id", "start", "end", "category", "verdict", "by", "probability", "reasons")
"""``verdict`` is right, superfluous or missed; ``by`` the rule, the judge, or nobody."""


def explained(gold: Iterable[GoldReport], deidentifier: Deidentifier) -> pd.DataFrame:
    """Explain every decision on annotated reports.

    Parameters
    ----------
    gold
        The reports.
    deidentifier
        The instrument.

    Returns
    -------
    One row a decision, with `EXPLAINED`; a withheld report has none.
    """
    reports = list(gold)
    texts = [report.text for report in reports]
    each = zip(reports, deidentifier.batch(texts), deidentifier.opinions(texts), strict=True)
    rows = [row for report, outcome, opinions in each for row in _report(report, outcome, opinions)]
    return pd.DataFrame(rows, columns=list(EXPLAINED))


def _report(
    report: GoldReport, outcome: Outcome, opinions: Sequence[Opinion]
) -> Iterator[tuple[object, ...]]:
    if not isinstance(outcome, Clean):
        return
    wanted = [span for span in report.spans if span.label != "KEEP"]
    for removed in outcome.removed:
        right = any(span.start < removed.end and removed.start < span.end for span in wanted)
        verdict = "right" if right else "superfluous"
        place = report.id, removed.start, removed.end, removed.category
        yield *place, verdict, removed.rule, *_weighed(opinions, removed)
    gone = marked(report.text, outcome.removed)
    for span in wanted:
        if not is_gone(report.text, span, gone):
            missed = report.id, span.start, span.end, span.label, "missed", ""
            yield *missed, *_weighed(opinions, span)


def _weighed(opinions: Sequence[Opinion], span: Removed | GoldSpan) -> tuple[float, str]:
    """Give the highest chance of a span's tokens and what spoke for it; NaN for none asked."""
    inside = [each for each in opinions if each.start < span.end and span.start < each.end]
    if not inside:
        return float("nan"), ""
    best = max(inside, key=lambda each: each.probability)
    return best.probability, " · ".join(best.reasons)


SHEET: Final = (
    "report_id", "start", "end", "category", "removed", "by", "probability", "word", "context",
    "is_identifier",
)  # fmt: skip
"""``is_identifier`` is empty, for yes or no."""
_DOUBTFUL: Final = (0.01, 0.95)
"""Between these chances a decision is doubtful."""
_REACH: Final = 45
_YES: Final = frozenset({"yes", "y", "1", "true"})
_NO: Final = frozenset({"no", "n", "0", "false"})
_LISTS: Final[Mapping[str, str]] = {
    "NAME": "surnames.txt", "HOSPITAL": "sites.txt", "LOCATION": "cities.txt",
}  # fmt: skip
_STAYS: Final = "eponyms.txt"
"""The list of words that stay wherever no title stands before them."""
_MOST: Final = 5.0
"""How far corrections can move the odds: e^5."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """What a corrected sheet taught: the words added to each list, and the site's caution."""

    corrected: int
    added: dict[str, int]
    caution: float

    def summary(self) -> dict[str, object]:
        """Give the numbers as JSON."""
        return {"corrected": self.corrected, "words_added": self.added, "caution": self.caution}


def doubtful(
    ids: Sequence[str],
    texts: Sequence[str],
    deidentifier: Deidentifier,
    known: Sequence[KnownIdentifiers] | None = None,
) -> pd.DataFrame:
    """Give the doubtful decisions on reports, the likeliest identifiers first.

    Parameters
    ----------
    ids, texts
        The reports.
    deidentifier
        The instrument.
    known
        What each report's record says; what it names is masked.

    Returns
    -------
    One row a decision, with `SHEET`.
    """
    outcomes = deidentifier.batch(texts, known=known)
    decided = zip(ids, texts, outcomes, deidentifier.opinions(texts), strict=True)
    rows = [
        (report_id, *row)
        for report_id, text, outcome, opinions in decided
        for row in _doubts(text, outcome, opinions)
    ]
    frame = pd.DataFrame(rows, columns=list(SHEET))
    return frame.sort_values("probability", ascending=False, kind="stable", ignore_index=True)


def learn(sheet: pd.DataFrame, folder: Path, *, caution: float, source: str) -> Lesson:
    """Turn a corrected sheet into the site's own lists and a caution.

    Parameters
    ----------
    sheet
        What `doubtful` gave, with yes or no in ``is_identifier``; rows without either are passed.
    folder
        Where the site's lists lie; made if need be.
    caution
        The caution so far.
    source
        The sheet's name, for messages.

    Raises
    ------
    InputError
        If a column is missing or no row is corrected.
    """
    needed = dict.fromkeys(("category", "probability", "word", "is_identifier"), "of the sheet")
    require_columns(sheet, needed, source=source)
    answers = sheet["is_identifier"].astype(str).str.strip().str.casefold()
    said = sheet.assign(yes=answers.isin(_YES))[answers.isin(_YES | _NO)]
    if said.empty:
        raise InputError(
            f"{source}: no row says yes or no in is_identifier. Correct some and come again."
        )
    added: dict[str, int] = {}
    for name, words in _by_list(said).items():
        added[name] = _lengthened(folder / name, words)
    chances = said["probability"].to_numpy(dtype=np.float64)
    return Lesson(len(said), added, _moved(caution, chances, said["yes"].to_numpy(dtype=bool)))


def _doubts(
    text: str, outcome: Outcome, opinions: Sequence[Opinion]
) -> Iterator[tuple[object, ...]]:
    if not isinstance(outcome, Clean):
        return
    for each in opinions:
        if _DOUBTFUL[0] < each.probability < _DOUBTFUL[1]:
            owner = next((r for r in outcome.removed if r.start <= each.start < r.end), None)
            yield (
                each.start, each.end, each.category, owner is not None,
                owner.rule if owner else "", round(each.probability, 4),
                text[each.start : each.end], _masked(text, each, outcome.removed), "",
            )  # fmt: skip


def _masked(text: str, word: Opinion, removed: Sequence[Removed]) -> str:
    """Give the words around a doubtful one, every other identifier as its category."""
    first, last = max(0, word.start - _REACH), min(len(text), word.end + _REACH)
    parts, at = [], first
    for each in removed:
        if each.end <= first or each.start >= last or each.start <= word.start < each.end:
            continue
        parts += [text[at : max(at, each.start)], f"[{each.category}]"]
        at = max(at, each.end)
    return " ".join("".join((*parts, text[at:last])).split())


def _by_list(said: pd.DataFrame) -> dict[str, set[str]]:
    """Give the single words that belong on each list; figures and initials belong on none."""
    lists: dict[str, set[str]] = {}
    for word, category, yes in zip(said["word"], said["category"], said["yes"], strict=True):
        name = _LISTS.get(str(category)) if yes else _STAYS
        if name and str(word).isalpha() and len(str(word)) >= len("Abc"):
            lists.setdefault(name, set()).add(str(word))
    return lists


def _lengthened(path: Path, words: set[str]) -> int:
    """Add the words that a list does not have yet; say how many."""
    old = path.read_text(encoding="utf-8-sig") if path.is_file() else ""
    new = sorted(words - set(old.splitlines()))
    if new:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as temporary:
            temporary.write_text(old + "".join(f"{word}\n" for word in new), encoding="utf-8")
    return len(new)


def _moved(caution: float, chances: NDArray[np.float64], yes: NDArray[np.bool_]) -> float:
    logits = np.log(chances / (1 - chances))
    share = float(np.clip(yes.mean(), 1 / (2 * len(yes)), 1 - 1 / (2 * len(yes))))

    def excess(shift: float) -> float:
        return float((1 / (1 + np.exp(-logits - shift))).mean()) - share

    if excess(-_MOST) * excess(_MOST) > 0:
        shift = _MOST if excess(0.0) < 0 else -_MOST
    else:
        shift = float(brentq(excess, -_MOST, _MOST))
    return round(caution * float(np.exp(shift)), 3)
