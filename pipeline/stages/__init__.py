"""What a stage of the job is: it takes one item to its results, and gives back their counts.

Each stage is one file of this folder and holds all there is to know about it: what an item is, what
the results depend on, under which key they are kept, how they are made, and which counts are shown.
Results that take long to make are tables of the workspace, kept under that key (`Keyed`); what is
handed from stage to stage are small frozen dataclasses of keys and counts. A stage has no state, so
any process can be handed one; its instruments (configuration, store, engine, vault) come from the
`Site` that it is given.

Words: ``make`` computes and keeps results, ``find`` reads the counts of those that are there,
``do`` finds or else makes, ``look`` only asks what is there (`radcal status`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import pandas as pd

from pipeline.config.basis import digest_of
from pipeline.errors import DamagedShardError
from pipeline.store.objects import SCHEMA_VERSION
from pipeline.store.provenance import code_by_room

if TYPE_CHECKING:
    from pipeline.site.site import Site

Item = TypeVar("Item")
Found = TypeVar("Found")
Named = dict[str, str]
"""What results depend on besides their input: name → value or hash."""


@dataclass(frozen=True, slots=True)
class Made(Generic[Found]):
    """The counts of one item, and whether its results had to be made (or were there already)."""

    found: Found
    anew: bool = True


@dataclass(frozen=True, slots=True)
class Look(Generic[Found]):
    """What `look` saw: of `items` results `to_make` are missing, and why; counts of the others."""

    items: int
    to_make: int
    found: tuple[Found, ...] = ()
    why: str = ""


class Stage(ABC, Generic[Item, Found]):
    """One step of the job.

    Attributes
    ----------
    name
        Its name in messages, logs and books.
    counted
        Names of the integer fields of ``Found`` whose sums over all items are shown.
    only_here
        Whether only the run's own process may do it, none of its workers.
    """

    name: ClassVar[str]
    counted: ClassVar[tuple[str, ...]] = ()
    only_here: ClassVar[bool] = False

    @abstractmethod
    def do(self, site: Site, item: Item) -> Made[Found]:
        """Take one item to its results and give their counts."""

    def is_done_here(self, site: Site) -> bool:
        """Whether only the run's own process may do it on this site."""
        del site
        return self.only_here

    def counts(self, found: Sequence[Found]) -> dict[str, int]:
        """Add the `counted` fields up over all items; empty where there was no item."""
        if not found:
            return {}
        return {name: sum(int(getattr(each, name)) for each in found) for name in self.counted}


class Keyed(Stage[Item, Found]):
    """A stage whose results are kept under a hash of all that went into them.

    A change re-makes what depends on it and nothing else: an option of the pages redraws pages; a
    changed prompt makes reports be read again where a language model reads them, and de-identifies
    nothing again.

    Attributes
    ----------
    kind
        Enters every key, and names the stage in messages and manifests. Stages of one kind (the
        two that draw pages) have the same ingredients and go stale together.
    tables
        Tables of the analysis zone that hold an item's results. The counts are kept in the last
        one and it is written last, so results whose counts are there are whole.
    comes_to
        The type of the counts, ``Found``.
    missing
        What `look` says where results are missing although no ingredient changed.
    """

    kind: ClassVar[str]
    tables: ClassVar[tuple[str, ...]]
    comes_to: ClassVar[type[Any]]
    missing: ClassVar[str] = "{missing:,} of {items:,} shards are new or changed"

    @abstractmethod
    def settings(self, site: Site) -> Named:
        """Give the options and hashes of files that the results depend on, beside code and item."""

    @abstractmethod
    def key(self, site: Site, item: Item) -> str:
        """Give the key under which an item's results lie."""

    def find(self, site: Site, key: str) -> Found | None:
        """Give the counts of results that are there whole; None if any of them is missing."""
        store = site.workspace
        if not all(store.has("analysis", name, key) for name in self.tables):
            return None
        found: Found = store.facts("analysis", self.tables[-1], key, self.comes_to)
        return found

    def keep(self, site: Site, key: str, found: Found, /, **tables: pd.DataFrame) -> Found:
        """Write an item's tables, the one with its counts last."""
        *before, last = self.tables
        for name in before:
            site.workspace.write("analysis", name, key, tables[name])
        site.workspace.write("analysis", last, key, tables[last], facts=found)
        return found

    @abstractmethod
    def make(self, site: Site, item: Item, key: str) -> Found:
        """Make and keep an item's results; their counts are written last."""

    def do(self, site: Site, item: Item) -> Made[Found]:
        """Find an item's results, or make them."""
        key = self.key(site, item)
        found = self.find(site, key)
        return Made(self.make(site, item, key)) if found is None else Made(found, anew=False)

    def roots(self, site: Site) -> frozenset[str]:
        """Name the modules whose code, and the code of all they import, the results depend on."""
        del site
        return frozenset({type(self).__module__})

    def ingredients(self, site: Site) -> Named:
        """Give all that the results depend on besides the item: code, schema and settings."""
        code = code_by_room(self.roots(site))
        return {
            "schema of shards": SCHEMA_VERSION,
            **{f"code of {room}": digest for room, digest in code.items()},
            **self.settings(site),
        }

    def digest(self, site: Site) -> str:
        """Hash the `ingredients`; a key is a hash of this and of the item."""
        return digest_of(self.kind, self.ingredients(site))

    def look(self, site: Site, items: Iterable[Item]) -> Look[Found]:
        """Look for the results of all items and make none; damaged ones count as missing."""
        each = [self._seen(site, item) for item in items]
        found = tuple(one for one in each if one is not None)
        missing = len(each) - len(found)
        why = self.missing.format(missing=missing, items=len(each))
        return Look(len(each), missing, found, why)

    def _seen(self, site: Site, item: Item) -> Found | None:
        try:
            return self.find(site, self.key(site, item))
        except DamagedShardError:
            return None


def merged(counts: Iterable[Mapping[str, int]]) -> Counter[str]:
    """Add up named counts."""
    total: Counter[str] = Counter()
    for some in counts:
        total.update(some)
    return total


def options(section: str, settings: Mapping[str, object]) -> Named:
    """Give options as ingredients, named as in the configuration file: ``section.option``."""
    return {f"{section}.{name}": str(value) for name, value in settings.items()}
