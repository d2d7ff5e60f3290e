"""A site: its configuration, its workspace, its instruments, and what must hold before a run.

Opened from the configuration's path alone, so that a task's only parameters are a path and keys,
never text, clients or secrets; a worker process opens its own and keeps it.

A run refuses by its findings before it starts; `radcal check` shows them all.
"""

from __future__ import annotations

import logging
import os
import shutil
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Final, Literal, TypeVar, TypeVarTuple, cast
from urllib.parse import urlsplit

from calibration.errors import CalibrationError
from calibration.survey import PhraseTable, builtin
from extraction.engines.model import ModelEngine
from extraction.errors import ExtractionError
from extraction.rules.engine import RuleEngine
from extraction.vocabulary import Vocabulary
from extraction.vocabulary import load as load_vocabulary
from pipeline import config
from pipeline.config.basis import digest_of, sha256
from pipeline.config.sections import Phrases
from pipeline.errors import ConfigurationError, RadcalError
from pipeline.formats.tables import named, read_table
from pipeline.site import engines
from pipeline.site.audited import SiteAudit, misread_share, read_audit
from pipeline.site.engines import OutcomeMemory
from pipeline.store.files import write_whole
from pipeline.store.workspace import Workspace
from pipeline.vault.key import Key
from pipeline.vault.sealing import read_passphrases
from pipeline.vault.vault import Vault
from reports.drawing.style import LogoError, check

T = TypeVar("T")
Asked = TypeVarTuple("Asked")
Lists = tuple[tuple[str, str], ...]
"""Name and hash of each list, table and folder of words that a configuration names."""
_LOG = logging.getLogger("radcal")


class Site:
    """Everything one run needs, made on first use."""

    def __init__(self, path: Path, lists: Lists = ()) -> None:
        self.path = path
        self.lists = lists
        self.config = config.load(path)
        self.workspace = Workspace.of(self.config)
        self._made: dict[Callable[..., object], tuple[tuple[object, ...], object]] = {}

    def once(self, make: Callable[[Site, *Asked], T], *asked: *Asked) -> T:
        """Give what a stage makes of this site, made once per process; anew if asked for another.

        Of what is made for something (a shard, a batch) the last is kept: shards come in order.
        """
        held = self._made.get(make)
        if held is None or held[0] != asked:
            held = self._made[make] = asked, make(self, *asked)
        return cast("T", held[1])

    @staticmethod
    def open(path: str) -> Site:
        """Open a site by its configuration's path, once per process and state of its own files."""
        file = Path(path)
        stated = _digest(file)
        lists = _opened(file, stated, ()).config.lists
        return _opened(file, stated, tuple((each.name, _digest(each)) for each in lists))

    @staticmethod
    def forget() -> None:
        """Open every site anew: for a process that outlives runs, such as a Dask worker."""
        _opened.cache_clear()

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The pathologies and cues in force."""
        name = self.config.extraction.vocabulary
        return load_vocabulary(self.config.path(name) if name else None)

    @cached_property
    def engine(self) -> RuleEngine | ModelEngine:
        """The engine that reads reports."""
        settings = self.config.extraction
        return engines.engine(
            settings,
            self.vocabulary,
            folder=self.config.folder,
            tolerated_outage=settings.max_failed_share,
            memory=OutcomeMemory(self.workspace.root / "analysis" / "outcomes.sqlite"),
        )

    @contextmanager
    def engine_in_use(self) -> Iterator[None]:
        """Make the engine, so that what is wrong with it shows first; free its model at the end."""
        model = self.model
        try:
            yield
        finally:
            if model is not None:
                _LOG.info("model        %s", model.summary())
                model.close()

    @property
    def model(self) -> ModelEngine | None:
        """The engine if it asks a language model. One serves all shards of a process."""
        return self.engine if isinstance(self.engine, ModelEngine) else None

    @cached_property
    def audited(self) -> SiteAudit | None:
        """How well people found the engine to read this site's reports, if it was audited."""
        name = self.config.extraction.audit
        return read_audit(self.config.path(name)) if name else None

    @cached_property
    def misread(self) -> float:
        """Share of X-ray words that the engine misreads, as audited; 0 without an audit."""
        if self.audited is None:
            return 0.0
        means = dict(zip(self.phrases.phrases, self.phrases.means.tolist(), strict=True))
        return misread_share(self.audited.confusion, means=means)

    @cached_property
    def logo(self) -> bytes | None:
        """The institution's logo, checked before anything is drawn.

        Raises
        ------
        ConfigurationError
            If the file cannot be read or is no PNG of a printable size.
        """
        name = self.config.reports.logo
        if name is None:
            return None
        try:
            png = self.config.path(name).read_bytes()
            check(png)
        except OSError as error:
            raise ConfigurationError(
                f"reports.logo: {name} cannot be read ({error.strerror})."
            ) from None
        except LogoError as error:
            raise ConfigurationError(f"reports.{error}") from None
        return png

    @cached_property
    def phrases(self) -> PhraseTable:
        """What each phrase means at this site, borrowed phrases included."""
        settings = self.config.phrases
        table = self._own_phrases() if settings.table else builtin(settings.builtin)
        borrow = {k: v for k, v in settings.borrow.items() if k not in table.phrases}
        missing = sorted(set(borrow.values()) - set(table.phrases))
        if missing:
            raise ConfigurationError(
                f"phrases.borrow: not in the table {table.name!r}: {', '.join(missing)}. "
                "Borrow from phrases that are, or write [phrases.borrow] without a line."
            )
        return table.with_borrowed(borrow)

    @cached_property
    def phrases_digest(self) -> str:
        """Hash of what each phrase means."""
        return digest_of(self.phrases.to_frame().to_csv(index=False, float_format="%.10g"))

    @property
    def vault_path(self) -> Path:
        """Where the vault lies."""
        return self.workspace.root / "raw" / "vault.sqlite"

    def open_vault(self, *, read_only: bool) -> Vault:
        """Open the vault; to write to it, make it first if this is the first run."""
        path = self.vault_path
        return Vault.open(path, read_only=True) if read_only else Vault.ensure(path)

    @cached_property
    def reader_epoch(self) -> int:
        """Which set of reader codes is in force; 0 before the first run."""
        return Vault.stated(self.vault_path)[0] if self.vault_path.exists() else 0

    @cached_property
    def vault_keys(self) -> int:
        """How often the vault's key was replaced: marks and invented values hang on it."""
        return Vault.stated(self.vault_path)[2] if self.vault_path.exists() else 0

    @cached_property
    def month_zone(self) -> str:
        """The time zone by whose clocks an exam's month is told.

        UTC for good where an earlier version began the workspace: two months of one exam, as it was
        told and as it is, would tell its day, and with it the patient's date shift.
        """
        zone, path = self.config.input.time_zone, self.vault_path
        return zone if not path.exists() or Vault.stated(path)[3] else "UTC"

    def note_vault(self) -> None:
        """Note how often codes came into the vault under which exams are coded from now on."""
        write_whole(_noted(self), f"{Vault.stated(self.vault_path)[1]}\n".encode())

    def _own_phrases(self) -> PhraseTable:
        path = self.config.path(str(self.config.phrases.table))
        needed = {"phrase": "the phrase", "kind": "beta or atom"}
        with named("phrases.table"):
            frame = read_table(path, needed, self.config.input.encoding)
        return PhraseTable.from_frame(frame, name=path.stem, source=path.name)


@lru_cache(maxsize=4)
def _opened(path: Path, _stated: str, lists: Lists) -> Site:
    return Site(path, lists)


def _digest(place: Path) -> str:
    """Hash what a file, or all files of a folder, hold; what cannot be read is told elsewhere."""
    try:
        files = sorted(place.rglob("*")) if place.is_dir() else [place]
        return digest_of(
            [(each.name, sha256(each.read_bytes())) for each in files if each.is_file()]
        )
    except OSError:
        return ""


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
    yield finding("months", lambda: _months(site))
    yield finding("logo", lambda: "none" if site.logo is None else "a PNG that can be drawn")
    yield finding("passphrases", lambda: _passphrases(site))
    yield finding("vocabulary", lambda: f"{len(site.vocabulary.entries)} findings")
    yield finding("phrase table", lambda: _phrases(site))
    yield finding("extraction audit", lambda: "none" if site.audited is None else "can be read")
    if idle := list(site.config.without_effect()):
        yield Finding("settings", "note", f"without effect: {'; '.join(idle)}")
    if site.config.execution.dask_address:
        yield finding("dask scheduler", lambda: _scheduler(site.config.execution.dask_address))
    for program in site.config.notify.command[:1]:
        if shutil.which(program) is None:
            told = f"{program}: no program of this user's; nobody would hear of a failed run"
            yield Finding("notify.command", "note", told)


def _key(site: Site) -> str:
    is_there, noted = site.vault_path.is_file(), _noted(site)
    if not is_there and (noted.exists() or site.workspace.keys("analysis", "clean_exams")):
        raise ConfigurationError(
            f"{site.vault_path} is gone, and exams were coded with it: new codes would make two "
            "readers of each. Restore its newest copy and the key that it was made with, or begin "
            "with another [store] workspace."
        )
    key = Key.of()
    if not is_there:
        return "usable; the first run makes the vault with it"
    Vault.open(site.vault_path, key, read_only=True).close()
    if noted.exists() and int(noted.read_text(encoding="ascii")) > Vault.stated(site.vault_path)[1]:
        raise ConfigurationError(
            f"{site.vault_path} is older than exams that were coded with it (a restored copy?): it "
            "does not know all their codes. Restore a newer copy, or say `radcal rotate`: the next "
            "run then codes every exam anew, and gives readers new codes."
        )
    return "opens this workspace's vault"


def _scheduler(address: str) -> str:
    """Knock at the scheduler's door; whether it may be sent work is for the run to see."""
    named = urlsplit(address if "://" in address else f"tcp://{address}")
    try:
        socket.create_connection((named.hostname or "", named.port or 8786), timeout=5).close()
    except (OSError, ValueError):
        raise ConfigurationError(
            f"execution.dask_address: no Dask scheduler answers at {address}. "
            "Start it (dask scheduler), or leave dask_address empty."
        ) from None
    return f"answers at {address}"


def _months(site: Site) -> str | Finding:
    zone, own = site.month_zone, site.config.input.time_zone
    if zone == own:
        return f"of {zone}"
    told = (
        f"UTC's and not {own}'s, as 0.9.0 or an earlier version began this workspace: an exam "
        "near a month's end may count to the next. To change that would tell its day; a "
        f"workspace begun now has {own}'s."
    )
    return Finding("months", "note", told)


def _noted(site: Site) -> Path:
    return site.vault_path.with_name("vault.times")


def _workspace(site: Site) -> str | Finding:
    root = site.workspace.root
    place = next(folder for folder in (root, *root.parents) if folder.exists())
    if not place.is_dir() or not os.access(place, os.W_OK | os.X_OK):
        raise ConfigurationError(f"store.workspace: {place} cannot be written to by this user.")
    free = shutil.disk_usage(place).free // _MIB
    told = f"{root}: {free:,} MiB free"
    return told if free > _ROOM_MIB else Finding("workspace", "note", f"{told}; that is little")


def _phrases(site: Site) -> str | Finding:
    """Tell the phrase table; words that a run would never meet, and those that it would not score.

    Of a shipped table only words that the site put on a list of its own can be at fault for being
    read as nothing.
    """
    given, table, read = site.config.phrases, site.phrases, site.vocabulary.phrases
    listed = given.listed - Phrases().listed | ({*table.phrases} if given.table else set())
    unscored = [word for word in read if word not in table.phrases]
    parted = {
        "without effect, for nothing is read as it": sorted(listed.difference(read)),
        "read and left out, for it has no meaning ([phrases.borrow] lends one)": unscored,
    }
    told = f"{table.name}, {len(table.phrases)} words"
    more = [told, *(f"{what}: {', '.join(words)}" for what, words in parted.items() if words)]
    return Finding("phrase table", "note", "; ".join(more)) if more[1:] else told


def _passphrases(site: Site) -> str:
    name = site.config.reports.passphrases
    if name is None:
        return "none: pages are not encrypted"
    return f"{len(read_passphrases(Path(site.config.path(name)))):,} recipients"
