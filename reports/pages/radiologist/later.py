"""The radiologist's later pages: curve, trend, how to read it; numbers, cases to tick."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeAlias, get_args

from calibration.result import GroupResult
from reports.content import Case, Coverage, Instrument, RadiologistContent, Returned, SuppressedCell
from reports.drawing.layout import Composer, Figure, Prose, Section, compose, note
from reports.drawing.marks import Bookmark, Box, Field
from reports.drawing.style import BODY, CAPTION, GUTTER, NOTE, SUBHEADING, Type
from reports.drawing.tables import CLOSE, Row, Table, heads
from reports.drawing.typeset import heading, paragraph, paragraph_height
from reports.figures.phrase_rows import PhraseRow, RowState, phrase_rows
from reports.figures.reliability import panel_pieces, reliability
from reports.numbers import BLANK, FINE, count, hours, percent, percent_interval
from reports.out_of_order import alone, remark
from reports.pages import return_sheet
from reports.pages.radiologist.chart import LEAST, PhraseChart
from reports.pages.radiologist.trend import trend
from reports.pages.return_sheet import Answer
from reports.strings import Strings
from reports.verdict import in_words

_Sides: TypeAlias = tuple[tuple[str, tuple[str, ...]], ...]
# Least height of the curve with its title; the most, and where it stands alone.
_LOW, _MOST, _ALONE = 150.0, 400.0, 460.0
# By how much it may be taller before the rows of a chart above it are set wider.
_TALLER: Final = 90.0
# Share of the page's width that the curve's part takes.
_WIDE: Final = 0.6
# By how much a curve is taller than wide where its plot is a square.
_UNDER: Final = 46.0
# Width that the line above its density takes at least; height of what heads the texts beside.
_NOTED, _HEADED = 176.0, 53.0
# White space below the curve, and where the chart stands on its page.
_AROUND, _CLOSE = 16.0, 9.0


def second_page(composer: Composer, chart: PhraseChart, *, drawn: bool) -> None:
    """Curve and trend, below the phrase chart where it is not ``drawn`` on page 1.

    What explains the figures stands below them, or fills page 1.
    """
    content, strings = chart.content, composer.style.strings
    kind, read, sides = BODY, False, _sides(chart)
    around = _AROUND if drawn else _CLOSE
    used = Prose(_use(content, strings), CAPTION if drawn else NOTE)
    if not isinstance(content.overall, SuppressedCell):
        curved = _curved(content.overall)
        read = drawn and curved and _read_early(composer, content, sides)
        composer.skip(_AROUND)
        if curved or not drawn:
            composer.new_page()
        composer.add(used, after=_AROUND if drawn else 2.0)
        kind = BODY if drawn else CAPTION
        below = 0.0 if read else around + _reading_height(composer, content, kind, sides)
        beside = (
            _remarked(content, f"radiologist.{'curve_note' if curved else 'no_curve'}", strings),
            *trend(content, strings),
        )
        width = composer.body.width - (_NOTED + 2 * GUTTER) * curved
        tall = sum(paragraph_height(text, CAPTION, width) + 3.0 for text in beside)
        least = max(_LOW, tall + _HEADED) if curved else tall + 16.0
        if not drawn:
            taken = chart.height(composer.body.width, LEAST) + least + around + below
            if taken > composer.room:
                kind = NOTE
                below = around + _reading_height(composer, content, kind, sides)
            spare = composer.room - chart.height(composer.body.width) - least - around - below
            least += min(max(spare, 0.0), _TALLER)
            chart.draw(composer, below=least + around + below)
            composer.skip(around)
        most = _ALONE if read else _MOST if curved else least
        box = composer.claim(min(max(composer.room - below, least), most))
        _curve(composer, box, content.overall, beside)
    else:
        composer.add(used, after=0.0)
    if not read:
        composer.skip(around)
        _reading(composer, content, kind, sides)


def _remarked(content: RadiologistContent, key: str, words: Strings, **slots: object) -> str:
    """Give a note, after what its figures count that page 1 reads nothing from, if anything."""
    return " ".join(filter(None, (remark(content.profile, words), words(key, **slots))))


def _use(content: RadiologistContent, words: Strings) -> str:
    """Say who sees what, what it is not used for, and whether anybody audited the reading."""
    figures = content.instrument.figures if content.instrument else ()
    reading = (each.estimate for each in figures if each.name == words("measured.accuracy"))
    audited = any(each is not None for each in reading)
    unaudited = "" if audited else words("radiologist.use_unaudited")
    few = isinstance(content.department, SuppressedCell)
    review = words("radiologist.use_few" if few else "radiologist.use_review")
    return words("radiologist.use", use=content.use, review=review, unaudited=unaudited)


def _read_early(composer: Composer, content: RadiologistContent, sides: _Sides) -> bool:
    """Say below the chart how to read it, where there is room; return whether there was."""
    for kind in (BODY, CAPTION):
        if composer.room >= _AROUND + _reading_height(composer, content, kind, sides):
            composer.skip(_AROUND)
            _reading(composer, content, kind, sides)
            return True
    return False


def _curved(overall: GroupResult) -> bool:
    """Whether a curve says more than the chart: of one hedge it is level, of none it is empty."""
    return int((overall.phrases.hedges & (overall.phrases.n > 0)).sum()) > 1


def _curve(composer: Composer, box: Box, overall: GroupResult, beside: Sequence[str]) -> None:
    """Draw the curve on a square; beside it stand its note, and the reader's own trend.

    Where none is drawn the trend has the whole width, and the note stands below it.
    """
    note, *texts = beside
    page, words = composer.page, composer.style.strings
    y, side = box.y, box
    if _curved(overall):
        title, figure = words("radiologist.curve"), box.cut(top=18.0)
        page.bookmarks.append(Bookmark(title, 1, box.y))
        heading(page, box.x, box.y + 10.0, title, SUBHEADING, "H2")
        width = min(_WIDE * box.width - GUTTER, figure.height - _UNDER)
        reliability(page, replace(figure, width=width), curve=overall.curve, words=words)
        side = figure.cut(left=max(width, _NOTED) + 2 * GUTTER, top=2.0)
        y = paragraph(page, side, note, CAPTION.muted) + 14.0
    else:
        texts.append(note)
        page.bookmarks.append(Bookmark(words("radiologist.trend"), 1, y))
    heading(page, side.x, y + 10.0, words("radiologist.trend"), SUBHEADING, "H2")
    y += 16.0
    for text in texts:
        y = paragraph(page, Box(side.x, y, side.width, 0.0), text, CAPTION.muted) + 3.0


def _sides(chart: PhraseChart) -> _Sides:
    """Explain the figures, and page 1 where it needs it, in the shorter of two columns."""
    content, words = chart.content, chart.words
    how, limits = how_to_read(chart), what_it_is_not(chart)
    if content.profile:
        behind = in_words(content.profile, words=words).behind
        shorter = sum(map(len, how)) <= sum(map(len, limits))
        how, limits = (how + behind, limits) if shorter else (how, limits + behind)
    both = (words("radiologist.how"), how), (words("radiologist.not"), limits)
    return tuple(side for side in both if side[1])


def _whom(content: RadiologistContent, words: Strings) -> str:
    """Say what became of answers, until when they count, whom to ask, when the next page comes."""
    head, returned = content.masthead, content.returned
    parts = []
    if returned is not None and returned.total:
        left_out = words.several("unit.cases", returned.left_out)
        answers = words.several("unit.cases", returned.total)
        parts.append(words("radiologist.returned", answers=answers, left_out=left_out))
    if returned is not None and returned.swaps:
        parts.append(words("radiologist.returned_swaps", **swap_counts(returned)))
    if head.returns_by and content.cases:
        parts.append(words("radiologist.returns_by", day=head.returns_by))
    parts.append(words("radiologist.contact", contact=head.contact, next_issue=head.next_issue))
    return " ".join(parts).strip()


def swap_counts(returned: Returned) -> dict[str, str]:
    """Print the answers about swaps."""
    found = (returned.agree, returned.disagree, returned.not_mine)
    return dict(zip(("agree", "disagree", "not_mine"), map(count, found), strict=True))


def _reading_height(
    composer: Composer, content: RadiologistContent, kind: Type, sides: _Sides
) -> float:
    """Height of the two columns and the line below them."""
    width = composer.body.columns(len(sides), gutter=2 * GUTTER)[0].width
    tall = max(sum(paragraph_height(t, kind, width) + 3.0 for t in texts) for _, texts in sides)
    whom = _whom(content, composer.style.strings)
    return tall + 22.0 + paragraph_height(whom, kind.bold, composer.body.width)


def _reading(composer: Composer, content: RadiologistContent, kind: Type, sides: _Sides) -> None:
    """Two columns: how to read it, what it is not; then whom to ask."""
    words = composer.style.strings
    whom = Prose(_whom(content, words), kind.bold)
    below = 4.0 + whom.height(composer.body.width)
    box = composer.claim(_reading_height(composer, content, kind, sides) - below)
    columns = box.columns(len(sides), gutter=2 * GUTTER)
    for column, (title, texts) in zip(columns, sides, strict=True):
        heading(composer.page, column.x, column.y + 10.0, title, SUBHEADING, "H2")
        y = column.y + 16.0
        for text in texts:
            y = paragraph(composer.page, Box(column.x, y, column.width, 0.0), text, kind) + 3.0
    composer.skip(4.0)
    composer.add(whom, after=0.0)


def how_to_read(chart: PhraseChart) -> tuple[str, ...]:
    """Explain the signs that are drawn, and no others."""
    rows, certain, words = chart.rows, chart.certain, chart.words
    line = words(f"how.line{alone(chart.content.profile)}")
    kind = ("tick_rates" if len(certain) == len(rows) else "tick_certain") if certain else "tick"
    tick = words(f"how.{kind}")
    drawn = any(math.isfinite(row.department) for row in rows)
    return (line, tick, *[words("how.department")] * drawn) if rows else ()


def what_it_is_not(chart: PhraseChart) -> tuple[str, ...]:
    """Paragraphs of the limits, with coverage and extraction accuracy as measured."""
    content, words = chart.content, chart.words
    instrument = content.instrument
    engine = instrument.engine if instrument else words("state.not_computed")
    accuracy = _accuracy(instrument, words)
    few = isinstance(content.department, SuppressedCell) or not chart.rows
    return (
        _coverage(content, words),
        words(f"not.ct_{content.ct_readers}"),
        words("not.extraction", engine=engine, accuracy=accuracy),
        words("not.case_mix_few" if few else "not.case_mix"),
    )


def _coverage(content: RadiologistContent, words: Strings) -> str:
    unnamed = content.profile is not None and content.profile.sites is None
    coverage, sites = content.coverage, words("not.sites") * unnamed
    if coverage is None:
        return words("not.coverage_unknown", sites=sites)
    text = words("not.coverage", sites=sites, **covered(coverage))
    return f"{text} {words('not.silence')}" if coverage.ct_silence_is_absent else text


def covered(coverage: Coverage) -> dict[str, str]:
    """Print how many X-rays there were, how many had a CT, and within how long."""
    numbers = {"paired": count(coverage.paired), "xrays": count(coverage.xrays)}
    return {**numbers, "hours": hours(coverage.window_hours), "zone": coverage.zone}


def _accuracy(instrument: Instrument | None, words: Strings) -> str:
    if instrument is None or not instrument.figures:
        return words("state.not_audited")
    return "; ".join(
        f"{figure.name}: {words('state.not_audited')}"
        if (found := figure.estimate) is None
        else words("not.accuracy", name=figure.name, value=percent(found.value),
                   interval=percent_interval(found.low, found.high, found.value))
        for figure in instrument.figures
    )  # fmt: skip


def appendices(composer: Composer, chart: PhraseChart, unswapped: Sequence[str]) -> None:
    """Add every appendix for which there is something to show, from a new page on.

    Where no curve fills the page before, they go on below what it says. Before them stands why
    marked words have no swap, where page 1 had no room for it.
    """
    content, words = chart.content, composer.style.strings
    if not isinstance(content.overall, SuppressedCell) and _curved(content.overall):
        composer.new_page()
    else:
        composer.skip(_AROUND)
    if unswapped:
        pieces = tuple(Prose(text, CAPTION) for text in unswapped)
        compose(composer, (Section(words("radiologist.appendix_unswapped"), pieces),))
    _pathologies(composer, content)
    if not isinstance(content.overall, SuppressedCell):
        _numbers(composer, chart, content.overall)
    if content.cases is not None:
        _cases(composer, content)


def _pathologies(composer: Composer, content: RadiologistContent) -> None:
    """Add the findings in which phrases can be compared, where there are some."""
    words = composer.style.strings
    pieces = panel_pieces(content.by_pathology, words=words)
    if any(isinstance(piece, Figure) for piece in pieces):
        note = _remarked(content, "panel.note", words, minimum=FINE)
        compose(composer, (Section(words("radiologist.appendix_pathology"), pieces, note),))


def _numbers(composer: Composer, chart: PhraseChart, overall: GroupResult) -> None:
    content, words = chart.content, composer.style.strings
    estimated = words(f"numbers.estimated{alone(content.profile)}")
    said = _remarked(content, "numbers.note", words, fine=FINE, estimated=estimated)
    said += words("numbers.note_certain") if chart.certain else ""
    for row in (row for row in chart.certain if len(row.certain) > 1):
        said += words("numbers.note_together", phrases=row.phrase, n=count(row.n))
    pieces = number_table(chart, overall), note(said)
    compose(composer, (Section(words("radiologist.appendix_numbers"), pieces, room=160.0),))


def number_table(chart: PhraseChart, overall: GroupResult) -> Table:
    """List every phrase of enough uses with its counted and its judged rate.

    Those of too few or none are named below the phrase chart.
    """
    content, words = chart.content, chart.words
    department = None if isinstance(content.department, SuppressedCell) else content.department
    rows = phrase_rows(overall.phrases, minimum_n=content.minimum_n, department=department)
    profile, judged = content.profile, dict[str, str]()
    if profile:
        judged = {each.phrase: percent(each.rate.value) for each in profile.phrases}
        judged |= dict.fromkeys(profile.absent.phrases, percent(profile.absent.rate.value))
        judged |= dict.fromkeys(profile.present.phrases, percent(1.0 - profile.present.rate.value))
    shown = department is not None
    compared = {phrase: percent(row.expected) for row in chart.certain for phrase in row.certain}
    columns = heads(
        words, "numbers",
        ("phrase", 2.6, "wraps"), ("n", 1.9, "right"),
        ("observed", 1.2, "right"), ("interval", 1.3, "right"),
        *[("judged", 1.3, "right")] * bool(judged),
        ("expected", 1.2, "right"), ("range", 1.3, "right"),
        *[("department", 1.3, "right")] * shown,
    )  # fmt: skip
    body = tuple(
        _number_row(
            row, judged, words, department=_department(row, compared, words) if shown else ""
        )
        for row in rows
        if row.state is RowState.SHOWN
    )
    return Table(columns, body, id="numbers")


def _department(row: PhraseRow, compared: Mapping[str, str], words: Strings) -> str:
    """Print the department's rate; of "present" and "absent" the one of the chart, and no second.

    That is what others' rates on the same findings lead to expect.
    """
    if not row.hedge:
        return compared.get(row.phrase, BLANK)
    withheld = math.isnan(row.department)
    return words("state.withheld_short") if withheld else percent(row.department)


def _number_row(
    row: PhraseRow, judged: Mapping[str, str], words: Strings, *, department: str
) -> Row:
    fine = row.n >= FINE
    own = (
        percent(row.observed) if fine else BLANK,
        percent_interval(row.low, row.high, row.observed) if fine else BLANK,
        *((judged.get(row.phrase, BLANK),) if judged else ()),
    )
    return Row((
        row.phrase,
        count(row.n),
        *own,
        percent(row.expected),
        percent_interval(row.expected_low, row.expected_high, row.expected),
        *((department,) if department else ()),
    ))  # fmt: skip


def _cases(composer: Composer, content: RadiologistContent) -> None:
    words = composer.style.strings
    none = Prose(words("radiologist.cases_none"), BODY.oblique.muted)
    listed = case_table(content.cases, words=words) if content.cases else none
    first = bool(content.action_cases)
    order = words("radiologist.cases_order" if first else "radiologist.cases_order_few")
    among = words("radiologist.cases_among") if first else ""
    note = words("radiologist.appendix_cases_note", among=among, order=order)
    compose(composer, (Section(words("radiologist.appendix_cases"), (listed,), note, room=150.0),))


def case_table(cases: tuple[Case, ...], *, words: Strings) -> Table:
    """One line per case, four boxes to tick."""
    columns = heads(
        words, "cases",
        ("xray", 1.6), ("month", 0.95), ("ct", 1.6), ("pathology", 2.35, "wraps"),
        ("phrase", 2.05, "wraps"), ("ct_phrase", 2.05, "wraps"),
        *((choice.replace(" ", "_"), 0.85) for choice in get_args(Answer)),
    )  # fmt: skip
    rows = []
    for number, case in enumerate(cases):
        pair = case.xray_code, words.month(case.month) or BLANK, case.ct_code
        said = words.name(case.pathology), case.phrase, words.name(case.ct_phrase, of="CT: ")
        rows.append(Row((*pair, *said, *_boxes(case, number, words))))
    return Table(columns, tuple(rows), id="cases", gap=CLOSE)


def _boxes(case: Case, number: int, words: Strings) -> Iterator[Field]:
    """Give the four answers to one case."""
    about, finding = return_sheet.about(case), words.name(case.pathology)
    for choice in get_args(Answer):
        answer = words(f"cases.{choice.replace(' ', '_')}")
        said = words("cases.box", answer=answer, code=case.xray_code, finding=finding)
        yield Field(f"case{number}", choice, about, said)
