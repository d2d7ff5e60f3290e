"""What the next run would do, and why: every stage up to date, stale, never run or failed.

Nothing is made: keys are computed as a run would and looked for. A stage behind one that has work
to do cannot be looked into before that is done; it is stale because that stage is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from pipeline.errors import DamagedShardError
from pipeline.run.ingredients import KEYED, ingredients
from pipeline.run.record import last_record
from pipeline.site.site import Site
from pipeline.work import evidence, intake

__all__ = ["StageState", "plan"]

Facts = dict[str, Any]
Ingredients = Mapping[str, Mapping[str, str]]
_NAMED: Final = 4
"""So many reasons are named; the rest is counted."""


@dataclass(frozen=True, slots=True)
class StageState:
    """One stage: `to_make` of its `items` are not there; None where that cannot be known yet."""

    stage: str
    state: Literal["up to date", "stale", "never run", "failed"]
    items: int | None
    to_make: int | None
    why: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Look:
    """What was looked for and not found, and the keys of what is there."""

    items: int
    to_make: int
    keys: tuple[str, ...]
    why: tuple[str, ...] = ()


def plan(site: Site) -> tuple[StageState, ...]:
    """Look for everything the next run needs, stage by stage."""
    record = last_record(site.workspace.root) or {}
    before = _manifest(site, record).get("ingredients", {})
    states: list[StageState] = []
    looks: dict[str, _Look] = {}
    behind = ""
    for stage in KEYED:
        if behind:
            why = (f"{behind} has work to do", *_changed(site, stage, before))
            states.append(StageState(stage, "stale" if before else "never run", None, None, why))
            continue
        look = looks[stage] = _LOOKS[stage](site, looks, record)
        behind = stage if look.to_make else ""
        why = (_changed(site, stage, before) or look.why) if look.to_make else ()
        state: Literal["up to date", "stale", "never run"] = (
            "up to date" if not look.to_make else "stale" if before else "never run"
        )
        states.append(StageState(stage, state, look.items, look.to_make, why))
    return tuple(_with_failure(state, record) for state in states)


def _ingest(site: Site, _looks: Mapping[str, _Look], _record: Facts) -> _Look:
    if site.config.input.format == "sql":
        return _Look(1, 1, (), ("the database is asked anew by every run",))
    shards: list[str] = []
    missing = 0
    sources = site.sources()
    for path in sources:
        try:
            _, found = intake.source_key(site, intake.source_content(site, path))
        except DamagedShardError:
            found = None
        missing += found is None
        shards += found["shards"] if found else []
    return _Look(len(sources), missing, tuple(shards), _count(missing, "source", len(sources)))


def _deidentify(site: Site, looks: Mapping[str, _Look], _record: Facts) -> _Look:
    keys = tuple(intake.clean_key(site, shard) for shard in looks["ingest"].keys)
    return _tables(site, keys, ("clean_exams", "withheld"))


def _pair(site: Site, looks: Mapping[str, _Look], _record: Facts) -> _Look:
    keys = evidence.block_keys(site, looks["de-identify"].keys)
    missing = sum(not _is_paired(site, key) for key in keys)
    return _Look(len(keys), missing, tuple(keys), ("other exams than before",) if missing else ())


def _extract(site: Site, looks: Mapping[str, _Look], _record: Facts) -> _Look:
    pairs = looks["pair"].keys
    paired = [site.workspace.facts("analysis", "pairs", key) for key in pairs]
    shards = evidence.shards_of(paired)
    keys = tuple(evidence.read_key(site, pairs, shard)[0] for shard in shards)
    return _tables(site, keys, evidence.READ_TABLES)


def _tally(site: Site, looks: Mapping[str, _Look], _record: Facts) -> _Look:
    reads = looks["extract"].keys
    keys = tuple(evidence.tally_key(site, block, reads) for block in looks["pair"].keys)
    return replace(
        _tables(site, keys, evidence.TALLY_TABLES),
        why=("other readings or returned sheets than before",),
    )


def _pages(site: Site, looks: Mapping[str, _Look], record: Facts) -> _Look:
    drawn = (record.get("last_issue"), record.get("last_tallies"))
    now = (site.digest_of("pages"), list(looks["tally"].keys))
    if drawn == now:
        return _Look(1, 0, ())
    why = ("other tallies than at the last issue",) if drawn[0] == now[0] else ()
    return _Look(1, 1, (), why if drawn[0] else ("no issue was delivered yet",))


_LOOKS: Final = {
    "ingest": _ingest,
    "de-identify": _deidentify,
    "pair": _pair,
    "extract": _extract,
    "tally": _tally,
    "pages": _pages,
}


def _is_paired(site: Site, key: str) -> bool:
    try:
        return evidence.is_paired(site.workspace, key)
    except DamagedShardError:
        return False


def _tables(site: Site, keys: Sequence[str], names: Sequence[str]) -> _Look:
    missing = sum(not site.workspace.complete("analysis", key, *names) for key in keys)
    return _Look(len(keys), missing, tuple(keys), _count(missing, "shard", len(keys)))


def _count(missing: int, what: str, total: int) -> tuple[str, ...]:
    return (f"{missing:,} of {total:,} {what}s are new or changed",) if missing else ()


def _manifest(site: Site, record: Facts) -> Facts:
    """Read the manifest of the last run that wrote one; {} where it is gone or damaged."""
    path = site.workspace.root / "runs" / str(record.get("last_run")) / "manifest.json"
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _changed(site: Site, stage: str, before: Ingredients) -> tuple[str, ...]:
    """Name the ingredients of a stage that are not as they were in the last run."""
    then = before.get(stage)
    if then is None:
        return ()
    now = ingredients(site, stage)
    names = [name for name in sorted({*then, *now}) if then.get(name) != now.get(name)]
    told = tuple(_change(name, then.get(name), now.get(name)) for name in names[:_NAMED])
    more = len(names) - _NAMED
    return (*told, f"and {more} more") if more > 0 else told


def _change(name: str, then: str | None, now: str | None) -> str:
    if name.startswith("code of ") or "." not in name:
        return f"{name} changed"
    return f"{name}: {then} → {now}"


def _with_failure(state: StageState, record: Facts) -> StageState:
    """Mark the stage in which the last run failed."""
    error = record.get("error")
    stages = record.get("stages") or [{}]
    if not error or stages[-1].get("ended", True) or stages[-1]["stage"] != state.stage:
        return state
    why = (f"last run: {error['message']}", *state.why)
    return StageState(state.stage, "failed", state.items, state.to_make, why)
