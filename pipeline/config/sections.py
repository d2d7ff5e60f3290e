"""The sections of ``radcal.toml``: each option's type, default and limits.

What an option is for stands in the commented template (``radcal.toml`` beside this file), which a
test holds complete. Secrets come from the environment and have no place here.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Annotated, Final, Literal, Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from pydantic import AfterValidator, Field, ValidationInfo, field_validator, model_validator

from extraction.engines.settings import DType, Precision, ServerSettings
from extraction.errors import ModelSettingsError
from extraction.prompt.forms import AnswerForm
from extraction.prompt.template import Manner
from pipeline.config.basis import EXAM_COLUMNS, OPTIONAL_COLUMNS
from pipeline.config.kinds import (
    Address,
    Count,
    Hours,
    Place,
    Seconds,
    Section,
    Share,
    Shown,
    Stated,
    Words,
    once_each,
)
from reports.numbers import Language

Modality = Literal["XR", "CT", ""]
_TIMES: Final = r"(?is:epoch)|(?s:(?=.*%)(?:[^%]|%[aAbBcdfGHIjmMpSuUVwWxXyYzZ%])+)"
ColumnSpec = Annotated[str, Field(min_length=1)] | Annotated[tuple[str, ...], Field(min_length=1)]


class ReaderIds(Section):
    """Which ids are one reader's: whether case tells them apart, and a table of aliases."""

    case_sensitive: bool = True
    aliases: Place | None = None


class Fhir(Section):
    """Whether the export holds the orders and studies that number its reports."""

    orders: Literal["exported", "none"] = "exported"


_MODALITIES: Final[Mapping[str, Modality]] = {
    "XR": "XR", "CR": "XR", "DX": "XR", "RF": "XR", "X-RAY": "XR", "CT": "CT",
}  # fmt: skip


class Input(Section):
    """Where the exports are and how their columns, codes and times are to be read."""

    paths: tuple[Place, ...] = Field(default=(), min_length=1)
    format: Literal["auto", "csv", "parquet", "jsonl", "hl7v2", "fhir", "sql"] = "auto"
    query: str | None = None
    encoding: str = "auto"
    columns: Mapping[str, ColumnSpec] = Field(default_factory=dict)
    modalities: Mapping[str, Modality] = Field(default=_MODALITIES)
    statuses: Mapping[str, Literal["prelim", "final", "corrected", "addendum", "retracted"]] = (
        Field(default_factory=dict)
    )
    exam_codes: Place | None = None
    chest_pattern: Stated = r"\b(?:chest|thora(?:x|cic)|lungs?|pulmonary|CXR)\b"
    time_zone: str = "UTC"
    time_format: str | tuple[str, ...] = ""
    max_text_characters: int = Field(default=200_000, ge=1_000, le=100_000_000)
    max_missing_share: Share = 0.1
    hl7: Mapping[str, str] = Field(default_factory=dict)
    fhir: Fhir = Fhir()
    patient_authority: str = ""
    patient_ids_shared: bool = False
    reader_ids: ReaderIds = ReaderIds()
    left_out: Place | None = None

    @property
    def time_formats(self) -> tuple[str, ...]:
        """The site's own formats of times, the first to be tried first."""
        given = self.time_format
        return tuple(filter(None, (given,) if isinstance(given, str) else given))

    @model_validator(mode="after")
    def _formats_are_some(self) -> Input:
        for form in self.time_formats:
            if not re.fullmatch(_TIMES, form):
                raise ValueError(
                    f'`time_format`: {form!r} is none; "%d.%m.%Y %H:%M" is one, "epoch" another'
                )
        return self

    @model_validator(mode="after")
    def _columns_are_ours(self) -> Input:
        known = (*EXAM_COLUMNS, *OPTIONAL_COLUMNS)
        unknown = sorted(set(self.columns) - set(known))
        if unknown:
            msg = f"`columns`: no column of ours: {', '.join(unknown)}; known: {', '.join(known)}"
            if turned := [name for name in unknown if self.columns[name] in known]:
                msg += f'; ours stands first: {self.columns[turned[0]]} = "{turned[0]}"'
            raise ValueError(msg)
        return self

    @field_validator("paths", mode="before")
    @classmethod
    def _one_path(cls, given: object) -> object:
        return (given,) if isinstance(given, str) else given

    @field_validator("encoding", "chest_pattern")
    @classmethod
    def _can_be_used(cls, given: str, info: ValidationInfo) -> str:
        try:
            if info.field_name == "chest_pattern":
                re.compile(given)
            elif given.casefold() != "auto":
                codecs.lookup(given)
        except (re.error, LookupError, ValueError) as error:
            raise ValueError(str(error)) from None
        return given

    @field_validator("modalities")
    @classmethod
    def _beside_the_usual(cls, own: Mapping[str, str]) -> Mapping[str, str]:
        """Lay a site's words over the usual ones; '' takes one away."""
        folded = {name.upper(): meant for name, meant in own.items()}
        return {name: meant for name, meant in {**_MODALITIES, **folded}.items() if meant}

    @field_validator("statuses")
    @classmethod
    def _a_word_is_one_status(cls, own: Mapping[str, str]) -> Mapping[str, str]:
        """Refuse words that differ in capitals or blanks only, where they differ in meaning."""
        known: dict[str, str] = {}
        for word, ours in own.items():
            if known.setdefault(" ".join(word.casefold().split()), ours) != ours:
                raise ValueError(f"{word!r} has two: capitals and blanks make no other word")
        return own

    @field_validator("time_zone")
    @classmethod
    def _zone_is_known(cls, name: str) -> str:
        try:
            ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            like = get_close_matches(name, available_timezones(), n=1)
            hint = f"; did you mean {like[0]!r}?" if like else ", such as 'Europe/Berlin'"
            raise ValueError(f"no time zone of this name is known{hint}") from None
        return name

    @model_validator(mode="after")
    def _paths_or_query(self) -> Input:
        if self.format == "sql" and not self.query:
            raise ValueError('format "sql" needs a `query`')
        if self.format != "sql" and not self.paths:
            raise ValueError("`paths` names no file")
        return self


class Deidentification(Section):
    """How identifiers leave the text, and how many withheld reports stop a delivery."""

    replacement: Literal["token", "surrogate"] = "token"
    second_layer: Literal["none", "presidio"] = "none"
    presidio_model: Place | None = None
    word_lists: Place | None = None
    caution: float = Field(default=16.0, ge=0.05, le=1000)
    max_quarantined_share: Share = 0.02


class Pairing(Section):
    """Which CT answers which X-ray."""

    window_hours: Hours = 12.0
    ct_before_hours: float = Field(default=0.0, ge=0, le=24 * 31)
    min_age_years: int = Field(default=18, ge=0, le=120)
    preliminary_reads: Literal["exclude", "accept"] = "exclude"
    other_windows_hours: Annotated[tuple[Hours, ...], AfterValidator(once_each)] = (6.0, 24.0, 72.0)


_CHAT_NAME: Final = re.compile(r"(?i)(?:\b|_)(?:instruct|chat|it)(?:\b|_)|medgemma")
"""What a served model is called that was trained on talk."""


class Extraction(Section):
    """Which engine reads the reports, and where its model is served or lies if it has one."""

    engine: Literal["rules", "server", "vllm", "transformers", "replay"] = "rules"
    vocabulary: Place | None = None
    audit: Place | None = None
    examples: Place | None = None
    record: Place | None = None
    server_url: str | None = None
    model: Place | None = None
    template: Literal["auto", "raw", "chat"] = "auto"
    quote_by: Literal["words", "number"] = "words"
    guided: bool = False
    structured_output: bool | Literal["json_schema"] | None = None
    context_tokens: Count = 8192
    answer_tokens: Count = 1536
    server_concurrency: Count | Literal["auto"] = "auto"
    server_timeout_seconds: Seconds = 120.0
    server_silence_seconds: Seconds = 30.0
    server_plain_sampling: bool = False
    vllm_python: Place | None = None
    dtype: DType = "auto"
    tensor_parallel: Count = 1
    data_parallel: Count = 1
    weights: Precision = "auto"
    cache: Precision = "auto"
    memory_share: float = Field(default=0.9, gt=0, le=1)
    max_sequences: Count | Literal["auto"] = "auto"
    model_timeout_seconds: Seconds = 600.0
    max_failed_share: Share = 0.05
    max_unmapped_share: Share = 0.10
    max_disagreement_share: Share = 0.20

    def server(self, key: str = "") -> ServerSettings:
        """Give the model server's settings, with a key from the environment.

        Raises
        ------
        ModelSettingsError
            If the address, the model's name or a limit cannot be used.
        """
        return ServerSettings(
            url=self.server_url or "",
            model=self.model or "",
            key=key,
            concurrency=None if self.server_concurrency == "auto" else self.server_concurrency,
            timeout_seconds=self.server_timeout_seconds,
            silence_seconds=self.server_silence_seconds,
            plain=self.server_plain_sampling,
            bound="schema" if self.schema_bound else "regex" if self.structured_output else "no",
            manner=self.manner(chat=bool(_CHAT_NAME.search(self.model or ""))),
            context_tokens=self.context_tokens,
            answer_tokens=self.answer_tokens,
        )

    @property
    def schema_bound(self) -> bool:
        """Whether answers are bound by a JSON schema."""
        return self.structured_output == "json_schema"

    def manner(self, *, chat: bool) -> Manner:
        """Say how the model is asked; `chat` decides where the template is left open."""
        shape: Literal["json", "lines"] = "json" if self.schema_bound else "lines"
        form = AnswerForm(quoted=self.quote_by, shape=shape)
        turns = chat if self.template == "auto" else self.template == "chat"
        return Manner(chat=turns, form=form, guided=self.guided)

    @model_validator(mode="after")
    def _model_can_be_asked(self) -> Extraction:
        if self.engine in ("vllm", "transformers", "replay") and not self.model:
            what = "a recording" if self.engine == "replay" else "the folder of a model"
            raise ValueError(f'engine "{self.engine}" needs `model`, {what}')
        if self.guided and self.engine in ("rules", "replay"):
            raise ValueError(f'`guided` needs a model to ask; "{self.engine}" asks none')
        if self.engine == "server":
            try:
                self.server()
            except ModelSettingsError as error:
                raise ValueError(str(error)) from None
        return self


class Phrases(Section):
    """What each phrase means: a shipped survey or, in its place, a table of the site's own."""

    builtin: str = "diagnostic-certainty-scale"
    table: Place | None = None
    borrow: Mapping[str, str] = Field(default_factory=lambda: {"concerning for": "suspicious for"})
    discouraged: Words = (
        "maybe", "probably", "possibly", "question of", "suggestive of", "suspicious for",
        "worrisome for", "concerning for",
    )  # fmt: skip
    reserved: Words = ("consistent with", "compatible with", "diagnostic of")
    recommended: Words = (
        "most likely", "likely", "may represent", "unlikely", "very unlikely",
    )  # fmt: skip

    @property
    def listed(self) -> set[str]:
        """Every word that one of the lists names."""
        return {*self.discouraged, *self.reserved, *self.recommended, *self.borrow}


class Calibration(Section):
    """How observations become curves, errors and intervals."""

    bins: int = Field(default=100, ge=2, le=10_000)
    bin_rule: Literal["exact", "midpoint", "paper"] = "exact"
    label: Literal["probability", "mean"] = "probability"
    ct_silence: Literal["absent", "exclude"] = "absent"
    ct_readers: Literal["unstated", "informed", "blind"] = "unstated"
    bootstrap: int = Field(default=1000, ge=100, le=100_000)
    interval: Literal["percentile", "basic", "bias-corrected"] = "percentile"
    pattern_probability: float = Field(default=0.82, ge=0.7, lt=1)
    min_rise: Share = 0.1
    seed: int = Field(default=0, ge=0, lt=2**63)


class Advice(Section):
    """The guard-rails of phrase advice."""

    min_exams: int = Field(default=20, ge=5, le=1_000_000)
    max_step: Share = 0.5
    min_stability: Share = 0.7
    epsilon: float = Field(default=1e-3, gt=0, le=1_000)
    tau: float = Field(default=1e-3, gt=0, le=1_000)
    regulariser: Literal["kl", "entropy"] = "kl"
    keep_order: bool = False


class Reports(Section):
    """What stands on the pages beside the numbers; an empty text is that of the pages' language."""

    institution: Shown = "Department of Radiology"
    logo: Place | None = None
    banner: Shown = ""
    contact: Shown = ""
    returns_by: Shown = ""
    next_issue: Shown = ""
    governance: Shown = ""
    page: Literal["A4", "Letter"] = "A4"
    window_months: int = Field(default=12, ge=1, le=120)
    min_exams: int = Field(default=20, ge=5, le=1_000_000)
    min_readers: int = Field(default=5, ge=5, le=1_000_000)
    target_distance: float | None = Field(default=None, gt=0, lt=1)
    target_scale_use: float | None = Field(default=None, gt=0, le=1)
    language: Language = "en"
    demonstration: bool = False
    passphrases: Place | None = None
    pacs_link: str | None = None
    accessions: bool = False

    @model_validator(mode="after")
    def _accessions_are_locked_up(self) -> Self:
        if self.accessions and self.passphrases is None:
            raise ValueError(
                "`accessions` opens codes, so it needs `passphrases` to lock what it delivers"
            )
        return self

    @field_validator("pacs_link")
    @classmethod
    def _link_has_its_place(cls, link: str | None) -> str | None:
        if link is not None and set(re.findall(r"\{(.*?)\}", link)) != {"accession"}:
            raise ValueError(
                "`pacs_link` needs {accession} where the accession number goes, and no other slot"
            )
        return link


class Store(Section):
    """Where the workspace lies, and what of it stays on this machine if that is elsewhere."""

    workspace: Place = "workspace"
    local: Place = "workspace"
    keep_runs: Count = 3

    @property
    def url(self) -> str | None:
        """The workspace's address, if it is not a folder."""
        return self.workspace.rstrip("/") if "://" in self.workspace else None

    @model_validator(mode="after")
    def _address_holds_no_secret(self) -> Store:
        if "@" in (self.url or "").partition("://")[2].partition("/")[0]:
            raise ValueError(
                "the address of `workspace` holds credentials; they belong into the environment"
            )
        return self


class Execution(Section):
    """How much of the machine a run may take, and which machines work on its shards."""

    workers: int = Field(default=2, ge=1, le=256)
    orchestrated: Literal["auto", "always"] = "auto"
    shard_rows: int = Field(default=1000, ge=10, le=100_000)
    block_exams: int = Field(default=100_000, ge=10, le=100_000_000)
    shard_timeout_minutes: float = Field(default=60.0, gt=0, le=24 * 60)
    dask_address: str = ""
    dask_stages: tuple[Literal["ingest", "de-identify", "extract", "feedback"], ...] = (
        "extract", "feedback",
    )  # fmt: skip


class Notify(Section):
    """Whom to tell that a run was refused or failed."""

    command: tuple[Place, ...] = ()
    url: Address = ""
