"""A site: its configuration, its workspace, and the instruments made from them.

Opened from the configuration's path alone, so that a task's only parameters are a path and keys,
never text, clients or secrets; a worker process opens its own and keeps it.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property, lru_cache
from pathlib import Path

import pandas as pd

from calibration.survey import PhraseTable, builtin
from extraction.engines.model import ModelEngine
from extraction.rules import RuleEngine
from extraction.vocabulary import Vocabulary
from extraction.vocabulary import load as load_vocabulary
from pipeline import config
from pipeline.deidentify import Deidentifier, Options, Presidio, SecondLayer
from pipeline.errors import ConfigurationError, InputError
from pipeline.formats.sources import Sources, spool
from pipeline.formats.tables import read_table, require_columns
from pipeline.names.own_lists import own_lexicon
from pipeline.run.ingredients import ingredients
from pipeline.site import engines
from pipeline.site.audited import SiteAudit, read_audit
from pipeline.store.outcomes import OutcomeMemory
from pipeline.store.workspace import Workspace
from pipeline.vault.key import key_from_environment
from pipeline.vault.vault import Vault
from reports.drawing.logo import LogoError, check

__all__ = ["Site"]

_LOG = logging.getLogger("radcal")


class Site:
    """Everything one run needs, made on first use."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.config = config.load(path)
        self.workspace = Workspace.of(self.config)

    @staticmethod
    def open(path: str) -> Site:
        """Open a site by its configuration's path, once per process and state of that file."""
        file = Path(path)
        return _opened(file, file.stat().st_mtime_ns if file.exists() else 0)

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
            msg = f"reports.logo: {name} cannot be read ({error.strerror})."
            raise ConfigurationError(msg) from None
        except LogoError as error:
            msg = f"reports.{error}"
            raise ConfigurationError(msg) from None
        return png

    @cached_property
    def deidentifier(self) -> Deidentifier:
        """The instrument that takes identifiers out of text."""
        folder = self.word_lists
        return Deidentifier(
            Options(
                replacement=self.config.deidentification.replacement,
                max_characters=self.config.input.max_text_characters,
            ),
            own_lexicon(folder, option="deidentification.word_lists") if folder else None,
            second_layer=self._second_layer(),
        )

    @cached_property
    def word_lists(self) -> Path | None:
        """The folder of the site's own word lists, if it has one."""
        name = self.config.deidentification.word_lists
        return self.config.path(name) if name else None

    def _second_layer(self) -> SecondLayer | None:
        settings = self.config.deidentification
        if settings.second_layer == "none":
            return None
        model = settings.presidio_model
        return Presidio(self.config.path(model) if model else None)

    @cached_property
    def phrases(self) -> PhraseTable:
        """What each phrase means at this site, borrowed phrases included."""
        settings = self.config.phrases
        table = builtin(settings.builtin) if settings.builtin else self._own_phrases()
        borrow = {k: v for k, v in settings.borrow.items() if k not in table.phrases}
        missing = sorted(set(borrow.values()) - set(table.phrases))
        if missing:
            msg = f"phrases.borrow: not in the table {table.name!r}: {', '.join(missing)}."
            raise ConfigurationError(msg)
        return table.with_borrowed(borrow)

    @cached_property
    def phrases_digest(self) -> str:
        """Hash of what each phrase means."""
        return config.digest_of(self.phrases.to_frame().to_csv(index=False, float_format="%.10g"))

    @cached_property
    def exam_codes(self) -> pd.DataFrame:
        """The configured exam-code map; no rows where there is none."""
        name = self.config.input.exam_codes
        if name is None:
            return pd.DataFrame({"exam_code": [], "chest": [], "modality": []}, dtype="str")
        path = self.config.path(name)
        table = read_table(path).astype("str")
        needed = {"exam_code": "the code as exported", "chest": "true or false"}
        require_columns(table, needed, source=path.name)
        return table

    @cached_property
    def chest_codes(self) -> dict[str, bool]:
        """Exam code → whether it is a chest exam; codes with an empty cell go by their name."""
        stated = self.exam_codes[self.exam_codes["chest"].str.strip() != ""]
        chest = stated["chest"].str.lower().isin(["true", "1", "yes", "y"])
        return dict(zip(stated["exam_code"], chest, strict=True))

    @cached_property
    def formats(self) -> Sources:
        """How this site's sources are read."""
        table = self.exam_codes
        modality = table["modality"] if "modality" in table else pd.Series(dtype="str")
        known = dict(zip(table["exam_code"], modality, strict=False))
        return Sources(self.config.input, known, self.config.execution.shard_rows)

    def open_vault(self, *, read_only: bool) -> Vault:
        """Open the vault; to write to it, make it first if this is the first run."""
        path = self.workspace.root / "raw" / "vault.sqlite"
        return Vault.open(path, read_only=True) if read_only else Vault.ensure(path)

    @property
    def surrogate_key(self) -> bytes | None:
        """Give the secret behind invented values, or None where tokens are written."""
        if self.config.deidentification.replacement == "token":
            return None
        return key_from_environment().derive("surrogates")

    def sources(self) -> list[Path]:
        """List what matches ``[input] paths``, by name, or the spooled rows of the query.

        Raises
        ------
        InputError
            If nothing matches.
        ConfigurationError
            If a query is configured and no database named.
        """
        settings = self.config.input
        if settings.format == "sql":
            return [self._queried()]
        found: set[Path] = set()
        for pattern in settings.paths:
            whole = self.config.folder / pattern
            anchor = Path(whole.anchor)
            matches = anchor.glob(str(whole.relative_to(anchor)))
            found.update(p for p in matches if p.is_file() or settings.format in ("hl7v2", "fhir"))
        if not found:
            msg = (
                f"input.paths: no file matches {', '.join(settings.paths)} in {self.config.folder}."
            )
            raise InputError(msg)
        return sorted(found)

    def _queried(self) -> Path:
        address = os.environ.get("RADCAL_SQL_URL", "")
        if not address:
            msg = "The database's address is missing: set RADCAL_SQL_URL."
            raise ConfigurationError(msg)
        folder = self.workspace.root / "raw" / "queries"
        batch_rows = self.config.execution.shard_rows
        return spool(address, self.config.input, folder, batch_rows=batch_rows)

    def digest_of(self, stage: str) -> str:
        """Hash of what a stage's results depend on, beside the keys it builds on."""
        return config.digest_of(stage, ingredients(self, stage))

    @cached_property
    def reader_epoch(self) -> int:
        """Which set of reader codes is in force; 0 before the first run."""
        if not (self.workspace.root / "raw" / "vault.sqlite").exists():
            return 0
        return Vault.epoch_of(self.workspace.root / "raw" / "vault.sqlite")

    def _own_phrases(self) -> PhraseTable:
        path = self.config.path(str(self.config.phrases.table))
        frame = read_table(path)
        needed = {"phrase": "the phrase", "kind": "beta or atom"}
        require_columns(frame, needed, source=path.name)
        for column in ("alpha", "beta", "at", "n"):
            if column in frame:
                frame[column] = pd.to_numeric(frame[column], errors="coerce")
        return PhraseTable.from_frame(frame, name=path.stem, source=path.name)


@lru_cache(maxsize=4)
def _opened(path: Path, _changed: int) -> Site:
    return Site(path)
