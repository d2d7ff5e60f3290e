"""``radcal calibrate``: any table of (phrase, label) → one JSON of results per group."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
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

    from calibration.export import Plain
    from calibration.substitution import HeldOutEffect, SubstitutionMap
    from calibration.survey import PhraseTable
    from calibration.tally import GroupedTally, Tally

__all__ = ["register"]


@dataclass(frozen=True, slots=True)
class _Options:
    bins: int
    bin_rule: str
    bootstrap: int
    seed: int
    epsilon: float
    tau: float
    regulariser: str
    holdout: float | None


@dataclass(frozen=True, slots=True, eq=False)
class _Counted:
    """Observations after counting: one tally per group, and what no phrase table knows."""

    columns: tuple[str, ...]
    groups: tuple[tuple[str, ...], ...]
    tallies: GroupedTally
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
    bins: Annotated[int, typer.Option("--bins", min=1)] = 100,
    bin_rule: Annotated[
        str, typer.Option("--bin-rule", help="exact, midpoint or paper.")
    ] = "exact",
    bootstrap: Annotated[int, typer.Option("--bootstrap", min=0)] = 1000,
    seed: Annotated[int, typer.Option("--seed", min=0)] = 0,
    epsilon: Annotated[float, typer.Option("--epsilon")] = 1e-3,
    tau: Annotated[float, typer.Option("--tau")] = 1e-3,
    regulariser: Annotated[str, typer.Option("--regulariser", help="kl or entropy.")] = "kl",
    holdout: Annotated[
        str, typer.Option("--holdout", help="Share used for testing a map, or none.")
    ] = "0.5",
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Calibrate groups of (phrase, label) observations against what the phrases mean.

    Rows whose phrase the table does not know are set aside and counted in the result
    (exit code 3); a label outside 0 to 1 or missing stops the command (exit code 2).
    """
    from calibration.errors import CalibrationError
    from pipeline.formats.tables import read_table

    options = _Options(
        bins, bin_rule, bootstrap, seed, epsilon, tau, regulariser, _holdout(holdout)
    )
    try:
        table = _phrase_table(phrases)
        counted = _count(read_table(observations), table, by, weight, observations.name)
        groups = list(_with_progress(counted, table, options, quiet=quiet or as_json))
    except CalibrationError as error:
        msg = f"{observations.name}: {error}"
        raise InputError(msg) from None
    _write(out, {"phrases": list(table.phrases), **_header(table, options, counted, groups)})
    set_aside = sum(counted.unmapped.values())
    summary: dict[str, object] = {
        "groups": len(groups),
        "observations": counted.tallies.pooled().total,
        "unmapped_observations": set_aside,
        "unmapped_phrases": ", ".join(f"{p} ({n})" for p, n in counted.unmapped.items()) or "none",
        "result": str(out),
    }
    emit(summary, as_json=as_json, quiet=quiet)
    if set_aside:
        raise typer.Exit(EXIT_QUARANTINED)


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


def _count(frame: pd.DataFrame, table: PhraseTable, by: str, weight: str, source: str) -> _Counted:
    import numpy as np
    import pandas as pd

    from calibration.tally import tally_groups
    from pipeline.formats.tables import require_columns

    columns = tuple(c.strip() for c in by.split(",") if c.strip())
    needed = {"phrase": "the phrase used", "label": "the outcome, 0 to 1"}
    needed |= dict.fromkeys(columns, "named by --by")
    needed |= {weight: "named by --weight"} if weight else {}
    require_columns(frame, needed, source=source)
    if frame.empty:
        msg = f"{source}: no observations; the table has a header only."
        raise InputError(msg)
    code = pd.Index(table.phrases).get_indexer(pd.Index(frame["phrase"].astype(str).str.strip()))
    known = code >= 0
    unmapped = frame.loc[~known, "phrase"].astype(str).value_counts().to_dict()
    if not known.any():
        msg = (
            f"{source}: none of {len(frame)} phrases is in {table.name}; "
            f"it has {', '.join(table.phrases[:5])}, …"
        )
        raise InputError(msg)
    labels = _numbers(frame["label"], "label", source)
    weights = _numbers(frame[weight], weight, source)[known] if weight else None
    keys = frame[list(columns)].astype(str) if columns else pd.DataFrame(index=frame.index)
    kept = keys[known]
    if columns:
        grouped = kept.groupby(list(columns), sort=True)
        group = grouped.ngroup().to_numpy()
        names = tuple(k if isinstance(k, tuple) else (k,) for k in grouped.indices)
        names = tuple(sorted(names))
    else:
        group, names = np.zeros(int(known.sum()), dtype=np.int64), ((),)
    tallies = tally_groups(
        group,
        code[known],
        labels[known],
        n_groups=len(names),
        n_phrases=len(table),
        weight=weights,
    )
    return _Counted(columns, names, tallies, {str(k): int(v) for k, v in unmapped.items()})


def _numbers(column: pd.Series, name: str, source: str) -> np.ndarray:
    import pandas as pd

    values = pd.to_numeric(column, errors="coerce").to_numpy(dtype="float64", na_value=float("nan"))
    missing = pd.isna(values)
    if missing.any():
        first = int(missing.argmax())
        msg = (
            f"{source}: {name}: {int(missing.sum())} of {len(values)} values are missing or not "
            f"numbers; first at row {first + 1}. Drop or correct them."
        )
        raise InputError(msg)
    return values


def _with_progress(
    counted: _Counted, table: PhraseTable, options: _Options, *, quiet: bool
) -> Iterator[dict[str, Plain]]:
    from rich.console import Console
    from rich.progress import track

    indices = range(len(counted.groups))
    steps = track(
        indices, "calibrating", console=Console(stderr=True), transient=True, disable=quiet
    )
    for index in steps:
        yield _group(counted, index, table, options)


def _group(
    counted: _Counted, index: int, table: PhraseTable, options: _Options
) -> dict[str, Plain]:
    from calibration.export import advice_data, result_data
    from calibration.result import calibrate as calibrate_tally
    from calibration.substitution import GuardRails, advise

    tally, key = counted.tallies.group(index), counted.groups[index]
    rng = _generator(options.seed, key)
    result = calibrate_tally(
        tally,
        phrase_table=table,
        bins=options.bins,
        bin_rule=options.bin_rule,  # type: ignore[arg-type]
        bootstrap=options.bootstrap,
        rng=rng,
    )
    advice = advise(
        tally,
        phrase_table=table,
        guard_rails=GuardRails(),
        epsilon=options.epsilon,
        tau=options.tau,
        regulariser=options.regulariser,  # type: ignore[arg-type]
        rng=rng,
    )
    suggestions, withheld = advice_data(advice)
    group: dict[str, Plain] = dict(zip(counted.columns, key, strict=True))
    return {
        "group": group,
        **result_data(result),
        "map": _map(tally, table, options, rng),
        "advice": suggestions,
        "suppressed": withheld,
    }


def _map(
    tally: Tally, table: PhraseTable, options: _Options, rng: np.random.Generator
) -> dict[str, Plain]:
    """Fit the paper's map on its own, without the guard-rails that advice is under."""
    from calibration.bins import bin_edges, bin_tables
    from calibration.curve import calibration_error
    from calibration.export import map_data
    from calibration.scores import brier
    from calibration.substitution import held_out_effect, split_effect, transport_map
    from calibration.substitution.cost import substitution_cost

    tables = bin_tables(
        table.distributions,
        edges=bin_edges(options.bins),
        rule=options.bin_rule,  # type: ignore[arg-type]
    )

    def fit(part: Tally) -> SubstitutionMap:
        return transport_map(
            substitution_cost(part.n, part.label_mass, source=tables, target=tables),
            phrases=table.phrases,
            source_weights=part.n / part.total,
            epsilon=options.epsilon,
            tau=options.tau,
            regulariser=options.regulariser,  # type: ignore[arg-type]
        )

    fitted = fit(tally)
    held_out: HeldOutEffect | None = None
    ece_after = brier_after = float("nan")
    if fitted.converged:
        weights = fitted.weights()
        n, mass = tally.n @ weights, tally.label_mass @ weights
        ece_after = float(calibration_error(n, mass, tables=tables))
        brier_after = float(brier(n, mass, means=table.means, variances=table.variances))
    if fitted.converged and options.holdout is not None and tally.total >= 4:
        measure = partial(
            held_out_effect if options.holdout == 0.5 else split_effect,
            tally,
            fit=lambda part: fit(part).weights(),
            tables=tables,
            means=table.means,
            variances=table.variances,
            rng=rng,
        )
        held_out = measure() if options.holdout == 0.5 else measure(test_share=options.holdout)
    return map_data(fitted, ece_after=ece_after, brier_after=brier_after, held_out=held_out)


def _generator(seed: int, key: tuple[str, ...]) -> np.random.Generator:
    """Give a stream of chance that belongs to the group, whatever other groups there are."""
    import numpy as np

    digest = hashlib.sha256("\x1f".join(key).encode()).digest()
    return np.random.default_rng([seed, int.from_bytes(digest[:8], "big")])


def _header(
    table: PhraseTable, options: _Options, counted: _Counted, groups: list[dict[str, Plain]]
) -> dict[str, object]:
    from calibration.export import vector

    return {
        "phrase_source": {
            "name": table.name,
            "source": table.source,
            "mean": vector(table.means),
            "variance": vector(table.variances),
        },
        "settings": {name: getattr(options, name) for name in options.__slots__},
        "unmapped": counted.unmapped,
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
