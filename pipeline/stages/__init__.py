"""The stages of the job, one a file; here, what a stage is: an item comes to counts.

They are kept under a key if they take long. A stage's file holds all there is to know about it:
what an item of it is, what its results depend on, under which key they lie, how they are made, and
what they are counted as. A stage is code without state, so that any process can be handed one; what
it works with it takes from the site it is given.
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
"""What results depend on: name → value or hash."""


@dataclass(frozen=True, slots=True)
class Made(Generic[Found]):
    """What one item came to, and whether anything had to be made for it."""

    found: Found
    anew: bool = True


@dataclass(frozen=True, slots=True)
class Look(Generic[Found]):
    """What was looked for: of `items` results `to_make` are not there; those that are, and why."""

    items: int
    to_make: int
    found: tuple[Found, ...] = ()
    why: str = ""


class Stage(ABC, Generic[Item, Found]):
    """One step of the job.

    Attributes
    ----------
    name
        How the recipe, the books and messages call it.
    counted
        Fields of what it finds whose sums are shown.
    """

    name: ClassVar[str]
    counted: ClassVar[tuple[str, ...]] = ()
    only_here: ClassVar[bool] = False
    """Whether only the run's own process may do it, none of its workers."""

    @abstractmethod
    def do(self, site: Site, item: Item) -> Made[Found]:
        """Take one item to its counts; what is there already is found, not made."""

    def is_done_here(self, site: Site) -> bool:
        """Whether only the run's own process may do it on this site."""
        del site
        return self.only_here

    def counts(self, found: Sequence[Found]) -> dict[str, int]:
        """Add up what is shown of all items; nothing where there was none."""
        if not found:
            return {}
        return {name: sum(int(getattr(each, name)) for each in found) for name in self.counted}


class Keyed(Stage[Item, Found]):
    """A stage whose results are kept under a hash of all that went into them.

    What changed re-does what depends on it and nothing else: an option of the pages redraws pages;
    the prompt of a language model re-reads reports where such a model reads them, and de-identifies
    nothing again.
    """

    kind: ClassVar[str]
    """What decides the keys, in messages and manifests; stages that share it go stale together."""
    tables: ClassVar[tuple[str, ...]]
    """Tables of the analysis zone that hold an item's results; the counts lie with the last."""
    comes_to: ClassVar[type[Any]]
    """What an item is counted as."""
    missing: ClassVar[str] = "{missing:,} of {items:,} shards are new or changed"
    """Why some results are missing although their ingredients are as they were."""

    @abstractmethod
    def settings(self, site: Site) -> Named:
        """Give what the results depend on beside the code: options and hashes of files."""

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
        """Name the modules whose code, with all it imports, decides the results."""
        del site
        return frozenset({type(self).__module__})

    def ingredients(self, site: Site) -> Named:
        """Give all that the results depend on."""
        code = code_by_room(self.roots(site))
        return {
            "schema of shards": SCHEMA_VERSION,
            **{f"code of {room}": digest for room, digest in code.items()},
            **self.settings(site),
        }

    def digest(self, site: Site) -> str:
        """Hash what the results depend on, beside the keys they build on."""
        return digest_of(self.kind, self.ingredients(site))

    def look(self, site: Site, items: Iterable[Item]) -> Look[Found]:
        """Look for the results of all items and make none; what is damaged is not there."""
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
    """Name the options of a section of the configuration as ingredients."""
    return {f"{section}.{name}": str(value) for name, value in settings.items()}
