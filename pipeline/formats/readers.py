"""Who is one reader: a site's rule for case, its table of aliases, and what looks wrong in the ids.

An id is kept as it is written unless ``[input.reader_ids]`` says otherwise; nothing is merged that
the site did not name. What looks like two people behind one id, or one behind two, is counted.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pandas as pd

from pipeline.errors import ConfigurationError
from pipeline.formats.people import Person, person_from_text
from pipeline.formats.tables import read_table, require_columns

__all__ = ["ONLY_CASE", "SEVERAL_NAMES", "ReaderRules", "reader_notes"]

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
    def of(cls, path: Path | None, *, case_sensitive: bool) -> ReaderRules:
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
        table = read_table(path).astype("str")
        require_columns(table, _COLUMNS, source=path.name)
        rules = cls(case_sensitive)
        ids, meant = (rules._spelt(table[name]) for name in _COLUMNS)
        twice = pd.DataFrame({"id": ids, "as": meant}).drop_duplicates()["id"].duplicated().sum()
        chained = int((meant.isin(set(ids)) & (meant != ids.to_numpy())).sum())
        if twice or chained or (ids == "").any() or (meant == "").any():
            msg = (
                f"{_OPTION}: {path.name}: {twice} id(s) are read as two others, {chained} as an id "
                "that stands in the first column itself, and no cell may be empty. Give every id "
                "one row, and the final id beside it."
            )
            raise ConfigurationError(msg)
        return cls(case_sensitive, dict(zip(ids, meant, strict=True)))

    def applied(self, exams: pd.DataFrame) -> pd.DataFrame:
        """Read the ids of readers and of drafts' authors by the rules.

        An id that is read as another stays among ``other_ids``: the text may hold it.
        """
        stated = exams["reader_id"]
        meant, author = self._meant(stated), self._meant(exams["preliminary_author"])
        others = exams["other_ids"].where(meant == stated, exams["other_ids"] + ";" + stated)
        return exams.assign(
            reader_id=meant, preliminary_author=author, other_ids=others.str.strip(";")
        )

    def _meant(self, ids: pd.Series) -> pd.Series:
        spelt = self._spelt(ids)
        return spelt.map(lambda each: self.aliases.get(each, each)).astype("str")

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
