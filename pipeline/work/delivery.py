"""Pages to recipients: each gets one folder, whole or not at all, and once.

    WORKSPACE/delivery/<period>/<recipient>/    the files
    WORKSPACE/delivery/ledger.jsonl             what was delivered: one line a file

A folder is made beside its place, noted in the ledger, and renamed onto its place; a delivery that
is killed anywhere between is finished or begun again by the next run. The ledger knows the digest
of every page as drawn and a mark of its passphrase; a recipient whose pages are all in it under the
same one gets nothing again, even if they have moved or filled in a file since. When an issue
changes, files of the old folder that are not ours, or were changed after delivery (a return sheet
being filled in), are kept in the new one.

Where ``[reports] passphrases`` names a file, PDFs are encrypted (`pipeline.vault.sealing`), and
what else belongs to the issue travels inside the PDF.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from pipeline.errors import StorageError
from pipeline.site.site import Site
from pipeline.vault.sealing import is_mark_of, mark_of, passphrases, seal

__all__ = ["deliver"]

Facts = dict[str, Any]
_MAKING, _READY, _OLD = ".making", ".ready", ".old"
_KEPT: Final = "kept"


def deliver(config: str, period: str, pages: list[Facts]) -> Facts:
    """Deliver every recipient's pages that are not in the ledger yet.

    Raises
    ------
    ConfigurationError
        If passphrases are asked for and a recipient has none; nothing is delivered then.
    """
    site = Site.open(config)
    root = site.workspace.root / "delivery"
    locks = passphrases(site, [page["recipient"] for page in pages])
    ledger = _Ledger(root / "ledger.jsonl", site)
    delivered = 0
    for page in pages:
        recipient = page["recipient"]
        drafts = {file["name"]: site.workspace.read_page(file["draft"]) for file in page["files"]}
        target = root / period / recipient
        _recover(target, ours=ledger.delivered(period, recipient))
        lock = locks.get(recipient)
        marks = {name: _digest(content) for name, content in drafts.items()}
        if ledger.has(period, recipient, marks, lock=lock):
            continue
        files = drafts if lock is None else seal(drafts, lock)
        _make(target, files, ours=ledger.delivered(period, recipient))
        ledger.add(period, recipient, marks, files, lock=lock)
        _place(target)
        delivered += 1
    return {"delivered": delivered, "unchanged": len(pages) - delivered}


class _Ledger:
    """What was delivered so far, oldest first; rewritten whole with every recipient."""

    def __init__(self, path: Path, site: Site) -> None:
        self.path, self.site = path, site
        lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
        try:
            self.entries: list[Facts] = [json.loads(line) for line in lines]
        except ValueError:
            msg = (
                "delivery/ledger.jsonl is damaged. Restore it from your backup; or delete it, and "
                "every page of the issue is delivered again."
            )
            raise StorageError(msg) from None

    def has(
        self, period: str, recipient: str, marks: Mapping[str, str], *, lock: str | None
    ) -> bool:
        """Whether these pages under this passphrase are the recipient's last of the period."""
        last = {e["page"]: e for e in self._of(period, recipient)}
        if not all(name in last and last[name]["drawn"] == mark for name, mark in marks.items()):
            return False
        locked = {last[name].get("lock") for name in marks}
        return len(locked) == 1 and _same_lock(locked.pop(), lock)

    def delivered(self, period: str, recipient: str) -> dict[str, str]:
        """Digest of each file as it was last laid into the recipient's folder."""
        return {e["file"]: e["sha256"] for e in self._of(period, recipient) if e["file"]}

    def add(
        self,
        period: str,
        recipient: str,
        marks: Mapping[str, str],
        files: Mapping[str, bytes],
        *,
        lock: str | None,
    ) -> None:
        """Note one recipient's delivery."""
        mark_of_lock = None if lock is None else mark_of(lock)
        self.entries += [
            {
                "period": period,
                "recipient": recipient,
                "page": name,
                "drawn": mark,
                "file": name if name in files else None,
                "sha256": _digest(files[name]) if name in files else None,
                "encrypted": lock is not None,
                "lock": mark_of_lock,
            }
            for name, mark in marks.items()
        ]
        lines = "".join(json.dumps(entry, sort_keys=True) + "\n" for entry in self.entries)
        self.site.workspace.write_bytes(self.path, lines.encode())

    def _of(self, period: str, recipient: str) -> Sequence[Facts]:
        return [e for e in self.entries if (e["period"], e["recipient"]) == (period, recipient)]


def _same_lock(mark: str | None, lock: str | None) -> bool:
    if mark is None or lock is None:
        return mark is None and lock is None
    return is_mark_of(mark, lock)


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
    return path.is_file() and _digest(path.read_bytes()) == digest


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
    """Carry over what the recipient put into the folder or changed there."""
    for path in sorted(p for p in target.iterdir() if p.is_file()):
        content = path.read_bytes()
        if ours.get(path.name) == _digest(content):
            continue
        place, number = new / path.name, 1
        while place.exists():
            place = new / f"{path.stem}-{_KEPT}-{number}{path.suffix}"
            number += 1
        _write(place, content)


def _write(path: Path, content: bytes) -> None:
    path.touch(mode=0o600)
    path.write_bytes(content)


def _beside(target: Path, ending: str) -> Path:
    return target.with_name(f".{target.name}{ending}")


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
