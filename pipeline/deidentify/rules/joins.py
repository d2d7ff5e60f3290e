"""What belongs to identifiers that were found: units, particles, the rest of a word, other halves.

Where two identifiers of a kind stand in one line with nothing but small words between them, they
are one (17.02 kl. 21.30 · Halimah bte Yusof · College of Agriculture); and an identifier takes with
it what hangs on it: the letters of its own word, a clock's unit, a particle, the halves of a double
name, the parts of a code. Nothing here looks at lists of names.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Final

from pipeline.deidentify.rules.checks import patterns, word_list
from pipeline.deidentify.rules.window import past
from pipeline.deidentify.spans import Category, Claims, Removed

_P: Final = patterns("joins")
JUDGE: Final = "judge"
"""What the judge's finds are called."""
_SPOKEN: Final[tuple[Category, ...]] = ("NAME", "HOSPITAL", "LOCATION")
_REACH: Final = 40
_LONGEST_GAP: Final = 30
_GAPS: Final = {
    "DATE": ("date_gap", frozenset({"DATE", "TIME"})),
    "TIME": ("date_gap", frozenset({"DATE", "TIME"})),
    "NAME": ("name_gap", frozenset({"NAME"})),
    "HOSPITAL": ("place_gap", frozenset({"HOSPITAL", "LOCATION"})),
    "LOCATION": ("place_gap", frozenset({"HOSPITAL", "LOCATION"})),
}
"""By the kind of the first: what may stand between it and the second, and the second's kinds."""
_HEADS: Final = {
    "DATE": ("day_head",),
    "NAME": ("half_before", "initials_before", "name_head"),
    "LOCATION": ("half_before", "place_head"),
    "HOSPITAL": ("half_before", "place_head"),
    "ID": ("code_before", "code_head", "phone_head"),
    "PHONE": ("phone_head",),
}
_LAST: Final = {"half_before": "-\n", "code_before": "-./_\\\n+*~•·"}
"""What such a head ends in; a line break may stand behind it."""
_LAST_WORDS: Final = {
    name: word_list(f"{name}s") for name in ("day_head", "name_head", "place_head")
}
"""What the last word of such a head is, or a figure, or a word in Greek."""
_BETWEEN: Final = " \t\n.,:'’-"
_TAILS: Final = {
    "DATE": ("clock_tail", "day_tail", "age_tail"),
    "TIME": ("clock_tail", "age_tail"),
    "NAME": ("half_behind", "initials_behind"),
    "LOCATION": ("half_behind", "place_tail"),
    "HOSPITAL": ("half_behind", "place_tail"),
    "ID": ("code_behind", "age_tail"),
    "PHONE": ("phone_tail",),
    "AGE": ("age_tail",),
}


def join(claims: Claims) -> None:
    """Lengthen and join the identifiers of a text, in place; a locked phrase ends them."""
    found = claims.removed()
    as_found = {(each.start, each.end) for each in found}
    for stretch in _joined(claims.text, [_whole(claims.text, each) for each in found]):
        if stretch[:2] not in as_found:
            claims.join(*stretch)


def _kinds(category: Category, rule: str) -> tuple[Category, ...]:
    """Give what a stretch may be: the judge tells a name from a place less surely than either."""
    return _SPOKEN if rule == JUDGE and category in _SPOKEN else (category,)


@cache
def _hanging(category: Category, rule: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Name what may hang on a stretch before and behind."""
    kinds = _kinds(category, rule)
    heads = dict.fromkeys(name for kind in kinds for name in _HEADS.get(kind, ()))
    tails = dict.fromkeys(name for kind in kinds for name in _TAILS.get(kind, ()))
    if category != "NAME":
        tails.pop("initials_behind", None)  # LUNG V. OLD FILMS
    return tuple(heads), tuple(tails)


def _whole(text: str, each: Removed) -> Removed:
    """Take the rest of a word, then what hangs on it before and behind."""
    start, end = each.start, each.end
    while start > 0 and text[start].isalnum() and text[start - 1].isalnum():
        start -= 1
    while end < len(text) and text[end].isalnum() and text[end - 1].isalnum():
        end += 1
    heads, tails = _hanging(each.category, each.rule)
    before = _before(text, start) if heads else ("", "", False)
    for name in heads:
        if not _may_hang(name, *before):
            continue
        if name == "code_before" and _P["noun"].match(text, start, end):
            continue  # the noun of a code, and not its rest (V-nummer)
        head = _P[name].search(text, max(0, start - _REACH), start)
        if head is not None:
            start = head.start()
            before = _before(text, start)
    if each.category in ("DATE", "TIME") and not text[end - 1].isdigit():
        tails = ("day_tail",)
    for name in tails:
        end = past(_P[name], text, end)
    return Removed(start, end, each.category, each.rule)


def _before(text: str, start: int) -> tuple[str, str, bool]:
    """Give what stands before an identifier, its last word, and whether a figure touches that."""
    near = text[max(0, start - _REACH) : start]
    at = stop = len(near.rstrip(_BETWEEN))
    while at and near[at - 1].isalpha():
        at -= 1
    return near, near[at:stop], near[at - 1 : at].isdigit()


def _may_hang(head: str, near: str, word: str, behind_figure: bool) -> bool:  # noqa: FBT001
    """Tell fast whether a head can end here: its search is slow, and most end in few words."""
    if head in _LAST:
        return near[-1:] in _LAST[head]
    if head == "phone_head":
        return "+" in near[-9:] or "(" in near[-9:]  # (+1234) and a blank
    if head not in _LAST_WORDS:  # initials or the letters of a code
        return word.isupper() and (len(word) == 1 or head == "code_head")
    other = head != "name_head" and (word >= "\u0370" or behind_figure)
    return other or word.casefold() in _LAST_WORDS[head]


def _joined(text: str, stretches: Iterable[Removed]) -> list[Removed]:
    """Join those with nothing but small words between them."""
    done: list[Removed] = []
    for each in stretches:
        if done and _are_one(text, done[-1], each):
            done[-1] = done[-1]._replace(end=max(done[-1].end, each.end))
        else:
            done.append(each)
    return done


def _are_one(text: str, first: Removed, second: Removed) -> bool:
    if second.start <= first.end:
        return second.category == first.category
    gap = text[first.end : second.start]
    if len(gap) > _LONGEST_GAP or "\n" in gap:
        return False
    theirs = _kinds(second.category, second.rule)
    either = {first.category, second.category}.intersection(_kinds(first.category, first.rule))
    gaps = [_GAPS[kind] for kind in sorted(either) if kind in _GAPS]
    names = [name for name, kinds in gaps if not kinds.isdisjoint(theirs)]
    names += ["name_between"] if "name_gap" in names else []
    if not any(_P[each].fullmatch(gap) for each in names):
        return False
    if first.category in ("DATE", "TIME"):
        return _is_worded(text, first, gap, second)
    return first.category == second.category or any(map(str.isalpha, gap))


def _is_worded(text: str, first: Removed, gap: str, second: Removed) -> bool:
    """Tell whether two dates are one: joined by a word, a day and its date, a date and its time."""
    if any(map(str.isalpha, gap)):
        return True
    return text[first.end - 1].isalpha() or (first.category, second.category) == ("DATE", "TIME")
