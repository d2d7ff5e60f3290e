"""Annotated reports → what the networks learn from: the evidence on every token, and what it is.

A rule that was grown on the texts it is trained beside is right too often: whatever learned to
trust it would be lost with the next author. So each set is laid out several times, with some of
what the rules took taken away from them at random; those tokens are then to be found without a vote
of their own, and often without that of their neighbours.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipeline.deidentify import Deidentifier
from pipeline.deidentify.audit import GoldReport, GoldSpan
from pipeline.deidentify.judge import Hearing
from pipeline.deidentify.judge.evidence import VOTES, Evidence, gather, hold
from pipeline.deidentify.judge.model import LABELS
from pipeline.deidentify.judge.tokens import Glossary, Shard, lay_out

__all__ = ["Showing", "labels", "read_showings"]

Ints = NDArray[np.int64]
SILENCED = (0.0, 0.3, 0.85)
"""What share of the rules' finds is taken from them in each of the first showings."""
CASES = (str.lower, str.upper)
"""What becomes of all letters in further ones: some write without capitals, some in no others."""
WORDS = 2, 30
"""How many words at least, and fewer than how many, are shown of a report in a further one."""
EXCHANGED = (0.0, 0.5)
"""What share of the rules' finds is taken from them where identifiers were exchanged."""
MISSED, NEEDLESS = 4.0, 3.0
"""What a token weighs that the rules missed, and that they took needlessly."""
_AS = {"AGE90": "AGE", "WEEKDAY": "DATE", "MONTH": "DATE", "ROOM": "LOCATION"}
"""Labels of annotators that are called otherwise here; any other unknown one is a number."""
_LOCK, _GUARD = VOTES.index("lock"), VOTES.index("guard")


@dataclass(frozen=True, slots=True)
class Showing:
    """One laying out of a set.

    Attributes
    ----------
    evidence
        On every token.
    own
        (n,) the rule that took each token, '' for none.
    labels
        (n,) what each truly is.
    weights
        (n,) how much each counts: nothing where nobody may be asked.
    texts
        (texts + 1,) where each text begins among the tokens, and the end.
    """

    evidence: Evidence
    own: tuple[str, ...]
    labels: Ints
    weights: NDArray[np.float32]
    texts: Ints


def read_showings(
    reports: Sequence[GoldReport], others: Sequence[Sequence[GoldReport]], rules: Deidentifier,
    words: Glossary, gaps: Glossary, seed: int,
) -> list[Showing]:  # fmt: skip
    """Lay a set of reports out: by `SILENCED`, by `CASES`, in part, by `EXCHANGED`.

    Parameters
    ----------
    others
        The same reports with other identifiers, several times.
    """
    rng = np.random.default_rng(seed)
    heard = [rules.read(report.text) for report in reports]
    shown = [_shown(heard, reports, share, rng, words, gaps) for share in SILENCED]
    for change in CASES:
        other = [rules.read(_same_length(report.text, change)) for report in reports]
        shown.append(_shown(other, reports, 0.0, rng, words, gaps))
    parts = [_part(report, rng) for report in reports]
    heard = [rules.read(part.text) for part in parts]
    shown.append(_shown(heard, parts, 0.0, rng, words, gaps))
    for draw, changed in enumerate(others):
        rng = np.random.default_rng(seed + draw) if draw else rng
        heard = [rules.read(report.text) for report in changed]
        shown += [_shown(heard, changed, share, rng, words, gaps) for share in EXCHANGED]
    return shown


def _same_length(text: str, change: Callable[[str], str]) -> str:
    changed = change(text)
    return changed if len(changed) == len(text) else text


def _part(report: GoldReport, rng: np.random.Generator) -> GoldReport:
    """Cut some words out of a report, identifiers whole."""
    text, spans = report.text, report.spans
    gaps = [match.end() for match in re.finditer(r"\s+", text)]
    inside = {at for span in spans for at in range(span.start + 1, span.end)}
    cuts = sorted({0, len(text), *gaps} - inside)
    first = int(rng.integers(len(cuts) - 1))
    start, end = cuts[first], cuts[min(first + int(rng.integers(*WORDS)), len(cuts) - 1)]
    kept = tuple(
        GoldSpan(start=span.start - start, end=span.end - start, label=span.label)
        for span in spans if start <= span.start and span.end <= end
    )  # fmt: skip
    return GoldReport(id=report.id, text=text[start:end], spans=kept)


def _shown(
    heard: Sequence[Hearing], reports: Sequence[GoldReport], silenced: float,
    rng: np.random.Generator, words: Glossary, gaps: Glossary,
) -> Showing:  # fmt: skip
    shard = lay_out([each.text for each in heard], words, gaps)
    marks = b"".join(bytes(each.claims.marks) for each in heard)
    told = [
        (base, each)
        for base, hearing in zip(shard.bases.tolist(), heard, strict=True)
        for each in hearing.claims.removed()
        if rng.random() >= silenced
    ]
    spans = [(base + each.start, base + each.end) for base, each in told]
    ballot = hold(shard, marks, spans, [each.category for _, each in told])
    evidence = gather(shard, ballot, words=words, gaps=gaps)
    names = [*(each.rule for _, each in told), ""]
    owners = ballot.owners[evidence.slots]
    truth = labels(shard, reports)[evidence.slots]
    return Showing(
        evidence, tuple(names[owner] for owner in owners.tolist()), truth,
        _weights(evidence, owners >= 0, truth, words), np.cumsum([0, *shard.counts]),
    )  # fmt: skip


def _weights(
    evidence: Evidence, taken: NDArray[np.bool_], truth: Ints, words: Glossary
) -> NDArray[np.float32]:
    """Weigh tokens by what a mistake there costs."""
    weights = np.ones(len(truth), dtype=np.float32)
    weights[~taken & (truth > 0)] = MISSED
    weights[taken & (truth == 0)] = NEEDLESS
    letters = words.trait("letters")[evidence.words[:, 0]]
    weights[(evidence.votes == _LOCK) | ((evidence.votes == _GUARD) & ~letters)] = 0
    return weights


def labels(shard: Shard, reports: Sequence[GoldReport]) -> Ints:
    """Tell what each slot of some reports truly is, as a number into `LABELS`."""
    truth = np.zeros(len(shard.words), dtype=np.int64)
    spans = [
        (base + span.start, base + span.end, _AS.get(span.label, span.label))
        for base, report in zip(shard.bases.tolist(), reports, strict=True)
        for span in report.spans if span.label != "KEEP"
    ]  # fmt: skip
    stretches = shard.overlapping([span[:2] for span in spans])
    for (_, _, label), first, last in zip(spans, *stretches, strict=True):
        truth[first:last] = LABELS.index(label if label in LABELS else "ID")
    return truth
