"""Tables about the run itself: instrument quality, counts, gates, manifest."""

from __future__ import annotations

from reports.content import Gate, Instrument
from reports.drawing.tables import Column, Row, Table
from reports.numbers import BLANK, count, percent, percent_interval
from reports.strings import Strings

__all__ = ["count_table", "gate_table", "instrument_table", "manifest_table"]


def instrument_table(instrument: Instrument, *, words: Strings) -> Table:
    """Audited shares with their intervals; what is not audited says so."""
    columns = (
        Column(words("instrument.what"), 2.4, wraps=True),
        Column(words("instrument.value"), 1.3, "right"),
        Column(words("instrument.interval"), 1.2, "right"),
        Column(words("instrument.n"), 0.8, "right"),
        Column(words("instrument.note"), 2.6, wraps=True),
    )
    rows = []
    for f in instrument.figures:
        if f.estimate is None:
            cells = (f.name, words("state.not_audited"), BLANK, BLANK, f.note)
            rows.append(Row(cells, quiet=True))
            continue
        e = f.estimate
        size = count(e.n)
        rows.append(Row((f.name, percent(e.value), percent_interval(e.low, e.high), size, f.note)))
    return Table(columns, tuple(rows), empty=words("state.not_audited"), id="instrument")


def count_table(instrument: Instrument, *, words: Strings) -> Table:
    """Plain counts of what could not be used."""
    columns = (
        Column(words("instrument.counts"), 4.0, wraps=True),
        Column(words("instrument.count"), 1.0, "right"),
    )
    rows = tuple(Row((name, count(n))) for name, n in instrument.counts)
    return Table(columns, rows, empty=words("state.none"), id="counts")


def gate_table(gates: tuple[Gate, ...], *, words: Strings) -> Table:
    """Every check; those that did not pass are bold and in capitals."""
    columns = (
        Column(words("gates.name"), 2.2, wraps=True),
        Column(words("gates.state"), 1.4, wraps=True),
        Column(words("gates.required"), 1.5, wraps=True),
        Column(words("gates.found"), 1.5, wraps=True),
        Column(words("gates.note"), 2.4, wraps=True),
    )
    states = {True: "passed", False: "failed", None: "unknown"}
    rows = tuple(
        Row(
            (g.name, words(f"gates.{states[g.passed]}"), g.required, g.found, g.note),
            strong=g.passed is not True,
        )
        for g in gates
    )
    return Table(columns, rows, empty=words("state.none"), id="gates")


def manifest_table(manifest: tuple[tuple[str, str], ...], *, words: Strings) -> Table:
    """Key and value."""
    columns = (
        Column(words("manifest.key"), 1.0, wraps=True),
        Column(words("manifest.value"), 2.6, wraps=True),
    )
    return Table(columns, tuple(Row((k, v)) for k, v in manifest), id="manifest")
