"""What must hold before a run reads anything, each found out in milliseconds and none written to.

A run refuses by them before it starts; `radcal check` shows them all.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from calibration.errors import CalibrationError
from extraction.errors import ExtractionError
from pipeline.errors import ConfigurationError, RadcalError
from pipeline.site.site import Site
from pipeline.vault.key import Key
from pipeline.vault.sealing import read_passphrases
from pipeline.vault.vault import Vault

__all__ = ["Finding", "finding", "require", "site_findings"]

_MIB: Final = 2**20
_ROOM_MIB: Final = 512
"""A first run's own files, before any exam: the orchestrator's records, pages, logs."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found: all is well, something to know of, or why a run would be refused."""

    subject: str
    state: Literal["well", "note", "fault"]
    told: str


def finding(subject: str, look: Callable[[], str | Finding]) -> Finding:
    """Look; what the program explains to its user is a fault, told in its own words."""
    try:
        found = look()
    except (RadcalError, CalibrationError, ExtractionError) as error:
        return Finding(subject, "fault", str(error))
    return found if isinstance(found, Finding) else Finding(subject, "well", found)


def site_findings(site: Site) -> Iterator[Finding]:
    """Check what a site's own files and this machine must offer; the sources are not opened."""
    yield finding("vault key", lambda: _key(site))
    yield finding("workspace", lambda: _workspace(site))
    yield finding("logo", lambda: "none" if site.logo is None else "a PNG that can be drawn")
    yield finding("passphrases", lambda: _passphrases(site))
    yield finding("vocabulary", lambda: f"{len(site.vocabulary.entries)} findings")
    yield finding("phrase table", lambda: f"{site.phrases.name}, {len(site.phrases.phrases)} words")
    yield finding("extraction audit", lambda: "none" if site.audited is None else "can be read")


def require(findings: Iterator[Finding]) -> None:
    """Refuse to go on with what is at fault.

    Raises
    ------
    ConfigurationError
        If anything is; all of it is listed.
    """
    faults = [each.told for each in findings if each.state == "fault"]
    if faults:
        raise ConfigurationError("\n".join(faults))


def _key(site: Site) -> str:
    key = Key.of()
    if not site.vault_path.is_file():
        return "usable; the first run makes the vault with it"
    Vault.open(site.vault_path, key, read_only=True).close()
    return "opens this workspace's vault"


def _workspace(site: Site) -> str | Finding:
    root = site.workspace.root
    place = next(folder for folder in (root, *root.parents) if folder.exists())
    if not place.is_dir() or not os.access(place, os.W_OK | os.X_OK):
        msg = f"store.workspace: {place} cannot be written to by this user."
        raise ConfigurationError(msg)
    free = shutil.disk_usage(place).free // _MIB
    told = f"{root}: {free:,} MiB free"
    return told if free > _ROOM_MIB else Finding("workspace", "note", f"{told}; that is little")


def _passphrases(site: Site) -> str:
    name = site.config.reports.passphrases
    if name is None:
        return "none: pages are not encrypted"
    return f"{len(read_passphrases(Path(site.config.path(name)))):,} recipients"
