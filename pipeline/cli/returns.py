"""``radcal returns``: sheets and pages that readers filled in → answers, beside the observations.

A sheet (a CSV, or the feedback's PDF with boxes ticked) is one shard of ``analysis/returns``, keyed
by its bytes, so that a sheet recorded twice counts once. Where a case was answered on several
sheets, the sheet recorded last decides.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pipeline.cli.common import ConfigOption, JsonOption, QuietOption, emit
from pipeline.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from pipeline.site.site import Site
    from pipeline.store.workspace import Workspace
    from reports.pages.return_sheet import SwapAnswer


def register(app: typer.Typer) -> None:
    """Add this group's commands."""
    app.command("returns")(returns)


def returns(
    sheets: Annotated[list[Path], typer.Argument(help="Return sheets or feedback PDFs.")],
    config: ConfigOption,
    *,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Record readers' answers; wrong pairs and cases that do not apply are left out from now on."""
    from pipeline.site.site import Site

    done = record(Site.open(str(config.resolve())), sheets)
    told: dict[str, object] = {
        "sheets_recorded": done.sheets_recorded,
        "sheets_known_already": done.sheets_known_already,
        **{f"answers_{name.replace(' ', '_')}": n for name, n in done.answers.items()},
        "next": "the next `radcal run` leaves out wrong pairs and cases that do not apply",
    }
    if done.words:
        told["words"] = [f"{a.reader}, “{a.phrase}” → “{a.instead}”: {a.words}" for a in done.words]
    emit(told, as_json=as_json, quiet=quiet)


@dataclass(frozen=True, slots=True)
class Recorded:
    """What reading some sheets came to; answers by what they say."""

    sheets_recorded: int
    sheets_known_already: int
    answers: Mapping[str, int]
    words: tuple[SwapAnswer, ...] = ()
    """Swaps that readers wrote about; their words are for the office, and are not kept."""


def record(site: Site, paths: Sequence[Path]) -> Recorded:
    """Check every sheet, then record them all, or none.

    Raises
    ------
    InputError
        If a sheet cannot be read, holds no answer, or answers cases this workspace does not know
        or that belong to more than one reader.
    """
    from pipeline.vault.audit_log import AuditLog

    store = site.workspace
    if not store.keys("analysis", "pairs"):
        raise InputError(
            "returns: this workspace has no pairs yet; run `radcal run` before reading returns."
        )
    with store.locked():
        known = _known_pairs(store)
        phrases = _passphrases(site)
        checked = [_sheet(path, known, phrases) for path in paths]
        recorded = set(store.keys("analysis", "returns"))
        new = {key: rows for key, rows, _ in checked if key not in recorded}
        for number, (key, rows) in enumerate(new.items(), start=len(recorded)):
            store.write("analysis", "returns", key, rows.assign(sequence=number))
    counts = dict(sorted(Counter(a for _, rows, _ in checked for a in rows["answer"]).items()))
    if new:
        AuditLog(store.root / "audit.jsonl").append("returns", sheets=len(new), answers=counts)
    written = tuple(swap for _, _, swaps in checked for swap in swaps if swap.words)
    return Recorded(len(new), len(checked) - len(new), counts, written)


def _known_pairs(store: Workspace) -> dict[str, str]:
    """Pair → reader, over every pairing this workspace has made."""
    columns = ["xr_study_code", "ct_study_code", "reader_code"]
    pairs = store.read("analysis", "pairs", store.keys("analysis", "pairs"), columns=columns)
    names = pairs["xr_study_code"] + ":" + pairs["ct_study_code"]
    return dict(zip(names, pairs["reader_code"], strict=True))


def _passphrases(site: Site) -> tuple[str, ...]:
    """Give what may open a page that comes back locked, no passphrase first."""
    from pipeline.vault.sealing import read_passphrases

    file = site.config.reports.passphrases
    return ("",) if file is None else ("", *read_passphrases(site.config.path(file)).values())


def _sheet(
    path: Path, known: dict[str, str], phrases: Sequence[str]
) -> tuple[str, pd.DataFrame, tuple[SwapAnswer, ...]]:
    """Read one sheet: its key, a row for every case or swap answered, and what is said of swaps."""
    import pandas as pd

    from reports.pages.return_sheet import ReturnSheetError, read, read_page

    try:
        content = path.read_bytes()
        page = content[:1024].lstrip().startswith(b"%PDF-")
        given, swaps = read_page(content, passphrases=phrases) if page else read(content)
    except OSError as error:
        raise InputError(f"{path.name}: cannot be read ({error.strerror}).") from None
    except ReturnSheetError as error:
        raise InputError(f"{path.name}: {error}") from None
    if not given and not swaps:
        raise InputError(
            f"{path.name}: no case is answered. Fill in an answer, or do not return it."
        )
    readers = {reader: reader for reader in known.values()}
    asked = [(f"{a.xray_code}:{a.ct_code}", a.pathology, a.answer) for a in given]
    said: list[tuple[str | None, ...]] = [(*row, known.get(row[0])) for row in asked]
    said += [(a.reader, a.swap, a.answer, readers.get(a.reader)) for a in swaps if a.answer]
    rows = pd.DataFrame(said, columns=["pair_id", "pathology", "answer", "reader_code"])
    _check(path.name, rows)
    return hashlib.sha256(content).hexdigest()[:16], rows, swaps


def _check(name: str, rows: pd.DataFrame) -> None:
    unknown = rows["reader_code"].isna()
    if unknown.any():
        raise InputError(
            f"{name}: {int(unknown.sum())} of {len(rows)} answers are not about pairs or readers "
            "of this workspace. Return the sheet that came with the feedback, codes unchanged."
        )
    readers = set(rows["reader_code"])
    if len(readers) > 1:
        raise InputError(
            f"{name}: its cases belong to {len(readers)} readers; a sheet holds "
            "one reader's cases. Nothing was recorded."
        )
    twice = rows.duplicated(["pair_id", "pathology"])
    if twice.any():
        raise InputError(
            f"{name}: {int(twice.sum())} of {len(rows)} cases are answered twice. "
            "Leave one answer per case."
        )
