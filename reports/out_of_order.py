"""What is said where words do not rise with CT, CT mostly hedges, sites differ, or time changed.

Of the first a fault upstream is likelier the cause than the reader, so the page says what to check,
who checks it and in which order (`calibration.profile.order`). In none of them is a word called
off. And what is known of sites, of late and of CT's readers, where words are read.
"""

from __future__ import annotations

from typing import Final

from calibration.profile import Aside, DepartmentProfile, PhraseRate, ReaderProfile
from calibration.profile.shown import LEAST_SHOWN
from reports.content import CtReaders
from reports.numbers import count, percent, percent_interval
from reports.strings import Strings
from reports.swaps import LEAST_USES, figures

# Share of all hedges beyond which those that do not rise with CT leave nothing to say of words.
_UNREAD: Final = 0.1


def unordered(profile: ReaderProfile) -> Aside | None:
    """Give what was set aside of a reader of whom that is everything."""
    return profile.aside[0] if profile.pattern.verdict.state == "no rise" else None


def unsure(profile: ReaderProfile) -> bool:
    """Whether CT itself hedges so often that no word of a reader is right or wrong by it."""
    return profile.pattern.verdict.untold == "no standard"


def is_read(profile: ReaderProfile) -> bool:
    """Whether single words and lines of a reader may be read at all."""
    return profile.pattern.verdict.read


def unread(profile: ReaderProfile | None) -> str:
    """Name why no word of a reader may be read; empty where they may, or nobody was judged."""
    if profile is None or is_read(profile):
        return ""
    if unordered(profile) or unsure(profile):
        return "no_rise" if unordered(profile) else "no_standard"
    return "sites" if profile.pattern.verdict.untold == "sites" else "moved"


def alone(profile: ReaderProfile | None) -> str:
    """End the names of notes on rates that are of each word's counts alone."""
    return "_alone" * (unread(profile) in {"no_rise", "no_standard"})


def remark(profile: ReaderProfile | None, words: Strings) -> str:
    """Say before figures that count what page 1 reads nothing from what they show; else nothing."""
    if key := unread(profile):
        return words(f"radiologist.remark_{key}")
    aside = profile.aside if profile else ()
    names = ", ".join(each.finding or "" for each in aside)
    return words("radiologist.remark_aside", findings=names) if names else ""


def outweigh(found: DepartmentProfile) -> bool:
    """Whether readers whose words do not rise hold so many hedges that no word stands alone."""
    unread = sum(reader.hedges for reader in found if unordered(reader))
    return unread > _UNREAD * sum(reader.hedges for reader in found)


def no_standard(profile: ReaderProfile, words: Strings) -> str:
    """Say of how many hedges CT is plain, and how far X-ray words and CT words lie apart."""
    few, large = 0.0 < profile.plain < LEAST_USES, profile.large
    key = "few" if few else "some" if profile.plain else "none"
    plain = count(LEAST_USES if few else profile.plain)
    said, seen = percent(large.expected / large.n), percent(large.observed / large.n)
    how = words(f"verdict.no_standard.{key}", plain=plain, hedges=count(profile.hedges))
    return f"{how} {words('verdict.no_standard.lead', said=said, seen=seen)}"


def by_site(profile: ReaderProfile, words: Strings) -> str:
    """Say what CT shows of all hedges at the two sites that lie furthest apart, the larger first.

    No site is named: the reader knows where most was written, and nobody else need.
    """
    sites = [p for p in profile.sites or () if p.n >= LEAST_SHOWN]
    apart = sorted(sites, key=lambda p: p.rate.value - p.meaning)
    two = sorted({*map(sites.index, (*apart[:1], *apart[-1:]))})
    names = ("most", "other" if len(sites) == 2 else "another") if 0 in two else ("one", "another")
    said = (
        words(f"verdict.sites.{name}", **figures(sites[i], words))
        for name, i in zip(names, two, strict=False)
    )
    return " ".join([*said, words("verdict.sites.why")])


def since(profile: ReaderProfile, words: Strings) -> str:
    """Say what CT shows of strong and of weak hedges before a change and since; what follows."""
    kind, known = profile.pattern.verdict.untold, {p.phrase: p for p in profile.lately}
    month, said = words.month(profile.since, "long"), list[str]()
    for side in ("strong", "weak"):
        both = [known.get(f"{side}_{when}") for when in ("before", "since")]
        then, now = (figures(p, words) if p and p.n >= LEAST_SHOWN else None for p in both)
        if then and now:
            before = {f"{name}_before": text for name, text in then.items()}
            said.append(words(f"verdict.lately.{side}", month=month, **now, **before))
    return " ".join([*said, words("verdict.lately.why"), words(f"verdict.{kind}.so")])


def parted(profile: ReaderProfile, words: Strings) -> tuple[str, ...]:
    """Say whether what is told of all hedges holds at each of a reader's sites, and of late."""
    verdict = profile.pattern.verdict
    of = "none_" * (verdict.state == "none")
    each = (("sites", verdict.sites), ("lately", verdict.lately))
    return tuple(words(f"verdict.{name}.{of}{holds}") for name, holds in each if holds)


def leaning(profile: ReaderProfile, ct_readers: CtReaders, words: Strings) -> str:
    """Say where nothing is to be changed that CT's readers who know the words may lean to them."""
    told = profile.pattern.verdict.state == "none" and ct_readers != "blind"
    return words(f"verdict.none.{ct_readers}") if told else ""


def unreadable(profile: ReaderProfile, words: Strings) -> str:
    """Say what it rests on that no word may be read."""
    if unsure(profile):
        return no_standard(profile, words)
    return (by_site if unread(profile) == "sites" else since)(profile, words)


def claim(whole: Aside, words: Strings) -> str:
    """Say it of all hedges: the page's first sentence."""
    return words(f"verdict.no_rise.{whole.way}")


def basis(whole: Aside, words: Strings) -> str:
    """Say what it rests on, why a fault is likelier, and what the surest words point to."""
    sides = tuple(_side(each, words) for each in whole.sides if each.n >= LEAST_SHOWN)
    sure = "" if whole.certain == "open" else words(f"verdict.no_rise.certain_{whole.certain}")
    if whole.way == "mixed":
        share = whole.share
        shown = {"share": percent(share.value)}
        shown["interval"] = percent_interval(max(share.low, 0.0), min(share.high, 1.0))
        sides = (*sides, words("verdict.no_rise.share", **shown))
    return " ".join(filter(None, (*sides, words("verdict.no_rise.why"), sure)))


def in_findings(profile: ReaderProfile, words: Strings) -> tuple[str, ...]:
    """Say a sentence of each single finding that was set aside."""
    if unordered(profile):
        return ()
    return tuple(
        " ".join([
            words("verdict.aside.claim", finding=each.finding),
            *(_side(side, words) for side in each.sides if side.n >= LEAST_SHOWN),
            words("verdict.aside.why"),
        ])
        for each in profile.aside
    )  # fmt: skip


def _side(side: PhraseRate, words: Strings) -> str:
    return words(f"verdict.no_rise.{side.phrase}", **figures(side, words))
