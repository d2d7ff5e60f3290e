"""The outlook on the next run (`radcal status`): what it would make, stage by stage, and why.

It compares the present ingredients with those of the last manifest, and makes nothing: it computes
keys as a run would and looks whether results lie under them. Where a stage has work to do, the keys
of later stages cannot be known yet; they are reported as stale because of that stage.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from pipeline.run.books import LastRun, last_run
from pipeline.run.manifest import KEYED
from pipeline.site.site import Finding, Site, finding
from pipeline.stages import (
    Keyed,
    Look,
    Named,
    clean,
    deliver,
    extract,
    ingest,
    issue,
    pages,
    pair,
    register,
    tally,
)  # fmt: skip
from pipeline.store.files import typed

Ingredients = Mapping[str, Named]
"""Kind of stage → its ingredients."""
_NAMED: Final = 4
"""Most changed ingredients that are named; of others the number is given."""


@dataclass(frozen=True, slots=True)
class StageState:
    """Outlook on one stage: `to_make` of its `items` are missing; None where not known yet."""

    stage: str
    state: Literal["up to date", "stale", "never run", "failed"]
    items: int | None
    to_make: int | None
    why: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Outlook:
    """What the next run would make, and the last month of its issue; None where not known yet.

    ``refused`` says why nothing would be delivered, as far as that can be known now.
    """

    stages: tuple[StageState, ...]
    next_period: str | None
    refused: str = ""


def outlook(site: Site) -> Outlook:
    """Look whether the results that the next run needs are there, stage by stage."""
    last = last_run(site.workspace.root) or LastRun()
    before = _ingredients_of(site.workspace.root, last.last_run)
    looks, states, behind = _looks(site, last), list[StageState](), ""
    period, refused = "", _fault(finding("delivery", lambda: deliver.ready(site)))
    for stage in KEYED:
        changed = _changed(site, stage, before)
        if behind:
            seen, why = None, (f"{behind} has work to do", *changed)
        else:
            seen = next(looks)
            if stage is pages.FEEDBACK:
                period, refused = seen.found[0], refused or seen.found[1]
            behind = stage.kind if seen.to_make else ""
            why = changed or ((seen.why,) if seen.why else ())
        states.append(_state(stage, seen, why, known=bool(before)))
    return Outlook(tuple(_with_failure(state, last) for state in states), period or None, refused)


def _looks(site: Site, last: LastRun) -> Iterator[Look[Any]]:
    """Follow the recipe of `pipeline.flows` by looking; stop asking at a stage with work to do."""
    yield (sources := ingest.INGEST.look(site, ingest.sources(site)))
    yield (coded := clean.CLEAN.look(site, register.shards(site, sources.found)))
    yield (paired := pair.PAIR.look(site, pair.blocks(site, coded.found)))
    yield (read := extract.EXTRACT.look(site, extract.shards(paired.found)))
    yield (tallied := tally.TALLY.look(site, tally.blocks(paired.found, read.found)))
    drawn = pages.look(site, (last.last_issue, last.last_tallies), tallied.found)
    wanted = finding(
        "issue", lambda: issue.request(site, paired.found, tallied.found, None).period.name
    )
    fault = _fault(wanted)
    yield Look(drawn.items, drawn.to_make, ("" if fault else wanted.told, fault), drawn.why)


def _fault(found: Finding) -> str:
    return found.told if found.state == "fault" else ""


def _ingredients_of(root: Path, run: str | None) -> Ingredients:
    """Read what a run's stages depended on; empty where its manifest is gone or damaged."""
    try:
        content = (root / "runs" / str(run) / "manifest.json").read_bytes()
        return typed(dict[str, Named], json.loads(content)["ingredients"])
    except (OSError, ValueError, LookupError, TypeError):
        return {}


def _state(
    stage: Keyed[Any, Any], seen: Look[Any] | None, why: tuple[str, ...], *, known: bool
) -> StageState:
    if seen is not None and not seen.to_make:
        return StageState(stage.kind, "up to date", seen.items, 0)
    items, to_make = (None, None) if seen is None else (seen.items, seen.to_make)
    return StageState(stage.kind, "stale" if known else "never run", items, to_make, why)


def _changed(site: Site, stage: Keyed[Any, Any], before: Ingredients) -> tuple[str, ...]:
    """Name the ingredients of a stage that are not as they were in the last run."""
    then = before.get(stage.kind)
    if then is None:
        return ()
    now = stage.ingredients(site)
    names = [name for name in sorted({*then, *now}) if then.get(name) != now.get(name)]
    told = tuple(_change(name, then.get(name), now.get(name)) for name in names[:_NAMED])
    more = len(names) - _NAMED
    return (*told, f"and {more} more") if more > 0 else told


def _change(name: str, then: str | None, now: str | None) -> str:
    if name.startswith("code of ") or "." not in name:
        return f"{name} changed"
    return f"{name}: {then} → {now}"


def _with_failure(state: StageState, last: LastRun) -> StageState:
    """Mark the stage in which the last run failed."""
    if last.error is None or not last.stages or last.stages[-1].ended:
        return state
    if last.stages[-1].stage != state.stage:
        return state
    why = (f"last run: {last.error.message}", *state.why)
    return StageState(state.stage, "failed", state.items, state.to_make, why)
