"""``radcal deidentify`` and ``radcal audit deid``: take identifiers out, and measure how well."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import typer

from pipeline.cli.common import JsonOption, QuietOption, audit, emit
from pipeline.errors import EXIT_QUARANTINED

if TYPE_CHECKING:
    from pipeline.names.lexicon import Lexicon

__all__ = ["register"]

Replacement = Literal["token", "surrogate"]
WordsOption: TypeAlias = Annotated[
    Path | None,
    typer.Option("--words", help="Folder with your own word lists (sites.txt, surnames.txt)."),
]


def register(app: typer.Typer) -> None:
    """Add this group's commands."""
    app.command("deidentify")(deidentify)
    audit.command("deid")(audit_deid)


def deidentify(
    reports: Annotated[Path, typer.Argument(help="Table with report_id and text.")],
    out: Annotated[Path, typer.Option("--out", help="Where the clean table goes.")],
    spans: Annotated[
        Path | None, typer.Option("--spans", help="Also write what was removed where (JSONL).")
    ] = None,
    replacement: Annotated[
        Replacement, typer.Option("--replacement", help="What stands where an identifier was.")
    ] = "token",
    words: WordsOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Take identifiers out of report texts; words of certainty stay untouched."""
    from pipeline.deidentify import Deidentifier, Options
    from pipeline.deidentify.tables import clean_table
    from pipeline.formats.tables import read_table, write_table

    cleaner = Deidentifier(Options(replacement=replacement), _own(words))
    result = clean_table(read_table(reports), source=reports.name, deidentifier=cleaner)
    shown = result.reports["quarantined"].map({True: "true", False: "false"})
    in_words = result.reports.assign(quarantined=shown)
    write_table(in_words if out.suffix.lower() == ".csv" else result.reports, out)
    if spans is not None:
        write_table(result.spans, spans)
    emit(result.summary(), as_json=as_json, quiet=quiet)
    if result.quarantined:
        raise typer.Exit(EXIT_QUARANTINED)


def audit_deid(
    gold: Annotated[Path, typer.Option("--gold", help="JSON lines: id, text, spans with labels.")],
    missed: Annotated[
        Path | None, typer.Option("--missed", help="Also write where something was missed.")
    ] = None,
    words: WordsOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Score de-identification on annotated reports: recall, leaks, harm, with intervals."""
    import pandas as pd

    from pipeline.deidentify import Deidentifier
    from pipeline.deidentify.audit import audit as score
    from pipeline.deidentify.audit import read_gold
    from pipeline.formats.tables import write_table

    result = score(read_gold(gold), Deidentifier(vocabulary=_own(words)))
    if missed is not None:
        columns = ["report_id", "start", "end", "label"]
        write_table(pd.DataFrame(list(result.missed), columns=columns), missed)
    summary = result.summary()
    emit(summary if as_json else _lines(summary), as_json=as_json, quiet=quiet)


def _own(words: Path | None) -> Lexicon | None:
    """Read a site's own lists, if a folder of them was named."""
    from pipeline.names.own_lists import own_lexicon

    return own_lexicon(words, option="--words") if words else None


def _lines(summary: Mapping[str, object]) -> dict[str, object]:
    """Flatten shares into one line each: found of n, share, interval."""
    lines: dict[str, object] = {}
    for name, value in summary.items():
        if name == "recall" and isinstance(value, Mapping):
            lines.update({f"recall_{label}": _share(share) for label, share in value.items()})
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
