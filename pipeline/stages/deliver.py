"""Pages → recipients: each gets one folder, whole or not at all, and once.

    ingest → register → de-identify → pair → extract → tally → gates → issue → pages → **deliver**

    WORKSPACE/delivery/<period>/<recipient>/    the files
    WORKSPACE/delivery/ledger.jsonl             what was delivered: one line a file
    WORKSPACE/delivery/<period>.json            the issue made last: its key, its recipients

A folder is made beside its place, noted in the ledger, and renamed onto its place; a delivery that
is killed anywhere between is finished or begun again by the next run. The ledger knows the digest
of every page as drawn and a mark of its passphrase; a recipient whose last delivery was these pages
under the same one gets nothing again, even if they have moved or filled in a file since; one that
held a page more (a list of accession numbers) is delivered again without it. When an issue
changes, files of the old folder that are not ours, or were changed after delivery (a return sheet
being filled in), are kept in the new one.

Where ``[reports] passphrases`` names a file, PDFs are encrypted (`pipeline.vault.sealing`), and
what else belongs to the issue travels inside the PDF.
"""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias
from urllib.parse import quote

from pipeline.config.basis import sha256
from pipeline.errors import ConfigurationError
from pipeline.stages import Made, Stage
from pipeline.stages.ingest import reader_rules
from pipeline.store.files import plain, write_whole
from pipeline.store.workspace import Handed, Workspace
from pipeline.vault.audit_log import AuditLog
from pipeline.vault.codes import readable
from pipeline.vault.sealing import is_mark_of, mark_of, passphrases, seal
from pipeline.vault.vault import Vault
from reports.numbers import MANNERS
from reports.pages.return_sheet import codes_of, safe
from reports.strings import Strings

if TYPE_CHECKING:
    from pipeline.site.site import Site
    from pipeline.stages.pages import Pages

_MAKING, _READY, _OLD = ".making", ".ready", ".old"
_KEPT: Final = "kept"
_SHEET: Final = "return.csv"
_WITHDRAWN: Final = ""
"""Stands for the digest of a page that the recipient had, and has no more."""
_Whose: TypeAlias = tuple[str, str]
"""An issue's period, and one recipient of it."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """All pages of an issue, which has a key and is named by its last month."""

    issue: str
    period: str
    pages: tuple[Pages, ...]


@dataclass(frozen=True, slots=True)
class Delivered:
    """How many recipients got new pages, and how many had them already."""

    delivered: int
    unchanged: int


class Deliver(Stage[Delivery, Delivered]):
    """Put every page into its recipient's folder."""

    name = "deliver"
    only_here = True  # one process writes the ledger, and only the run's own may know passphrases

    def do(self, site: Site, item: Delivery) -> Made[Delivered]:
        """Deliver every recipient's pages that are not in the ledger yet.

        Raises
        ------
        ConfigurationError
            If no contact or no day for answers is named, or passphrases are asked for and a
            recipient has none; nothing is delivered then.
        """
        ready(site)
        root = site.workspace.root / "delivery"
        whom = [pages.recipient for pages in item.pages]
        locks = _locks(site, whom)
        opened = _accessions(site, item.pages) if site.config.reports.accessions else {}
        ledger = _Ledger(site.workspace)
        site.workspace.note_issue(item.period, item.issue, whom)
        new = 0
        for pages in item.pages:
            drafts = {file.name: site.workspace.read_page(file.draft) for file in pages.files}
            drafts |= opened.get(pages.recipient, {})
            place = root / item.period / pages.recipient
            new += _delivered(place, drafts, locks.get(pages.recipient), ledger)
        return Made(Delivered(new, len(item.pages) - new))


DELIVER: Final = Deliver()


def ready(site: Site) -> str:
    """Say whom pages tell readers to answer, or hold back those that would not say it.

    Raises
    ------
    ConfigurationError
        If no contact or no day for answers is named, and it is no demonstration.
    """
    settings = site.config.reports
    named = {"contact": settings.contact, "returns_by": settings.returns_by}
    missing = [f"reports.{name}" for name, value in named.items() if not value.strip()]
    if missing and not settings.demonstration:
        raise ConfigurationError(
            f"{' and '.join(missing)}: name whom readers answer and until when before pages are "
            "delivered (or set reports.demonstration = true). Nothing was delivered."
        )
    return "contact and day for answers are named" if not missing else "a demonstration"


def _locks(site: Site, recipients: Sequence[str]) -> dict[str, str]:
    """Give every recipient's passphrase; none where pages are not to be encrypted."""
    file = site.config.reports.passphrases
    if file is None:
        return {}
    path, rules = site.config.path(file), reader_rules(site)
    return passphrases(path, recipients, vault=site.vault_path, rules=rules)


def _accessions(site: Site, pages: Sequence[Pages]) -> dict[str, dict[str, bytes]]:
    """Give each reader a list of what is behind the codes of the own return sheet.

    How many codes are opened, and of how many readers, goes into the audit log before they are.
    """
    sheets = {
        each.recipient: codes_of(site.workspace.read_page(file.draft))
        for each in pages
        for file in each.files
        if file.name == _SHEET
    }
    codes = sum(map(len, sheets.values()))
    log = AuditLog(site.workspace.root / "audit.jsonl")
    log.append("accessions", readers=len(sheets), codes=codes)
    link, words = site.config.reports.pacs_link, Strings.load(language=site.config.reports.language)
    with Vault.open(site.vault_path, read_only=True) as vault:
        each = {reader: _list(own, vault, link, words) for reader, own in sheets.items()}
    return {reader: {"accessions.csv": listed} for reader, listed in each.items()}


def _list(codes: Sequence[str], vault: Vault, link: str | None, words: Strings) -> bytes:
    """Write code and accession number, and the link into the PACS where there is one."""
    out = io.StringIO(newline="")
    rows = csv.writer(out, delimiter=MANNERS[words.language].between_cells)
    rows.writerow([words(f"sheet.{n}") for n in ("code", "accession", *["link"][: bool(link)])])
    for code in codes:
        accession = readable(vault.identifier_for("study", code))
        shown = [link.format(accession=quote(accession, safe=""))] if link else []
        rows.writerow([code, safe(accession), *shown])
    return out.getvalue().encode("utf-8-sig")


def _delivered(place: Path, drafts: Mapping[str, bytes], lock: str | None, ledger: _Ledger) -> bool:
    """Lay one recipient's files into a folder, unless they got the same ones before."""
    whose = place.parent.name, place.name
    _recover(place, ours=ledger.delivered(whose))
    marks = {name: sha256(content) for name, content in drafts.items()}
    if ledger.has(whose, marks, lock):
        return False
    files = drafts if lock is None else seal(drafts, lock)
    _make(place, files, ours=ledger.delivered(whose))
    ledger.add(whose, marks, files, lock)
    _place(place)
    return True


class _Ledger:
    """What was delivered so far, oldest first; rewritten whole with every recipient."""

    def __init__(self, store: Workspace) -> None:
        self.path = store.root / "delivery" / "ledger.jsonl"
        self.entries = store.ledger()

    def has(self, whose: _Whose, marks: Mapping[str, str], lock: str | None) -> bool:
        """Whether these pages under this passphrase are the recipient's last of the period."""
        last = self._last(whose)
        if {name: e.drawn for name, e in last.items() if e.drawn != _WITHDRAWN} != marks:
            return False
        locked = {last[name].lock for name in marks}
        return len(locked) == 1 and _same_lock(locked.pop(), lock)

    def delivered(self, whose: _Whose) -> dict[str, str]:
        """Digest of each file that the last delivery laid into the recipient's folder."""
        return {e.file: e.sha256 for e in self._last(whose).values() if e.file and e.sha256}

    def add(
        self, whose: _Whose, marks: Mapping[str, str], files: Mapping[str, bytes], lock: str | None
    ) -> None:
        """Note one recipient's delivery, and what was delivered before and is withdrawn by it."""
        mark_of_lock = None if lock is None else mark_of(lock)
        withdrawn = sorted(self._last(whose).keys() - marks.keys())
        self.entries += [Handed(*whose, name, _WITHDRAWN, None, None) for name in withdrawn]
        self.entries += [
            Handed(
                *whose,
                page=name,
                drawn=mark,
                file=name if name in files else None,
                sha256=sha256(files[name]) if name in files else None,
                encrypted=lock is not None,
                lock=mark_of_lock,
            )
            for name, mark in marks.items()
        ]
        lines = (json.dumps(plain(entry), sort_keys=True) + "\n" for entry in self.entries)
        write_whole(self.path, "".join(lines).encode())

    def _last(self, whose: _Whose) -> dict[str, Handed]:
        """Give the newest entry of each page that the recipient ever had of the period."""
        return {e.page: e for e in self.entries if (e.period, e.recipient) == whose}


def _same_lock(mark: str | None, lock: str | None) -> bool:
    return mark == lock if mark is None or lock is None else is_mark_of(mark, lock)


def _recover(target: Path, *, ours: Mapping[str, str]) -> None:
    """Finish what a killed delivery had noted in the ledger; what it had not goes."""
    making, ready, old = (_beside(target, ending) for ending in (_MAKING, _READY, _OLD))
    shutil.rmtree(making, ignore_errors=True)
    if old.is_dir() and not target.is_dir():
        old.rename(target)
    shutil.rmtree(old, ignore_errors=True)
    if not ready.is_dir():
        return
    if ours and all(_holds(ready / name, digest) for name, digest in ours.items()):
        _place(target)
    else:
        shutil.rmtree(ready)


def _holds(path: Path, digest: str) -> bool:
    return path.is_file() and sha256(path.read_bytes()) == digest


def _make(target: Path, files: Mapping[str, bytes], *, ours: Mapping[str, str]) -> None:
    """Make the folder beside its place; it bears its second name only when whole."""
    making = _beside(target, _MAKING)
    making.mkdir(parents=True, mode=0o700)
    for name, content in files.items():
        _write(making / name, content)
    if target.is_dir():
        _keep(target, making, ours)
    making.rename(_beside(target, _READY))


def _place(target: Path) -> None:
    old = _beside(target, _OLD)
    if target.is_dir():
        target.rename(old)
    _beside(target, _READY).rename(target)
    shutil.rmtree(old, ignore_errors=True)


def _keep(target: Path, new: Path, ours: Mapping[str, str]) -> None:
    """Carry over what the recipient put into the folder or changed there.

    A link is not followed: it could lead to anything that this account may read.
    """
    for path in sorted(p for p in target.rglob("*") if p.is_file() and not p.is_symlink()):
        name, content = path.relative_to(target), path.read_bytes()
        if ours.get(str(name)) == sha256(content):
            continue
        place, number = new / name, 1
        while place.exists():
            place = new / name.with_stem(f"{name.stem}-{_KEPT}-{number}")
            number += 1
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        _write(place, content)


def _write(path: Path, content: bytes) -> None:
    path.touch(mode=0o600)
    path.write_bytes(content)


def _beside(target: Path, ending: str) -> Path:
    return target.with_name(f".{target.name}{ending}")
