"""What the next run would do, and why: every stage up to date, stale, never run or failed.

Nothing is made: keys are computed as a run would and looked for. A stage behind one that has work
to do cannot be looked into before that is done; it is stale because that stage is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal

from pipeline.run.books import LastRun, last_run
from pipeline.run.manifest import KEYED, Ingredients, ingredients_of
from pipeline.site.site import Site
from pipeline.stage import Keyed, Look
from pipeline.stages import clean, extract, ingest, pages, pair, tally

__all__ = ["StageState", "outlook"]

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


def outlook(site: Site) -> tuple[StageState, ...]:
    """Look for everything the next run needs, stage by stage."""
    last = last_run(site.workspace.root) or LastRun()
    before = ingredients_of(site.workspace.root, last.last_run)
    looks, states, behind = _looks(site, last), [], ""
    for stage in KEYED:
        if behind:
            why = (f"{behind} has work to do", *_changed(site, stage, before))
            states.append(
                StageState(stage.kind, "stale" if before else "never run", None, None, why)
            )
            continue
        seen = next(looks)
        states.append(_state(site, stage, seen, before))
        behind = stage.kind if seen.to_make else ""
    return tuple(_with_failure(state, last) for state in states)


def _looks(site: Site, last: LastRun) -> Iterator[Look[Any]]:
    """Follow the recipe of `pipeline.flows` by looking; whoever asks stops where work is left."""
    yield (sources := ingest.INGEST.look(site, ingest.sources(site)))
    yield (coded := clean.CLEAN.look(site, clean.shards(sources.found)))
    yield (paired := pair.PAIR.look(site, pair.blocks(site, coded.found)))
    yield (read := extract.EXTRACT.look(site, extract.shards(paired.found)))
    yield (tallied := tally.TALLY.look(site, tally.blocks(paired.found, read.found)))
    yield pages.look(site, (last.last_issue, last.last_tallies), tallied.found)


def _state(site: Site, stage: Keyed[Any, Any], seen: Look[Any], before: Ingredients) -> StageState:
    if not seen.to_make:
        return StageState(stage.kind, "up to date", seen.items, 0)
    why = _changed(site, stage, before) or ((seen.why,) if seen.why else ())
    return StageState(stage.kind, "stale" if before else "never run", seen.items, seen.to_make, why)


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
