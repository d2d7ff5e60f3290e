"""``radcal deidentify`` and ``radcal audit deid``: take identifiers out, and measure how well."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from secrets import token_bytes
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import typer

from pipeline.cli.common import Output, argument, audit, option, taking
from pipeline.errors import ConfigurationError, RadcalError
from pipeline.run import begin_worker

if TYPE_CHECKING:
    from pipeline.deidentify import (
        Deidentifier,
        KnownIdentifiers,
        LeakScan,
        Options,
        Outcome,
        Surrogates,
    )
    from pipeline.names.lexicon import Lexicon

Replacement = Literal["token", "surrogate"]
_Told: TypeAlias = tuple[frozenset[str], frozenset[frozenset[str]], frozenset[str]]
"""What a leak scan looks for."""
_PIECE: Final = 200
"""Reports that a process takes at a time."""
_WORTH_A_PROCESS: Final = 1500
"""So many reports take as long as a further process takes to start."""


def register(app: typer.Typer) -> None:
    """Add this group's commands."""
    app.command("deidentify")(taking(deidentify))
    audit.command("deid")(taking(audit_deid))


@dataclass(frozen=True, slots=True, kw_only=True)
class Lists:
    """Options that say which words to go by, and how far to doubt them."""

    caution: float = option(16.0, "Needless removals that a miss weighs.", min=0.05)
    words: Path | None = option(None, "Folder with your own word lists (sites.txt, surnames.txt).")


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """Options of ``radcal deidentify``."""

    reports: Path | None = argument(None, "Table with report_id and text.")
    out: Path | None = option(None, "Where the clean table goes.")
    spans: Path | None = option(None, "Also write what was removed where (JSONL).")
    review: Path | None = option(None, "Write the doubtful decisions as a sheet to correct.")
    learned: Path | None = option(
        None, "Take a corrected sheet into the lists that --words names.", "--learn"
    )
    replacement: Replacement = option("token", "What stands where an identifier was.")
    lists: Lists
    workers: int = option(0, "Processes that clean side by side; 0: one a core.", min=0)
    output: Output


def deidentify(given: Given) -> None:
    """Take identifiers out of report texts; words of certainty stay untouched."""
    from pipeline.deidentify import Deidentifier, Options

    if given.learned is not None:
        given.output.tell(_learn(given.learned, given.lists.words, given.lists.caution))
        return
    if given.reports is None or (given.out is None and given.review is None):
        raise ConfigurationError(
            "Name a table of reports and --out or --review, or a corrected sheet with --learn."
        )
    options = Options(replacement=given.replacement, caution=given.lists.caution)
    summary: dict[str, object] = {}
    if given.review:
        cleaner = Deidentifier(options, _own(given.lists.words))
        summary |= _review(given.reports, given.review, cleaner)
    if given.out is not None:
        summary |= _clean(given.reports, given.out, given, options)
    given.output.tell(summary, set_aside=summary.get("quarantined"))


def _clean(reports: Path, out: Path, given: Given, options: Options) -> dict[str, object]:
    """Write the clean table, and what was removed where."""
    from pipeline.deidentify import Deidentifier
    from pipeline.deidentify.coding import clean_table
    from pipeline.formats.tables import read_table, write_table

    table = read_table(reports)
    at_once = given.workers or min(os.cpu_count() or 1, len(table) // _WORTH_A_PROCESS)
    one = Deidentifier(options, _own(given.lists.words))
    batch = SideBySide(one, given.lists.words, at_once).batch if at_once > 1 else one.batch
    with given.output.bar("cleaning", len(table)) as advance:
        result = clean_table(table, source=reports.name, batch=batch, advance=advance)
    shown = result.reports["quarantined"].map({True: "true", False: "false"})
    in_words = result.reports.assign(quarantined=shown)
    write_table(in_words if out.suffix.lower() == ".csv" else result.reports, out)
    if given.spans is not None:
        write_table(result.spans, given.spans)
    return result.summary()


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Cleans as one instrument does, in so many processes with the same word lists."""

    one: Deidentifier
    words: Path | None
    processes: int

    def batch(
        self,
        texts: Sequence[str],
        *,
        known: Sequence[KnownIdentifiers],
        advance: Callable[[int], None] | None = None,
    ) -> list[Outcome]:
        """Clean a batch.

        Raises
        ------
        RadcalError
            If a process died.
        """
        from pipeline.deidentify import LeakScan

        scan = LeakScan.from_known(known, lexicon=self.one.lexicon)
        told = (scan.numbers, scan.pairs, scan.rare)
        here = (self.one.options, self.words, token_bytes(32), told)
        spawn = multiprocessing.get_context("spawn")
        outcomes: list[Outcome] = []
        try:
            with ProcessPoolExecutor(self.processes, spawn, _begin, here) as pool:
                starts = range(0, len(texts), _PIECE)
                cut = [slice(at, at + _PIECE) for at in starts]
                pieces = pool.map(_cleaned, (texts[c] for c in cut), (known[c] for c in cut))
                for done in pieces:
                    outcomes += done
                    if advance is not None:
                        advance(len(done))
        except BrokenProcessPool:
            raise RadcalError(
                "a process that cleans reports was ended from outside (out of memory?). "
                "Run again with fewer: --workers 1 starts none."
            ) from None
        return outcomes


_HERE: list[tuple[Deidentifier, LeakScan, Surrogates]] = []
"""What this process cleans with, if it is one of several."""


def _begin(options: Options, words: Path | None, secret: bytes, told: _Told) -> None:
    from pipeline.deidentify import Deidentifier, LeakScan, Surrogates

    begin_worker()
    cleaner = Deidentifier(options, _own(words))
    _HERE.append((cleaner, LeakScan(*told, cleaner.lexicon), Surrogates(secret)))


def _cleaned(texts: Sequence[str], known: Sequence[KnownIdentifiers]) -> list[Outcome]:
    ((cleaner, scan, surrogates),) = _HERE
    return cleaner.batch(texts, known=known, scan=scan, surrogates=[surrogates] * len(texts))


def _review(reports: Path, sheet: Path, cleaner: Deidentifier) -> dict[str, object]:
    """Write the doubtful decisions for a person to correct."""
    from pipeline.deidentify.coding import table_texts
    from pipeline.deidentify.review import doubtful
    from pipeline.formats.tables import read_table, write_table

    needed = {"report_id": "a name for each report", "text": "the report as written"}
    table = read_table(reports, needed)
    texts, known = table_texts(table)
    rows = doubtful(table["report_id"].astype(str).tolist(), texts, cleaner, known)
    write_table(rows, sheet)
    return {"doubtful": len(rows)}


def _learn(sheet: Path, words: Path | None, caution: float) -> dict[str, object]:
    """Take a corrected sheet into the site's lists; say which caution fits."""
    from pipeline.deidentify.review import learn
    from pipeline.formats.tables import read_table

    if words is None:
        raise ConfigurationError(
            "--learn needs --words: the folder of your own lists, which it lengthens."
        )
    return learn(read_table(sheet), words, caution=caution, source=sheet.name).summary()


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """Options of ``radcal audit deid``."""

    gold: Path = option(..., "JSON lines: id, text, spans with labels.")
    missed: Path | None = option(None, "Also write where what was missed or harmed.")
    explain: Path | None = option(None, "Also write each decision with the rule or weights behind.")
    lists: Lists
    output: Output


def audit_deid(given: Audit) -> None:
    """Score de-identification on annotated reports: recall, leaks, harm, with intervals."""
    import pandas as pd

    from pipeline.deidentify import Deidentifier, Options
    from pipeline.deidentify.audit import WRONGS, read_gold
    from pipeline.deidentify.audit import audit as score
    from pipeline.formats.tables import write_table

    annotated = read_gold(given.gold)
    instrument = Deidentifier(Options(caution=given.lists.caution), _own(given.lists.words))
    with given.output.bar("cleaning", len(annotated)) as advance:
        result = score(annotated, instrument, advance)
    if given.explain is not None:
        from pipeline.deidentify.review import explained

        write_table(explained(annotated, instrument), given.explain)
    if given.missed is not None:
        write_table(pd.DataFrame(list(result.wrongs), columns=list(WRONGS)), given.missed)
    summary = result.summary()
    given.output.tell(summary if given.output.as_json else _lines(summary))


def _own(words: Path | None) -> Lexicon | None:
    """Read a site's own lists, if a folder of them was named."""
    from pipeline.names.lexicon import own_lexicon

    return own_lexicon(words, option="--words") if words else None


def _lines(summary: Mapping[str, object]) -> dict[str, object]:
    """Flatten shares into one line each: found of n, share, interval."""
    lines: dict[str, object] = {}
    for name, value in summary.items():
        if isinstance(value, Mapping) and "ALL" in value:
            lines.update({f"{name}_{label}": _share(share) for label, share in value.items()})
        else:
            lines[name] = (
                _share(value) if isinstance(value, Mapping) and "share" in value else value
            )
    return lines


def _share(share: Mapping[str, object]) -> str:
    n, count, value, low, high = share.values()
    if value is None:
        return "none seen"
    return f"{count} of {n} = {value:.4f} (95 % interval {low:.4f} to {high:.4f})"
