"""The counts of all stages added up (`Gathered`, `Accounting`), and the gates that they must pass.

Each gate compares counts with a limit; if one fails, nothing is delivered. A gate that cannot be
evaluated (a share of nothing) has ``passed=None`` and counts as failed: what could not be checked
was not checked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import pandas as pd

from extraction.engines.account import Disagreement
from pipeline.config import Configuration
from pipeline.errors import EXIT_QUARANTINED
from pipeline.run.books import InputSize
from pipeline.stages import merged
from pipeline.stages.clean import Coded
from pipeline.stages.deliver import Delivered
from pipeline.stages.extract import Read
from pipeline.stages.ingest import Ingested
from pipeline.stages.issue import Issue
from pipeline.stages.pair import Paired
from pipeline.stages.register import Registered
from pipeline.stages.tally import Tallied
from pipeline.tables.pairing import LEFT_OUT, RETIMED, TAKEN_BACK, Sifted
from pipeline.tables.results import thin_months
from reports.content import Gate
from reports.numbers import count, decimal, percent, written
from reports.strings import Strings

# Observations of likely, and of unlikely, findings below which chance alone could turn them round.
_SIDE: Final = 100
# X-rays of a month below which a few that went could halve it.
_MONTH: Final = 20


@dataclass(frozen=True, slots=True)
class Issued:
    """An issue, and how many of its pages were new to their recipients."""

    issue: Issue
    delivered: Delivered


@dataclass(frozen=True, slots=True)
class Gathered:
    """The counts that the stages from ingest to tally returned: one entry per item of a stage."""

    sources: Sequence[Ingested]
    registered: Registered
    coded: Sequence[Coded]
    paired: Sequence[Paired]
    read: Sequence[Read]
    tallied: Sequence[Tallied]

    def accounting(self) -> Accounting:
        """Add up every stage's counts, for the gates."""
        failed = self.failed.total()
        apart = sum((shard.disagreement for shard in self.read), Disagreement())
        return Accounting(
            rows_in=sum(source.rows for source in self.sources)
            + sum(self.registered.set_aside.values()),
            rows_kept=sum(source.kept for source in self.sources),
            rows_quarantined=self.quarantined.total(),
            exams_cleaned=sum(shard.cleaned for shard in self.coded),
            exams_withheld=merged(shard.withheld for shard in self.coded).total(),
            exams_left_out_on_request=sum(shard.left_out for shard in self.coded),
            exams_purged=sum(shard.purged for shard in self.coded),
            reports_read=sum(shard.reports for shard in self.read) - failed,
            reports_failed=failed,
            statements=sum(shard.statements for shard in self.read),
            statements_unmapped=self.unmapped.total(),
            pairs=sum(block.pairs for block in self.paired),
            observations=sum(block.observations for block in self.tallied),
            left_out=dict(merged(block.left_out for block in self.tallied).most_common()),
            **self._sides,
            compared_with_words=apart.compared,
            parted_from_words=apart.parted,
        )

    @property
    def _sides(self) -> dict[str, int]:
        """Count likely and unlikely statements, and those of them that CT showed."""
        names = ("likely", "likely_shown", "unlikely", "unlikely_shown")
        return {name: round(sum(block.sides[name] for block in self.tallied)) for name in names}

    @property
    def input_size(self) -> InputSize:
        """Count sources and exams, a copy's once and none that was purged, for the next run."""
        exams = {each.key: each.rows - each.purged for each in self.coded}
        return InputSize(len(self.sources), sum(exams.values()))

    @property
    def exit_code(self) -> int:
        """What a run that comes to its end with this ends with: 3 where anything was set aside."""
        aside = self.quarantined or self.contradictory or any(s.withheld for s in self.coded)
        return EXIT_QUARANTINED if aside else 0

    @property
    def quarantined(self) -> Counter[str]:
        """Rows set aside on reading, and where everyone got a code, by reason."""
        return merged((*(s.quarantined for s in self.sources), self.registered.set_aside))

    @property
    def reading(self) -> Counter[str]:
        """Exams not written as they should be, by how; ids and times that look wrong."""
        retimed = +Counter({RETIMED: sum(block.retimed for block in self.paired)})
        read = (source.reading for source in self.sources)
        return merged((*read, self.registered.notes, retimed))

    @property
    def failed(self) -> Counter[str]:
        """Paired reports that could not be read, by reason."""
        return merged(shard.failed for shard in self.read)

    @property
    def unmapped(self) -> Counter[str]:
        """Statements whose cue maps to no phrase, by cue."""
        return merged(shard.unmapped for shard in self.read)

    @property
    def flow(self) -> tuple[Sifted, ...]:
        """The flow diagram, from report versions to attributable pairs."""
        paired = [block.flow for block in self.paired]
        return (*_added(paired), *_added([block.flow for block in self.tallied]))

    @property
    def months(self) -> tuple[str, ...]:
        """Months with observations, in order."""
        return tuple(sorted({month for block in self.tallied for month in block.months}))

    @property
    def late_versions(self) -> int:
        """Signed versions of paired X-rays that came too late to be a forecast."""
        return sum(block.late_versions for block in self.paired)

    @property
    def taken_back(self) -> int:
        """Versions that their sender took back, and the words that did so; none of them is used."""
        return sum(step.excluded for step in self.flow if step.reason == TAKEN_BACK)

    @property
    def contradictory(self) -> int:
        """Exams with versions that contradict each other and have no order between them."""
        return sum(block.contradictory for block in self.paired)

    @property
    def returned(self) -> Mapping[str, int]:
        """Cases that readers returned, by answer; every block knows them all."""
        return dict(sorted(self.tallied[0].returned.items())) if self.tallied else {}

    @property
    def why_unread(self) -> str:
        """Say why paired reports could not be read; '' where all were."""
        told = ", ".join(f"{why} {n:,}" for why, n in self.failed.most_common(3))
        return f" Reports not read: {told}." if told else ""

    @property
    def why_nothing(self) -> str:
        """Say what lost most rows, X-rays or statements where none is left; '' where any is."""
        from reports.pages.run_report import remedy

        a = self.accounting()
        if not self.coded:
            aside = ", ".join(f"{why} {n:,}" for why, n in self.quarantined.most_common(3))
            return f" No exam in {a.rows_in:,} rows; set aside: {aside or 'none'}."
        if a.pairs:
            lost = {why: n for why, n in a.left_out.items() if n and not a.observations}
            told = ", ".join(f"{why} {n:,}" for why, n in lost.items())
            return f" Left out of {a.pairs:,} pairs: {told}." if told else ""
        steps = [step for step in self.flow if step.reason in LEFT_OUT and step.excluded]
        if not steps:
            return ""
        most = max(steps, key=lambda step: step.excluded)
        hint = LEFT_OUT[most.reason] or remedy(most.reason)
        return f" No X-ray was paired; most ({most.excluded:,}) left out: {most.reason}{hint}."

    def shown(self, language: str) -> tuple[tuple[str, int], ...]:
        """Give the counts that the review shows of what was lost on the way."""
        a, words = self.accounting(), Strings.load(language=language)
        lost = {
            "rows": a.rows_quarantined,
            "withheld": a.exams_withheld,
            "late": self.late_versions,
            "taken_back": self.taken_back,
            "contradictory": self.contradictory,
            "failed": a.reports_failed,
            "unmapped": a.statements_unmapped,
        }
        returned = ((words("lost.returned", answer=name), n) for name, n in self.returned.items())
        return (*((words(f"lost.{what}"), n) for what, n in lost.items()), *returned)


def _added(blocks: Sequence[Sequence[Sifted]]) -> list[Sifted]:
    """Add up the flow diagrams of all blocks, box by box."""
    return [
        steps[0]._replace(
            remaining=sum(step.remaining for step in steps),
            excluded=sum(step.excluded for step in steps),
        )
        for steps in zip(*blocks, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class Accounting:
    """A run's counts, from the first row of an export to the last observation.

    Attributes
    ----------
    rows_in, rows_kept, rows_quarantined
        Rows of the exports; each is kept as an exam or set aside with a reason.
    exams_cleaned, exams_withheld, exams_left_out, exams_purged
        What became of the kept: coded and de-identified; withheld, as they could not be shown to be
        clean; left out on request; deleted since, past their retention.
    reports_read, reports_failed
        Reports of pairs that the engine read, and could not read.
    statements, statements_unmapped
        Statements found in them, and those whose cue maps to no phrase.
    pairs, observations, left_out
        X-rays with their CT; forecasts of a finding that have an outcome; the others, by reason.
    likely, likely_shown, unlikely, unlikely_shown
        Observations whose words promise more than even odds and less, and those that CT showed.
    compared_with_words, parted_from_words
        Statements and sentences held against the vocabulary, and those over which a language model
        disagrees with it; 0 where the rules read.
    """

    rows_in: int
    rows_kept: int
    rows_quarantined: int
    exams_cleaned: int
    exams_withheld: int
    exams_left_out_on_request: int
    exams_purged: int
    reports_read: int
    reports_failed: int
    statements: int
    statements_unmapped: int
    pairs: int
    observations: int
    left_out: Mapping[str, int]
    likely: int
    likely_shown: int
    unlikely: int
    unlikely_shown: int
    compared_with_words: int
    parted_from_words: int


def against_last_good(
    before: InputSize | None, now: InputSize, config: Configuration
) -> tuple[Gate, ...]:
    """Compare a run's input with that of the last good run; no gate where there was none.

    Numbers of exams are compared, not their names: a site may split its exports differently, rename
    them, or replace the oldest months by new ones. A whole month that lost half its X-rays while an
    older one is there still is another matter: of a year's months each is too few to be missed.
    """
    limit, words = config.input.max_missing_share, Strings.load(language=config.reports.language)
    if before is None or not before.exams or not limit:
        return ()
    with written(config.reports.language):
        lost = max(0, before.exams - now.exams)
        gate = _share(words, "missing", lost, before.exams, limit)
        sources = words("gate.sources", now=count(now.sources), before=count(before.sources))
        gate = replace(gate, found=f"{gate.found}; {sources}", note=gate.note * bool(lost))
        if not before.xrays:
            return (gate,)
        halved = ", ".join(map(words.month, _halved(before.xrays, now.xrays)))
        name, none = words("gate.halved"), words("gate.no_month")
        note = words("gate.note.missing") * bool(halved)
        return gate, Gate(name, not halved, none, halved or none, note)


def _halved(before: Mapping[str, int], now: Mapping[str, int]) -> list[str]:
    """Name months that were whole and lost half their X-rays, where an older one is whole still."""
    were, are = ({*x} - thin_months(pd.Series(x, dtype=float)) for x in (before, now))
    whole = (m for m in sorted(were) if before[m] >= _MONTH and m > min(are, default=""))
    return [month for month in whole if 2 * now.get(month, 0) <= before[month]]


def remedies(failed: Sequence[Gate], config: Configuration) -> str:
    """Say what to do about failed gates whose note is a remedy."""
    words = Strings.load(language=config.reports.language)
    names = {words("gate.missing"), words("gate.halved"), words("gate.rise")}
    notes = dict.fromkeys(gate.note for gate in failed if gate.name in names)
    return "".join(f" {note}" for note in notes)


def check(a: Accounting, config: Configuration) -> tuple[Gate, ...]:
    """Evaluate every gate of the accounting; all are shown, passed or not."""
    words, limits = Strings.load(language=config.reports.language), config.extraction
    wanted = a.rows_kept - a.exams_left_out_on_request - a.exams_purged
    withheld = config.deidentification.max_quarantined_share
    shares = {
        "withheld": (a.exams_withheld, wanted, withheld),
        "failed": (a.reports_failed, a.reports_read + a.reports_failed, limits.max_failed_share),
        "unmapped": (a.statements_unmapped, a.statements, limits.max_unmapped_share),
        "parted": (a.parted_from_words, a.compared_with_words, limits.max_disagreement_share),
    }
    if limits.engine == "rules":
        del shares["parted"]
    with written(config.reports.language):
        one, found = words("gate.at_least_one"), count(a.observations)
        note = words("gate.from_pairs", pairs=count(a.pairs))
        return (
            _adds_up(words("gate.rows"), a.rows_in, (a.rows_kept, a.rows_quarantined)),
            _adds_up(words("gate.exams"), wanted, (a.exams_cleaned, a.exams_withheld)),
            *(_share(words, what, *counted) for what, counted in shares.items()),
            *_rising(a, config, words),
            Gate(words("gate.observations"), a.observations > 0, one, found, note),
        )


def _rising(a: Accounting, config: Configuration, words: Strings) -> tuple[Gate, ...]:
    """Make the gate that passes if CT shows likely findings more often than unlikely ones.

    Labels turned round and X-rays joined to others' CTs fail it. No gate of fewer than `_SIDE`
    observations on either side.
    """
    limit = config.calibration.min_rise
    if not limit or min(a.likely, a.unlikely) < _SIDE:
        return ()
    high, low = a.likely_shown / a.likely, a.unlikely_shown / a.unlikely
    required = words("gate.at_least", limit=decimal(100 * limit, 0))
    shown = {"high": percent(high), "low": percent(low)}
    found = words("gate.sides", likely=count(a.likely), unlikely=count(a.unlikely), **shown)
    rises = high - low >= limit
    return (
        Gate(words("gate.rise"), rises, required, found, words("gate.note.rise") * (not rises)),
    )


def _adds_up(name: str, total: int, parts: Sequence[int]) -> Gate:
    """Make the gate that passes if the parts sum to the total."""
    found = f"{' + '.join(map(count, parts))} = {count(sum(parts))}"
    return Gate(name, sum(parts) == total, f"= {count(total)}", found)


def _share(words: Strings, what: str, part: int, whole: int, limit: float) -> Gate:
    """Make the gate that passes if part / whole ≤ limit; ``passed`` is None where whole is 0."""
    name, note = words(f"gate.{what}"), words(f"gate.note.{what}")
    required = words("gate.at_most", limit=decimal(100 * limit, 1))
    if whole == 0:
        return Gate(name, None, required, words("gate.nothing"), note)
    share = part / whole
    found = words("gate.share", share=decimal(100 * share, 2), part=count(part), whole=count(whole))
    return Gate(name, share <= limit, required, found, note)
