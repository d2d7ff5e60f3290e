"""Pages of a search → whether any is missing: a next one in no file, fewer entries than said.

Servers write the address of a page in three ways: as the next link of the page before, as that of
the search itself in all its pages, or as neither. So pages are one search's where an address is
another's next, where two have one address, or where they are of one kind of resource and one total.
Where no address of a source is another's next, those without a total are taken together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from pipeline.formats.exams import Note
from pipeline.formats.fhir.resources import NEXT, Resource, items, text_of

_MISSING: Final = "FHIR search of which a page (next) is in no file: entries are missing"
_FEWER: Final = (
    "FHIR search of which fewer entries are in the files than its total: pages are missing"
)


@dataclass(frozen=True, slots=True)
class _Page:
    """A page's own address, that of the next, how many entries answer, and how many do in all."""

    own: str
    next: str
    held: int
    total: int


class Pages:
    """The pages of searches in a source."""

    def __init__(self) -> None:
        self._pages: set[_Page] = set()

    def add(self, page: Resource) -> None:
        """Take in a page; one that stands there twice is one."""
        links = {text_of(e, "relation"): _address(text_of(e, "url")) for e in items(page, "link")}
        held, total = page["entry"], text_of(page, "total")
        number = int(total) if total.isdigit() else -1
        self._pages.add(_Page(links.get("self", ""), links.get(NEXT, ""), held, number))

    @property
    def notes(self) -> Iterator[Note]:
        """Say, once for each search, what is missing of it."""
        known = {page.own for page in self._pages}
        is_linked = any(page.next in known for page in self._pages if page.next)
        for pages in self._searches(is_linked=is_linked):
            goes_on = [page.next for page in pages if page.next]
            is_met = is_linked and all(page in known for page in goes_on)
            linked = any(page in known for page in goes_on)
            if goes_on and not is_met and (linked or len(goes_on) >= len(pages)):
                yield Note(_MISSING)
            elif sum(page.held for page in pages) < max(page.total for page in pages):
                yield Note(_FEWER)

    def _searches(self, *, is_linked: bool) -> list[list[_Page]]:
        """Put pages of one search together."""
        of: dict[str, str] = {}

        def home(name: str) -> str:
            while (up := of.setdefault(name, name)) != name:
                name = up
            return name

        for page in self._pages:
            own = home(page.own)
            alike = f"{page.total} of {page.own.split('?')[0]}" if page.total >= 0 else ""
            for other in filter(None, [page.next, alike or ("" if is_linked else "all")]):
                of[home(other)] = own = home(own)
        found: defaultdict[str, list[_Page]] = defaultdict(list)
        for page in self._pages:
            found[home(page.own)].append(page)
        return list(found.values())


def _address(url: str) -> str:
    """Write an address so that the order of what it asks, and the server's name, say nothing."""
    parts = urlsplit(url)
    asked = "&".join(f"{name}={value}" for name, value in sorted(parse_qsl(parts.query)))
    return f"{parts.path.rpartition('/')[2]}?{asked}"
