"""The radiologist's appendices: small multiples, all numbers, cases with tick boxes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import get_args

from calibration.result import GroupResult
from reports.content import Case, RadiologistContent, SuppressedCell
from reports.drawing.document import Section, compose
from reports.drawing.layout import Composer, Prose
from reports.drawing.style import BODY, CAPTION
from reports.drawing.tables import Column, Row, Table, TickBox
from reports.figures.phrase_rows import PhraseRow, RowState, phrase_rows
from reports.figures.reliability import panel_pieces
from reports.numbers import BLANK, count, percent, percent_interval
from reports.pages import return_sheet
from reports.pages.return_sheet import Answer
from reports.strings import Strings

__all__ = ["appendices", "case_table", "number_table"]


def appendices(composer: Composer, content: RadiologistContent) -> None:
    """Add every appendix for which there is something to show, from a new page on."""
    if not isinstance(content.overall, SuppressedCell):
        composer.new_page()
    if any(not isinstance(part.result, SuppressedCell) for part in content.by_pathology):
        _pathologies(composer, content)
    if not isinstance(content.overall, SuppressedCell):
        _numbers(composer, content, content.overall)
    if content.cases is not None:
        _cases(composer, content)


def _pathologies(composer: Composer, content: RadiologistContent) -> None:
    words = composer.style.strings
    note = words("radiologist.appendix_pathology_note", minimum=content.minimum_n)
    minimum = content.minimum_n
    pieces = panel_pieces(content.by_pathology, minimum_n=minimum, words=words)
    compose(composer, (Section(words("radiologist.appendix_pathology"), pieces, note),))


def _numbers(composer: Composer, content: RadiologistContent, overall: GroupResult) -> None:
    words = composer.style.strings
    composer.heading(words("radiologist.appendix_numbers"), room=160.0)
    composer.flow(number_table(content, overall, words=words), after=4.0)
    composer.add(Prose(words("numbers.note"), CAPTION.muted))


def number_table(content: RadiologistContent, overall: GroupResult, *, words: Strings) -> Table:
    """List every phrase with its counted and its judged rate; withheld ones in words."""
    department = None if isinstance(content.department, SuppressedCell) else content.department
    rows = phrase_rows(overall.phrases, minimum_n=content.minimum_n, department=department)
    judged = _judged(content)
    columns = [
        Column(words("numbers.phrase"), 2.6),
        Column(words("numbers.n"), 1.9, "right"),
        Column(words("numbers.observed"), 1.2, "right"),
        Column(words("numbers.interval"), 1.3, "right"),
        *([Column(words("numbers.judged"), 1.3, "right")] if judged else []),
        Column(words("numbers.expected"), 1.2, "right"),
        Column(words("numbers.range"), 1.3, "right"),
    ]
    shown = department is not None
    columns += [Column(words("numbers.department"), 1.3, "right")] if shown else []
    body = tuple(
        _number_row(row, judged, content.minimum_n, words, department=shown) for row in rows
    )
    return Table(tuple(columns), body, id="numbers")


def _judged(content: RadiologistContent) -> dict[str, str]:
    """Give the judged rate of each phrase that has one."""
    profile = content.profile
    if profile is None or isinstance(profile, SuppressedCell):
        return {}
    return {p.phrase: percent(p.rate.value) for p in profile.phrases}


def _number_row(
    row: PhraseRow, judged: Mapping[str, str], minimum_n: int, words: Strings, *, department: bool
) -> Row:
    shown = row.state is RowState.SHOWN
    state = (
        words(f"state.{row.state.value.replace(' ', '_')}", minimum=minimum_n) if not shown else ""
    )
    own = (
        percent(row.observed) if shown else BLANK,
        percent_interval(row.low, row.high, row.observed) if shown else BLANK,
        *((judged.get(row.phrase, BLANK),) if judged else ()),
    )
    few = words("state.withheld_short") if row.department_withheld else percent(row.department)
    cells = (
        row.phrase,
        state or count(row.n),
        *own,
        percent(row.expected),
        percent_interval(row.expected_low, row.expected_high, row.expected),
        *((few,) if department else ()),
    )
    return Row(cells, quiet=not shown)


def _cases(composer: Composer, content: RadiologistContent) -> None:
    words = composer.style.strings
    note = words("radiologist.appendix_cases_note")
    composer.heading(words("radiologist.appendix_cases"), room=150.0, note=note)
    if not content.cases:
        composer.add(Prose(words("radiologist.cases_none"), BODY.oblique.muted))
        return
    composer.flow(case_table(content.cases, words=words))


def case_table(cases: tuple[Case, ...], *, words: Strings) -> Table:
    """One line per case, four boxes to tick."""
    columns = (
        Column(words("cases.xray"), 1.6),
        Column(words("cases.ct"), 1.6),
        Column(words("cases.pathology"), 2.2),
        Column(words("cases.phrase"), 1.9),
        Column(words("cases.ct_phrase"), 1.9),
        Column(words("cases.interval"), 0.8, "right"),
        Column(words("cases.call"), 1.1),
        *(Column(words(f"cases.{choice.replace(' ', '_')}"), 1.05) for choice in get_args(Answer)),
    )
    calls = {True: "call_good", False: "call_apart", None: "call_open"}
    rows = tuple(
        Row(
            (
                case.xray_code,
                case.ct_code,
                case.pathology,
                case.phrase,
                case.ct_phrase,
                f"{case.interval_hours:.1f}",
                words(f"cases.{calls[case.agreed]}"),
                *_boxes(case, number, words),
            )
        )
        for number, case in enumerate(cases)
    )
    return Table(columns, rows, id="cases")


def _boxes(case: Case, number: int, words: Strings) -> Iterator[TickBox]:
    """Give the four answers to one case."""
    about = return_sheet.about(case)
    for choice in get_args(Answer):
        answer = words(f"cases.{choice.replace(' ', '_')}")
        said = words("cases.box", answer=answer, code=case.xray_code, finding=case.pathology)
        yield TickBox(f"case{number}", choice, about, said)
