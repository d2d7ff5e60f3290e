"""A finding's reasons in words, for people who check the rules."""

from __future__ import annotations

from collections.abc import Iterator

from extraction.finding import Extracted, Failed, Finding, Outcome

__all__ = ["explain"]


def explain(text: str, outcome: Outcome) -> Iterator[str]:
    """Lines that show each sentence with its mentions, cues, scopes and decisions.

    Parameters
    ----------
    text
        The report, as given to the engine.
    outcome
        What the engine returned for it.
    """
    if isinstance(outcome, Failed):
        yield f"failed: {outcome.reason}"
        return
    if outcome.not_evaluable:
        yield f"not evaluable: {', '.join(sorted(outcome.not_evaluable))}"
    if not isinstance(outcome, Extracted):
        yield "nothing stated about any pathology of the vocabulary"
        return
    sentence = (-1, -1)
    for finding in outcome.findings:
        if (finding.start, finding.end) != sentence:
            sentence = (finding.start, finding.end)
            yield f"[{finding.section}] {' '.join(text[slice(*sentence)].split())}"
        yield f"    {_line(text, finding)}"


def _line(text: str, finding: Finding) -> str:
    said = f"{finding.pathology}: {finding.phrase or 'unmapped'}"
    why = finding.explanation
    if why is None:
        return said
    mention = " ".join(text[why.mention_start : why.mention_end].split())
    scope = " ".join(text[why.scope_start : why.scope_end].split())
    cue = f"cue '{' '.join(finding.cue.split())}'" if finding.cue else "no cue"
    return f"{said}  <- '{mention}', {cue}, scope '{scope}', rule: {why.rule}"
