"""Why each decision on an annotated report fell as it did: the rule, or the weights behind it.

One row for every removed span and for every gold span that was missed. A row holds places, chances
and names of inputs; no text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import pandas as pd

from pipeline.deidentify.audit import GoldReport, GoldSpan
from pipeline.deidentify.engine import Deidentifier
from pipeline.deidentify.judge import Opinion
from pipeline.deidentify.spans import Clean, Outcome, Removed

__all__ = ["COLUMNS", "explained"]

COLUMNS = (
    "report_id", "start", "end", "category", "verdict", "by", "probability", "reasons",
)  # fmt: skip
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
    One row a decision, with `COLUMNS`; a withheld report has none.
    """
    reports = list(gold)
    texts = [report.text for report in reports]
    each = zip(reports, deidentifier.batch(texts), deidentifier.opinions(texts), strict=True)
    rows = [row for report, outcome, opinions in each for row in _report(report, outcome, opinions)]
    return pd.DataFrame(rows, columns=list(COLUMNS))


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
    for span in wanted:
        if not _is_gone(report.text, span, outcome.removed):
            yield (
                report.id,
                span.start,
                span.end,
                span.label,
                "missed",
                "",
                *_weighed(opinions, span),
            )


def _weighed(opinions: Sequence[Opinion], span: Removed | GoldSpan) -> tuple[float, str]:
    """Give the highest chance of a span's tokens and what spoke for it; NaN for none asked."""
    inside = [each for each in opinions if each.start < span.end and span.start < each.end]
    if not inside:
        return float("nan"), ""
    best = max(inside, key=lambda each: each.probability)
    return best.probability, " · ".join(best.reasons)


def _is_gone(text: str, span: GoldSpan, removed: Sequence[Removed]) -> bool:
    gone = {at for each in removed for at in range(each.start, each.end)}
    return all(at in gone for at in range(span.start, span.end) if text[at].isalnum())
