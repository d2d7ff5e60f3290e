"""Print what each rule of de-identification takes on the annotated reports, as a table of Markdown.

``python benchmarks/judge/worth.py``. A rule is named as its finds are; what a rule takes is what
the rules before it left. The judge is off.
"""

from __future__ import annotations

from collections import Counter

from gold import authors, ours

from pipeline.deidentify import Deidentifier, Options


def main() -> None:
    """Count every rule's finds, and those that touch an identifier."""
    rules = Deidentifier(Options(caution=0))
    taken: Counter[str] = Counter()
    right: Counter[str] = Counter()
    for reports in (authors() | ours()).values():
        for report in reports:
            wanted = [span for span in report.spans if span.label != "KEEP"]
            for each in rules.read(report.text).claims.removed():
                taken[each.rule] += 1
                right[each.rule] += any(s.start < each.end and each.start < s.end for s in wanted)
    print("| rule | taken | of them right |\n|---|---|---|")
    for rule, count in taken.most_common():
        print(f"| {rule} | {count} | {right[rule] / count:.3f} |")


if __name__ == "__main__":
    main()
