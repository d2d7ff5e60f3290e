"""Readers against the scale: how many stand apart, how far readers differ, each one in words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Sequence
from functools import partial
from statistics import fmean
from typing import Final

from scipy.special import expit

from calibration.profile import Change, DepartmentProfile, ReaderProfile
from calibration.profile.shared import PARTS
from reports.drawing.layout import Figure, Piece, Prose, Section, note, statement
from reports.drawing.style import BODY
from reports.drawing.tables import Row, Table, heads
from reports.figures.readers import plane
from reports.marked import swaps_in_order
from reports.numbers import BLANK, count, decimal, percent, signed
from reports.out_of_order import is_read, unread
from reports.pages.committee.decisions import common, coordinate, shared_pattern
from reports.pages.committee.heaviest import off_with
from reports.pages.committee.tables import terms
from reports.review_content import CommitteeContent, Counts
from reports.strings import Strings
from reports.swaps import Scale, advised, kept_swaps, titled
from reports.verdict import short, single_words

_PLANE: Final = 150.0


def apart(content: CommitteeContent, words: Strings) -> tuple[Section, ...]:
    """Say how many readers stand apart, and draw them in one plane; or why there are none."""
    title, found = words("committee.profiles"), content.profiles
    if found is None:
        return (Section(title, (statement(words("state.not_computed")),)),)
    if found.readers and not any(reader.hedges for reader in found.readers):
        return (Section(title, (statement(words("committee.no_hedges")),)),)
    hidden = _unreportable(content)
    readers = [each for each in found.readers if _on_a_line(each) and each.reader not in hidden]
    pieces: list[Piece] = [Prose(text, BODY) for text in _findings(content, found, words)]
    if readers:
        drawn = partial(plane, readers=readers, rules=found.settings, words=words)
        pieces.append(Figure(drawn, _PLANE, words("committee.plane_note")))
    how = f"{words('reading.signals')} {words('reading.few')}"
    return (Section(title, tuple(pieces), how, room=330.0),)


def _on_a_line(reader: ReaderProfile) -> bool:
    """Whether shift and slope say anything of a reader.

    Of one whose sites differ they are shown as of all others: nobody else need know of the sites.
    """
    return bool(reader.hedges) and (is_read(reader) or reader.pattern.verdict.untold == "sites")


def profiles(content: CommitteeContent, words: Strings) -> tuple[Section, ...]:
    """Lay out what each reader is told; nothing where nobody may be shown."""
    found = content.profiles
    if found is None:
        return ()
    hidden = _unreportable(content)
    shift, slope = found.settings.shift_margin, found.settings.slope_margin
    ends = {"low": decimal(1.0 - slope, 2), "high": decimal(1.0 + slope, 2)}
    told = words("committee.profiles_note", shift=decimal(shift, 1), **ends)
    centre = _centre(found, hidden, words) if content.standard == "plain" else ()
    said = " ".join([told, *centre])
    if n := sum(reader.reader in hidden for reader in found.readers):
        limit = decimal(content.minimum_reliability, 1)
        said += " " + words("committee.unreportable", n=count(n), minimum=limit)
    table = (profile_table(content, found, words=words, hidden=hidden), note(said))
    return (
        Section(words("committee.profiles_table"), table, level=1, room=160.0),
        Section(words("committee.advised"), _advised(found, words), level=1, room=90.0),
    )


def _centre(found: DepartmentProfile, hidden: Collection[str], words: Strings) -> tuple[str, ...]:
    """Say where readers gather beside the plain means; nothing where too few could be judged."""
    shared, judged = found.shared, [r for r in found.readers if r.reader not in hidden]
    lines = [reader.pattern for reader in judged if _on_a_line(reader)]
    if shared.readers < found.settings.least_shared or not lines:
        return ()
    said = words(
        "committee.profiles_centre",
        shift=signed(shared.shift.value, 2),
        slope=decimal(shared.slope.value, 2),
        mean_shift=signed(fmean(line.shift.value for line in lines), 2),
        mean_slope=decimal(fmean(line.slope.value for line in lines), 2),
    )
    return (said,)


def _unreportable(content: CommitteeContent) -> frozenset[str]:
    """Name the readers whose figures are too much chance to be shown on any page of a review."""
    low = content.minimum_reliability
    return frozenset(row.code for row in content.readers if row.reliability < low)


def _findings(
    content: CommitteeContent, found: DepartmentProfile, words: Strings
) -> tuple[str, ...]:
    """Say how many stand apart, how sure that is, and how far readers differ."""
    verdicts = [reader.pattern.verdict for reader in found.readers]
    states, untold = Counter(v.state for v in verdicts), Counter(v.untold for v in verdicts)
    alike = sum(each.state == "none" and bool(each.shared) for each in verdicts)
    counts, hidden = content.counts, _unreportable(content)
    left_out = counts.readers - counts.judged
    singles = sum(map(single_words, found.readers))
    silent, hedged, unclear = (untold[k] for k in ("no hedge", "no standard", "instrument"))
    unclear, changed = unclear + untold["sites"], untold["mended"] + untold["moved"]
    few = states["too few"] - silent - hedged - unclear - changed
    others = {"none": states["none"] - alike, "alike": alike, "changed": changed}
    others |= {"unclear": unclear, "few": few}
    others = {"no_rise": states["no rise"], "standard": hedged, **others, "silent": silent}
    rest = ", ".join(words(f"committee.apart_{k}", n=count(n)) for k, n in others.items() if n)
    first = words("committee.apart", told=count(counts.told), readers=count(counts.judged))
    first = words("committee.apart_rest", first=first, rest=rest) if rest else f"{first}."
    parts = (
        words("committee.apart_withheld", n=count(left_out)) if left_out else "",
        words("committee.apart_single", n=count(singles)) if singles else "",
        _doubt(found, counts, words) if counts.told else "",
    )
    said = " ".join(part for part in (first, *parts) if part)
    sure = content.standard == "plain"
    common = _shared(found, words) if sure else ()
    differ = _spread(found, words) if sure else ()
    misread = found.settings.misread
    read = (words("committee.misread", share=percent(misread)),) if misread > 0 else ()
    changes = [change for change in found.changes or () if change.reader not in hidden]
    limit = decimal(content.minimum_reliability, 1)
    held = found.changes and not changes
    moved = words("committee.moved.withheld", minimum=limit) if held else ""
    moved = moved or _moved(found, changes, words)
    choice = f"{_choice(found, words)} {words(f'committee.ct_{content.ct_readers}')}"
    return (said, choice, *common, *read, *differ, moved)


def _doubt(found: DepartmentProfile, counts: Counts, words: Strings) -> str:
    """Say how many of those told are expected to be told wrongly, of how many judged."""
    expected = round(found.expected_false)
    key = "committee.expected_few" if not expected else "committee.expected_false"
    return words(key, expected=expected, told=counts.told, readers=count(counts.judged))


def _choice(found: DepartmentProfile, words: Strings) -> str:
    """Say the one rule for what the choice of CTs may explain: of every shift, and of no slope."""
    asked = sum(reader.pattern.verdict.question for reader in found.readers)
    low, high = (decimal(times, 1) for times in found.settings.plausible_ordering)
    return words("committee.choice", low=low, high=high, asked=count(asked))


def _shared(found: DepartmentProfile, words: Strings) -> tuple[str, ...]:
    """Say what most readers share, as a question about the department, and what may explain it."""
    what, shared = shared_pattern(found, words), found.shared
    if not what:
        return ()
    said = [words("committee.shared", what=what)]
    if math.isfinite(shared.tipping):
        key = "plausible" if shared.question else "implausible"
        said += [words(f"committee.shared_ordering.{key}", times=decimal(shared.tipping, 2))]
    doubt = decimal(found.settings.plausible_doubt, 0)
    for key, parts in (("explained", shared.explained), ("stands", shared.parts)):
        left = words(f"committee.shared_left.{key}", what=common(parts, words), doubt=doubt)
        said += [left] * bool(parts)
    return (" ".join(said),)


def _moved(found: DepartmentProfile, changes: Sequence[Change], words: Strings) -> str:
    """Name the readers whose words moved by more than the margin since the months before.

    That too little is known of those months, or that they could not be judged, is said as such.
    """
    sure = found.settings.pattern_probability
    if not changes:
        state = "unjudged" if found.changes is None else "few"
        return words(f"committee.moved.{state}", least=found.settings.least_statements)
    moves = [
        words(f"committee.moved.{name}", reader=change.reader, by=signed(part.value, 2))
        for change in changes
        for name, part in (("shift", change.shift), ("slope", change.slope))
        if part.probability >= sure
    ]
    if not moves:
        return words("committee.moved.none", readers=count(len(changes)))
    return words("committee.moved.some", moves=", ".join(moves), readers=count(len(changes)))


def _spread(found: DepartmentProfile, words: Strings) -> tuple[str, ...]:
    """Say what a word means in different hands, most readers' line ± one deviation, if it differs.

    Nothing where too few could be judged.
    """
    sd, mean = found.spread, found.shared.shift.value
    if not math.isfinite(sd.value):
        return ()
    ends = [by for end in (sd.value, sd.low, sd.high) for by in (-end, end)]
    rates = [percent(float(expit(mean + by))) for by in ends]
    names = ("low", "high", "least_low", "least_high", "most_low", "most_high")
    key = "committee.spread" if sd.low > 0.0 else "committee.spread_open"
    return (words(key, **dict(zip(names, rates, strict=True))),)


def profile_table(
    content: CommitteeContent, found: DepartmentProfile, *, words: Strings, hidden: Collection[str]
) -> Table:
    """List every reader in code order: verdict, shift, slope, tipping point and first swap.

    Those in ``hidden``, and who wrote no hedge, have no figures.
    """
    scale = terms(content)
    columns = heads(
        words, "profiles",
        ("code", 0.5), ("hedges", 0.5, "right"), ("said", 6.0, "wraps"), ("shift", 0.5, "right"),
        ("slope", 0.5, "right"), ("tipping", 0.5, "right"), ("swap", 5.0, "wraps"),
    )  # fmt: skip
    rows = []
    for reader in sorted(found.readers, key=lambda each: each.reader):
        shift, slope = reader.pattern.shift, reader.pattern.slope
        across = coordinate(shift, sign=True) if _on_a_line(reader) else BLANK
        along = BLANK if unread(reader) in {"no_standard", "moved"} else coordinate(slope)
        figures = across, along, _tipping(reader)
        if quiet := not reader.hedges or reader.reader in hidden:
            state = "not_reportable" if reader.hedges else "no_hedges"
            figures = words(f"state.{state}"), BLANK, BLANK
        told = reader.reader, count(reader.hedges), short(reader, words)
        rows.append(Row((*told, *figures, _swap(reader, words, scale)), quiet=quiet))
    return Table(columns, tuple(rows), empty=words("state.none"), id="profiles")


def _advised(found: DepartmentProfile, words: Strings) -> tuple[Piece, ...]:
    """List the swaps that several readers are advised, those of most first; count the others."""
    swaps = [swap for reader in found.readers for swap in kept_swaps(reader)]
    told = Counter((s.phrase, s.instead, s.finding or "") for s in swaps)
    columns = heads(words, "advised", ("swap", 3.0), ("finding", 2.4), ("readers", 1.0, "right"))
    several = sorted(((-n, *swap) for swap, n in told.items() if n > 1))
    rows = []
    for n, phrase, instead, finding in several:
        title = titled(phrase, instead, None, words)
        rows.append(Row((title, finding or words("maps.all_findings"), count(-n))))
    none = Prose(words("committee.advised_none"), BODY)
    table = (Table(columns, tuple(rows), id="advised") if rows else none,)
    once, kept = sum(n == 1 for n in told.values()), _without_swap(found)
    off = ", ".join(words("committee.off_in", phrase=p, n=n) for p, n in kept)
    said = [
        words("committee.advised_once", n=count(once)) if once else "",
        words("committee.held_back", phrases=off) if off else "",
    ]
    text = " ".join(filter(None, said))
    return (*table, note(text)) if text else table


def _without_swap(found: DepartmentProfile) -> list[tuple[str, int]]:
    """Count in whose hands a word is off without a swap, where that is several readers'."""
    off = Counter(
        rate.phrase
        for reader in found.readers
        for rate in reader.phrases
        if rate.phrase not in {swap.phrase for swap in kept_swaps(reader)}
        if off_with(reader, rate)
    )
    return sorted(((p, n) for p, n in off.items() if n > 1), key=lambda each: (-each[1], each[0]))


def _tipping(reader: ReaderProfile) -> str:
    """Print which choice of CTs would explain a shift that is stated or asked about."""
    tipping, parts = reader.pattern.tipping, reader.pattern.verdict.parts
    shifted = math.isfinite(tipping) and not {*PARTS[:2]}.isdisjoint(parts)
    return decimal(tipping, 2) if shifted else BLANK


def _swap(reader: ReaderProfile, words: Strings, scale: Scale) -> str:
    """Print a reader's first swap as the reader's own card does."""
    swaps = swaps_in_order(reader)
    if not swaps:
        return BLANK
    first = swaps[0]
    instead = advised(first, reader, words, scale)
    return titled(first.phrase, instead, first.finding, words)
