"""The quality committee's review: what to decide, readers, words, exams; then figures in full.

Readers appear by code, in code order; figures by reader and for the department appear only from
``minimum_readers`` readers on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Final

from reports.content import Masthead, SuppressedCell
from reports.disclosure import guard_committee
from reports.drawing.layout import Composer, Prose, Section, compose, composed
from reports.drawing.marks import Drawing
from reports.drawing.pdf import published
from reports.drawing.style import BODY, CAPTION, LEAD, Style, Type, in_language
from reports.drawing.web import to_html
from reports.numbers import count, points
from reports.out_of_order import outweigh, unsure
from reports.pages.committee import sections as later
from reports.pages.committee.decisions import decisions
from reports.pages.committee.heaviest import side_of_all
from reports.pages.committee.months import over_time
from reports.pages.committee.profiles import apart, profiles
from reports.pages.committee.readers import case_mix, readers
from reports.pages.committee.sections import department, exams, pathologies, withheld
from reports.review_content import CommitteeContent, statements
from reports.strings import Strings, translated

__all__ = ["build_both", "headline", "pages", "sections"]

_ONE_PAGE: Final = (1.16, 1.08, 1.0, 0.93, 0.86, 0.8, 0.72, 0.64)
# Share of the first page that must be free for what follows to begin on it.
_SHARED: Final = 0.4


@in_language
def build_both(content: CommitteeContent, *, style: Style) -> tuple[bytes, bytes]:
    """Make the PDF, and the same pages as one HTML file; equal contents give equal bytes."""
    words, head, drawn = style.strings, content.masthead, pages(content, style=style)
    page = to_html(drawn, title=words("committee.title"), head=head, words=words)
    return published("committee", drawn, head, words), page


@in_language
def pages(content: CommitteeContent, *, style: Style) -> list[Drawing]:
    """Lay out all pages as drawings (what the geometry tests look at)."""
    opened = guard_committee(content)
    parts = sections(opened, words=style.strings)
    first = len(_first_page(opened, style.strings))

    def deciding(composer: Composer, kind: Type) -> None:
        _opening(composer, opened)
        compose(composer, tuple(_at_most(kind, part) for part in parts[:first]))

    def lay_out(composer: Composer) -> None:
        _on_one_page(composer, deciding)
        compose(composer, parts[first:])

    return composed(lay_out, style=style, masthead=content.masthead)


def sections(content: CommitteeContent, *, words: Strings) -> tuple[Section, ...]:
    """Lay out all sections of a guarded content in order, whatever they become.

    The door is passed once: what is rounded twice may lie elsewhere.
    """
    content = translated(content, words, keep=(Masthead,))
    first, flow = _first_page(content, words), exams(content, words)
    run = (
        later.instrument(content, words),
        later.gates(content, words),
        later.manifest(content, words),
        later.governance(content, words),
    )
    if content.few_readers:  # page 1 says why there is nothing of them
        return (*first, flow, *run)
    found = *apart(content, words), *profiles(content, words), *department(content, words)
    return (*first, *found, flow, *_appendix(content, words), *run)


def _first_page(content: CommitteeContent, words: Strings) -> tuple[Section, ...]:
    """Lay out what is for deciding: proposals, months, coverage, advice, what came back."""
    months = () if content.few_readers else over_time(content, words)
    return (*decisions(content, words), *months)


def _appendix(content: CommitteeContent, words: Strings) -> tuple[Section, ...]:
    """Lay out the figures in full."""
    glossary = tuple(Prose(text, BODY) for text in words.series("glossary"))
    opened = Section(words("committee.appendix"), glossary, words("committee.appendix_lead"))
    by_pathology = (pathologies(content, words),) if content.by_pathology else ()
    return (
        opened,
        *later.scores(content, words),
        *by_pathology,
        readers(content, words),
        case_mix(content, words),
        later.disagreement(content, words),
        later.sensitivity(content, words),
        later.scale_use(content, words),
        later.maps(content, words),
    )


def _opening(composer: Composer, content: CommitteeContent) -> None:
    """Set title, the one sentence, and whom to ask."""
    words, head = composer.style.strings, content.masthead
    subtitle = words("committee.subtitle", recipient=head.recipient, period=head.period)
    composer.title(words("committee.title"), subtitle)
    composer.skip(6.0)
    composer.add(Prose(headline(content, words=words), LEAD), after=8.0)
    contact = words("committee.contact", contact=head.contact, next_issue=head.next_issue)
    composer.add(Prose(contact, CAPTION.muted), after=4.0)


def _at_most(kind: Type, section: Section) -> Section:
    """Set a section's paragraphs in a type, but those that are in a smaller one."""
    pieces = (
        replace(p, kind=kind) if isinstance(p, Prose) and p.kind.size > kind.size else p
        for p in section.pieces
    )
    return replace(section, pieces=tuple(pieces))


def _on_one_page(composer: Composer, lay_out: Callable[[Composer, Type], None]) -> None:
    """Set what opens the document as wide as keeps it whole on its first page; at last, smaller.

    What follows begins on a page of its own, where this one is filled.
    """
    for kind, spread in product((BODY, CAPTION), _ONE_PAGE):
        trial = Composer(composer.style, composer.masthead, spread=spread)
        lay_out(trial, kind)
        if len(trial.pages) == 1:
            break
    before, composer.spread = composer.spread, trial.spread
    lay_out(composer, kind)
    composer.spread = before
    if composer.room < _SHARED * composer.body.height:
        composer.new_page()


def headline(content: CommitteeContent, *, words: Strings) -> str:
    """Say how far the department's words lie from CT, what chance gives, how many are told."""
    department = content.department
    if isinstance(department, SuppressedCell):
        return withheld(department, words)
    gap = department.phrase_error
    if gap.null_high != gap.null_high:
        chance = words("committee.headline_no_chance")
    else:
        key = "within" if gap.value <= gap.null_high else "beyond"
        key = "no_part" if points(gap.null_high) == points(0.0) else key
        chance = words(f"committee.headline_{key}", null=points(gap.null_high))
    said = words(
        "committee.headline",
        gap=points(gap.value),
        true=points(gap.without_chance().value),
        low=points(gap.low),
        high=points(gap.high),
        statements=words.several("unit.statements", statements(department)),
        chance=chance,
    )
    more = _standard(content, words), _side(content, words), _told(content, words)
    return " ".join(text for text in (said, *more) if text)


def _standard(content: CommitteeContent, words: Strings) -> str:
    """Say that CT itself hedges, where it does so of most hedges: nothing sure to hold to."""
    if content.standard == "plain":
        return ""
    readers = content.profiles.readers if content.profiles else ()
    shown = {"n": count(sum(map(unsure, readers))), "of": count(len(readers))}
    return words(f"committee.standard_{content.standard}", **shown)


def _side(content: CommitteeContent, words: Strings) -> str:
    """Say to which side the hedges of all lie, where chance does not explain it.

    That is stated only beside a shared shift to that side that neither a plausible choice of CTs
    nor CT's own errors explain, and where CT says plainly often enough what is there; not
    where readers whose words do not rise with CT hold too many of them.
    """
    key = side_of_all(content)
    if content.profiles is None or not key or content.standard != "plain":
        return ""
    if outweigh(content.profiles):
        return words("committee.headline_unread")
    shared, ratio = content.profiles.shared, content.profiles.large.ratio
    shift = "overcalls" if key == "less" else "undercalls"
    key += "" if shift in shared.parts else "_asked"
    shown = {"seen": ratio.value, "low": ratio.low, "high": ratio.high}
    ends = {name: count(100.0 * value) for name, value in shown.items()}
    return words(f"committee.headline_{key}", **ends)


def _told(content: CommitteeContent, words: Strings) -> str:
    """How many readers are told of a pattern; silent where readers were not judged or shown."""
    found, counts = content.profiles, content.counts
    if found is None:
        return ""
    if not any(reader.hedges for reader in found.readers):
        return words("committee.profiles_no_hedges")
    return words.several("committee.profiles_headline", counts.told, readers=counts.judged)
