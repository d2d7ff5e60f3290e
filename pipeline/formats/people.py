"""People as sources write them: names in one comparable form, the numbers that are one patient's.

Values are shown without names.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from typing import Final, TypeAlias

from pipeline.formats.values import known_words
from pipeline.names.lexicon import Lexicon, load

_SHOWN: Final = 24
_FEW_WORDS: Final = 3
_FEW_DIGITS: Final = 5
_INITIALS: Final = 2
_ABBREVIATION: Final = 4
_LETTERS: Final = re.compile(r"[^\W\d_]+")
_MAX_WORDS: Final = 4
"""A name on a line of its own has no more words."""
_MIN_DIGITS: Final = 4
"""A number of fewer digits is not looked for in texts."""
_OSTEOPATH: Final = ("DO", "D.O.")
"""A title that is also a family name."""


@dataclass(frozen=True, slots=True)
class Person:
    """A person as a source names them; ``identifier`` is '' where only the name is known."""

    identifier: str
    family: str
    given: str

    @property
    def name(self) -> str:
        """``FAMILY^GIVEN``."""
        return f"{self.family}^{self.given}".rstrip("^")

    @property
    def key(self) -> str:
        """The identifier, or one made from the name, the same in every message."""
        if self.identifier:
            return self.identifier
        first = self.given.split()[0] if self.given else ""
        return "name:" + f"{self.family} {first}".upper().rstrip()

    def is_same(self, other: Person) -> bool:
        """Compare by family name, and by the first letter of the given name where both have one."""
        if self.family.casefold() != other.family.casefold():
            return False
        mine, theirs = self.given[:1].casefold(), other.given[:1].casefold()
        return not mine or not theirs or mine == theirs


def drafter(
    named: Person | None, dictated: Person | None, reader: Person | None, *, is_preliminary: bool
) -> str:
    """Give the key of who wrote the draft: another than the reader, or of a draft its reader."""
    if named and (not reader or named.key != reader.key):
        return named.key
    if dictated and reader and not dictated.is_same(reader):
        return dictated.key
    return reader.key if reader and is_preliminary else ""


SEVERAL: Final = ", the first of several"
A_NAME: Final = ", by a number that reads as a name"


def reader_of(named: Sequence[Person], signed: Iterable[Person | None]) -> tuple[Person, str]:
    """Choose of those whom a field names who signed, else the first; and say what is not certain.

    One may be named twice, by two numbers or without. A number that is a name, as of a login or of
    components in another order, is many people's.
    """

    def is_one(one: Person, other: Person) -> bool:
        return one.key == other.key or (bool(one.family) and one.is_same(other))

    found = next((p for p in named for s in signed if s and is_one(p, s)), None)
    told = "" if found or all(is_one(p, named[0]) for p in named) else SEVERAL
    is_name = (found := found or named[0]).identifier.casefold() in lexicon().all_names
    return found, told + (A_NAME if is_name and found.family else "")


def attributed(
    reader: Person | None, source: str, signed: Person | None, author: str
) -> dict[str, str]:
    """Give the columns of who read a report, where it says so, and whether its signature agrees."""
    conflict = reader and signed and reader.family and not reader.is_same(signed)
    return {
        "reader_id": reader.key if reader else "",
        "reader_name": reader.name if reader else "",
        "reader_source": source,
        "reader_conflict": "1" if conflict else "",
        "preliminary_author": author,
    }


def person_from_text(name: str) -> Person | None:
    """Read ``Last, First M``, ``LAST^FIRST`` or ``First M. Last``, with titles or without."""
    first, *others = (_without_titles(part.split()) for part in re.split(r"[,^]", name))
    if others and first[1:] and first[-1] in _OSTEOPATH and not first[0].isupper():
        first = first[:-1]  # "Brandt DO, Carl", but not "NGUYEN DO, Anh"
    words = [first, *(each for each in others if each not in ([title] for title in _OSTEOPATH))]
    parts = [" ".join(each).strip(" .") for each in words]
    parts = [part for part in parts if part]
    if not parts:
        return None
    if len(parts) > 1:
        return Person("", parts[0], parts[1])
    names = parts[0].split()
    return Person("", names[-1], " ".join(names[:-1]))


Said: TypeAlias = tuple[tuple[str, ...], bool]
"""Numbers, folded: the first became the last, or, where true, all are one patient's at once."""


@dataclass(frozen=True, slots=True)
class Joined:
    """Which numbers are one patient's, and what was said that contradicts something else said.

    ``stands`` gives for a number the one that it is read as; ``unclear`` holds what joins nobody.
    """

    stands: Mapping[str, str]
    unclear: frozenset[Said]


def joined(said: Iterable[Said]) -> Joined:
    """Find whose numbers are one patient's; only what was said decides, in any order.

    A number that became two others, of which none became the other, is followed to neither, and
    nothing is followed in a circle. Of lists that share a number, one must hold all their numbers:
    a placeholder that stands beside many patients' numbers would make one patient of them.
    """
    every = {each for each in said if len(set(each[0])) > 1}
    became: defaultdict[str, set[str]] = defaultdict(set)
    for numbers, listed in every:
        if not listed:
            became[numbers[0]].add(numbers[-1])
    stands = _ends(became)
    unclear = {each for each in every if not each[1] and each[0][0] not in stands}
    lists = {each: frozenset(stands.get(n, n) for n in each[0]) for each in every if each[1]}
    near: defaultdict[str, set[frozenset[str]]] = defaultdict(set)
    for one in lists.values():
        for number in one:
            near[number].add(one)
    whole = {one for one in lists.values() if all(each <= one for n in one for each in near[n])}
    unclear |= {
        each for each, one in lists.items()
        if not any(one <= other for n in one for other in near[n] & whole)
    }  # fmt: skip
    alike = {number: min(one) for one in whole for number in one}
    found = {number: alike.get(end, end) for number, end in (stands | alike).items()}
    return Joined({n: one for n, one in found.items() if n != one}, frozenset(unclear))


def _ends(became: Mapping[str, set[str]]) -> dict[str, str]:
    """Give what each number became in the end, where that is one and not itself."""
    order = TopologicalSorter(became)
    with suppress(CycleError):  # what stands in a circle, or leads there, never gets ready
        order.prepare()
    ends: dict[str, set[str]] = {}
    while ready := order.get_ready():
        for number in ready:
            after = {end for next_ in became.get(number, ()) for end in ends[next_]}
            ends[number] = set(sorted(after)[:2]) or {number}
        order.done(*ready)
    return {number: min(end) for number, end in ends.items() if number in became and len(end) == 1}


def several(values: Iterable[str]) -> str:
    """Write several values into one cell, each once."""
    return ";".join(dict.fromkeys(v.replace(";", " ") for v in values if v))


def numbers_of(values: Iterable[str]) -> str:
    """Write those values into one cell that have digits enough to be looked for in a text."""
    return several(v for v in values if sum(map(str.isdigit, v)) >= _MIN_DIGITS)


def named_reader(name: str) -> str:
    """Make a reader's key of the name, for a source that numbers nobody; '' for no name."""
    person = person_from_text(name)
    return person.key if person else ""


def _without_titles(words: list[str]) -> list[str]:
    """Leave out what stands before and behind a name: "Dr. med.", "MD", "Ph.D.", "Jr."."""
    last, known = len(words), known_words("title")
    titles = [at for at, word in enumerate(words[:-1], start=1) if _is_known(word)]
    before = titles[-1] if titles else 0  # "dr n. med. Anna Low": what stands before "med." too
    first = before if all(w.endswith(".") or _is_known(w) for w in words[:before]) else 0
    while first < last and _is_title(words[first], last - first):
        first += 1
    while last > first and known.get(words[last - 1].replace(".", "")) == "behind":
        last -= 1
    return words[first:last]


def _is_known(word: str) -> bool:
    return known_words("title").get(word.strip(".").casefold()) == "before"


def _is_title(word: str, words: int) -> bool:
    """Tell a title: a known one, or something cut short ("lek.") before two words or more."""
    is_short = word.endswith(".") and len(_LETTERS.findall(word)) == 1 and len(word) > _INITIALS
    return _is_known(word) or (is_short and words > _INITIALS)


def named_in_full(words: str) -> Person | None:
    """Read words that are nothing but a name: with a title, or all of them can be names."""
    written = words.replace(",", " ").split()
    bare = _without_titles(written)
    is_titled = len(bare) < len(written) and all(word[:1].isupper() for word in bare)
    if 2 <= len(bare) <= _MAX_WORDS and (is_titled or all(map(can_be_name, bare))):
        return person_from_text(words)
    return None


def can_be_name(word: str) -> bool:
    """Tell whether a word is written like a name, and is no ordinary one."""
    return word[:1].isupper() and lexicon().reads_as_name(word.strip("."))


@cache
def lexicon() -> Lexicon:
    """Give the words that names are told apart by, read once."""
    return load()


def shown_values(values: Iterable[str], *, strange_words: bool = False) -> Counter[str]:
    """Count a column's values as messages may show them, for a column may be the wrong one.

    What reads like a code or a plain word is shown as it is; of anything with many figures, more
    than a few words, or a word that is or may be a name, only the shape (`masked`) in ‹ ›.

    Parameters
    ----------
    strange_words
        Also show words that are neither known as names nor known at all, as codes are.

    Examples
    --------
    >>> shown_values(["MG", "MG", "Meyer, Anna", "CT 64", "20250301"])
    Counter({'MG': 2, '‹Aaaaa, Aaaa›': 1, 'CT 64': 1, '‹99999999›': 1})
    """
    shown: Counter[str] = Counter()
    for value, count in Counter(values).items():
        is_shown = _is_code(value, strange_words=strange_words)
        shown[value if is_shown else f"‹{masked(value)}›"] += count
    return shown


def masked(value: str) -> str:
    """Give the shape of a value: its letters as A and a, its figures as 9, cut after some.

    Examples
    --------
    >>> masked("DOE^Jane 04.03.2026")
    'AAA^Aaaa 99.99.9999'
    """
    shape = "".join(map(_sign, value[: _SHOWN + 1]))
    return shape if len(shape) <= _SHOWN else f"{shape[:_SHOWN]}…"


def _sign(letter: str) -> str:
    if letter.isalpha():
        return "A" if letter.isupper() else "a"
    return "9" if letter.isdigit() else letter


def _is_code(value: str, *, strange_words: bool) -> bool:
    words = _LETTERS.findall(value)
    if len(value) > _SHOWN or len(words) > _FEW_WORDS or sum(map(str.isdigit, value)) > _FEW_DIGITS:
        return False
    return not any(_may_be_name(word, strange=not strange_words) for word in words)


def _may_be_name(word: str, *, strange: bool) -> bool:
    """Tell whether a word is listed as a name, or is written like one and no known word."""
    if len(word) <= _INITIALS:
        return False
    if word.casefold() in lexicon().all_names:
        return True
    is_written_so = len(word) > _ABBREVIATION and not word.islower()
    return strange and is_written_so and not lexicon().is_ordinary(word)
