"""Print what each rule of de-identification is worth beside the judge, as Markdown.

``python benchmarks/judge/worth.py``. For each row of the tables and each rule of code: how many
spans it takes of what those before it left, in the first `SHOWN` reports of each set, and which
share of them touches an identifier. For each row also how many identifiers more are missed, and how
many removals more are needless, where it is left out and rules and judge go on without it, in the
first `REPORTS` reports in which it takes something, and nothing of one that never does. All but
`UNLEARNED` sets count.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from gold import authors, ours

from pipeline.deidentify import Deidentifier, Options
from pipeline.deidentify.audit import GoldReport, audit
from pipeline.deidentify.rules import ORDER, SITE, Family, Rules
from pipeline.deidentify.rules.rows import Row, shipped

SHOWN, REPORTS = 60, 300


def rows(*, numbered: bool, but: str = "") -> Iterator[list[Row] | Family]:
    """Give the rules in their order, without one; each row under table and number, if wanted."""
    for step in ORDER:
        if callable(step):
            yield step
        elif step != SITE:
            named = {f"{step} {at}": row for at, row in enumerate(shipped(step), start=1)}
            yield [
                row.model_copy(update={"name": name}) if numbered else row
                for name, row in named.items() if name != but
            ]  # fmt: skip


@dataclass
class Worth:
    """What a rule takes, what of it is right, and the reports in which it takes something."""

    taken: int = 0
    right: int = 0
    reports: list[GoldReport] = field(default_factory=list)


def weighed() -> dict[str, Worth]:
    """Count what every rule takes on the annotated reports."""
    rules, worth = Deidentifier(Options(caution=0)), defaultdict[str, Worth](Worth)
    rules.rules = Rules(rows(numbered=True))
    for report in (each for some in (authors() | ours()).values() for each in some[:SHOWN]):
        removed = rules.read(report.text).claims.removed()
        wanted = [span for span in report.spans if span.label != "KEEP"]
        for each in removed:
            worth[each.rule].taken += 1
            touched = any(s.start < each.end and each.start < s.end for s in wanted)
            worth[each.rule].right += touched
        for rule in {each.rule for each in removed}:
            worth[rule].reports.append(report)
    return worth


def mistakes(cleaner: Deidentifier, reports: Sequence[GoldReport]) -> tuple[int, int]:
    """Count the identifiers of which something is left, and the needless removals."""
    found = audit(reports, cleaner)
    every = found.recall["ALL"]
    return every.n - every.count, found.superfluous.count


def main() -> None:
    """Print a line for every rule."""
    cleaner, worth = Deidentifier(), weighed()
    whole = cleaner.rules
    print("| table | rule | example | taken | of them right | missed, needless without it |")
    print("|---|---|---|---|---|---|")
    for step in ORDER:
        for at, row in enumerate(() if callable(step) or step == SITE else shipped(step), start=1):
            each = worth.pop(f"{step} {at}", Worth())
            some = each.reports[:REPORTS]
            lost = ""
            if some:
                cleaner.rules = whole
                missed, needless = mistakes(cleaner, some)
                cleaner.rules = Rules(rows(numbered=False, but=f"{step} {at}"))
                more_missed, more_needless = mistakes(cleaner, some)
                lost = f"{more_missed - missed:+}, {more_needless - needless:+}"
            example = row.example.replace("|", "\\|").replace("\n", "⏎")
            print(f"| {step} {at} | {row.name} | `{example}` | {_cells(each)} {lost} |")
    for rule, each in sorted(worth.items(), key=lambda pair: -pair[1].taken):
        print(f"| (code) | {rule} | | {_cells(each)} |")


def _cells(each: Worth) -> str:
    share = f"{each.right / each.taken:.3f}" if each.taken else ""
    return f"{each.taken} | {share} |"


if __name__ == "__main__":
    main()
