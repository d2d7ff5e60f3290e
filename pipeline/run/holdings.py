"""What is stored of one person: every place of a workspace searched, and a copy for that person.

Identified exams are searched by the person's id, whatever else is stored by the person's codes, in
every column that names somebody, so that a new table needs no line here. ``kept.toml`` is the
record of all places: what they hold of whom, until when, and who opens them. What cannot be read is
named apart, because it may hold more; names inside texts are not looked for.

A reader's copy holds the reader's own pages, words and figures, and no patient's identifier: no
report, and no page that is locked, since that may carry accession numbers. A patient's copy holds
the reports as exported, in whose text the names and numbers of everybody else are taken out, and
what was read in them: nothing of a reader, nor what a CT made of an X-ray's words.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Set
from contextlib import suppress
from itertools import groupby
from pathlib import Path
from typing import Any, Final

import pandas as pd

from pipeline.config.basis import sha256
from pipeline.deidentify.coding import known_identifiers
from pipeline.deidentify.spans import Clean, Outcome
from pipeline.errors import DamagedShardError, InputError
from pipeline.site.site import Site
from pipeline.stages.clean import deidentifier
from pipeline.stages.ingest import objections, reader_rules
from pipeline.store.files import write_whole
from pipeline.store.workspace import Zone
from pipeline.vault.audit_log import AuditLog
from pipeline.vault.codes import Domain, domain_of, issued, normalised, patient_identifier
from pipeline.vault.merges import patients_joined, said_in, under_one_number
from pipeline.vault.objections import Objections
from pipeline.vault.sealing import read_passphrases
from pipeline.vault.upkeep import identifiers
from pipeline.vault.vault import Vault

_RECORD: Final = tomllib.loads(Path(__file__).with_name("kept.toml").read_text(encoding="utf-8"))
_ROWS: Final = {place: row for row in _RECORD["kept"] for place in row["places"]}
_OF_PATIENTS: Final = ("clean_exams", "pairs", "window_pairs", "observations")
_CODE: Final = re.compile(rb"\b[A-Z]-[0-9A-Z]{4,12}\b")
_REPORT: Final = (
    "modality", "exam_name", "performed_at", "signed_at", "status", "accession", "patient_id",
    "patient_name", "patient_birth_date", "patient_age_years", "patient_sex", "patient_class",
    "site", "text",
)  # fmt: skip
"""Columns of a patient's own reports in the copy; the others name staff or relatives, or nobody."""
_OWN: Final = ("patient_name", "patient_id", "accession", "exam_id", "patient_birth_date")
_MONTH: Final = re.compile(r"\d{4}-\d\d")
_OF_SOMEBODY: Final = ("NAME", "ID", "PHONE", "EMAIL", "URL")


class Holdings:
    """What is found of one person: counts by place and kind, rows by table, what cannot be read.

    ``named`` is the person as a list of those left out would name it. ``known`` gives the epoch of
    each code that the vault has for the person; ``codes`` are these and, of a patient, those of
    exams. Rows of runs that are superseded count until they are pruned.
    """

    def __init__(self, site: Site, vault: Vault, asked: tuple[str, str], authority: str) -> None:
        """Begin with whom ``("reader", id)``, ``("patient", number)`` or ``("code", ...)`` names.

        Raises
        ------
        InputError
            If it is a code of neither.
        """
        (who, said), codes = asked, set[str]()
        if who == "code":
            who, codes = domain_of(said), {said}
            with suppress(InputError):  # of nobody any more: what bears it may be there still
                authority, said = issued(vault.identifier_for(domain_of(said), said))
        if who == "reader":
            self.named = Objections(
                readers=frozenset(site.once(reader_rules).meant(pd.Series([said])))
            )
        elif who == "patient":
            given = "" if site.config.input.patient_ids_shared else authority
            number = normalised(patient_identifier(said, given))
            self.named = Objections(patients=frozenset({number}))
        else:
            raise InputError("--code: give a reader's (R-) or a patient's (P-).")
        self.site, self.store, self.codes = site, site.workspace, codes
        self.known: dict[str, int | None] = dict.fromkeys(codes)
        self.who: Domain = "reader" if self.named.readers else "patient"
        self.rows: defaultdict[str, list[pd.DataFrame]] = defaultdict(list)
        self.unread = set[str]()
        self._seen: list[tuple[str, str, str | None]] = []

    def note(self, place: str, what: str, months: Iterable[str | None] = (None,)) -> None:
        """Count things of one kind, each by its month."""
        self._seen += [(place, what, month) for month in months]

    def keep(self, place: str, rows: pd.DataFrame, shard: str, what: str = "") -> None:
        """Count a person's rows of one shard, and keep them for a copy."""
        month = next((n for n in ("performed_month", "month") if n in rows), None)
        self.note(place, what, rows[month] if month else [None] * len(rows))
        self.rows[place] += [rows.assign(shard=shard)] if len(rows) else []

    def shards(self, zone: Zone, table: str) -> Iterator[tuple[str, pd.DataFrame]]:
        """Read every shard of a table that can be read."""
        for key in self.store.keys(zone, table):
            try:
                yield key, self.store.read(zone, table, [key])
            except (DamagedShardError, InputError):
                self.unread.add(f"{zone}/{table}/{key}")

    def held(self) -> list[dict[Hashable, Any]]:
        """Give what was found in the order of the record: place, what, count, first, last month."""
        seen = pd.DataFrame(self._seen, columns=["place", "what", "month"])
        seen["place"] = pd.Categorical(seen["place"], list(_ROWS))
        months = seen.groupby(["place", "what"], observed=True)["month"]
        found = months.agg(count="size", first="min", last="max").reset_index()
        return found.astype("object").where(found.notna(), None).to_dict("records")

    @property
    def state(self) -> tuple[str, str]:
        """Tell what is stored, apart from whether anything ever was: name and words of a state."""
        for each in _RECORD["state"]:
            if any(place.startswith(tuple(each["of"])) for place, *_ in self._seen):
                return each["name"], each["says"]
        events = AuditLog(self.store.root / "audit.jsonl").entries()
        known = _RECORD["state"][-2 if any(each["event"] == "purge" for each in events) else -1]
        return known["name"], known["says"]

    def summary(self) -> dict[str, Any]:
        """Give all that was found as plain values."""
        return {"who": self.who, "state": self.state[0], "codes": self.known, "held": self.held(),
                "could_not_be_read": sorted(self.unread)}  # fmt: skip

    def lines(self) -> Iterator[str]:
        """Say for people what was found, row by row of the record."""
        yield f"{self.who}: {'. '.join(self.state)}"
        yield f"codes: {', '.join(f'{c} (epoch {e})' for c, e in self.known.items()) or 'none'}"
        for row, own in groupby(self.held(), lambda each: _ROWS[each["place"]]):
            yield f"{row['holds'][0].upper()}{row['holds'][1:]}. Until: {row['until']}."
            for each in own:
                months = " to ".join(dict.fromkeys(filter(None, (each["first"], each["last"]))))
                what = f"{each['place']}: {each['what']}".rstrip(": ")
                yield f"  {each['count']:>7,}  {months:<18}  {what}"
        if self.unread:
            yield f"could not be read, and may hold more: {', '.join(sorted(self.unread))}"


def search(site: Site, vault: Vault, asked: tuple[str, str], authority: str) -> Holdings:
    """Search the whole workspace for one person (`Holdings.__init__`); hold its lock.

    Raises
    ------
    InputError
        If several patients have the number, and it is not said who gave it.
    """
    _search_raw(found := Holdings(site, vault, asked, authority), vault)
    for table in dict.fromkeys([*_OF_PATIENTS, *found.store.objects.folders("analysis")]):
        for key, rows in found.shards("analysis", table):
            own = rows[_names(rows, found.codes)]
            if found.who == "patient":
                also = codes_in(own[_naming(own)].to_csv().encode())
                found.codes |= {code for code in also if code[:2] in ("S-", "E-")}
            for kind, some in own.groupby(own.get("modality", pd.Series("", index=own.index))):
                found.keep(f"analysis/{table}", some, key, str(kind))
    for name in found.store.objects.names("analysis/pages"):
        if found.codes & codes_in(found.store.objects.get(f"analysis/pages/{name}")):
            found.note("analysis/pages", "drafts")
    _search_files(found)
    return found


def _search_raw(found: Holdings, vault: Vault) -> None:
    """Search identified exams, and find all codes of the person and the lists that name it."""
    site, who, one = found.site, found.who, found.named
    shared = site.config.input.patient_ids_shared
    stands = patients_joined(found.store, shared=shared).stands
    ids: defaultdict[Domain, set[str]] = defaultdict(set)
    ids[who] |= {*one.patients, *one.readers, *one.joined(stands)}
    for key, exams in found.shards("raw", "exams"):
        at = pd.to_datetime(exams["performed_at"], utc=True).dt.tz_convert(site.month_zone)
        exams = exams.assign(month=at.dt.strftime("%Y-%m"), by=exams.get("preliminary_author", ""))
        own = exams[exams["reader_id"].isin(one.readers) | one.of_patients(exams, stands)]
        for kind, some in own.groupby("modality"):
            found.keep("raw/exams", some, key, f"{kind} {who}")
        found.keep("raw/exams", exams[exams["by"].isin(one.readers)], key, "author of a draft")
        each, as_now = map(identifiers, (own, under_one_number(own, stands)))
        for domain in ("patient", "study", "exam") if who == "patient" else ():
            ids[domain] |= {*each[domain], *as_now[domain]}
    people = (under_one_number(rows, stands) for rows in found.rows["raw/exams"])
    if who == "patient" and len({p for rows in people for p in identifiers(rows)["patient"]}) > 1:
        raise InputError("--patient: of several patients. Say by --authority who gave the number.")
    own_codes = vault.known_codes(who, ids[who])
    found.known |= own_codes
    found.codes.update(*(vault.known_codes(domain, each) for domain, each in ids.items()))
    found.note("raw/vault.sqlite", "codes", [None] * len(own_codes))
    for key, rows in found.shards("raw", "merges"):
        said = (map(normalised, numbers) for numbers, _ in said_in(rows, shared=shared))
        found.keep("raw/merges", rows[[not ids["patient"].isdisjoint(n) for n in said]], key)
    list(found.shards("raw", "damaged"))
    names = {*ids[who], *(issued(each)[1] for each in ids[who]), *found.codes}
    if names & {*site.once(objections).patients, *site.once(objections).readers}:
        found.note("[input] left_out", "")
    if (file := site.config.reports.passphrases) is not None:
        told = pd.Series(list(read_passphrases(site.config.path(file))), dtype="str")
        if names & {*told, *site.once(reader_rules).meant(told)}:
            found.note("[reports] passphrases", "")


def _naming(rows: pd.DataFrame) -> list[str]:
    """Give the columns of a coded table that name a person, an exam or a pair."""
    return [str(name) for name in rows if str(name).endswith(("_code", "_key", "pair_id"))]


def _names(rows: pd.DataFrame, codes: Set[str]) -> pd.Series[bool]:
    """Tell which rows name one of these codes."""
    named = rows[_naming(rows)].astype("str")

    def is_own(column: pd.Series) -> pd.Series:
        return column.map({one: bool(codes & codes_in(one.encode())) for one in column.unique()})

    return named.apply(is_own).astype("bool").any(axis=1)


def codes_in(content: bytes) -> set[str]:
    """Give whatever in a file looks like a code; a PDF's streams are not opened."""
    return {each.decode() for each in _CODE.findall(content)}


def _search_files(found: Holdings) -> None:
    """Search what was delivered, the audit log, and the files that should name nobody."""
    codes, root = found.codes, found.store.root
    for file in sorted(each for each in root.glob("**/*") if each.is_file()):
        top, *rest = file.relative_to(root).parts
        place, own = top, codes & {*rest[1:2]}
        if top == "delivery":
            place = "delivery/<>/<>" if rest[1:] else f"delivery/{_MONTH.sub('<>', rest[0])}"
        content = file.read_bytes() if place in _ROWS else b""  # not a zone's
        if not own and b"/Encrypt" in content:
            found.note(place, "others' locked files, not opened", [rest[0]])
        for line in content.splitlines() if file.suffix == ".jsonl" else [content]:
            if own or codes & codes_in(line):
                said = json.loads(line) if file.suffix == ".jsonl" else {}
                when = _MONTH.match(str(said.get("at") or said.get("period") or rest[0]))
                whose = "".join(own) or ("others' files that show the code" if rest[1:] else "")
                what = f"{said['event']}, entry {said['number']}" if "event" in said else whose
                found.note(place, what, [when and when[0]])


def copy(found: Holdings, to: Path) -> None:
    """Write what the person may have into a new folder."""
    about: dict[str, Any] = {**found.summary(), "record": _RECORD["kept"]}
    if found.who == "patient":
        files, about["codes"] = dict(_of_patient(found)), {}
    else:
        pages = _pages(found)
        about["pages_not_in_this_copy"] = [place for place, page in pages.items() if not page]
        tables = {
            f"{table.partition('/')[2]}.csv": pd.concat(rows).to_csv(index=False).encode()
            for table, rows in found.rows.items()  # of no patient, but cases on the own sheet
            if rows and {*_naming(rows[0])} <= {"reader_code", "site_code", "pair_id"}
        }
        files = {place: page for place, page in pages.items() if page} | tables
    for name, content in {"stored.json": json.dumps(about, indent=1).encode(), **files}.items():
        write_whole(to / name, content)


def _pages(found: Holdings) -> dict[str, bytes]:
    """Give pages as they were handed out; nothing of one that was locked, changed, taken away."""
    pages = {}
    for each in found.store.ledger():
        if each.recipient in found.codes and each.file:
            place = f"{each.period}/{each.recipient}/{each.file}"
            file = found.store.root / "delivery" / place
            content = file.read_bytes() if file.is_file() and not each.encrypted else b""
            pages[place] = content if sha256(content) == each.sha256 else b""
    return pages


def _of_patient(found: Holdings) -> Iterator[tuple[str, bytes]]:
    """Give a patient's reports, and what was read in them."""
    if identified := found.rows["raw/exams"]:
        exams = pd.concat(identified).drop_duplicates("source_digest")
        texts, known = exams["text"].tolist(), known_identifiers(exams)
        cleaned = found.site.once(deidentifier).batch(texts, known=known)
        own = {word for name in _OWN for each in exams[name] for word in _words(each)}
        texts = [_own_text(*both, own) for both in zip(texts, cleaned, strict=True)]
        told = exams.assign(text=texts)[list(_REPORT)]
        yield "reports.json", told.to_json(orient="records", date_format="iso", indent=1).encode()
    if (read := found.rows["analysis/report_findings"]) and found.rows["analysis/clean_exams"]:
        of = ["exam_key", "modality", "performed_month"]
        exams = pd.concat(found.rows["analysis/clean_exams"])[of].drop_duplicates()
        said = pd.concat(read)[["exam_key", "pathology", "phrase", "outcome"]].drop_duplicates()
        told = exams.merge(said).drop(columns="exam_key")
        yield "findings.csv", told.to_csv(index=False).encode()


def _words(text: object) -> set[str]:
    return set(re.findall(r"\w+", str(text).casefold()))


def _own_text(text: str, outcome: Outcome, own: Set[str]) -> str:
    """Give a report's text without the names and numbers of anybody but the patient."""
    if not isinstance(outcome, Clean):
        return f"(held, but not given: {outcome.reason})"
    for span in reversed(outcome.removed):
        if span.category in _OF_SOMEBODY and not own >= _words(text[span.start : span.end]):
            text = f"{text[: span.start]}[{span.category}]{text[span.end :]}"
    return text
