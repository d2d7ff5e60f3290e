"""An issue of the feedback: its months, the settings all its results share, and its tables.

Numbers are made by ``calibration.analysis.Study``, which ``radcal calibrate`` uses too, so the same
group has the same numbers in both.

`result_table` has one row per group and measure, `advice_table` and `swap_table` one per
suggestion.

A single case (`plainest`, `telling`) is described by its own word and CT alone, not by what it is
shown for. ``showed``: whether CT showed the finding; None where the CT's report was uncertain.
``agreed``: True where the word said what CT showed (a **good call**), False where it said the
opposite (a **miss**), None where the CT or the word took no side. For a word near even odds, one
case that turns out either way says nothing about the word.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from calibration.analysis import Settings, Study
from calibration.estimate import Estimate
from calibration.groups import GroupResults
from calibration.profile import ProfileSettings, ReaderProfile
from calibration.profile.shown import Rated
from calibration.result import GroupResult
from calibration.substitution import GuardRails
from calibration.survey import PhraseTable
from pipeline.errors import ConfigurationError

if TYPE_CHECKING:
    from pipeline.config import Configuration


@dataclass(frozen=True, slots=True)
class Period:
    """An issue of the feedback: its name, and the calendar months behind it.

    ``later`` are months with observations that were left for the next issue, and how many each has.
    """

    name: str
    months: tuple[str, ...]
    later: tuple[tuple[str, int], ...] = ()

    def __str__(self) -> str:
        return f"{self.months[0]} to {self.months[-1]}"


@dataclass(frozen=True)
class Scale:
    """The phrase table and the configuration, which all results of a run share."""

    phrases: PhraseTable
    config: Configuration

    @cached_property
    def study(self) -> Study:
        """The configured phrases, settings and seed, as every result takes them."""
        how, advice = self.config.calibration, self.config.advice
        settings = Settings(
            **how.model_dump(include={"bins", "bin_rule", "bootstrap", "interval"}),
            **advice.model_dump(include={"epsilon", "tau", "regulariser"}),
            guard_rails=self.guard_rails,
        )
        return Study(self.phrases, settings, how.seed)

    @property
    def never(self) -> frozenset[str]:
        """Phrases never advised: discouraged, reserved, or not of the scale where it holds any."""
        scale, known = self.config.phrases, frozenset(self.phrases.phrases)
        beside = known.difference(scale.recommended)
        return known & {*scale.discouraged, *scale.reserved, *(beside if beside < known else ())}

    @property
    def guard_rails(self) -> GuardRails:
        """The configured limits of advice."""
        settings = self.config.advice
        return GuardRails(
            min_n=settings.min_exams,
            max_step=settings.max_step,
            min_stability=settings.min_stability,
            keep_order=settings.keep_order,
            forbidden=frozenset((a, b) for a in self.phrases.phrases for b in self.never if a != b),
        )


_SURE: Final = 36.0
"""So many a month that half of them is no chance: three standard deviations."""
_SHORT: Final = 0.8
"""Share of the usual below which a whole month is short (docs/operations.md)."""


def short_of_usual(
    xrays: pd.Series[float], answered: pd.Series[float]
) -> tuple[tuple[str, str, int], ...]:
    """Give (what, month, per cent of the usual) of what the newest whole month is clearly short of.

    Usual is a middle one of the twelve months before, or what the same month had a year ago where
    that is less: holidays come every year. Nothing is short beside fewer than three whole months,
    nor by what chance may take (three standard deviations of a count).
    """
    month = "".join(newest_whole(list(xrays.index), xrays, xrays))
    shares = {"X-rays": _share(xrays, month), "X-rays with a CT": _share(answered, month)}
    return tuple((what, month, round(100 * at)) for what, at in shares.items() if at is not None)


def _share(counts: pd.Series[float], month: str) -> float | None:
    """Give a month's share of the usual where it is short."""
    before = counts[counts.index < month].iloc[-12:]
    whole = before.drop(list(thin_months(before)))
    if len(whole) < 3:
        return None
    usual = min(whole.median(), whole.get(str(pd.Period(month, freq="M") - 12), np.inf))
    there = counts.get(month, 0.0)
    is_short = there < _SHORT * usual and usual - there > 3 * np.sqrt(usual)
    return float(there / usual) if is_short else None


def thin_months(xrays: pd.Series[float], *, newest: int = 0) -> frozenset[str]:
    """Name the months with fewer than half the X-rays of a middle one; of two months none is.

    The middle one is of the newest so many, or of all.

    They are not whole: an export began or ended inside them, or what is found there strayed, as
    where a patient's months are stated by a calendar that goes some days ahead.
    """
    thin = xrays.index[xrays < xrays.iloc[-newest:].median() / 2] if len(xrays) > 2 else ()
    return frozenset(map(str, thin))


def newest_whole(
    available: Sequence[str], xrays: pd.Series[float], answered: pd.Series[float]
) -> list[str]:
    """Give the newest month with observations that is not thin; none where there is none at all.

    A few stray X-rays, or a month just begun, are left for the next issue, which finds them whole.
    So is a month whose CTs have not come.

    Parameters
    ----------
    xrays, answered
        Adult X-rays by month, in order, and those that a CT answered; the middle month is one of
        the newest twelve.
    """
    thin = _begun(xrays)
    if len(answered) and answered.iloc[-12:].median() >= _SURE:
        thin |= _begun(answered)
    return sorted([month for month in available if month not in thin] or available)[-1:]


def _begun(counts: pd.Series[float]) -> frozenset[str]:
    """Name the thin months, and the newest of the others if it is thin beside whole ones alone.

    In a young workspace the part of a month with which it begins lowers the middle, as does that
    with which it ends.
    """
    thin = thin_months(counts, newest=12)
    whole = counts.drop(list(thin))
    before = whole.iloc[:-1].iloc[-12:]
    is_thin = len(before) > 1 and whole.iloc[-1] < before.median() / 2
    return thin | ({str(whole.index[-1])} if is_thin else frozenset())


def month(asked: str) -> pd.Period:
    """Read a month.

    Raises
    ------
    ConfigurationError
        If it is none, or not written as 2026-09.
    """
    if not re.fullmatch(r"\d{4}-(0[1-9]|1[0-2])", asked):
        raise ConfigurationError(f"--period {asked!r}: not a month; write it as 2026-09.")
    return pd.Period(asked, freq="M")


def choose_period(available: Sequence[str], asked: str | None, *, window_months: int) -> Period:
    """Give the months behind an issue: the window that ends with the month asked for.

    Parameters
    ----------
    available
        Months with observations, ``YYYY-MM``.
    asked
        The last month of the issue; the newest available if None.

    Raises
    ------
    ConfigurationError
        If `asked` is not a month, or no month of its window has observations.
    """
    if not available:
        raise ConfigurationError("no observations at all: nothing can be calibrated.")
    end = month(asked or max(available))
    months = tuple(str(end - back) for back in reversed(range(window_months)))
    if not set(months) & set(available):
        raise ConfigurationError(
            f"--period {end}: no observations in {months[0]} to {months[-1]}; "
            f"there are some from {min(available)} to {max(available)}."
        )
    return Period(str(end), months)


_MEASURES: Final = ("ece", "ece_star", "phrase_error", "brier", "accuracy")
_NUMBERS: Final = ("n", "value", "low", "high", "reference_level")
_ALL: Final = "(all)"


def result_table(group: str, results: GroupResults) -> pd.DataFrame:
    """Give one row per group, pathology and measure; ``state`` is estimated or suppressed."""
    rows = list(_measures(group, _ALL, results.overall))
    for pathology, result in results.by_pathology.items():
        rows.extend(_measures(group, pathology, result))
    return pd.DataFrame(rows)


def advice_table(group: str, results: GroupResults) -> pd.DataFrame:
    """Give one row per suggestion or suppressed suggestion, with its reason."""
    rows: list[dict[str, object]] = []
    for pathology, advice in results.advice.items():
        shared = {"reader_code": group, "pathology": pathology or _ALL}
        for s in advice.suggestions:
            names = (each.name for each in dataclasses.fields(s) if each.name != "effect")
            told = {name: getattr(s, name) for name in names}
            rows.append({**shared, "state": "suggested", **told})
        for w in advice.suppressed:
            facts = {"source": w.source, "target": w.target or "", "reason": w.reason}
            rows.append({**shared, "state": "suppressed", **facts})
    return pd.DataFrame(rows, columns=None if rows else ["reader_code", "pathology", "state"])


def swap_table(profile: ReaderProfile | None, reader: str) -> pd.DataFrame:
    """Give one row per swap advised to a reader, in the columns of `advice_table`."""
    rows = [
        {
            "reader_code": reader, "pathology": swap.finding or _ALL, "state": "suggested",
            "source": swap.phrase, "target": swap.instead, "n": swap.n,
            "observed": swap.rate.value, "low": swap.rate.low, "high": swap.rate.high,
            "expected": swap.meaning, "target_expected": swap.instead_meaning,
            "probability": swap.probability,
        }
        for swap in (profile.advice if profile else ())
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=None if rows else ["reader_code", "pathology", "state"])


def _measures(
    group: str, pathology: str, result: GroupResult | None
) -> Iterator[dict[str, object]]:
    for measure in _MEASURES:
        row: dict[str, object] = {
            "reader_code": group, "pathology": pathology, "measure": measure,
            "state": "suppressed", **dict.fromkeys(_NUMBERS),
        }  # fmt: skip
        if result is not None:
            found: Estimate = getattr(result, measure)
            row |= {"state": "estimated", **{name: getattr(found, name) for name in _NUMBERS}}
        yield row


_GOOD, _POOR = 0.25, 0.5
_PLAIN, _CLEAR = 0.25, 0.45
"""What a word means, or a CT label, nearer to ½ than this takes no side, as "possibly" does not."""
_OF_EACH: Final = 4
_CERTAIN: Final = ProfileSettings().certain
_TELLING, _MOST = 3, 5


def plainest(observations: pd.DataFrame, phrases: PhraseTable) -> pd.DataFrame:
    """Choose the plainest misses and as many plain good calls, hedges first; ties by study code.

    The distance between the phrase's mean and the CT's label orders them. Of certainties only
    misses are worth a look, of "absent" and of "present" as many.
    """
    means = dict(zip(phrases.phrases, phrases.means, strict=True))
    meaning = observations["phrase"].map(means).astype(np.float64)
    rows = _named(observations, meaning).assign(
        _meaning=meaning, _gap=(meaning - observations["label"]).abs()
    )
    rows = rows.sort_values(["_gap", "pair_id", "pathology"], kind="stable")
    apart, together = (rows["agreed"].map(lambda a, side=side: a is side) for side in (False, True))
    missed = rows[apart & (rows["_gap"] >= _POOR)][::-1]
    good = rows[together & (rows["_gap"] <= _GOOD)]
    each = (
        _hedged(missed),
        missed[missed["_meaning"] < _CERTAIN],
        missed[missed["_meaning"] > 1.0 - _CERTAIN],
        _hedged(good),
    )
    return pd.concat([part.head(_OF_EACH) for part in each])[[*observations, "agreed", "showed"]]


def _hedged(rows: pd.DataFrame) -> pd.DataFrame:
    """Leave out the certainties, as a profile calls them."""
    return rows[rows["_meaning"].between(_CERTAIN, 1.0 - _CERTAIN)]


def _named(observations: pd.DataFrame, meaning: float | pd.Series[float]) -> pd.DataFrame:
    """Name every case by what its CT showed, and by whether its word said so."""
    word = np.asarray(meaning, dtype=np.float64) - 0.5
    label = observations["label"].to_numpy(dtype=np.float64) - 0.5
    plain = np.abs(label) >= _CLEAR
    told = plain & (np.abs(word) >= _PLAIN)
    agreed = np.where(told, np.sign(label) == np.sign(word), None)
    showed = np.where(plain, np.sign(label) == 1.0, None)
    each = {"agreed": agreed, "showed": showed}
    named = {name: pd.Series(of, observations.index, dtype=object) for name, of in each.items()}
    return observations.assign(**named)


def _exams_first(rows: pd.DataFrame) -> pd.DataFrame:
    again = rows["pair_id"].duplicated()
    return pd.concat([rows[~again], rows[again]])


def telling(observations: pd.DataFrame, rated: Rated) -> pd.DataFrame:
    """Choose up to five cases of a word that is spoken of, those that bear out what is said first.

    Of a word that CT bears out more often than it says, they are those whose CT showed the finding
    (label ≥ ½); less often, those whose CT did not. What a case is called does not depend on it.
    Two statements of one exam are no two cases: a second one comes after all other exams.
    """
    mine = observations["phrase"] == rated.phrase
    if rated.finding:
        mine &= observations["pathology"] == rated.finding
    rows = _named(observations[mine], rated.meaning)
    rows = rows.sort_values(["pair_id", "pathology"], kind="stable")
    up = rated.rate.value > rated.meaning
    rows = rows.assign(_toward=rows["label"] if up else 1.0 - rows["label"])
    rows = rows.sort_values("_toward", ascending=False, kind="stable")
    speaks = rows["_toward"] >= 0.5
    others = _exams_first(rows[~speaks][::-1])
    first = _exams_first(rows[speaks]).head(max(_TELLING, _MOST - len(others)))
    return pd.concat([first, others.head(_MOST - len(first))]).drop(columns="_toward")
