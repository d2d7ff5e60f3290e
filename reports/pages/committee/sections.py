"""The committee's sections without readers; what was not computed in this run says so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Final

import numpy as np
from scipy.special import chdtrc

from calibration.estimate import Z95
from calibration.phrase_calibration import PhraseCalibration
from calibration.result import GroupResult
from reports.content import Exclusion, FlowStep, PathologyAdvice, SuppressedCell
from reports.disclosure import state_of
from reports.drawing.layout import Figure, Piece, Prose, Section, Subheading, note, statement
from reports.drawing.marks import Box, Drawing
from reports.drawing.style import BODY
from reports.figures.counts import exam_flow, exam_flow_height, spreads
from reports.figures.phrase_chart import Sign, phrase_chart, phrase_chart_height, phrase_key
from reports.figures.phrase_rows import RowState, missed, phrase_rows
from reports.figures.reliability import panel_pieces
from reports.figures.swap_flow import streams_of_map, swap_flow
from reports.numbers import FINE, decimal, interval, percent, points
from reports.pages.committee.heaviest import WORTH, added
from reports.pages.committee.tables import (
    SAME,
    nearer,
    pathology_table,
    score_table,
    sensitivity_table,
    suggestion_table,
    suppressed_table,
    term_table,
    upheld,
    use_table,
)
from reports.pages.radiologist.chart import unscored_words
from reports.pages.run_report import count_table, instrument_table, manifest_table
from reports.review_content import CommitteeContent
from reports.strings import Strings
from reports.swaps import kept_swaps

_ROW = 15.0
_KEY = 16.0
_CHANCE: Final = 0.05
_NO_TICK = {"expected": float("nan"), "expected_error": 0.0}


def exams(content: CommitteeContent, words: Strings) -> Section:
    """Draw the pairing flow, down to the statements compared."""
    title, heading_note = words("committee.flow_few"), words("committee.flow_note")
    if not content.few_readers:
        title = words("committee.flow")
        heading_note = f"{words('reading.condition')} {heading_note}"
    if not content.flow:
        return Section(title, (statement(words("state.not_computed")),), heading_note)
    steps, passed = _worth_drawing(content.flow)
    said = [words("committee.flow_whole", names=", ".join(passed))] if passed else []
    if content.unscored:
        phrases = unscored_words(content.unscored, words)
        said.append(words("committee.unscored", phrases=phrases))
    stated = _statements(content, words)
    heading_note += f" {words('committee.flow_months')}" if stated else ""
    steps += stated
    tall = exam_flow_height(steps)
    figure = Figure(partial(exam_flow, steps=steps, words=words), tall, " ".join(said))
    return Section(title, (figure,), heading_note, room=tall + 110.0)


def _worth_drawing(steps: tuple[FlowStep, ...]) -> tuple[tuple[FlowStep, ...], list[str]]:
    """Give the first and last step and those that left something out, and the others' names."""
    last = len(steps) - 1
    kept = [s for i, s in enumerate(steps) if i in (0, last) or s.excluded]
    return tuple(kept), [s.name for s in steps if s not in kept]


def _statements(content: CommitteeContent, words: Strings) -> tuple[FlowStep, ...]:
    """Go on to the statements of these exams, where every count of them may be shown."""
    scored, left = content.counts.statements, content.counts.unscored
    if content.unscored is None or scored is None:
        return ()
    if left is None:
        return (FlowStep(words("committee.flow_scored"), scored),)
    out = (Exclusion(words("committee.flow_unscored"), left),) if left else ()
    stated = FlowStep(words("committee.flow_stated"), scored + left)
    return stated, FlowStep(words("committee.flow_scored"), scored, out)


def department(content: CommitteeContent, words: Strings) -> tuple[Section, ...]:
    """Phrase chart, or why it is withheld."""
    title, result = words("committee.phrases"), content.department
    if isinstance(result, SuppressedCell):
        return (Section(title, (statement(withheld(result, words)),)),)
    key = "committee.phrases_note" if _hedged(result) else "committee.phrases_note_certain"
    key = key if content.standard == "plain" else "phrase_chart.no_standard"
    return (Section(title, _phrases(result, content, words), words(key), room=320.0),)


def _hedged(result: GroupResult) -> bool:
    """Whether any hedge that is scored was written."""
    return bool(result.phrases.n[result.phrases.hedges].any())


def scores(content: CommitteeContent, words: Strings) -> tuple[Section, ...]:
    """Every score of the department; nothing where it is withheld, as its chart says."""
    result = content.department
    if isinstance(result, SuppressedCell):
        return ()
    table = score_table(result, content.profiles.large if content.profiles else None, words=words)
    return (Section(words("committee.scores"), (table,), room=150.0),)


def withheld(cell: SuppressedCell, words: Strings) -> str:
    """Say why a figure is withheld."""
    keys = {
        "exams": "committee.headline_too_few",
        "readers": "committee.headline_few_readers",
        "complementary": "state.complementary",
    }
    return words(keys[cell.of], minimum=cell.minimum)


def _phrases(result: GroupResult, content: CommitteeContent, words: Strings) -> tuple[Piece, ...]:
    """Chart the phrases in use, marked where their interval misses the tick; name the others."""
    minimum, sure = content.minimum_n, content.standard == "plain"
    rows = phrase_rows(result.phrases, minimum_n=minimum)
    used = tuple(
        replace(row, **({"side": missed(row) if sure else None} if row.hedge else _NO_TICK))
        for row in rows
        if row.state is not RowState.NOT_USED
    )
    unused = ", ".join(row.phrase for row in rows if row.state is RowState.NOT_USED)

    def paint(drawing: Drawing, box: Box) -> None:
        above, key = box.cut(bottom=_KEY), box.cut(top=box.height - _KEY)
        phrase_chart(drawing, above, rows=used, minimum_n=minimum, words=words)
        phrase_key(drawing, key, words=words, signs=signs)

    signs: tuple[Sign, ...] = ("band", "mean") if _hedged(result) else ()
    signs += ("department_own",)
    below = [beside(content, result, words)]
    below += [words("radiologist.unused", phrases=unused)] if unused else []
    tall = phrase_chart_height(len(used), row=_ROW) + _KEY
    return (Figure(paint, tall, " ".join(below).strip()),)


def beside(content: CommitteeContent, whole: GroupResult, words: Strings) -> str:
    """Say what words as sure as "present" weigh, and the heaviest that its survey leaves open."""
    table, adds, gap = whole.phrases, added(whole), whole.phrase_error.value
    if not _hedged(whole) or content.standard != "plain":
        return ""
    sure = points(adds[~table.hedges].sum())
    said = words("committee.sure", gap=points(gap), sure=sure)
    rows = phrase_rows(table, minimum_n=content.minimum_n)
    right = [row.phrase for row in rows if row.hedge and not missed(row)]
    weighs = np.where(np.isin(table.phrases, right), adds, 0.0)
    heaviest = int(np.argmax(weighs))
    if weighs[heaviest] < WORTH * gap:
        return said
    share = points(weighs[heaviest])
    return f"{said} {words('committee.open', phrase=table.phrases[heaviest], share=share)}"


def pathologies(content: CommitteeContent, words: Strings) -> Section:
    """Small multiples and their numbers."""
    heading_note, table = words("panel.note", minimum=FINE), pathology_table(content, words=words)
    same = any(str(cell).startswith(SAME) for row in table.rows for cell in row.cells)
    pieces: tuple[Piece, ...] = (
        *(Prose(text, BODY) for text in single_findings(content, words)),
        *panel_pieces(content.by_pathology, words=words),
    )
    if len(content.by_pathology) > 1:
        pieces += (table, *[note(words("scores.same_step"))] * same)
    return Section(words("committee.pathologies"), pieces, heading_note, room=220.0)


def single_findings(content: CommitteeContent, words: Strings) -> list[str]:
    """Name the finding furthest off, and the upheld swap in one finding that weighs most.

    A swap of a word that is one reader's habit there is that reader's, and not the department's.
    """
    readers = content.profiles.readers if content.profiles else ()
    habits = {(h.finding, h.phrase) for reader in readers for h in reader.habits}
    held = upheld(content.maps or ()) if content.standard == "plain" else ()
    found = [(f, s) for f, s in held if f and (f, s.source) not in habits]
    said = _furthest(content, words)
    if found:
        finding, swap = max(found, key=lambda each: nearer(each[1]))
        key = (swap.source, swap.target, finding)
        told = (
            any((s.phrase, s.instead, s.finding) == key for s in kept_swaps(reader))
            for reader in readers
        )
        shown = {"rate": percent(swap.observed), "meaning": percent(swap.expected)}
        shown |= {"finding": words.name(finding), "phrase": swap.source, "instead": swap.target}
        shown["statements"] = words.several("unit.statements", round(swap.n))
        said.append(words("decisions.upheld", n=sum(told), of=len(readers), **shown))
    return [words("decisions.cells", said="; ".join(said))] if said else []


def _furthest(content: CommitteeContent, words: Strings) -> list[str]:
    """Say in which finding the hedges carry most of the distance, where they stand apart there.

    It is the distance of the table below: gaps phrase by phrase, which do not make up for one
    another. Who has most statements carries most as well, and stands no further from CT for that.
    """
    every = ((part.pathology, part.result) for part in content.by_pathology)
    parts = [(name, of) for name, of in every if not isinstance(of, SuppressedCell)]
    tables = [of.phrases for _, of in parts]
    uses = np.array([np.nansum(table.n[table.hedges]) for table in tables])
    shares = np.array([added(of)[of.phrases.hedges].sum() for _, of in parts])
    adds = shares * np.array([of.n for _, of in parts])
    k = int(np.argmax(adds)) if parts else 0
    further = bool(parts) and adds[k] * uses.sum() > adds.sum() * uses[k]
    if not further or not _stands_apart(tables, k, content.minimum_n):
        return []
    shown = {"share": points(shares[k]), "gap": points(parts[k][1].phrase_error.value)}
    shown["statements"] = words.several("unit.statements", round(float(uses[k])))
    return [words("decisions.furthest", finding=parts[k][0], **shown)]


def _stands_apart(tables: Sequence[PhraseCalibration], k: int, least: int) -> bool:
    """Say whether CT shows a finding's hedges otherwise than all others', by more than chance.

    Σ z² over words, z that of its rate against the others', is χ² of as many degrees; the finding
    is the largest of several, so their number counts.
    """
    hedges, other = tables[k].hedges, np.arange(len(tables)) != k
    rows = ((t.n, t.observed, t.high - t.low) for t in tables)
    n, rate, wide = (np.nan_to_num(np.array(e)[:, hedges]) for e in zip(*rows, strict=True))
    rest = n[other].sum(axis=0)
    used = np.minimum(n[k], rest) >= least
    mean, doubt = ((n * each)[other][:, used] / rest[used] for each in (rate, wide))
    z = (rate[k, used] - mean.sum(axis=0)) / np.hypot(wide[k, used], np.hypot.reduce(doubt))
    square = float(((2.0 * Z95 * z) ** 2).sum())
    return len(tables) * float(chdtrc(max(int(used.sum()), 1), square)) < _CHANCE


def disagreement(content: CommitteeContent, words: Strings) -> Section:
    """Two spreads over cases side by side."""
    title, lead = words("committee.disagreement"), words("committee.disagreement_lead")
    found = content.disagreement
    if found is None:
        return Section(title, (statement(words("state.not_computed")),), lead)
    if isinstance(found.plain, SuppressedCell) and isinstance(found.hedged, SuppressedCell):
        return Section(title, (statement(state_of(found.plain, words)),), lead)
    caption = words("committee.disagreement_note")
    figure = Figure(partial(spreads, found=found, words=words), 118.0, caption)
    return Section(title, (figure,), lead, room=220.0)


def sensitivity(content: CommitteeContent, words: Strings) -> Section:
    """One table per question."""
    title = words("committee.sensitivity")
    if content.sensitivity is None:
        return Section(title, (statement(words("state.not_computed")),))
    pieces: list[Piece] = []
    for table in (every := content.sensitivity):
        pieces += [Subheading(table.title), sensitivity_table(table, every, words=words)]
        pieces += [note(table.caption)] if table.caption else []
    return Section(title, tuple(pieces), words("committee.sensitivity_lead"), room=190.0)


def scale_use(content: CommitteeContent, words: Strings) -> Section:
    """Shares by quarter, then uses per term, and how often a CT followed each."""
    title, use = words("committee.scale_use"), content.scale_use
    if use is None:
        return Section(title, (statement(words("state.not_computed")),))
    if not use.periods:
        return Section(title, (statement(words("committee.no_hedge_written")),))
    said = [words("written.note")]
    counts = [n for _, n, _ in use.terms] + [each.reports for each in content.written or ()]
    if any(isinstance(n, SuppressedCell) and n.of != "exams" for n in counts):
        said.append(words("written.withheld", readers=content.minimum_readers))
    terms = term_table(use, content.written or (), words=words)
    pieces = use_table(use, words=words), terms, note(" ".join(said))
    return Section(title, pieces, words("committee.scale_use_note"), room=160.0)


def maps(content: CommitteeContent, words: Strings) -> Section:
    """Draw the fitted map before and after, its held-out effect, and the swaps."""
    title, heading_note = words("committee.maps"), words("committee.maps_note")
    if content.maps is None:
        return Section(title, (statement(words("state.not_computed")),), heading_note)
    overall = [_map(content, part, words) for part in content.maps if part.pathology is None]
    pieces = (
        *overall,
        Subheading(words("committee.suggestions"), room=80.0),
        suggestion_table(content.maps, words=words),
        Subheading(words("committee.suppressed"), room=140.0),
        suppressed_table(content.maps, words=words),
    )
    return Section(title, pieces, heading_note, room=340.0)


def _map(content: CommitteeContent, part: PathologyAdvice, words: Strings) -> Piece:
    fitted, effect = part.advice.map, part.advice.effect
    if not fitted.converged:
        return statement(words("committee.map_not_converged"))
    if isinstance(content.department, SuppressedCell):
        return statement(words("state.complementary"))
    if not _hedged(content.department):
        return statement(words("committee.no_hedge"))
    streams, order = streams_of_map(fitted, content.department.phrases, words)
    caption = words("committee.map_no_effect")
    if effect is not None:
        by = effect.ece_difference
        shown = {"before": decimal(effect.ece_before), "after": decimal(effect.ece_after)}
        shown |= {"difference": decimal(by.value), "interval": interval(by.low, by.high)}
        caption = words("committee.map_effect", **shown)
    return Figure(partial(swap_flow, streams=streams, order=order, words=words), 240.0, caption)


def instrument(content: CommitteeContent, words: Strings) -> Section:
    """Audited shares and plain counts."""
    title, heading_note = words("committee.instrument"), words("committee.instrument_note")
    measured = content.instrument
    if measured is None:
        return Section(title, (statement(words("state.not_computed")),), heading_note)
    heading_note += " " + words("instrument.engine", engine=measured.engine.partition("+")[0])
    counts = (count_table(measured, words=words),) if measured.counts else ()
    pieces = (instrument_table(measured, words=words), *counts)
    return Section(title, pieces, heading_note, room=120.0)


def gates(content: CommitteeContent, words: Strings) -> Section:
    """Every check of the run, in one sentence."""
    states = {True: "passed", False: "failed", None: "unknown"}
    said = (f"{gate.name}: {words(f'gates.{states[gate.passed]}')}" for gate in content.gates)
    pieces = (Prose(f"{'; '.join(said) or words('state.none')}.", BODY),)
    return Section(words("committee.gates"), pieces, words("committee.gates_note"))


def manifest(content: CommitteeContent, words: Strings) -> Section:
    """Say what it takes to repeat the run."""
    table = manifest_table(content.manifest, words=words)
    return Section(words("committee.manifest"), (table,), words("committee.manifest_note"))


def governance(content: CommitteeContent, words: Strings) -> Section:
    """Print the institution's own text."""
    texts = Prose(content.governance, BODY), Prose(words("committee.codes"), BODY)
    pieces = (Subheading(words("page.governance"), room=40.0), *texts)
    return Section(words("committee.governance"), pieces, room=80.0)
