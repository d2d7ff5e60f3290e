"""What figures of the whole hide: `python benchmarks/profile_sites.py [--departments 10]`.

**Sites**: every reader works at two sites. Departments of `benchmarks/departments/` are drawn; each
site has its own mix of findings; at one every word comes true by half of ``apart`` more in log
odds, at the other by as much less (an ``apart`` of 0: alike), and ``share`` of a reader's exams are
at the first. ``--unnamed`` leaves the sites' names out, as where exports have none. Printed: of
patterns told, how many are false of all exams and of one site; readers of whom nothing is to be
changed and who are clearly off at a site; how many are told that their sites differ, and that what
is said holds at each; swaps of all findings that are nearer over all, and at each site.

**Mending** (``--mending``: at which share of 24 months): of readers who are off half mend there,
three in ten of those who are not and have no habit get worse, and all others are steady. Printed
with months and without: of patterns told, how many are false of the X-rays since; who is told of a
change; what is said to hold of late and does not; swaps that are nearer over all, and since.

**Leaning**: a share of CT's answers is taken from the X-ray's word. Printed: of readers of whom
nothing is to be changed, how many are clearly off in disease, and what patterns told are false.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import expit, logit

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.departments.exams import CONDITIONS, draw_statements
from benchmarks.departments.staff import Staff, draw_faulty, draw_staff, meanings, scale
from benchmarks.departments.truth import ReaderTruth, false_of, truths_of
from calibration.profile import ReaderProfile, Swap, profile
from pipeline.simulate.rates import hedged

SITES = ("A", "B")
MIX = 0.4
"""How far, in log rate, sites differ in how often a finding is stated."""
TINY = 1e-12
MONTHS, WORSE = 24, 0.3
KINDS = {
    (True, True): "mends", (False, True): "off throughout",
    (True, False): "gets worse", (False, False): "steady",
}  # fmt: skip


def at_sites(
    staff: Staff, apart: float, share: float, rng: np.random.Generator
) -> tuple[pd.DataFrame, list[tuple[ReaderTruth, ...]], tuple[ReaderTruth, ...]]:
    """Draw the exams of two sites; give them, the truth of each site, and that of all exams."""
    sign = rng.choice([-1.0, 1.0])
    each = (logit(staff.practice.chance) + way * apart / 2.0 for way in (sign, -sign))
    return in_two(staff, [np.asarray(expit(at)) for at in each], share, rng)


def in_two(
    staff: Staff, chances: list[np.ndarray], share: float, rng: np.random.Generator
) -> tuple[pd.DataFrame, list[tuple[ReaderTruth, ...]], tuple[ReaderTruth, ...]]:
    """Draw the exams of two sites where words come true at such rates (R, F, K)."""
    frames, each, weights = [], [], []
    for site, chance, part in zip(SITES, chances, (share, 1.0 - share), strict=True):
        readers = tuple(replace(r, exams=max(round(r.exams * part), 1)) for r in staff.readers)
        usual = staff.practice.mention
        mention = usual * np.exp(rng.normal(0.0, MIX, usual.size))
        mention *= min(usual.sum() / mention.sum(), 0.99 / mention.max())
        practice = replace(staff.practice, chance=chance, mention=mention)
        here = Staff(readers, staff.findings, practice)
        drawn = draw_statements(here, CONDITIONS["plain"], np.zeros(len(staff.findings)), rng)
        rows = drawn.observations(here)
        frames.append(rows.assign(site=site, patient=site + rows["patient"]))
        each.append(here)
        weights.append(part * mention)
    mention = np.sum(weights, axis=0)
    over = np.einsum("sf,srfk->rfk", np.array(weights) / (mention + TINY), np.array(chances))
    over = np.where(mention[:, None] > 0.0, over, 0.5)
    every = replace(staff, practice=replace(staff.practice, mention=mention))
    of_each = [truths_of(here, c) for here, c in zip(each, chances, strict=True)]
    return pd.concat(frames), of_each, truths_of(every, over)


def mending(
    staff: Staff, at: float, rng: np.random.Generator
) -> tuple[pd.DataFrame, list[tuple[ReaderTruth, ...]], tuple[ReaderTruth, ...], list[str]]:
    """Draw 24 months of a department of whom some change after a share of them, and who."""
    before, hedges = logit(staff.practice.chance), hedged(meanings())
    since, kinds = before.copy(), list[str]()
    for r, reader in enumerate(staff.readers):
        off = reader if reader.curve else draw_faulty(reader.exams, rng)
        changes = rng.random() < (0.5 if reader.curve else WORSE * (reader.habit is None))
        by = (-1.0 if reader.curve else 1.0) * (logit(off.declared()) - logit(meanings()))
        since[r] += np.where(hedges & changes, by, 0.0)
        kinds.append(KINDS[changes, bool(reader.curve)])
    chances = [np.asarray(expit(each)) for each in (before, since)]
    rows, each, over = in_two(staff, chances, at, rng)
    patient, code = np.unique(rows["patient"], return_inverse=True)
    first = np.char.startswith(patient.astype(str), SITES[0])
    when = np.where(first, rng.uniform(0.0, at, len(first)), rng.uniform(at, 1.0, len(first)))
    month = (when * MONTHS).astype(int)[code]
    named = [f"{2024 + each // 12}-{each % 12 + 1:02d}" for each in month.tolist()]
    return rows.drop(columns="site").assign(month=named), each, over, kinds


def of_mending(found: ReaderProfile, over: ReaderTruth, since: ReaderTruth) -> Iterator[str]:
    """Name what is so of one reader who may have changed."""
    verdict = found.pattern.verdict
    told, clear = frozenset(verdict.parts), bool(since.standing.clear())
    changed = verdict.untold in {"mended", "moved"}
    state = str(verdict.untold) if changed else verdict.state
    yield state
    yield from [f"{state}, clearly off since"] * (clear and not told)
    if told or state == "none":
        wrong = bool(told & false_of(since.standing)) if told else clear
        yield from [f"{state}, false since"] * wrong
        yield f"{state}, {verdict.lately}"
        yield from [f"{state}, {verdict.lately}, false since"] * wrong
    yield from ["asked: a pattern or a swap"] * bool(told or found.advice)
    for swap in found.advice:
        yield "swap"
        yield from ["swap nearer over all"] * _nearer(swap, over)
        yield from ["swap nearer since"] * _nearer(swap, since)


def leaning(
    staff: Staff, share: float, rng: np.random.Generator
) -> tuple[pd.DataFrame, tuple[ReaderTruth, ...]]:
    """Draw exams of which a share of CT's answers follows the X-ray's word."""
    drawn = draw_statements(staff, CONDITIONS["plain"], np.zeros(len(staff.findings)), rng)
    follows = rng.random(len(drawn.label)) < share
    word = (rng.random(len(drawn.label)) < scale().means[drawn.meant]).astype(np.float64)
    rows = replace(drawn, label=np.where(follows, word, drawn.label)).observations(staff)
    return rows, truths_of(staff, staff.practice.chance)


def of_sites(found: ReaderProfile, over: ReaderTruth, each: list[ReaderTruth]) -> Iterator[str]:
    """Name what is so of one reader."""
    verdict = found.pattern.verdict
    told, false = frozenset(verdict.parts), [frozenset(verdict.parts) & false_of(t.standing)
                                             for t in (over, *each)]  # fmt: skip
    clear = any(t.standing.clear() for t in each)
    untold = "sites" if verdict.untold == "sites" else verdict.state
    yield f"state: {untold}"
    holds = verdict.sites
    if told:
        yield "pattern"
        yield from ["pattern false of all"] * bool(false[0])
        yield from ["pattern false of a site"] * bool(false[1] or false[2])
        if holds is not None:
            yield f"pattern, {holds}"
            yield from [f"pattern, {holds}, false of a site"] * bool(false[1] or false[2])
    if verdict.state == "none":
        yield "nothing to change"
        yield f"nothing to change, {holds}"
        yield from ["nothing to change, clearly off at a site"] * clear
        yield from [f"nothing to change, {holds}, clearly off at a site"] * clear
    if over.standing.clear():
        yield "clearly off over all"
        yield from ["clearly off over all, told part of it"] * bool(told & over.standing.clear())
    for swap in found.advice:
        if swap.finding is None:
            gains = [_nearer(swap, t) for t in (over, *each)]
            yield "swap"
            yield from ["swap nearer over all"] * gains[0]
            yield from ["swap nearer at each site"] * (gains[1] and gains[2])


def _nearer(swap: Swap, truth: ReaderTruth) -> bool:
    rate = truth.rate(swap.phrase, swap.finding)
    now, then = (meanings()[scale().index(word)] for word in (swap.phrase, swap.instead))
    return bool(abs(rate - then) < abs(rate - now))


def of_leaning(found: ReaderProfile, truth: ReaderTruth) -> Iterator[str]:
    """Name what is so of one reader against disease."""
    verdict, clear = found.pattern.verdict, truth.standing.clear()
    if verdict.state == "none":
        yield "nothing to change"
        yield from ["nothing to change, clearly off in disease"] * bool(clear)
    if verdict.parts:
        yield "pattern"
        false = frozenset(verdict.parts) & false_of(truth.standing)
        yield from ["pattern false in disease"] * bool(false)
    if clear:
        yield "clearly off in disease"
        yield from ["clearly off in disease, told part"] * bool(frozenset(verdict.parts) & clear)


def main() -> None:
    """Print the counts of each world."""
    options = _options()
    worlds = [("sites", float(a), float(s)) for a in options.apart for s in options.share]
    worlds += [("mending", float(at), 0.0) for at in options.mending]
    worlds += [("leaning", float(share), 0.0) for share in options.leaning]
    for kind, amount, share in worlds:
        counts: Counter[str] = Counter()
        for number in range(options.departments):
            rng = np.random.default_rng([options.seed, number])
            staff = draw_staff(rng)
            if kind == "sites":
                rows, each, over = at_sites(staff, amount, share, rng)
                rows = rows.drop(columns="site") if options.unnamed else rows
                judged = profile(rows, phrases=scale())
                for r, found in enumerate(judged):
                    counts.update(of_sites(found, over[r], [t[r] for t in each]))
            elif kind == "mending":
                rows, each, over, does = mending(staff, amount, rng)
                for tag, given in (("with months", rows), ("without", rows.drop(columns="month"))):
                    for r, found in enumerate(profile(given, phrases=scale())):
                        named = ["readers", *of_mending(found, over[r], each[1][r])]
                        counts.update(f"{does[r]}, {tag}: {name}" for name in named)
            else:
                rows, truth = leaning(staff, amount, rng)
                judged = profile(rows, phrases=scale())
                for r, found in enumerate(judged):
                    counts.update(of_leaning(found, truth[r]))
            counts["readers"] += len(staff.readers)
        how = f"apart {amount:g}, share {share:g}" if kind == "sites" else f"{amount:g}"
        print(f"\n== {kind}, {how}: {options.departments} departments")
        for name, n in sorted(counts.items()):
            print(f"{n:6d}  {name}", flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--departments", type=int, default=10, help="of each world")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--apart", nargs="*", default=["0", "1.2"], help="log odds between sites")
    parser.add_argument("--share", nargs="*", default=["0.5"], help="exams at the first site")
    parser.add_argument("--unnamed", action="store_true", help="leave the sites' names out")
    parser.add_argument("--mending", nargs="*", default=[], help="share of the months before")
    parser.add_argument("--leaning", nargs="*", default=["0", "0.4"], help="CT answers that follow")
    return parser.parse_args()


if __name__ == "__main__":
    main()
