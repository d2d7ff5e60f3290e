"""Pair each chest X-ray with the CT that answers it, and account for every X-ray that has none.

An **exam** row is one version of one report; a **study** is what was performed and may have
several versions (preliminary, final, corrected, addendum); an X-ray and a CT are two, also where
one number stands for both. The forecast is the latest version
signed no later than the CT was performed, so that nothing learnt from the CT leaks back into it.
What was performed, and when, its last signed version says; where versions name several times of one
CT, a forecast must be signed before the first of them, for it may have seen any.
Versions come in the order of `pipeline.tables.versions`; where the latest ones contradict each
other, the study has no report that could be used.
Within the window the nearest CT wins and a study is used once: pairs are taken in order of their
interval, each only while both of its studies are free.

Times here may be shifted by a constant per patient; only differences are used.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

import pandas as pd

from pipeline.tables.versions import contradictory, in_force, in_order

_PLAIN: Final = ("final", "corrected")
_SIGNED: Final = (*_PLAIN, "addendum")
_SECONDS_PER_HOUR: Final = 3600.0

TAKEN_BACK: Final = "taken back by the sender, or the word that did so"
DRAFTED: Final = "by someone else"
NOT_DRAFTED: Final = "no other author named"
UNKNOWN: Final = "unknown"
"""What a column of `CASE_FACTS` says where the export says nothing."""

CASE_FACTS: Final = ("patient_class", "age_band", "patient_sex", "site_code")
"""Columns of an exam by which the pages group cases."""
RETIMED: Final = "exam of which versions name different times of performance"
_STUDY: Final = ["study_code", "modality"]
_PLACED: Final = ("first_at", "last_at", "order")

PAIR_COLUMNS: Final = (
    "xr_study_code", "ct_study_code", "xr_exam_key", "ct_exam_key", "patient_code", "reader_code",
    "interval_hours", *CASE_FACTS, "performed_month", "draft", "ct_own",
)  # fmt: skip


class Sifted(NamedTuple):
    """One step of the flow diagram: how many remained after it, how many it left out, and why.

    The steps of several blocks add up; a page draws their sum as `reports.content.FlowStep`s.
    """

    name: str
    remaining: int
    excluded: int
    reason: str


@dataclass(frozen=True, slots=True)
class PairedExams:
    """The pairs, the fate of every X-ray study, and the flow diagram they add up to.

    ``pairs`` has one row per X-ray study and its CT, and says whether the X-ray's reader signed the
    CT too (``ct_own``); ``fates`` one row per X-ray study with the
    step that left it out, or ``paired``; ``late_versions`` counts the signed versions of paired
    X-rays that came after the CT was performed, or may have, and were left out: mostly addenda;
    ``retimed`` the studies of which versions name several times of performance;
    ``contradictory`` has the versions that contradict another: ``study_code, exam_key``.
    """

    pairs: pd.DataFrame
    fates: pd.DataFrame
    flow: tuple[Sifted, ...]
    late_versions: int
    retimed: int
    contradictory: pd.DataFrame


def pair(
    exams: pd.DataFrame,
    *,
    window_hours: float = 12.0,
    ct_before_hours: float = 0.0,
    accept_preliminary: bool = False,
) -> PairedExams:
    """Pair X-ray and CT studies.

    Parameters
    ----------
    exams
        One row per report version: ``study_code, patient_code, reader_code, exam_key, modality,
        performed_at, signed_at, stated_at, status, is_chest, is_adult, performed_month,
        drafted, cues``, `CASE_FACTS` and `versions.VERSION_COLUMNS`; without ``stated_at``
        (see `versions.redated`) nothing was signed otherwise than it says.
    window_hours
        A CT counts when performed later than the X-ray by at most this many hours.
    ct_before_hours
        Also accept CTs performed up to this many hours before the X-ray.
    accept_preliminary
        Whether a preliminary read may serve where nothing was signed in time.
    """
    statuses = (*_SIGNED, "prelim") if accept_preliminary else _SIGNED
    read, exams = len(exams), in_force(exams)
    exams = exams.assign(apart=contradictory(exams))
    versions = in_order(exams)
    studies = _studies(versions)
    eligible = studies[studies["is_chest"] & studies["is_adult"]]
    candidates = _candidates(eligible, window_hours=window_hours, ct_before_hours=ct_before_hours)
    films, cts = (versions[versions["modality"] == kind] for kind in ("XR", "CT"))
    answered = _with_ct_report(_with_forecast(candidates, films, statuses), cts)
    chosen = _nearest_first(_usable(answered))
    xr = _with_signing_reader(studies[studies["modality"] == "XR"], films, chosen)
    said = films.get("stated_at", films["signed_at"])
    stated = _with_forecast(candidates, films.assign(signed_at=said), statuses)
    fates = _fates(xr, candidates, stated, answered, chosen)
    fates = fates.assign(cues=_cues(xr, films, chosen))
    own = (chosen["reader_code"] == chosen["ct_reader_code"]) & (chosen["reader_code"] != "")
    chosen = chosen.assign(draft=_drafts(chosen, films), ct_own=own)
    return PairedExams(
        pairs=chosen.loc[:, list(PAIR_COLUMNS)].reset_index(drop=True),
        fates=fates,
        flow=_flow(read, exams, studies, fates),
        late_versions=_late_versions(chosen, films),
        retimed=int((studies["first_at"] < studies["last_at"]).sum()),
        contradictory=exams.loc[exams["apart"], ["study_code", "exam_key"]],
    )


def _studies(versions: pd.DataFrame) -> pd.DataFrame:
    """Give each study its facts: those of its last signed version that says them.

    An addendum adds words, and may be sent with the time at which it was dictated: it corrects no
    fact but the time of the exam, if what it names lies before the study was first signed.
    """
    versions = versions.reset_index(drop=True)
    by, status = versions.groupby(_STUDY, sort=False), versions["status"]
    performed = by["performed_at"]
    first, last = performed.transform("min"), performed.transform("max")
    versions = versions.assign(first_at=first, last_at=last, order=by.ngroup())
    is_signed, is_plain = status.isin(_SIGNED), status.isin(_PLAIN)
    begun = versions["signed_at"].where(is_signed).groupby([versions[c] for c in _STUDY])
    is_before = versions["performed_at"] <= begun.transform("min")
    trust = is_signed.astype(int) + is_plain
    timed = trust.mask(is_signed & is_before, 2)
    known = {told: trust.where(versions[told] != UNKNOWN, -1) for told in CASE_FACTS}
    facts = [
        _last(versions, trust, "patient_code", "reader_code", "is_chest", *_PLACED),
        _last(versions, timed, "performed_at", "performed_month"),
        _last(versions, known["age_band"], "is_adult"),
        *(_last(versions, known[told], told) for told in CASE_FACTS),
    ]
    return pd.concat(facts, axis=1).sort_values("order").reset_index()


def _last(versions: pd.DataFrame, trust: pd.Series, *names: str) -> pd.DataFrame:
    """Take of each study the last of the versions that are trusted most."""
    ranked = versions.loc[trust.sort_values(kind="stable").index]
    return ranked.drop_duplicates(_STUDY, keep="last").set_index(_STUDY)[list(names)]


def _with_signing_reader(
    xr: pd.DataFrame, films: pd.DataFrame, chosen: pd.DataFrame
) -> pd.DataFrame:
    """Count an X-ray with the reader of its forecast, else with the last who signed it."""
    signed = films[films["status"].isin(_SIGNED) & (films["reader_code"].fillna("") != "")]
    last = signed.drop_duplicates("study_code", keep="last")
    named = (chosen.set_index("xr_study_code"), last.set_index("study_code"))
    reader = pd.concat([each["reader_code"] for each in named])
    reader = reader[~reader.index.duplicated()]
    known = xr["study_code"].map(reader).astype("object")  # of no reader at all: not numbers
    return xr.assign(reader_code=known.fillna(xr["reader_code"]))


def _cues(xr: pd.DataFrame, films: pd.DataFrame, chosen: pd.DataFrame) -> list[str]:
    """Give the words of certainty in each X-ray's forecast, else in its last signed version."""
    signed = films[films["status"].isin(_SIGNED)]
    version = dict(zip(signed["study_code"], signed["exam_key"], strict=True))
    version |= dict(zip(chosen["xr_study_code"], chosen["xr_exam_key"], strict=True))
    said = dict(zip(films["exam_key"], films["cues"], strict=True))
    return [said.get(version.get(code, ""), "") for code in xr["study_code"]]


def _candidates(
    studies: pd.DataFrame, *, window_hours: float, ct_before_hours: float
) -> pd.DataFrame:
    xr = studies[studies["modality"] == "XR"].rename(
        columns={"study_code": "xr_study_code", "performed_at": "xr_performed_at"}
    )
    of_ct = ["study_code", "patient_code", "performed_at", "first_at", "order"]
    ct = studies.loc[studies["modality"] == "CT", of_ct]
    ct = ct.rename(columns={"study_code": "ct_study_code", "performed_at": "ct_performed_at"})
    both = xr.drop(columns=["modality", "reader_code", "first_at"]).merge(
        ct, on="patient_code", suffixes=("", "_ct")
    )
    gap = both["ct_performed_at"] - both["xr_performed_at"]
    both["interval_hours"] = gap.dt.total_seconds() / _SECONDS_PER_HOUR
    after = (both["interval_hours"] > 0) & (both["interval_hours"] <= window_hours)
    before = (both["interval_hours"] <= 0) & (both["interval_hours"] >= -ct_before_hours)
    return both[after | (before & (ct_before_hours > 0))]


def _with_forecast(
    candidates: pd.DataFrame, films: pd.DataFrame, statuses: tuple[str, ...]
) -> pd.DataFrame:
    """Attach the latest version signed by the CT's first time (of a CT before it, its first)."""
    usable = films["status"].isin(statuses) & films["signed_at"].notna()
    versions = in_order(films[usable])
    versions = versions[["study_code", "signed_at", "exam_key", "reader_code", "apart"]]
    versions = versions.rename(
        columns={"study_code": "xr_study_code", "exam_key": "xr_exam_key", "apart": "xr_apart"}
    )
    after = candidates[candidates["interval_hours"] > 0].sort_values(
        ["first_at", "xr_study_code"], kind="stable"
    )
    latest = pd.merge_asof(
        after, versions, left_on="first_at", right_on="signed_at", by="xr_study_code"
    )
    before = candidates[candidates["interval_hours"] <= 0]
    first = before.merge(versions.drop_duplicates("xr_study_code"), on="xr_study_code", how="left")
    return pd.concat([latest, first], ignore_index=True) if len(first) else latest


def _with_ct_report(candidates: pd.DataFrame, cts: pd.DataFrame) -> pd.DataFrame:
    """Attach the latest signed version of the CT's report."""
    signed = cts[cts["status"].isin(_SIGNED)].drop_duplicates("study_code", keep="last")
    versions = signed[["study_code", "exam_key", "apart", "reader_code"]].add_prefix("ct_")
    return candidates.merge(versions, on="ct_study_code", how="left")


def _usable(answered: pd.DataFrame) -> pd.DataFrame:
    """Keep the candidates of which both reports are there, and none contradicts another."""
    reported = answered[answered["xr_exam_key"].notna() & answered["ct_exam_key"].notna()]
    apart = reported["xr_apart"].astype(bool) | reported["ct_apart"].astype(bool)
    return reported[~apart]


def _drafts(chosen: pd.DataFrame, films: pd.DataFrame) -> pd.Series:
    """Say whether someone else than the reader wrote a first version of each paired X-ray."""
    named = set(films.loc[films["drafted"].astype(bool), "study_code"])
    prelim = films.loc[films["status"] == "prelim", ["study_code", "reader_code"]]
    reader = chosen.set_index("xr_study_code")["reader_code"]
    other = prelim["reader_code"] != prelim["study_code"].map(reader)
    named |= set(prelim.loc[other, "study_code"])
    return chosen["xr_study_code"].isin(named).map({True: DRAFTED, False: NOT_DRAFTED})


def _late_versions(chosen: pd.DataFrame, films: pd.DataFrame) -> int:
    """Count versions of the paired X-rays signed after their CT was performed, or maybe so."""
    after = chosen.loc[chosen["interval_hours"] > 0, ["xr_study_code", "first_at"]]
    untold = films["signed_at"].isna() & films.get("stated_at", films["signed_at"]).notna()
    signed = films.assign(untold=untold)[films["status"].isin(_SIGNED)]
    signed = signed[["study_code", "signed_at", "untold"]]
    both = after.merge(signed, left_on="xr_study_code", right_on="study_code")
    return int((both["untold"] | (both["signed_at"] > both["first_at"])).sum())


def _nearest_first(candidates: pd.DataFrame) -> pd.DataFrame:
    """Take pairs by interval while both studies are free: rounds of mutual firsts.

    Of studies at one time the first signed goes first (`in_order`), in every vault.
    """
    left = candidates.assign(_gap=candidates["interval_hours"].abs()).sort_values(
        ["_gap", "order", "order_ct"], kind="stable"
    )
    taken = [left.iloc[:0]]
    while len(left):
        first = ~left.duplicated("xr_study_code") & ~left.duplicated("ct_study_code")
        round_ = left[first]
        taken.append(round_)
        used = left["xr_study_code"].isin(round_["xr_study_code"])
        left = left[~used & ~left["ct_study_code"].isin(round_["ct_study_code"])]
    return pd.concat(taken).sort_values("xr_study_code", kind="stable")


_STEPS: Final = (
    ("chest X-rays", "not a chest exam"),
    ("of adults", "younger than the age limit, or age unknown"),
    ("with a CT in the window", "no chest CT of the patient in the window"),
    ("signed before the CT", "no signed report before the CT was performed"),
    ("as it was signed", "changed and sent after the CT; what it changed is not in the export"),
    ("CT report signed", "the CT has no signed report"),
    ("reports of one meaning", "versions of a report contradict each other"),
    ("paired, each study once", "its CT answers a nearer X-ray"),
)
"""What remains after each step, and why the others were left out; in the order applied."""

LEFT_OUT: Final = {
    reason: " (export birth dates, or [pairing] min_age_years = 0)" if name == "of adults" else ""
    for name, reason in _STEPS
}
"""Why an X-ray is left out, and the option that would keep it, if there is one."""

INELIGIBLE: Final = tuple(reason for _, reason in _STEPS[:2])
"""Fates of X-rays outside the scope: no chest exam, no adult."""


def _fates(
    xr: pd.DataFrame,
    candidates: pd.DataFrame,
    stated: pd.DataFrame,
    answered: pd.DataFrame,
    chosen: pd.DataFrame,
) -> pd.DataFrame:
    code = xr["study_code"]
    stated, signed = (each[each["xr_exam_key"].notna()] for each in (stated, answered))
    passed = (
        xr["is_chest"],
        xr["is_adult"],
        code.isin(candidates["xr_study_code"]),
        code.isin(stated["xr_study_code"]) | code.isin(signed["xr_study_code"]),
        code.isin(signed["xr_study_code"]),
        code.isin(signed.loc[signed["ct_exam_key"].notna(), "xr_study_code"]),
        code.isin(_usable(answered)["xr_study_code"]),
        code.isin(chosen["xr_study_code"]),
    )
    fate = pd.Series("paired", index=xr.index, dtype="object")
    for (_, reason), ok in reversed(list(zip(_STEPS, passed, strict=True))):
        fate = fate.where(ok, reason)
    columns = ["study_code", "reader_code", "patient_class", "age_band", "performed_month"]
    return xr[columns].assign(fate=fate).reset_index(drop=True)


def _flow(
    read: int, exams: pd.DataFrame, studies: pd.DataFrame, fates: pd.DataFrame
) -> tuple[Sifted, ...]:
    remaining = len(fates)
    steps = [
        Sifted("report versions read", read, 0, ""),
        Sifted("versions in force", len(exams), read - len(exams), TAKEN_BACK),
        Sifted("studies", len(studies), len(exams) - len(studies), "further versions of a study"),
        Sifted("X-ray studies", remaining, len(studies) - remaining, "CT studies"),
    ]
    counts = fates["fate"].value_counts()
    for name, reason in _STEPS:
        excluded = int(counts.get(reason, 0))
        remaining -= excluded
        steps.append(Sifted(name, remaining, excluded, reason))
    return tuple(steps)
