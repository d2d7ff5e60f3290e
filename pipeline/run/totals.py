"""What the stages of a run came to together: each shard's and block's counts, added up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from extraction.engines.account import Disagreement
from pipeline.run.gates import Accounting

__all__ = ["Totals", "counted"]

Facts = dict[str, Any]
_COUNTED: Final = (
    "rows", "kept", "cleaned", "pairs", "reports", "statements", "observations",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over what the tasks of each stage returned, by the stage's name."""

    results: Mapping[str, list[Facts]]

    def accounting(self) -> Accounting:
        """Add up every stage's counts, for the gates."""
        sources, coded = self.results["ingest"], self.results["de-identify"]
        reports, tallies = self.results["extract"], self.results["tally"]
        failed = _merged(r["failed"] for r in reports).total()
        apart = Disagreement(**_merged(r["disagreement"] for r in reports))
        return Accounting(
            rows_in=sum(s["rows"] for s in sources),
            rows_kept=sum(s["kept"] for s in sources),
            rows_quarantined=_merged(s["quarantined"] for s in sources).total(),
            exams_cleaned=sum(s["cleaned"] for s in coded),
            exams_withheld=_merged(s["withheld"] for s in coded).total(),
            reports_read=sum(r["reports"] for r in reports) - failed,
            reports_failed=failed,
            statements=sum(r["statements"] for r in reports),
            statements_unmapped=_merged(r["unmapped"] for r in reports).total(),
            pairs=sum(block["pairs"] for block in self.results["pair"]),
            observations=sum(block["observations"] for block in tallies),
            left_out=dict(_merged(block["left_out"] for block in tallies).most_common()),
            compared_with_words=apart.compared,
            parted_from_words=apart.parted,
        )

    @property
    def flow(self) -> list[list[object]]:
        """The flow diagram, from report versions to attributable pairs."""
        return [
            row
            for stage in ("pair", "tally")
            for row in _added_flow([block["flow"] for block in self.results[stage]])
        ]

    @property
    def late_versions(self) -> int:
        """Signed versions of paired X-rays that came too late to be a forecast."""
        return sum(int(block["late_versions"]) for block in self.results["pair"])

    @property
    def returned(self) -> list[tuple[str, int]]:
        """Cases that readers returned, by answer."""
        return sorted(self.results["tally"][0]["returned"].items())

    def shown(self) -> list[list[object]]:
        """Give the counts that the review shows of what was lost on the way."""
        a = self.accounting()
        return [
            ["rows set aside on reading", a.rows_quarantined],
            ["reports withheld by de-identification", a.exams_withheld],
            ["versions signed after the CT, left out", self.late_versions],
            ["paired reports that could not be read", a.reports_failed],
            ["statements whose cue maps to no phrase", a.statements_unmapped],
            *([f"cases returned as {answer}", n] for answer, n in self.returned),
        ]

    def to_dict(self) -> Facts:
        """Give the sums that the manifest keeps."""
        reports = self.results["extract"]
        return {
            "accounting": asdict(self.accounting()),
            "flow": self.flow,
            "months": sorted({m for block in self.results["tally"] for m in block["months"]}),
            "versions_signed_after_the_ct": self.late_versions,
            "returned": dict(self.returned),
            "unmapped_cues": dict(_merged(r["unmapped"] for r in reports).most_common()),
            "failed_reports": dict(_merged(r["failed"] for r in reports)),
            "removed": dict(_merged(s["removed"] for s in self.results["de-identify"])),
        }


def counted(found: Sequence[Facts]) -> dict[str, int]:
    """Add up the counts that every task of one stage returned."""
    return {
        name: sum(int(facts[name]) for facts in found)
        for name in _COUNTED
        if found and name in found[0]
    }


def _merged(counts: Iterable[Mapping[str, int]]) -> Counter[str]:
    total: Counter[str] = Counter()
    for some in counts:
        total.update(some)
    return total


def _added_flow(blocks: Sequence[Sequence[Sequence[Any]]]) -> list[list[object]]:
    """Add up the flow diagrams of all blocks, box by box."""
    return [
        [step[0][0], sum(s[1] for s in step), sum(s[2] for s in step), step[0][3]]
        for step in zip(*blocks, strict=True)
    ]
