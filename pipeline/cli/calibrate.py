"""``radcal calibrate``: any table of (phrase, label) → one JSON of results per group."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pipeline.cli.common import JsonOption, QuietOption, emit
from pipeline.errors import EXIT_QUARANTINED, ConfigurationError, InputError

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from calibration.analysis import Settings
    from calibration.arrays import FloatArray, IntArray
    from calibration.export import Plain
    from calibration.survey import PhraseTable
    from calibration.tally import GroupedTally

__all__ = ["register"]


@dataclass(frozen=True, slots=True)
class _Columns:
    """Which columns of the observations mean what, beside phrase and label."""

    by: tuple[str, ...]
    weight: str
    patient: str
    most_groups: int


@dataclass(frozen=True, slots=True, eq=False)
class _Counted:
    """Observations after counting: one tally per group, and what no phrase table knows.

    ``patients`` is one tally per (group, patient) with the group of each, if patients are known.
    """

    groups: tuple[tuple[str, ...], ...]
    tallies: GroupedTally
    patients: tuple[GroupedTally, IntArray] | None
    unmapped: dict[str, int]


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
    columns = _Columns(_names(by), weight.strip(), patient.strip(), most_groups)
    try:
        table = _phrase_table(phrases)
        counted = _count(read_table(observations), table, columns, observations.name)
        groups = list(_groups(counted, columns.by, table, settings, seed, quiet=quiet or as_json))
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


def _phrase_table(name: str) -> PhraseTable:
    from calibration.survey import BUILTIN, PhraseTable, builtin
    from pipeline.formats.tables import read_table, require_columns

    if name in BUILTIN:
        return builtin(name)
    path = Path(name)
    frame = read_table(path)
    columns = {"phrase": "the canonical phrase", "kind": "beta or atom"}
    require_columns(frame, columns, source=path.name)
    return PhraseTable.from_frame(frame, name=path.stem)


def _count(frame: pd.DataFrame, table: PhraseTable, columns: _Columns, source: str) -> _Counted:
    """Check the table and count it once, per group and, if asked, per patient in a group."""
    import pandas as pd

    from calibration.tally import tally_groups
    from pipeline.formats.tables import require_columns

    require_columns(frame, _needed(columns), source=source)
    if frame.empty:
        msg = f"{source}: no observations; the table has a header only."
        raise InputError(msg)
    spoken = frame["phrase"].astype(str).str.strip()
    code = pd.Index(table.phrases).get_indexer(pd.Index(spoken))
    known = code >= 0
    if not known.any():
        msg = (
            f"{source}: none of {len(frame)} phrases is in {table.name}; "
            f"it has {', '.join(table.phrases[:5])}, …"
        )
        raise InputError(msg)
    labels = _numbers(frame["label"], "label", source)[known]
    weights = None
    if columns.weight:
        weights = _numbers(frame[columns.weight], columns.weight, source)[known]
    group, names = _grouped(frame.loc[known], columns.by)
    if len(names) > columns.most_groups:
        msg = (
            f"{source}: --by {','.join(columns.by)} makes {len(names)} groups, more than "
            f"--most-groups {columns.most_groups}; group by fewer columns or raise the limit."
        )
        raise InputError(msg)
    count = partial(tally_groups, n_phrases=len(table), weight=weights)
    tallies = count(group, code[known], labels, n_groups=len(names))
    patients = None
    if columns.patient:
        pair, pairs = _grouped(frame.loc[known], (*columns.by, columns.patient))
        owner = _owners(group, pair, len(pairs))
        each = count(pair, code[known], labels, n_groups=len(pairs))
        patients = (each, owner)
    unmapped = spoken[~known].value_counts()
    return _Counted(names, tallies, patients, {str(k): int(v) for k, v in unmapped.items()})


def _needed(columns: _Columns) -> dict[str, str]:
    named = {"phrase": "the phrase used", "label": "the outcome, 0 to 1"}
    named |= dict.fromkeys(columns.by, "named by --by")
    named |= {columns.weight: "named by --weight"} if columns.weight else {}
    return named | ({columns.patient: "named by --patient"} if columns.patient else {})


def _grouped(
    frame: pd.DataFrame, by: tuple[str, ...]
) -> tuple[IntArray, tuple[tuple[str, ...], ...]]:
    """Group of every row and the groups' names, sorted; one nameless group without columns."""
    import numpy as np

    if not by:
        return np.zeros(len(frame), dtype=np.int64), ((),)
    keys = frame[list(by)].astype(str)
    index = keys.groupby(list(by), sort=True).ngroup().to_numpy(dtype=np.int64)
    names = sorted(set(keys.itertuples(index=False, name=None)))
    return np.asarray(index, dtype=np.int64), tuple(names)


def _owners(group: IntArray, pair: IntArray, size: int) -> IntArray:
    """Group that each (group, patient) pair belongs to."""
    import numpy as np

    owner = np.zeros(size, dtype=np.int64)
    owner[pair] = group
    return owner


def _numbers(column: pd.Series, name: str, source: str) -> FloatArray:
    import numpy as np
    import pandas as pd

    values = np.asarray(pd.to_numeric(column, errors="coerce"), dtype=np.float64)
    missing = np.isnan(values)
    if missing.any():
        msg = (
            f"{source}: {name}: {int(missing.sum())} of {len(values)} values are missing or not "
            f"numbers; first at row {int(missing.argmax()) + 1}. Drop or correct them."
        )
        raise InputError(msg)
    return values


def _groups(
    counted: _Counted,
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
    from calibration.export import analysis_data

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
            patients=_patients(counted, index),
            rng=_generator(seed, key),
        )
        group: dict[str, Plain] = dict(zip(by, key, strict=True))
        yield {"group": group, **analysis_data(analysis)}


def _patients(counted: _Counted, index: int) -> GroupedTally | None:
    """Tallies of one group's patients; pairs are sorted, so a group's are next to each other."""
    import numpy as np

    if counted.patients is None:
        return None
    pairs, owner = counted.patients
    first, last = np.searchsorted(owner, [index, index + 1])
    return pairs.slice_groups(int(first), int(last))


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
    from calibration.export import vector

    named = [name for name in settings.__slots__ if name != "guard_rails"]
    return {
        "phrases": list(table.phrases),
        "phrase_source": {
            "name": table.name,
            "source": table.source,
            "mean": vector(table.means),
            "variance": vector(table.variances),
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
