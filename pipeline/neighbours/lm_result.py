"""``radcal lm calibrate``: answers with a stated confidence → recalibrations on held-out answers.

Columns: ``correct`` (0 or 1, blank if nobody judged it) and any of ``probability``, ``phrase``,
``alpha`` with ``beta``. With a column ``form``, as ``radcal lm elicit`` writes it, each row belongs
to its form, counted in one tally; without, every column there is a form of its own. What cannot be
read is counted by reason, never repaired.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from calibration.arrays import BoolArray, FloatArray, IntArray
from calibration.bins import bin_edges
from calibration.distributions import Atom, Beta, Distribution
from calibration.estimate import Options
from calibration.neighbours.binned import scalar_bins
from calibration.neighbours.stated_confidence import compare_methods, fitted_maps
from calibration.plain import Plain, plain_fields
from calibration.result import calibrate as calibrated
from calibration.survey import PhraseTable
from calibration.tally import Tally, tally
from pipeline.cli.common import blaming, phrase_table, write_result
from pipeline.errors import InputError
from pipeline.formats.tables import numbers, read_table, refuse, require_columns, texts
from pipeline.neighbours.options import Recalibration

_FALLBACK: Final = "diagnostic-certainty-scale"


@dataclass(frozen=True, slots=True, eq=False)
class StatedAnswers:
    """Answers that state confidence in one form.

    Attributes
    ----------
    tally
        Answers per stated value; label 1 is right.
    table
        The stated values with the distributions they stand for, in the tally's order.
    between
        Whether a value may be replaced by another: phrases may, numbers are restated instead.
    set_aside
        Answers that are not in the tally, by reason.
    """

    tally: Tally
    table: PhraseTable
    between: bool
    set_aside: dict[str, int]

    @property
    def problem(self) -> str:
        """Why these answers cannot be calibrated; empty if they can."""
        if self.tally.total >= 2:
            return ""
        lost = ", ".join(f"{reason}: {n}" for reason, n in self.set_aside.items()) or "none lost"
        return f"{self.tally.total:g} judged answers with a readable confidence ({lost})"


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """The rows of one form: the table's, whether each is right (NaN unjudged), and why unread."""

    frame: pd.DataFrame
    right: FloatArray
    reason: pd.Series


def read_answers(
    frame: pd.DataFrame, *, phrases: str | None, source: str
) -> tuple[dict[str, StatedAnswers], str]:
    """Count the answers of every form; give them by the result's names, and the phrase table's.

    Raises
    ------
    InputError
        If there is no answer, no form, or ``correct`` holds anything but 0, 1 and blanks.
    """
    require_columns(frame, {"correct": "1 if the answer is right, 0 if not"}, source=source)
    rows = _by_form(frame, source)
    if not rows:
        raise InputError(
            f"{source}: no answers with a column probability, phrase, or alpha and beta."
        )
    named = _table_name(frame, phrases, source)
    return {_key(form): _READERS[form](held, named) for form, held in rows.items()}, named


def _by_form(frame: pd.DataFrame, source: str) -> dict[str, _Rows]:
    right = _judged(frame["correct"], source)
    reason = _text(frame, "reason")
    if "form" not in frame.columns:
        held = {"probability": {"probability"}, "phrase": {"phrase"}, "beta": {"alpha", "beta"}}
        present = [form for form, needed in held.items() if needed <= set(frame.columns)]
        return {form: _Rows(frame, right, reason) for form in present if len(frame)}
    forms = _text(frame, "form")
    advice = f"Use one of {', '.join(_READERS)}."
    refuse(~forms.isin(list(_READERS)), f"{source}: form", "rows name no known form", advice=advice)
    chosen = {form: np.flatnonzero(forms == form) for form in _READERS}
    return {
        form: _Rows(frame.iloc[at], right[at], reason.iloc[at])
        for form, at in chosen.items()
        if at.size
    }


def _judged(column: pd.Series, source: str) -> FloatArray:
    """1, 0 or NaN per answer; a blank is an answer nobody judged, anything else an error."""
    text = texts(column)
    blank, right = (text == "").to_numpy(), numbers(text)
    fault = "values are neither 0 nor 1 nor blank"
    wrong = ~blank & ~np.isin(right, [0.0, 1.0])
    refuse(wrong, f"{source}: correct", fault, advice="Judge or blank them.")
    return np.where(blank, np.nan, right)


def _table_name(frame: pd.DataFrame, phrases: str | None, source: str) -> str:
    """Take the table asked for, else the one the answers name, else the radiologists' scale."""
    if phrases is not None:
        return phrases
    named = sorted({name for name in _text(frame, "phrases") if name})
    if len(named) > 1:
        raise InputError(
            f"{source}: phrases were chosen from {len(named)} tables; say which with --phrases."
        )
    return named[0] if named else _FALLBACK


def _probabilities(rows: _Rows, _: str) -> StatedAnswers:
    said = _number(rows.frame, "probability")
    legible = (said >= 0.0) & (said <= 1.0)
    stated = [Atom(float(value)) for value in said[legible]]
    names = [f"{value:g}" for value in said[legible]]
    return _counted(rows, legible, names, stated, name="stated probabilities")


def _betas(rows: _Rows, _: str) -> StatedAnswers:
    given, legible = _parameters(rows)
    names = [f"Beta({one.alpha:g}, {one.beta:g})" for one in given]
    return _counted(rows, legible, names, given, name="stated Betas")


def _own(rows: _Rows, _: str) -> StatedAnswers:
    """Read a model's own phrases, each with the parameters it gave it."""
    said = _text(rows.frame, "phrase")
    given, legible = _parameters(rows, (said != "").to_numpy())
    names = said[legible].tolist()
    if len(set(zip(names, given, strict=True))) > len(set(names)):
        raise InputError(
            "own-phrase: a phrase stands with several pairs of alpha and beta; calibrate the "
            "answers of one model at a time."
        )
    return _counted(rows, legible, names, given, name="the model's own phrases", between=True)


def _parameters(rows: _Rows, stated: BoolArray | bool = True) -> tuple[list[Beta], BoolArray]:
    """Betas of the rows that give two usable parameters, and which rows those are."""
    alpha, beta = _number(rows.frame, "alpha"), _number(rows.frame, "beta")
    legible = stated & np.isfinite(alpha) & np.isfinite(beta) & (alpha > 0) & (beta > 0)
    return [Beta(*pair) for pair in zip(alpha[legible], beta[legible], strict=True)], legible


def _counted(
    rows: _Rows,
    legible: BoolArray,
    names: list[str],
    stated: Sequence[Distribution],
    *,
    name: str,
    between: bool = False,
) -> StatedAnswers:
    """Tally answers whose values come with them, by increasing mean."""
    known = sorted(dict(zip(names, stated, strict=True)).items(), key=lambda pair: pair[1].mean)
    known = known or [("nothing read", Atom(0.5))]
    place = {value: k for k, (value, _) in enumerate(known)}
    code = np.full(len(legible), -1, dtype=np.int64)
    code[legible] = [place[value] for value in names]
    table = PhraseTable(
        name, tuple(place), tuple(one for _, one in known), (None,) * len(known), source=name
    )
    return _tallied(rows, code, table, between=between, lost=lambda _: "unparseable")


def _phrases(rows: _Rows, named: str) -> StatedAnswers:
    """Phrases of the table, in any case of letters; blank ones and unknown ones set aside."""
    table, spoken = phrase_table(named), _text(rows.frame, "phrase")
    code, _ = table.codes(spoken)
    said = (spoken != "").to_numpy()
    return _tallied(
        rows, code, table, between=True, lost=lambda at: "unmapped" if said[at] else "unparseable"
    )


def _tallied(
    rows: _Rows,
    code: IntArray,
    table: PhraseTable,
    *,
    between: bool,
    lost: Callable[[int], str],
) -> StatedAnswers:
    judged = ~np.isnan(rows.right)
    kept = (code >= 0) & judged
    reasons = rows.reason.tolist()
    aside: Counter[str] = Counter()
    for at in np.flatnonzero(~kept).tolist():
        aside[reasons[at] or (lost(at) if code[at] < 0 else "unjudged")] += 1
    counted = tally(code[kept], rows.right[kept], n_phrases=len(table))
    return StatedAnswers(counted, table, between, dict(sorted(aside.items())))


_READERS: Final[Mapping[str, Callable[[_Rows, str], StatedAnswers]]] = {
    "probability": _probabilities,
    "phrase": _phrases,
    "beta": _betas,
    "own-phrase": _own,
}
"""Forms as the answer table names them → how their answers are counted."""


def _key(form: str) -> str:
    """Name a form as the result does."""
    return form.replace("-", "_")


def _number(frame: pd.DataFrame, name: str) -> FloatArray:
    if name not in frame.columns:
        return np.full(len(frame), np.nan)
    return numbers(frame[name])


def _text(frame: pd.DataFrame, name: str) -> pd.Series:
    if name not in frame.columns:
        return pd.Series([""] * len(frame), dtype=object)
    return texts(frame[name])


def calibrate(given: Recalibration) -> None:
    """Compare recalibrations of every form of answers, and write the result."""
    frame = read_table(given.answers)
    content: dict[str, Plain] = {"answers": len(frame), **dict.fromkeys(map(_key, _READERS))}
    with blaming(given.answers.name):
        held, named = read_answers(frame, phrases=given.phrases, source=given.answers.name)
        problems = _problems(held, given.answers.name)
        for name in held.keys() - problems.keys():
            content[name] = _compared(held[name], given)
    chosen = {name: getattr(given, name) for name in ("bins", "splits", "bootstrap", "seed")}
    content["settings"] = {**chosen, "phrases": named}
    content["not_calibrated"] = dict(problems)
    write_result(given.out, content)
    set_aside = sum(sum(form.set_aside.values()) for form in held.values())
    summary = {
        "answers": len(frame),
        "forms": ", ".join(name for name in held if name not in problems),
        **({"not_calibrated": problems} if problems else {}),
        "set_aside": set_aside,
        "result": str(given.out),
    }
    given.output.tell(summary, set_aside=set_aside or problems)


def _problems(held: dict[str, StatedAnswers], source: str) -> dict[str, str]:
    """Say why forms cannot be calibrated; one that can is enough."""
    problems = {name: form.problem for name, form in held.items() if form.problem}
    if len(problems) == len(held):
        raise InputError(
            f"{source}: {'; '.join(f'{name}: {why}' for name, why in problems.items())}."
        )
    return problems


def _compared(form: StatedAnswers, given: Recalibration) -> dict[str, Plain]:
    counted = form.tally
    methods = compare_methods(
        counted,
        means=form.table.means,
        phrase_table=form.table if form.between else None,
        bins=given.bins,
        splits=given.splits,
        rng=np.random.default_rng(given.seed),
    )
    return plain_fields(
        {
            "n": counted.total,
            "set_aside": form.set_aside,
            "accuracy": float(counted.label_mass.sum()) / counted.total,
            "methods": methods,
            "maps": _maps(form),
            "stated": {
                "name": form.table.phrases,
                "number": form.table.means,
                "n": counted.n,
                "right": counted.label_mass,
            },
            "bins": _bins(form, given.bins),
            "distributions": _distributions(form, bootstrap=given.bootstrap, seed=given.seed),
        }
    )


def _maps(form: StatedAnswers) -> dict[str, object]:
    if not form.between:
        return {}
    fitted = fitted_maps(form.tally, phrase_table=form.table)
    return {name: m.weights() if m.converged else None for name, m in fitted.items()}


def _bins(form: StatedAnswers, bins: int) -> dict[str, object]:
    """Reliability diagram of the numbers the statements come down to."""
    counted = form.tally
    count, confidence, accuracy = scalar_bins(
        counted.n, counted.label_mass, stated=form.table.means, bins=bins
    )
    edges = bin_edges(bins)
    return {"edges": edges, "count": count, "confidence": confidence, "accuracy": accuracy}


def _distributions(form: StatedAnswers, *, bootstrap: int, seed: int) -> dict[str, object]:
    """Scores of the statements as the distributions they stand for (Eq. 4), and their curve."""
    found = calibrated(
        form.tally,
        phrase_table=form.table,
        options=Options(bootstrap=bootstrap),
        rng=np.random.default_rng(seed),
    )
    return {name: getattr(found, name) for name in ("ece", "ece_star", "brier", "curve")}
