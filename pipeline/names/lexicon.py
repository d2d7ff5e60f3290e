"""The word lists behind the rules, and a site's own laid over them.

`#` begins a remark; else there is one expression a line, or many words. A hospital may lay its own
lists over ours: a file of the same name in its folder adds its lines.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from pathlib import Path
from typing import Any, Final

from pipeline.errors import ConfigurationError

_SUFFIX: Final = ".txt"
RULES: Final = "rules.toml"
"""A site's own rules, beside its lists."""
_ALSO_GIVEN_NAMES: Final = frozenset({"ed", "al", "dee", "vi", "ty", "jo", "bo", "do"})
_FREQUENT: Final = 3000
"""How many family names count as names even where they are English words (Hill, Wood, Brown)."""
_KINDS: Final[dict[str, Any]] = tomllib.loads(
    resources.files("pipeline.names").joinpath("words", "kinds.toml").read_text(encoding="utf-8")
)
"""Lists of triggers.toml by what their words tell, endings of words, and files of our sets."""
_FORMED, _STEMS, _DISEASES, _ENDINGS = (
    tuple(_KINDS[each]) for each in ("formed", "stems", "diseases", "inflected")
)
_ASIDE: Final = frozenset((*_KINDS["as_written"], *_KINDS["hints"]))
_MIN_FORMED: Final = 6
_MIN_DISEASE: Final = 9
_MIN_RARE: Final = 3
_START: Final = 5
_PLAIN_LETTERS: Final = str.maketrans(
    {"ł": "l", "ø": "o", "đ": "d", "ı": "i", "ß": "ss", "æ": "ae"}
)


@dataclass(frozen=True)
class Lexicon:
    """Casefolded word sets.

    Attributes
    ----------
    not_names
        Words that end a name or never begin one: credentials, departments, roles, verbs.
    common_words
        Names that are also words of a report (White, Long, May, Case).
    report_words
        Words that begin sentences of reports, and hardly ever a name.
    ordinary
        Words of English and medicine: in capitals they are no name unless the lists say so.
    given_names, surnames
        Names that need no title to be recognised, without accents.
    frequent_surnames
        Those that count as names even where they are words.
    rare_names
        Names that are no word of English or medicine: they need no cue.
    unreported
        Names that are words of English but hardly ever of a report.
    known
        Words of English and medicine beside the ordinary ones.
    namesakes, products, things
        Whom things are named for; makers, devices, drugs, guidelines; those that are nothing else.
    acronyms
        What medicine shortens: capitals that are no hospital and no person.
    person_words
        Words that follow the name of a person and not that of a thing.
    eponyms
        Clinical names of people and places (Kerley, Bochdalek, Pancoast).
    eponym_nouns
        Nouns that make the capitalised word before them a clinical name (catheter, disease).
    openers
        Capitalised words before a place's name that are not part of it.
    cities, hospitals
        Places that need no postcode, and names of hospitals without the word hospital.
    towns, sites
        Places and hospitals whose names are words too, known by a word of place before them.
    own_people
        Names, without accents, that the site itself listed: looked for as a record's own are.
    rules
        A site's own rules of de-identification, as TOML; empty without.
    """

    not_names: frozenset[str]
    common_words: frozenset[str]
    report_words: frozenset[str]
    ordinary: frozenset[str]
    given_names: frozenset[str]
    surnames: frozenset[str]
    frequent_surnames: frozenset[str]
    rare_names: frozenset[str]
    unreported: frozenset[str]
    known: frozenset[str]
    namesakes: frozenset[str]
    products: frozenset[str]
    things: frozenset[str]
    acronyms: frozenset[str]
    person_words: frozenset[str]
    eponyms: frozenset[str]
    eponym_nouns: frozenset[str]
    openers: frozenset[str]
    cities: frozenset[str]
    hospitals: frozenset[str]
    towns: frozenset[str]
    sites: frozenset[str]
    own_people: frozenset[str] = frozenset()
    rules: str = ""

    @cached_property
    def names(self) -> frozenset[str]:
        """Listed names, given and family."""
        return self.given_names | self.surnames

    @cached_property
    def all_names(self) -> frozenset[str]:
        """Listed names and rare ones."""
        return self.names | self.rare_names

    @cached_property
    def place_starts(self) -> frozenset[str]:
        """First words of the listed places."""
        return frozenset(place.split()[0] for place in (*self.cities, *self.hospitals))

    @cached_property
    def site_starts(self) -> frozenset[str]:
        """First words of the sites, as the rules compare words."""
        firsts = {re.split(r"[ +-]", site)[0].replace("'", "") for site in self.sites}
        return frozenset(firsts).union(first.removesuffix("s") for first in firsts)

    @cached_property
    def words(self) -> frozenset[str]:
        """Ordinary and clinical words, and names that are such words."""
        lists = (self.common_words, self.eponyms, self.not_names, self.report_words)
        return self.ordinary.union(*lists)

    @cached_property
    def familiar(self) -> frozenset[str]:
        """Every listed word that is no stranger to reports."""
        lists = (self.words, self.known, self.eponym_nouns, self.openers, self.person_words)
        return _trigger_words().union(*lists) - self.unreported - self.rare_names

    @cached_property
    def nobodys(self) -> frozenset[str]:
        """Words that name nobody and no place by themselves, with whatever capitals."""
        places = self.cities.union(self.towns, self.sites, self.hospitals)
        words = map(str.split, places)
        named = self.names.union(self.rare_names, self.unreported, self.common_words, *words)
        nobodys = self.not_names.union(self.report_words) - named
        return nobodys.union(*map(triggers, _KINDS["nobodys"])) - self.names - triggers("in_names")

    @cached_property
    def clinical_starts(self) -> frozenset[str]:
        """First letters of ordinary words: what begins so may be such a word, mistyped."""
        return frozenset(word[:_START] for word in self.ordinary if len(word) >= _START)

    @cached_property
    def guarding(self) -> frozenset[str]:
        """Words that protect themselves, the name before or the number behind them."""
        counted = triggers("words_before_a_count") | triggers("words_of_results")
        return self.eponyms | self.eponym_nouns | counted

    def ends_name(self, word: str, *, after_comma: bool = False) -> bool:
        """Tell whether a capitalised word cannot be part of a name.

        Ed and Al are names, and so is ED behind a comma (LEE, ED); elsewhere ED is a department.
        """
        folded = word.casefold()
        if folded in _ALSO_GIVEN_NAMES and (after_comma or not word.isupper()):
            return False
        return folded in self.not_names and folded not in self.common_words

    def is_word(self, name: str) -> bool:
        """Tell whether a name may also stand in a report as an ordinary or clinical word."""
        return name.casefold() in self.words

    def is_ordinary(self, word: str) -> bool:
        """Tell whether a word is one of English or medicine, by the list or by how it is formed."""
        folded = word.casefold()
        if folded in self.ordinary or folded in self.report_words or folded in self.not_names:
            return True
        formed = len(folded) >= _MIN_FORMED and folded.endswith(_FORMED, 2)
        return formed or (folded.endswith(_ENDINGS) and _is_inflected(folded, self.ordinary))

    def is_disease(self, word: str) -> bool:
        """Tell whether a word, folded, begins and ends as diseases and operations do."""
        return len(word) >= _MIN_DISEASE and word.startswith(_STEMS) and word.endswith(_DISEASES)

    def is_stranger(self, word: str) -> bool:
        """Tell whether a word, folded, is one that no report would use but as a name."""
        if word in self.unreported or word in self.rare_names:
            return True
        if word in self.familiar or len(set(word)) < _MIN_RARE:
            return False  # two letters, or a placeholder (XXXX)
        if word[:_START] in self.clinical_starts:
            return False
        return not (self.is_ordinary(word) or _is_inflected(word, self.known))

    def reads_as_name(self, word: str) -> bool:
        """Tell whether a word can be a name where nothing but a weak cue says so."""
        folded = unaccented(word)
        if folded in self.frequent_surnames or folded in self.given_names:
            return True
        return not self.is_ordinary(folded)

    def ends_capitals(self, word: str) -> bool:
        """Tell whether a word behind a name is a word of the sentence rather than of the name."""
        return word.casefold() not in self.common_words and not self.reads_as_name(word)


@cache
def load(folder: Path | None = None) -> Lexicon:
    """Read the shipped lists, and a site's own on top."""

    def many(*lists: str) -> frozenset[str]:
        return frozenset(word for name in lists for word in _many(name, folder))

    def each(*lists: str) -> frozenset[str]:
        return frozenset(line.casefold() for name in lists for line in _lines(name, folder))

    sets = {name: many(*lists) for name, lists in _KINDS["single"].items()}
    sets |= {name: each(*lists) for name, lists in _KINDS["expressions"].items()}
    given = each("given_names") | many("census_given_names", "world_given_names")
    family = each("surnames") | many("census_surnames", "world_surnames")
    frequent = _many("census_surnames", folder)[:_FREQUENT]
    cities = each("cities", "towns")
    people = (*_own("surnames", folder), *_own("given_names", folder))
    own_people = frozenset(unaccented(part) for name in people for part in name.split())
    eponyms = each("eponyms") - own_people
    told = (sets[name] for name in ("not_names", "report_words", "common_words", "ordinary"))
    rare = given.union(family, many("rare_names"))
    rare = rare.difference(*told, eponyms, cities, many("names_that_are_words"))
    lexicon = Lexicon(
        given_names=given,
        surnames=family,
        frequent_surnames=each("surnames").union(frequent),
        rare_names=frozenset(name for name in rare if len(name) >= _MIN_RARE and name.isalpha()),
        things=many("things") - own_people,
        eponyms=eponyms,
        cities=cities,
        own_people=own_people,
        rules=_site_rules(folder),
        **sets,
    )
    for name, derived in vars(Lexicon).items():
        if isinstance(derived, cached_property):
            getattr(lexicon, name)  # now, not in the first report
    return lexicon


def triggers(name: str) -> frozenset[str]:
    """Give the words that call a rule, by the name of their list."""
    return frozenset(_triggers()[name])


def trigger_lists() -> tuple[str, ...]:
    """Name the lists of words that call rules."""
    return tuple(_triggers())


@cache
def _trigger_words() -> frozenset[str]:
    """Give every word that calls a rule."""
    return frozenset(
        word for name, each in _triggers().items() if name not in _ASIDE for word in each
    )


@cache
def _triggers() -> dict[str, list[str]]:
    path = resources.files("pipeline.names").joinpath("words", "triggers.toml")
    return tomllib.loads(path.read_text(encoding="utf-8"))


def _is_inflected(word: str, stems: frozenset[str]) -> bool:
    bare = [word[: -len(ending)] for ending in _ENDINGS if word.endswith(ending)]
    return any(stem in stems or f"{stem}e" in stems for stem in bare)


def unaccented(word: str) -> str:
    """Fold a word to small letters without accents, as the name lists are written."""
    if word.isascii():
        return word.casefold()
    parts = unicodedata.normalize("NFKD", word.casefold().translate(_PLAIN_LETTERS))
    return "".join(c for c in parts if not unicodedata.combining(c))


def _site_rules(folder: Path | None) -> str:
    path = folder / RULES if folder else None
    return path.read_text(encoding="utf-8-sig") if path and path.is_file() else ""


def _many(name: str, folder: Path | None) -> list[str]:
    return [word for line in _lines(name, folder) for word in line.casefold().split()]


def _lines(name: str, folder: Path | None) -> list[str]:
    shipped = resources.files("pipeline.names").joinpath("words", f"{name}.txt")
    return [*_read(shipped.read_text(encoding="utf-8")), *_own(name, folder)]


def _own(name: str, folder: Path | None) -> list[str]:
    own = folder / f"{name}.txt" if folder else None
    return _read(own.read_text(encoding="utf-8-sig")) if own and own.is_file() else []


def _read(text: str) -> list[str]:
    return [line for each in text.splitlines() if (line := each.split("#")[0].strip())]


def own_lexicon(folder: Path, *, option: str) -> Lexicon:
    """Read our lists with a folder's on top.

    Parameters
    ----------
    folder
        Text files named as ours are (``sites.txt``, ``surnames.txt``), one expression a line;
        ``rules.toml`` with rules of the site's own.
    option
        What names the folder, for the message.

    Raises
    ------
    ConfigurationError
        If the folder holds no list, a file that is none of ours, or one that cannot be read.
    """
    contents(folder, option=option)
    return load.__wrapped__(folder)  # anew: a process may outlive a site's lists


def contents(folder: Path, *, option: str) -> dict[str, str]:
    """Give the text of each list of a folder by its name, checked.

    Raises
    ------
    ConfigurationError
        As `own_lexicon`.
    """
    files = sorted(folder.glob(f"*{_SUFFIX}")) if folder.is_dir() else []
    files += [rules] if (rules := folder / RULES).is_file() else []
    shipped = resources.files("pipeline.names").joinpath("words")
    known = {RULES, *(each.name for each in shipped.iterdir())}
    strange = [each.name for each in files if each.name not in known]
    if not files or strange:
        what = f"{strange[0]} is none of our lists" if strange else "no list lies there"
        lists = ", ".join(sorted(name for name in known if name.endswith(_SUFFIX)))
        raise ConfigurationError(
            f"{option}: {what}. The lists that a site can lengthen: {lists}; its rules: {RULES}."
        )
    try:
        return {each.name: each.read_text(encoding="utf-8-sig") for each in files}
    except (OSError, UnicodeError):
        raise ConfigurationError(f"{option}: a list cannot be read as UTF-8 text.") from None
