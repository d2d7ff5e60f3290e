"""``radcal calibrate``: any table of (phrase, label) → one JSON of results per group."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pipeline.cli.common import JsonOption, QuietOption, emit
from pipeline.cli.observations import Columns, Counted, count, phrase_table
from pipeline.errors import EXIT_QUARANTINED, ConfigurationError, InputError

if TYPE_CHECKING:
    import numpy as np

    from calibration.analysis import Settings
    from calibration.plain import Plain
    from calibration.survey import PhraseTable

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add ``radcal calibrate``."""
    app.command("calibrate")(calibrate)


def calibrate(
    observations: Annotated[Path, typer.Argument(help="Table with columns phrase and label.")],
    out: Annotated[Path, typer.Option("--out", help="Result, one JSON file.")],
    phrases: Annotated[
        str, typer.Option("--phrases", help="Phrase table file, or the name of a built-in one.")
    ] = "diagnostic-certainty-scale",
    by: Annotated[str, typer.Option("--by", help="Grouping columns, comma-separated.")] = "",
    weight: Annotated[str, typer.Option("--weight", help="Column of weights.")] = "",
    patient: Annotated[
        str, typer.Option("--patient", help="Column of patients, to resample them whole.")
    ] = "",
    slider: Annotated[
        str, typer.Option("--slider", help="Column of sliders set beside the phrases, if any.")
    ] = "",
    scale: Annotated[
        float, typer.Option("--scale", min=1e-9, help="What a slider reads at certainty.")
    ] = 100.0,
    bins: Annotated[int, typer.Option("--bins", min=1)] = 100,
    bin_rule: Annotated[
        str, typer.Option("--bin-rule", help="exact, midpoint or paper.")
    ] = "exact",
    bootstrap: Annotated[int, typer.Option("--bootstrap", min=0)] = 1000,
    interval: Annotated[
        str, typer.Option("--interval", help="percentile, basic or bias-corrected.")
    ] = "percentile",
    seed: Annotated[int, typer.Option("--seed", min=0)] = 0,
    epsilon: Annotated[float, typer.Option("--epsilon")] = 1e-3,
    tau: Annotated[float, typer.Option("--tau")] = 1e-3,
    regulariser: Annotated[str, typer.Option("--regulariser", help="kl or entropy.")] = "kl",
    holdout: Annotated[
        str, typer.Option("--holdout", help="Share used for testing a map, or none.")
    ] = "0.5",
    audit: Annotated[
        Path | None,
        typer.Option(
            "--audit", help="Result of radcal audit extraction: also undo its reading mistakes."
        ),
    ] = None,
    most_groups: Annotated[
        int, typer.Option("--most-groups", min=1, help="Refuse more groups than this.")
    ] = 20_000,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Calibrate groups of (phrase, label) observations against what the phrases mean.

    Rows whose phrase the table does not know are set aside and counted in the result
    (exit code 3); a label outside 0 to 1 or missing stops the command (exit code 2).
    The result is described in docs/result-json.md.
    """
    from calibration.analysis import Settings
    from calibration.errors import CalibrationError
    from pipeline.formats.tables import read_table

    settings = Settings(
        bins=bins,
        bin_rule=bin_rule,  # type: ignore[arg-type]
        bootstrap=bootstrap,
        interval=interval,  # type: ignore[arg-type]
        epsilon=epsilon,
        tau=tau,
        regulariser=regulariser,  # type: ignore[arg-type]
        holdout=_holdout(holdout),
    )
    columns = Columns(
        _names(by), weight.strip(), patient.strip(), most_groups, slider.strip(), scale
    )
    try:
        table = phrase_table(phrases)
        counted = count(read_table(observations), table, columns, observations.name)
        groups = list(_groups(counted, columns.by, table, settings, seed, quiet=quiet or as_json))
        if audit is not None:
            _correct(groups, counted, table, settings, seed, audit)
    except CalibrationError as error:
        msg = f"{observations.name}: {error}"
        raise InputError(msg) from None
    _write(out, _document(table, settings, seed, counted.unmapped, groups))
    set_aside = sum(counted.unmapped.values())
    names = ", ".join(f"{phrase} ({n})" for phrase, n in counted.unmapped.items())
    summary: dict[str, object] = {
        "groups": len(groups),
        "observations": counted.tallies.pooled().total,
        "unmapped_observations": set_aside,
        "unmapped_phrases": names or "none",
        "result": str(out),
    }
    emit(summary, as_json=as_json, quiet=quiet)
    if set_aside:
        raise typer.Exit(EXIT_QUARANTINED)


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _holdout(text: str) -> float | None:
    if text.strip().lower() == "none":
        return None
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0.0 < share < 1.0:
        msg = f"--holdout {text}: give the share to test on, between 0 and 1, or none."
        raise ConfigurationError(msg)
    return share


def _groups(
    counted: Counted,
    by: tuple[str, ...],
    table: PhraseTable,
    settings: Settings,
    seed: int,
    *,
    quiet: bool,
) -> Iterator[dict[str, Plain]]:
    from rich.console import Console
    from rich.progress import track

    from calibration.analysis import analyse
    from calibration.plain import plain_fields

    steps = track(
        range(len(counted.groups)),
        "calibrating",
        console=Console(stderr=True),
        transient=True,
        disable=quiet,
    )
    for index in steps:
        key = counted.groups[index]
        analysis = analyse(
            counted.tallies.group(index),
            phrase_table=table,
            settings=settings,
            patients=counted.patients_of(index),
            rng=_generator(seed, key),
        )
        group: dict[str, Plain] = dict(zip(by, key, strict=True))
        beside = {"slider": counted.sliders.of(index, table)} if counted.sliders else {}
        yield {"group": group, **plain_fields(analysis), **beside}


def _correct(
    groups: list[dict[str, Plain]],
    counted: Counted,
    table: PhraseTable,
    settings: Settings,
    seed: int,
    path: Path,
) -> None:
    """Put each group's errors without the mistakes of an audit beside those it has."""
    from pipeline.cli.calibrate_audit import corrected_data, phrase_audit

    audit = phrase_audit(path, table)
    for index, group in enumerate(groups):
        group["extraction_corrected"] = corrected_data(
            counted.tallies.group(index),
            audit=audit,
            table=table,
            settings=settings,
            rng=_generator(seed, ("extraction", *counted.groups[index])),
        )


def _generator(seed: int, key: tuple[str, ...]) -> np.random.Generator:
    """Give a stream of chance that belongs to the group, whatever other groups there are."""
    import numpy as np

    digest = hashlib.sha256("\x1f".join(key).encode()).digest()
    return np.random.default_rng([seed, int.from_bytes(digest[:8], "big")])


def _document(
    table: PhraseTable,
    settings: Settings,
    seed: int,
    unmapped: Mapping[str, int],
    groups: list[dict[str, Plain]],
) -> dict[str, object]:
    from calibration.plain import plain

    named = [name for name in settings.__slots__ if name != "guard_rails"]
    return {
        "phrases": list(table.phrases),
        "phrase_source": {
            "name": table.name,
            "source": table.source,
            "mean": plain(table.means),
            "variance": plain(table.variances),
        },
        "settings": {**{name: getattr(settings, name) for name in named}, "seed": seed},
        "unmapped": dict(unmapped),
        "groups": groups,
    }


def _write(path: Path, content: dict[str, object]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        partial.write_text(json.dumps(content, allow_nan=False), encoding="utf-8")
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
