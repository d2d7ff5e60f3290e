"""Print what each rule of de-identification is worth on the annotated reports, as Markdown.

``python benchmarks/judge/worth.py``. For each row of the tables and each rule of code: how many
spans it takes of what those before it left, which share of them touches an identifier, and how many
identifiers would be missed without a row, in the first `REPORTS` reports in which it takes
something. The judge is off.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from gold import authors, ours

from pipeline.deidentify import Deidentifier, Options
from pipeline.deidentify.audit import GoldReport, is_gone, marked
from pipeline.deidentify.rules import ORDER, SITE, Family, Rules
from pipeline.deidentify.rules.rows import Row, shipped
from pipeline.deidentify.spans import Removed

REPORTS = 25


def numbered() -> Iterator[list[Row] | Family]:
    """Give the rules in their order, each row under a name of its own: table, number."""
    for step in ORDER:
        if callable(step):
            yield step
        elif step != SITE:
            yield [
                row.model_copy(update={"name": f"{step} {at}"})
                for at, row in enumerate(shipped(step), start=1)
            ]


def without(name: str) -> Rules:
    """Give the rules without a row."""
    return Rules(
        step if callable(step) else [row for row in step if row.name != name] for step in numbered()
    )


def missed(report: GoldReport, removed: Sequence[Removed]) -> int:
    """Count the identifiers of which something is left."""
    gone = marked(report.text, removed)
    wanted = [span for span in report.spans if span.label != "KEEP"]
    return sum(not is_gone(report.text, span, gone) for span in wanted)


@dataclass
class Worth:
    """What a rule takes."""

    taken: int = 0
    right: int = 0
    reports: list[tuple[GoldReport, int]] = field(default_factory=list)
    """Reports in which it takes something, each with the number of identifiers missed there."""

    def cells(self, lost: object) -> str:
        """Give the last cells of its line."""
        share = f"{self.right / self.taken:.3f}" if self.taken else ""
        return f"{self.taken} | {share} | {lost} |"


def weighed(rules: Deidentifier) -> dict[str, Worth]:
    """Count what every rule takes on all annotated reports."""
    worth: defaultdict[str, Worth] = defaultdict(Worth)
    for report in (each for reports in (authors() | ours()).values() for each in reports):
        wanted = [span for span in report.spans if span.label != "KEEP"]
        removed = rules.read(report.text).claims.removed()
        left = missed(report, removed)
        for each in removed:
            worth[each.rule].taken += 1
            touches = any(s.start < each.end and each.start < s.end for s in wanted)
            worth[each.rule].right += touches
        for rule in {each.rule for each in removed}:
            if len(worth[rule].reports) < REPORTS:
                worth[rule].reports.append((report, left))
    return worth


def main() -> None:
    """Count what every rule takes, what of it is right, and what its absence would miss."""
    rules = Deidentifier(Options(caution=0))
    rules.rules = Rules(numbered())
    worth = weighed(rules)
    print("| table | rule | example | taken | of them right | missed without it |")
    print("|---|---|---|---|---|---|")
    for step in ORDER:
        for at, row in enumerate(() if callable(step) or step == SITE else shipped(step), start=1):
            name = f"{step} {at}"
            rules.rules = without(name)
            lost = sum(
                missed(report, rules.read(report.text).claims.removed()) - left
                for report, left in worth[name].reports
            )
            example = row.example.replace("|", "\\|").replace("\n", "⏎")
            print(f"| {name} | {row.name} | `{example}` | {worth.pop(name).cells(lost)}")
    for rule, each in sorted(worth.items(), key=lambda pair: -pair[1].taken):
        print(f"| (code) | {rule} | | {each.cells('')}")


if __name__ == "__main__":
    main()
