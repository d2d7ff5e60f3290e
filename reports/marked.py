"""What a page speaks of and so marks: words, habits and swaps, in the order in which they are said.

A stated pattern marks every word on its side that visibly misses what it means, by the rule by
which sentences say whether a single word is off; else a word is marked where a sentence or a card
is about it, and only there.
"""

from __future__ import annotations

from calibration.profile import PhraseRate, ReaderProfile, Swap
from calibration.profile.shown import Rated, Side
from reports.single_words import carriers, foremost, off, told, unlike, weight
from reports.swaps import claimed, kept_swaps, off_itself, side_of


def subjects(profile: ReaderProfile) -> tuple[Rated, ...]:
    """Give what is spoken of, the first sentence's first: words, habits, swaps."""
    swaps = swaps_in_order(profile)
    first, last = foremost(profile, swaps), heavier(profile)
    said: tuple[Rated | None, ...] = (
        first, *carriers(profile), *told(profile), *unlike(profile, swaps), *swaps, last
    )  # fmt: skip
    found: dict[tuple[str, str | None], Rated] = {}
    for each in said:
        if each is not None:
            found.setdefault((each.phrase, each.finding), each)
    return tuple(found.values())


def swaps_in_order(profile: ReaderProfile) -> tuple[Swap, ...]:
    """Give the swaps as they are said: those of the words that the first sentences show first.

    The others follow by weight, which knows that a low word too high misleads most.
    """
    swaps = kept_swaps(profile)
    first = foremost(profile, swaps)
    said: list[Rated] = [*([first] if first else ()), *carriers(profile), *told(profile)]
    place = {(each.phrase, each.finding): i for i, each in reversed([*enumerate(said)])}

    def at(swap: Swap) -> tuple[int, float]:
        return place.get((swap.phrase, swap.finding), len(said)), -weight(swap)

    return tuple(sorted(swaps, key=at))


def heavier(profile: ReaderProfile) -> PhraseRate | None:
    """Give the marked word without a swap that weighs more than any with one, if there are such."""
    swaps, marked = kept_swaps(profile), sides(profile)
    moved = {swap.phrase for swap in swaps}
    rest = [p for p in profile.phrases if p.phrase in marked and p.phrase not in moved]
    heaviest = max(rest, key=weight, default=None)
    heavier = swaps and heaviest and weight(heaviest) > max(map(weight, swaps))
    return heaviest if heavier else None


def sides(profile: ReaderProfile) -> dict[str, Side]:
    """Say on which side CT lies of the phrases that a pattern or the sentences claim.

    A pattern claims every phrase on its side whose interval misses the meaning.
    """
    found = {p.phrase: side for p in profile.phrases if (side := _beyond(p, profile))}
    swaps = kept_swaps(profile)
    said = (foremost(profile, swaps), *carriers(profile), *told(profile), *unlike(profile, swaps))
    aims = (off_itself(swap, profile) for swap in swaps)
    whole = [each for each in (*said, *swaps, *aims) if each and not each.finding]
    return found | {each.phrase: side_of(each.rate.value, each.meaning) for each in whole}


def _beyond(phrase: PhraseRate, profile: ReaderProfile) -> Side | None:
    """Give the side that a pattern claims for a phrase whose interval lies all on it.

    What was counted of it has to lie there too: nobody could follow a mark that it speaks against.
    """
    side, (strong, weak) = side_of(phrase.rate.value, phrase.meaning), claimed(profile)
    named = side == (strong if phrase.meaning > 0.5 else weak)
    counted = (phrase.observed - phrase.meaning) * (1.0 if side == "more" else -1.0)
    return side if named and off(phrase) and counted > 0.0 else None


def hedges_in_parts(profile: ReaderProfile) -> tuple[tuple[Rated, Side | None], ...]:
    """Give every hedge, with the side on which CT lies where the page speaks of it, and only there.

    A stated pattern speaks of every word on its side whose interval misses what the word says. One
    that is spoken of in some findings and not in all is parted: these, and all others. An advised
    word is spoken of where its card says that it is off itself.
    """
    spoken_of, rows = subjects(profile), list[tuple[Rated, Side | None]]()
    aims = [off_itself(swap, profile) for swap in kept_swaps(profile)]
    whole_words = {each.phrase for each in (*spoken_of, *aims) if each and not each.finding}
    for whole in profile.phrases:
        named = [each for each in spoken_of if each.phrase == whole.phrase]
        parts = named if all(each.finding for each in named) else []
        rows += [(each, side_of(each.rate.value, each.meaning)) for each in parts]
        apart = {each.finding for each in parts}
        rest = (r for r in profile.rest if (r.phrase, {*r.besides}) == (whole.phrase, apart))
        row = next(rest, whole)
        said = row is whole and whole.phrase in whole_words
        of_all = _beyond(row, profile)
        rows.append((row, side_of(row.rate.value, row.meaning) if said else of_all))
    return tuple(rows)
