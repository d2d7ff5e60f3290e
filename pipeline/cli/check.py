"""``radcal check``: a run rehearsed in seconds, without writing anything."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import typer

from pipeline.cli.common import ConfigArgument, Output, flag, taking
from pipeline.errors import EXIT_QUARANTINED, ConfigurationError
from pipeline.store.files import plain

if TYPE_CHECKING:
    from pipeline.run.rehearsal import Rehearsal, SourceSeen


@dataclass(frozen=True, slots=True)
class _Table:
    title: str
    head: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """Options of ``radcal check``."""

    config: ConfigArgument
    values: bool = flag("--values", "Show unmapped values that may be names; not for a ticket.")
    output: Output


def register(app: typer.Typer) -> None:
    """Add this group's command."""
    app.command("check")(taking(check))


def check(given: Given) -> None:
    """Rehearse a run on its sources' first rows: key, files, columns, unmapped values, time.

    Nothing is written, and nothing shown names anybody, unless --values asks for it. Exit code 2:
    a run would be refused. 3: it would set rows aside.
    """
    from pipeline.run.rehearsal import rehearse
    from pipeline.site.site import Site

    found = rehearse(Site.open(str(given.config.resolve())), values=given.values)
    tables = list(_tables(found))
    counts = {"faults": found.faults, "set_aside": found.set_aside}
    given.output.show({**plain(found), **counts}, _lines(tables))
    if found.faults or found.set_aside:
        raise typer.Exit(ConfigurationError.exit_code if found.faults else EXIT_QUARANTINED)


def _tables(found: Rehearsal) -> Iterator[_Table]:
    states = [(each.state, each.subject, each.told) for each in found.findings]
    yield _Table("Before anything is read", ("", "what", "found"), states)
    for source in found.sources:
        yield _source(source)
    if found.unmapped:
        rows = [(each.value, f"{each.count:,}", each.line) for each in found.unmapped]
        yield _Table("Set aside, or in no map", ("met", "rows", "what to add or ask for"), rows)
    if found.minutes is not None:
        told = (
            f"about {max(1, round(found.minutes)):,} min for a first run, by the rates of "
            "docs/scaling.md; later runs cost their new exams. A language model's time comes on top"
        )
        yield _Table("Time", ("",), [(told,)])


def _source(source: SourceSeen) -> _Table:
    from pipeline.formats.tables import shown_names

    share = "all" if source.whole else f"the first of about {source.rows_in_all:,}"
    aside = ", ".join(f"{reason} {n:,}" for reason, n in source.set_aside.items()) or "none"
    also = ", ".join(f"{reason} {n:,}" for reason, n in source.also_fail.items())
    aside += f"\n  of these also: {also}" if also else ""
    kept = "; ".join(
        f"{name} " + ", ".join(f"{value} {n:,}" for value, n in counts.items())
        for name, counts in source.kept_as.items()
    )
    beside = f"\n  not read: {shown_names(source.unread)}" * bool(source.unread)
    title = (
        f"{source.name} ({source.format}): {source.rows:,} rows read, {share}\n"
        f"  set aside: {aside}\n  kept as: {kept or 'nothing'}{beside}"
    )
    rows = [(c.name, c.place, f"{c.filled:,}", *c.first) for c in source.columns]
    width = max((len(row) for row in rows), default=3)
    head = ("ours", "read from", "filled", "first rows, their shape", "", "")[:width]
    return _Table(title, head, [row + ("",) * (width - len(row)) for row in rows])


def _lines(tables: Sequence[_Table]) -> Iterator[str]:
    for table in tables:
        yield table.title
        body = [table.head, *table.rows] if any(table.head) else list(table.rows)
        widths = [max(len(row[i]) for row in body) for i in range(len(table.head) - 1)]
        for row in body:
            cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
            yield "  " + "  ".join([*cells, row[-1]]).rstrip().replace("\n", "\n" + " " * 10)
        yield ""
