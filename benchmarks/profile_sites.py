"""What figures of the whole hide: `python benchmarks/profile_sites.py [--departments 10]`.

**Sites**: every reader works at two sites. Departments of `benchmarks/departments/` are drawn; each
site has its own mix of findings; at one every word comes true by half of ``apart`` more in log
odds, at the other by as much less (an ``apart`` of 0: alike), and ``share`` of a reader's exams are
at the first. ``--unnamed`` leaves the sites' names out, as where exports have none. Printed: of
patterns told, how many are false of all exams and of one site; readers of whom nothing is to be
changed and who are clearly off at a site; how many are told that their sites differ, and that what
is said holds at each; swaps of all findings that are nearer over all, and at each site.

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
from benchmarks.departments.staff import Staff, draw_staff, meanings, scale
from benchmarks.departments.truth import ReaderTruth, false_of, truths_of
from calibration.profile import ReaderProfile, profile

SITES = ("A", "B")
MIX = 0.4
"""How far, in log rate, sites differ in how often a finding is stated."""
TINY = 1e-12


def at_sites(
    staff: Staff, apart: float, share: float, rng: np.random.Generator
) -> tuple[pd.DataFrame, list[tuple[ReaderTruth, ...]], tuple[ReaderTruth, ...]]:
    """Draw the exams of two sites; give them, the truth of each site, and that of all exams."""
    sign = rng.choice([-1.0, 1.0])
    frames, each, weights = [], [], []
    for site, way, part in zip(SITES, (sign, -sign), (share, 1.0 - share), strict=True):
        readers = tuple(replace(r, exams=max(round(r.exams * part), 1)) for r in staff.readers)
        chance = np.asarray(expit(logit(staff.practice.chance) + way * apart / 2.0))
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
    mention, chances = np.sum(weights, axis=0), np.array([here.practice.chance for here in each])
    over = np.einsum("sf,srfk->rfk", np.array(weights) / (mention + TINY), chances)
    over = np.where(mention[:, None] > 0.0, over, 0.5)
    every = replace(staff, practice=replace(staff.practice, mention=mention))
    of_each = [truths_of(here, c) for here, c in zip(each, chances, strict=True)]
    return pd.concat(frames), of_each, truths_of(every, over)


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
            gains = [_nearer(swap.phrase, swap.instead, t) for t in (over, *each)]
            yield "swap"
            yield from ["swap nearer over all"] * gains[0]
            yield from ["swap nearer at each site"] * (gains[1] and gains[2])


def _nearer(phrase: str, instead: str, truth: ReaderTruth) -> bool:
    rate = truth.rate(phrase, None)
    now, then = (meanings()[scale().index(word)] for word in (phrase, instead))
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
    parser.add_argument("--leaning", nargs="*", default=["0", "0.4"], help="CT answers that follow")
    return parser.parse_args()


if __name__ == "__main__":
    main()
