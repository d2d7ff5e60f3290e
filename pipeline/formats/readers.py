"""Who read a report: which ids are one reader, who signed, and who wrote the draft.

An id is kept as it is written unless ``[input.reader_ids]`` says otherwise; nothing is merged that
the site did not name. What looks like two people behind one id, or one behind two, is counted.

Labels of signatures ("Electronically signed by:") are looked for by a word of theirs, so that a
text is not searched letter by letter for each of them.
"""

from __future__ import annotations

import re
import string
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

import pandas as pd

from pipeline.errors import ConfigurationError
from pipeline.formats.people import Person, can_be_name, lexicon, named_in_full, person_from_text
from pipeline.formats.tables import named, read_table
from pipeline.formats.values import data, is_no_number
from pipeline.names.grammar import UPPER, name_end

SEVERAL_NAMES: Final = "reader ids that stand for more than one name"
ONLY_CASE: Final = "reader ids that differ from another in case only"
_OPTION: Final = "input.reader_ids.aliases"
_COLUMNS: Final = {"reader_id": "the id as exported", "reader": "the id that it is read as"}


@dataclass(frozen=True, slots=True)
class ReaderRules:
    """A site's rules; ``aliases`` maps an id to the one that it is read as."""

    case_sensitive: bool = True
    aliases: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, path: Path | None, *, case_sensitive: bool, encoding: str = "UTF-8") -> ReaderRules:
        """Read the table of aliases, if there is one.

        Raises
        ------
        InputError
            If the table cannot be read or lacks a column.
        ConfigurationError
            If an id is read as two others, or as one that is itself read as another.
        """
        if path is None:
            return cls(case_sensitive)
        with named(_OPTION):
            table = read_table(path, _COLUMNS, encoding).astype("str")
        rules = cls(case_sensitive)
        ids, meant = (rules._spelt(table[name]) for name in _COLUMNS)
        twice = pd.DataFrame({"id": ids, "as": meant}).drop_duplicates()["id"].duplicated().sum()
        chained = int((meant.isin(set(ids)) & (meant != ids.to_numpy())).sum())
        if twice or chained or (ids == "").any() or (meant == "").any():
            raise ConfigurationError(
                f"{_OPTION}: {path.name}: {twice} id(s) are read as two others, {chained} as an id "
                "that stands in the first column itself, and no cell may be empty. Give every id "
                "one row, and the final id beside it."
            )
        return cls(case_sensitive, dict(zip(ids, meant, strict=True)))

    def applied(self, exams: pd.DataFrame) -> pd.DataFrame:
        """Read the ids of readers and of drafts' authors by the rules.

        An id that is read as another stays among ``other_ids``: the text may hold it.
        """
        stated = exams["reader_id"]
        meant, author = self.meant(stated), self.meant(exams["preliminary_author"])
        initials = meant.str.fullmatch(r"[A-Za-z]{1,3}")  # NA is Nia A.
        nobody = meant.map(is_no_number).astype(bool) & ~initials
        meant = meant.mask(nobody, "")
        others = exams["other_ids"].where(meant == stated, exams["other_ids"] + ";" + stated)
        return exams.assign(
            reader_id=meant, preliminary_author=author, other_ids=others.str.strip(";")
        )

    def meant(self, ids: pd.Series) -> pd.Series:
        """Give the ids that these are read as."""
        return self._spelt(ids).map(lambda each: self.aliases.get(each, each)).astype("str")

    def _spelt(self, ids: pd.Series) -> pd.Series:
        bare = ids.str.split().str.join(" ")
        return bare if self.case_sensitive else bare.str.casefold()


def reader_notes(readers: Iterable[tuple[str, str]]) -> Counter[str]:
    """Count ids with more than one name, and ids that differ in case only.

    Parameters
    ----------
    readers
        Each id and a name that stood with it, as written; '' where there was none.
    """
    names: defaultdict[str, list[Person]] = defaultdict(list)
    for each, name in readers:
        person = person_from_text(name)
        known = names[each]
        if person and each and not any(person.is_same(other) for other in known):
            known.append(person)
    folded = Counter(each.casefold() for each in names if each)
    counts = Counter({SEVERAL_NAMES: sum(len(known) > 1 for known in names.values())})
    counts[ONLY_CASE] = sum(n for n in folded.values() if n > 1)
    return +counts


_TAIL: Final = 3000
_ABBREVIATION: Final = 3


class _Label(NamedTuple):
    """A label before a name, and the words, in lower case, with one of which it begins."""

    pattern: re.Pattern[str]
    words: tuple[str, ...]


def _labels() -> Iterator[tuple[str, _Label]]:
    """Read the labels of signatures.toml, the fragments that they name put in."""
    written, fragments = data("signatures"), {"upper": UPPER}
    for name, fragment in written["fragments"].items():
        fragments[name] = _filled(fragment, fragments)
    for name, label in written["labels"].items():
        pattern = "".join(_filled(part, fragments) for part in label["pattern"])
        yield name, _Label(re.compile(pattern), tuple(label["words"]))


def _filled(pattern: str, fragments: Mapping[str, str]) -> str:
    return re.sub(r"<<(\w+)>>", lambda named: fragments[named[1]], pattern)


_KNOWN: Final = dict(_labels())
_SIGNATURE: Final = _KNOWN["signature"]
"""A name before its signature: "Jane Doe, MD (electronic signature)"."""
_SIGNING: Final = ("signed", "slashed", "signature", "read", "attested", "dictated")
_DRAFTING: Final = ("dictated", "drafted")
_BEFORE_A_LABEL: Final = frozenset({"", "electronically", "digitally", "e-"})
_FIRST_LINE: Final = re.compile(r"\s{0,40}([^\n,:]{4,50}),[ \t]?(?:M\.?D\.?|D\.?O\.?)\b")
_TRAILING_TITLE: Final = re.compile(r"[ \t]+(?:M\.?D|D\.?O)\.?(?=,)")
_LOWER: Final = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


def signer(text: str) -> Person | None:
    """Find who signed a report: who signed, else who read, else who dictated it."""
    for name in _SIGNING:
        people = list(_people(text, _KNOWN[name]))
        if people:
            return people[-1]
    first = _FIRST_LINE.match(text)
    return person_from_text(first.group(1)) if first else None


def dictator(text: str) -> Person | None:
    """Find who dictated a report, or is named as the resident, by its own text."""
    return next((p for name in _DRAFTING for p in _people(text, _KNOWN[name])), None)


@lru_cache(maxsize=2)
def _tail(text: str) -> tuple[str, str]:
    """Give the end of a report, and the same in lower case."""
    tail = _TRAILING_TITLE.sub("", text[-_TAIL:])
    return tail, tail.translate(_LOWER)


def _people(text: str, label: _Label) -> Iterator[Person]:
    """Yield whom a label names, in the order of the text."""
    tail, low = _tail(text)
    places = {at.start() for word in label.words for at in re.finditer(re.escape(word), low)}
    for start in sorted(places):
        if label is _SIGNATURE:
            person = _before(tail, start)
        else:
            match = label.pattern.match(tail, start)
            person = _named(tail, match) if match else None
        if person is not None:
            yield person


def _before(tail: str, start: int) -> Person | None:
    """Read the name on the line of a signature, or on the line before it."""
    line = tail.rfind("\n", 0, start) + 1
    for begin in (line, tail.rfind("\n", 0, max(line - 1, 0)) + 1):
        match = _SIGNATURE.pattern.match(tail, begin)
        found = named_in_full(match.group(1)) if match and match.end() > start else None
        if found is not None:
            return found
    return None


def _named(text: str, match: re.Match[str]) -> Person | None:
    """Read the name behind a label; a word alone counts only where a line begins with the label."""
    start = match.end()
    end = name_end(text, start, lexicon(), comma=True)
    person = person_from_text(text[start:end]) if end > start + 1 else None
    if person is None or person.given:
        return person
    before = text[text.rfind("\n", 0, match.start()) + 1 : match.start()].strip(" \t<*").casefold()
    return person if before in _BEFORE_A_LABEL and _is_surname(person.family) else None


def _is_surname(word: str) -> bool:
    is_short = word.isupper() and len(word) <= _ABBREVIATION
    return can_be_name(word) and (not is_short or word.casefold() in lexicon().frequent_surnames)
