"""``radcal returns``: sheets and pages that readers filled in → answers, beside the observations.

A sheet (a CSV, or the feedback's PDF with boxes ticked) is one shard of ``analysis/returns``, keyed
by a digest of its bytes and its number in the order of recording. Where a case was answered on
several sheets, the sheet recorded last decides. A sheet recorded twice counts once; but if another
sheet answered one of its cases otherwise in between, and is not given along with it, then it is
sent again on purpose, and recorded again.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from pipeline.cli.common import ConfigOption, Output, taking
from pipeline.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from pipeline.site.site import Site
    from pipeline.store.workspace import Workspace
    from reports.pages.return_sheet import SwapAnswer

    _Sheet: TypeAlias = tuple[str, pd.DataFrame, tuple[SwapAnswer, ...]]


def register(app: typer.Typer) -> None:
    """Add this group's commands."""
    app.command("returns")(taking(returns))


def returns(
    sheets: Annotated[list[Path], typer.Argument(help="Return sheets or feedback PDFs.")],
    config: ConfigOption,
    output: Output,
) -> None:
    """Record readers' answers; wrong pairs and cases that do not apply are left out from now on."""
    from pipeline.site.site import Site

    done = record(Site.open(str(config.resolve())), sheets)
    leaves_out = "the next `radcal run` leaves out wrong pairs and cases that do not apply"
    told: dict[str, object] = {
        "sheets_recorded": done.sheets_recorded,
        "sheets_known_already": done.sheets_known_already,
        **{f"answers_{name.replace(' ', '_')}": n for name, n in done.answers.items()},
        "next": leaves_out if done.sheets_recorded else "nothing new; the last answers stand",
    }
    if done.words:
        lines = (f"{a.reader}, “{a.phrase}” → “{a.instead}”: {a.words}" for a in done.words)
        # What no eye sees could tell the terminal what to do.
        told["words"] = ["".join(filter(str.isprintable, " ".join(x.split()))) for x in lines]
    output.tell(told)


@dataclass(frozen=True, slots=True)
class Recorded:
    """What reading some sheets came to; answers of those recorded, by what they say."""

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
        If a sheet cannot be read, holds no answer, answers cases this workspace does not know
        or that belong to more than one reader, or names findings or phrases that these have not.
    """
    from pipeline.stages.tally import answers
    from pipeline.vault.audit_log import AuditLog

    store = site.workspace
    if not store.keys("analysis", "pairs"):
        raise InputError(
            "returns: this workspace has no pairs yet; run `radcal run` before reading returns."
        )
    with store.locked():
        known = _known_readers(store)
        phrases = _passphrases(site)
        findings = site.vocabulary.pathologies
        checked = [_sheet(path, known, phrases, findings) for path in paths]
        _check_words(site, dict(zip(paths, checked, strict=True)), known)
        last = answers(store)
        recorded = {name.partition("-")[0] for name in store.keys("analysis", "returns")}
        given = {key for key, _, _ in checked}
        new = {
            key: rows
            for key, rows, _ in checked
            if key not in recorded or not _spoken_since(rows, last) <= given
        }
        first = 0 if last.empty else int(last["sequence"].max()) + 1
        for number, (key, rows) in enumerate(new.items(), start=first):
            store.write("analysis", "returns", f"{key}-{number}", rows.assign(sequence=number))
    counts = dict(sorted(Counter(a for rows in new.values() for a in rows["answer"]).items()))
    if new:
        AuditLog(store.root / "audit.jsonl").append("returns", sheets=len(new), answers=counts)
    written = tuple(swap for _, _, swaps in checked for swap in swaps if swap.words)
    return Recorded(len(new), len(checked) - len(new), counts, written)


def _spoken_since(rows: pd.DataFrame, last: pd.DataFrame) -> set[str]:
    """Give the sheets that answered cases of a sheet last, and otherwise."""
    both = rows.merge(last, on=["pair_id", "pathology"], suffixes=("", "_last"))
    return set(both.loc[both["answer"] != both["answer_last"], "sheet"])


def _known_readers(store: Workspace) -> pd.DataFrame:
    """Pair, reader and X-ray, over every pairing this workspace has made, the last run's last.

    Reports change hands (corrections, aliases, new codes): a pair may have had several readers.
    A reader stands beside the own code too, as swaps are kept.
    """
    import pandas as pd

    from pipeline.run.books import LastRun, last_run
    from pipeline.run.pruning import listed

    run = (last_run(store.root) or LastRun()).last_run
    used = listed(store.root / "runs" / (run or "")) or set()
    keys = store.keys("analysis", "pairs")
    keys.sort(key=lambda key: f"analysis/pairs/{key}.parquet" in used)
    columns = ["xr_study_code", "ct_study_code", "reader_code", "xr_exam_key"]
    pairs = store.read("analysis", "pairs", keys, columns=columns)
    pairs = pairs.rename(columns={"xr_exam_key": "exam_key"})
    names = pairs["xr_study_code"] + ":" + pairs["ct_study_code"]
    both = [pairs.assign(pair_id=pairs["reader_code"], exam_key=""), pairs.assign(pair_id=names)]
    return pd.concat(both)[["pair_id", "reader_code", "exam_key"]].drop_duplicates(keep="last")


def _passphrases(site: Site) -> tuple[str, ...]:
    """Give what may open a page that comes back locked, no passphrase first."""
    from pipeline.vault.sealing import read_passphrases

    file = site.config.reports.passphrases
    return ("",) if file is None else ("", *read_passphrases(site.config.path(file)).values())


def _sheet(
    path: Path, known: pd.DataFrame, phrases: Sequence[str], findings: Collection[str]
) -> _Sheet:
    """Read one sheet: its key, a row for every case or swap answered, and what is said of swaps."""
    import pandas as pd

    from reports.pages.return_sheet import ReturnSheetError, read, read_page

    try:
        content = path.read_bytes()
        page = content[:1024].lstrip().startswith(b"%PDF-")
        given, swaps = (
            read_page(content, passphrases=phrases, findings=findings)
            if page
            else read(content, findings=findings)
        )
    except OSError as error:
        raise InputError(f"{path.name}: cannot be read ({error.strerror}).") from None
    except ReturnSheetError as error:
        raise InputError(f"{path.name}: {error}") from None
    if not given and not swaps:
        raise InputError(
            f"{path.name}: no case is answered. Fill in an answer, or do not return it."
        )
    said: list[tuple[str, str, str]] = []
    said += [(f"{a.xray_code}:{a.ct_code}", a.pathology, a.answer) for a in given]
    said += [(a.reader, a.swap, a.answer) for a in swaps if a.answer]
    rows = pd.DataFrame(said, columns=["pair_id", "pathology", "answer"])
    rows = rows.assign(reader_code=_whose(path.name, rows, known))
    return hashlib.sha256(content).hexdigest()[:16], rows, swaps


def _check_words(site: Site, checked: Mapping[Path, _Sheet], known: pd.DataFrame) -> None:
    """Refuse findings that a case's X-ray does not speak of, and swaps of what no list has.

    Whatever else stood there, perhaps a name, would be kept as it was typed.
    """
    import pandas as pd

    name, columns = "report_findings", ["exam_key", "pathology"]
    store, asked = site.workspace, pd.concat([rows for _, rows, _ in checked.values()])
    films, spoken = known[known["pair_id"].isin(asked["pair_id"])], set[tuple[str, ...]]()
    for key in store.keys("analysis", name):
        said = store.read("analysis", name, [key], columns=columns).merge(films)
        spoken.update(said[["pair_id", "pathology"]].itertuples(index=False, name=None))
    listed = {"", *site.phrases.phrases, *site.vocabulary.pathologies, *known["reader_code"]}
    for path, (_, rows, swaps) in checked.items():
        cases = rows.loc[rows["pair_id"] != rows["reader_code"], ["pair_id", "pathology"]]
        bad = len(set(cases.itertuples(index=False, name=None)) - spoken)
        bad += sum(not listed >= {a.reader, a.phrase, a.finding, a.instead} for a in swaps)
        if bad:
            raise InputError(
                f"{path.name}: {bad} of its answers are about a finding that their X-ray does not "
                "speak of, or a swap of words on no list. Change nothing on the sheet but answers."
            )


def _whose(name: str, rows: pd.DataFrame, known: pd.DataFrame) -> str | None:
    """Check answers, and find the reader whose all are or once were; of several the last run's."""
    own = known.loc[known["pair_id"].isin(rows["pair_id"]), ["pair_id", "reader_code"]]
    own = own.drop_duplicates(keep="last")
    unknown = ~rows["pair_id"].isin(own["pair_id"])
    if unknown.any():
        raise InputError(
            f"{name}: {int(unknown.sum())} of {len(rows)} answers are not about pairs or readers "
            "of this workspace. Return the sheet that came with the feedback, codes unchanged."
        )
    twice = rows.duplicated(["pair_id", "pathology"])
    if twice.any():
        raise InputError(
            f"{name}: {int(twice.sum())} of {len(rows)} cases are answered twice. "
            "Leave one answer per case."
        )
    pairs = own["reader_code"].value_counts()
    readers = own.loc[own["reader_code"].map(pairs) == rows["pair_id"].nunique(), "reader_code"]
    if len(own) and readers.empty:
        raise InputError(
            f"{name}: its cases belong to {len(pairs)} readers; a sheet holds "
            "one reader's cases. Nothing was recorded."
        )
    return None if own.empty else str(readers.iloc[-1])
