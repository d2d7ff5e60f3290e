"""Identified exams → coded exams whose text names nobody.

    ingest → register → **de-identify** → pair → extract → tally → gates → issue → pages → deliver

Everyone in the exams has a code by now (`pipeline.stages.register`), so shards are cleaned in
parallel and the vault is only read. A report that cannot be shown to be clean is withheld, with a
reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

import pandas as pd

from pipeline.config.basis import IDENTIFIERS, digest_of
from pipeline.deidentify import Deidentifier, LeakScan, Options, Presidio, SecondLayer
from pipeline.deidentify.coding import Codes, clean, known_identifiers
from pipeline.errors import DamagedShardError
from pipeline.names.lexicon import RULES, contents, own_lexicon
from pipeline.stages import Keyed, Named, options
from pipeline.stages.ingest import objections
from pipeline.vault.codes import exam_identifiers, patient_identifiers, study_identifiers
from pipeline.vault.key import Key
from pipeline.vault.merges import patients_joined, under_one_number
from pipeline.vault.objections import Traces

if TYPE_CHECKING:
    from pipeline.site.site import Site

_WORD_LISTS: Final = "deidentification.word_lists"


@dataclass(frozen=True, slots=True)
class ExamShard:
    """One shard of exams, and the batch of shards whose people the leak scan looks for in it.

    ``months`` is the key of the run's table of exams whose stated month is not their true one.
    ``moved`` (that table's rows of this shard), ``merged`` (how its patients' numbers were merged)
    and ``left_out`` (which exams are left out on request) are hashes; '' where there is nothing.
    """

    shard: str
    batch: tuple[str, ...]
    months: str = ""
    moved: str = ""
    merged: str = ""
    left_out: str = ""


@dataclass(frozen=True, slots=True)
class Coded:
    """Counts of one shard: ``withheld`` by reason, ``removed`` spans by category.

    ``rows = cleaned + withheld + left_out + purged``; the purged ones were deleted before this
    shard was made.
    """

    key: str
    rows: int
    cleaned: int
    left_out: int
    purged: int
    withheld: Mapping[str, int]
    removed: Mapping[str, int]


class Clean(Keyed[ExamShard, Coded]):
    """Code and clean one shard of exams."""

    name = kind = "de-identify"
    counted = ("rows", "cleaned")
    tables, comes_to = ("withheld", "clean_exams"), Coded

    def settings(self, site: Site) -> Named:
        """Give how identifiers are found and replaced, and which codes are in force."""
        apart = {"max_quarantined_share", "word_lists"}
        chosen = site.config.deidentification.model_dump(mode="json", exclude=apart)
        return {
            **options("deidentification", chosen),
            "own word lists": digest_of(sorted(own_words(site).items())),
            "pairing.min_age_years": str(site.config.pairing.min_age_years),
            "input.max_text_characters": str(site.config.input.max_text_characters),
            "reader codes' epoch": str(site.reader_epoch),
            "vault's key": str(site.vault_keys),
            "time zone of months": site.month_zone,
        }

    def key(self, site: Site, item: ExamShard) -> str:
        """Hash the shard's name, which is a hash of the exams in it, and their stated months."""
        return digest_of(self.digest(site), item.shard, item.moved, item.merged, item.left_out)

    def make(self, site: Site, item: ExamShard, key: str) -> Coded:
        """Code and clean the shard's exams."""
        store = site.workspace
        every = exams = store.read("raw", "exams", [item.shard])
        before = Traces.of(store, item.shard)
        gone = len(before.on_request)
        if item.merged or item.left_out:
            shared = site.config.input.patient_ids_shared
            stands = patients_joined(store, shared=shared).stands
            exams = every[~site.once(objections).apply(every, stands)].reset_index(drop=True)
            exams = under_one_number(exams, stands)
        cleaned = clean(
            exams,
            codes=replace(_codes(site, exams), months=_stated(site, item, exams)),
            deidentifier=site.once(deidentifier),
            scan=site.once(_leak_scan, item.batch),
            min_age_years=site.config.pairing.min_age_years,
        )
        found = Coded(
            key=key,
            rows=len(every) + gone + before.past_retention,
            cleaned=len(cleaned.exams),
            left_out=len(every) - len(exams) + gone,
            purged=before.past_retention,
            withheld=dict(Counter(cleaned.withheld["reason"])),
            removed=dict(sorted(cleaned.removed.items())),
        )
        return self.keep(site, key, found, withheld=cleaned.withheld, clean_exams=cleaned.exams)


CLEAN: Final = Clean()


def _codes(site: Site, exams: pd.DataFrame) -> Codes:
    is_token = site.config.deidentification.replacement == "token"
    with site.open_vault(read_only=True) as vault:
        patients = patient_identifiers(exams)
        return Codes(
            study=vault.codes("study", study_identifiers(exams)),
            exam=vault.codes("exam", exam_identifiers(exams)),
            patient=vault.codes("patient", patients),
            reader=vault.codes("reader", exams["reader_id"].tolist()),
            site=vault.codes("site", exams["site"].tolist()),
            shift_days=vault.shift_days(patients),
            marks=vault.marks(exams["text"]),
            surrogate_key=None if is_token else Key.of().derive("surrogates"),
        )


def _stated(site: Site, item: ExamShard, exams: pd.DataFrame) -> Mapping[str, tuple[str, bool]]:
    """Give each exam's month, its own by the site's clocks or another, by the exam's digest."""
    months = exams["performed_at"].dt.tz_convert(site.month_zone).dt.strftime("%Y-%m")
    own = {digest: (m, True) for digest, m in zip(exams["source_digest"], months, strict=True)}
    if not item.moved:
        return own
    moved = site.workspace.read("raw", "months", [item.months])
    moved = moved[moved["shard"] == item.shard]
    if moved.empty:  # true months beside shifted times would tell the shift
        table: tuple[Literal["raw"], str, str] = ("raw", "months", item.months)
        raise DamagedShardError(*table, "names no exam of a shard that it is of")
    both = zip(moved["month"], moved["is_own"].astype(bool), strict=True)
    return own | dict(zip(moved["source_digest"], both, strict=True))


def deidentifier(site: Site) -> Deidentifier:
    """Make the instrument that takes identifiers out of text."""
    settings, folder = site.config.deidentification, _word_lists(site)
    layer: SecondLayer | None = None
    if settings.second_layer != "none":
        model = settings.presidio_model
        layer = Presidio(site.config.path(model) if model else None)
    limits = Options(
        replacement=settings.replacement,
        max_characters=site.config.input.max_text_characters,
        caution=settings.caution,
    )
    own = own_lexicon(folder, option=_WORD_LISTS) if folder else None
    return Deidentifier(limits, own, second_layer=layer)


def tried_words(site: Site) -> str:
    """Say how many lists the site has of its own, once its rules are found to work."""
    found = own_words(site)
    if RULES in found:
        site.once(deidentifier)
    return f"{len(found):,} of the site's own"


def own_words(site: Site) -> Mapping[str, str]:
    """Give what the site's own word lists hold, by list."""
    folder = _word_lists(site)
    return contents(folder, option=_WORD_LISTS) if folder else {}


def _word_lists(site: Site) -> Path | None:
    """Find the folder of the site's own word lists, if it has one."""
    name = site.config.deidentification.word_lists
    return site.config.path(name) if name else None


def _leak_scan(site: Site, batch: tuple[str, ...]) -> LeakScan:
    people = (
        known
        for shard in batch
        for known in known_identifiers(
            site.workspace.read("raw", "exams", [shard], columns=list(IDENTIFIERS))
        )
    )
    return LeakScan.from_known(people, lexicon=site.once(deidentifier).lexicon)
