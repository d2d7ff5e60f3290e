"""Keeping what is kept safe, and opening codes: one command each, the key, the audit log."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import quote

import typer

from pipeline.cli.common import ConfigArgument, ConfigOption, Output, audit, group, option, taking
from pipeline.errors import EXIT_QUARANTINED, ConfigurationError, InputError, RadcalError

if TYPE_CHECKING:
    from pipeline.config import Configuration
    from pipeline.store.workspace import Workspace
    from pipeline.vault.audit_log import AuditLog, LogState
    from pipeline.vault.vault import Vault

_MIN_REASON = 10
_VAULT = Path("raw", "vault.sqlite")

ReasonOption = Annotated[str, typer.Option(help="Why; it goes into the audit log.")]

log = typer.Typer(help="The audit log of a workspace.")


def register(app: typer.Typer) -> None:
    """Add this group's commands."""
    for command in (reidentify, cases, stored, purge, prune, rotate, backup):
        app.command(command.__name__)(taking(command))
    key = group("Keep the key of a workspace's vault.")
    key.command("replace")(taking(replace))
    app.add_typer(key, name="key")
    audit.add_typer(log, name="log")
    log.command("verify")(taking(verify_log))


def reidentify(
    config: ConfigArgument,
    code: Annotated[str, typer.Option(help="One code, as it stands on a page.")],
    reason: ReasonOption,
    output: Output,
) -> None:
    """Give the identifier behind one code, and write down who asked and why."""
    from pipeline.vault.codes import domain_of

    (identifier,) = _behind(config, "reidentify", [code], reason)
    output.tell({"domain": domain_of(code), "identifier": identifier})


def cases(
    codes: Annotated[list[str], typer.Argument(help="Study codes, as they stand on pages.")],
    config: ConfigOption,
    reason: ReasonOption,
    output: Output,
) -> None:
    """Open study codes for the office: give each one's accession, and its link into the PACS."""
    link = _opened(config)[0].reports.pacs_link
    wanted = list(dict.fromkeys(codes))
    found = _behind(config, "cases", wanted, reason)
    for code, accession in zip(wanted, found, strict=True):
        opened = {"code": code, "accession": accession}
        opened |= {"link": link.format(accession=quote(accession, safe=""))} if link else {}
        output.show(opened, ["  ".join(opened.values())])


def _behind(config: Path, action: str, codes: Sequence[str], reason: str) -> list[str]:
    """Give what is behind codes, and write down who asked and why, also where nothing is given.

    Each code is a value of its own in the log, which cuts what is longer than a value may be.
    """
    from pipeline.vault.codes import domain_of, readable

    _, store, events = _opened(config)
    _refuse_broken(events.path)
    told = {str(number): code for number, code in enumerate(codes, start=1)}
    attempt = events.attempt(action, reason=reason, codes=told)
    with attempt, _vault(store.root, read_only=True) as vault:
        _require_reason(reason)
        others = [number for number, code in told.items() if not code.startswith("S-")]
        if others and action == "cases":
            which = f"{', '.join(others)} of {len(codes)}"
            raise InputError(f"cases: code {which} is no study's; these begin with S-.")
        found = [
            readable(vault.identifier_for(domain_of(code), code, f" {number} of {len(codes)}"))
            for number, code in told.items()
        ]
    # Written before it is shown: nothing is revealed that the log does not know of.
    events.append(action, reason=reason, codes=told, outcome="shown")
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Options of ``radcal stored``."""

    config: ConfigArgument
    reason: str = option(..., "Why; it goes into the audit log.")
    reader: str = option("", "A reader's id as exported; - reads it from standard input.")
    patient: str = option("", "A patient's number as exported; - reads it from standard input.")
    authority: str = option("", "Who gave the patient's number, where that tells two apart.")
    code: str = option("", "Instead: a code as it stands on a page (R- or P-).")
    to: Path | None = option(None, "A new folder, for a copy that the person may have.")
    output: Output


def stored(given: Asked) -> None:
    """Say what is stored of one reader or patient, and write down who asked and why."""
    from pipeline.run.holdings import copy, search
    from pipeline.site.site import Site

    site, (_, store, events) = Site.open(str(given.config.resolve())), _opened(given.config)
    _refuse_broken(events.path)
    with events.attempt("stored"), store.locked(), _vault(store.root, read_only=True) as vault:
        asked = _asked(given)
        if given.to is not None and given.to.exists():
            raise ConfigurationError(f"{given.to}: is there already. Name a new folder.")
        found = search(site, vault, asked, given.authority)
        codes = {str(n): code for n, code in enumerate(sorted(found.known), start=1)}
        told = {"who": found.who, "outcome": found.state[0], "copied": str(given.to is not None)}
        # Written before it is shown: nothing is revealed that the log does not know of.
        events.append("stored", reason=given.reason, codes=codes, **told)
        if given.to is not None:
            copy(found, given.to)
    given.output.show(found.summary(), found.lines())
    if found.unread:
        raise typer.Exit(EXIT_QUARANTINED)


def _asked(given: Asked) -> tuple[str, str]:
    """Give by what one person is named, and how; the reason must not name the person too."""
    _require_reason(given.reason)
    named = [name for name in ("reader", "patient", "code") if getattr(given, name)]
    if len(named) != 1:
        raise ConfigurationError("stored: name one person, by --reader, --patient or --code.")
    said = getattr(given, named[0])
    said = (sys.stdin.readline() if said == "-" else said).strip()
    if not said or re.search(rf"(?<!\w){re.escape(said)}(?!\w)", given.reason, re.IGNORECASE):
        why = (
            "no id was given, or --reason holds it, which the audit log keeps. Write a case number."
        )
        raise ConfigurationError(f"--{named[0]}: {why}")
    return named[0], said


def purge(
    config: ConfigArgument,
    older_than_days: Annotated[
        int | None, typer.Option(min=1, max=36_525, help="Earlier exams go, by this clock.")
    ] = None,
    before: Annotated[
        datetime | None, typer.Option(formats=["%Y-%m-%d"], help="Instead: the first day kept.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count.")] = False,
    *,
    output: Output,
) -> None:
    """Delete exams, clean texts and codes past retention or of patients left out; pages stay."""
    from pipeline.site.site import Site
    from pipeline.stages.ingest import objections
    from pipeline.vault.upkeep import purge as purge_workspace
    from pipeline.vault.upkeep import retained_from

    site = Site.open(str(config.resolve()))
    shared, (_, store, events) = site.config.input.patient_ids_shared, _opened(config)
    start = retained_from(store, older_than_days, before, site.month_zone)
    at = start.isoformat()
    told = nullcontext() if dry_run else events.attempt("purge", before=at)
    with store.locked(), told, _vault(store.root, read_only=dry_run) as vault:
        found = purge_workspace(
            store, before=start, vault=vault, delete=not dry_run, shared=shared,
            left_out=objections(site),
        )  # fmt: skip
        if not dry_run:
            events.append("purge", before=at, **asdict(found))
    output.tell({"dry_run": dry_run, **asdict(found)})


def prune(
    config: ConfigArgument,
    keep_runs: Annotated[
        int | None, typer.Option(min=1, help="Instead of the configuration's keep_runs.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Remove; without it, only count.")] = False,
    *,
    output: Output,
) -> None:
    """Remove shards and drafts that no kept run used: what changed options and code left behind."""
    from pipeline.run.pruning import find, remove

    settings, store, _ = _opened(config)
    if not store.root.is_dir():
        raise ConfigurationError(f"{store.root}: no workspace here. A first run makes one.")
    with store.locked():
        found = find(store, keep_runs=keep_runs or settings.store.keep_runs)
        if yes:
            remove(store, found)
    output.tell({"dry_run": not yes, **found.summary()})


def rotate(config: ConfigArgument, output: Output) -> None:
    """Give every reader a new code from the next run on: old pages do not decode new ones."""
    _, store, events = _opened(config)
    with events.attempt("rotate readers"), store.locked(), _vault(store.root) as vault:
        epoch = vault.rotate_readers()
        (store.root / _VAULT).with_name("vault.times").unlink(missing_ok=True)
    events.append("rotate readers", epoch=epoch)
    output.tell({"reader_epoch": epoch})


def backup(
    config: ConfigArgument,
    to: Annotated[Path, typer.Option(help="A new file; keep it apart from the key.")],
    output: Output,
) -> None:
    """Copy the vault whole, even during a run; a plain copy of the file may be torn."""
    _, store, events = _opened(config)
    with events.attempt("vault copy"), _vault(store.root, read_only=True) as vault:
        vault.copy_to(to)
    events.append("vault copied")
    output.tell({"copy": str(to)})


def replace(config: ConfigArgument, output: Output) -> None:
    """Put the vault under the key of RADCAL_VAULT_NEW_KEY_FILE; codes and date shifts stay."""
    from pipeline.vault.key import Key
    from pipeline.vault.upkeep import NEW_KEY_FILE_VARIABLE, NEW_KEY_VARIABLE, replace_key

    _, store, events = _opened(config)
    with events.attempt("key replacement"), store.locked():
        new = Key.named(NEW_KEY_FILE_VARIABLE, NEW_KEY_VARIABLE)
        counts = asdict(replace_key(store.root / _VAULT, Key.of(), new))
    events.append("key replaced", **counts)
    told = "give the new key to every run from now on, and keep the old one for older copies"
    output.tell({**counts, "next": told})


def verify_log(
    config: ConfigArgument,
    expect: Annotated[
        str, typer.Option(help="A head noted before: `audit_log_head` of a run's summary.")
    ] = "",
    *,
    output: Output,
) -> None:
    """Walk the audit log's chain; fails if a line was changed, removed or cut off."""
    state = _refuse_broken(config if config.suffix == ".jsonl" else _opened(config)[2].path)
    if expect and not state.holds(expect):
        why = "it was emptied, rolled back or written anew, or the digest is another log's."
        raise RadcalError(f"the audit log lacks that entry among its {state.entries}: {why}")
    output.tell({"entries": state.entries, "intact": True, "head": state.head})


def _require_reason(reason: str) -> None:
    """Refuse a reason that says nothing."""
    if len(reason.strip()) < _MIN_REASON:
        least = f"give at least {_MIN_REASON} characters; the audit log keeps it."
        raise ConfigurationError(f"--reason: {least}")


def _refuse_broken(path: Path) -> LogState:
    """Walk the log's chain, and go no further where it is broken."""
    from pipeline.vault.audit_log import verify

    state = verify(path)
    if not state.is_intact:
        shown = "; ".join(state.breaks[:5])
        raise RadcalError(f"the audit log is broken in {len(state.breaks)} place(s): {shown}.")
    return state


def _opened(config: Path) -> tuple[Configuration, Workspace, AuditLog]:
    """Read a configuration, and open its workspace and that one's audit log."""
    from pipeline.config import load
    from pipeline.store.workspace import Workspace
    from pipeline.vault.audit_log import AuditLog

    settings = load(config)
    return settings, Workspace.of(settings), AuditLog(settings.workspace / "audit.jsonl")


def _vault(root: Path, *, read_only: bool = False) -> Vault:
    from pipeline.vault.vault import Vault

    return Vault.open(root / _VAULT, read_only=read_only)
