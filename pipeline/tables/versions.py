"""The versions of a report in an order that the export alone decides, and addenda read with theirs.

Versions are ordered by their time of signing, then by the source's own number of the version, by
status (preliminary, final, corrected, addendum) and by the time they were sent. Where two agree in
all of these, what they say counts: two that say the same are one, in effect; two whose words or
readers differ contradict each other, and neither is used.

A report that its sender takes back (status ``retracted``) is not used, nor any version of its
study that came before: by the time of sending where both have one, else by the time of signing.
What cannot be shown to have come later counts as before.

Row order, file names and the random codes of the vault decide nothing here. The last tie is broken
by facts and by a hash of the cleaned text, so that the choice is the same in every vault. Texts
that were equal before cleaning (by a mark under the vault's key) never contradict each other.

Some systems send an addendum with the whole report above it, others the addendum alone. Read alone,
an addendum that only names who was called would make a CT silent about everything it showed. So a
version that is an addendum is read with the versions before it, back to the last that is none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import pandas as pd

VERSION_COLUMNS: Final = ("sequence", "sent_at", "text_digest", "text_mark")
"""Beside the time of signing and the status: what orders versions, and tells their words apart."""
_RANK: Final = {"prelim": 0, "final": 1, "corrected": 2, "addendum": 3}
_STUDY: Final = ["study_code", "modality"]
"""What is one study's: a number may stand for an X-ray and a CT of one patient."""
_RETRACTED: Final = "retracted"
_ORDER: Final = ["signed_at", "sequence", "_rank", "sent_at"]
_FACTS: Final = [
    "modality", "performed_at", "is_chest", "is_adult", "age_band", "patient_class", "drafted",
    "text_digest",
]  # fmt: skip
_WORDS: Final = ("text_digest", "text_mark")
_LABELS: Final = ["reader_code", "exam_key"]
"""Random codes: they only break ties between versions that are equal in all else."""


def in_order(exams: pd.DataFrame) -> pd.DataFrame:
    """Sort report versions, earliest first; of ones alike, one that names its reader comes last."""
    ranked = _ranked(exams).assign(_named=exams["reader_code"].fillna("") != "")
    by = [*_ORDER, "_named", *_FACTS, *_LABELS]
    present = [name for name in by if name in ranked]
    return ranked.sort_values(present, kind="stable").drop(columns=["_rank", "_named"])


def in_force(exams: pd.DataFrame) -> pd.DataFrame:
    """Leave out versions that their sender took back, and the notices that did so.

    Parameters
    ----------
    exams
        ``study_code, status, signed_at, sent_at``.
    """
    gone = exams["status"] == _RETRACTED
    if not gone.any():
        return exams
    last = exams[gone].groupby("study_code")[["signed_at", "sent_at"]].max()
    study = exams["study_code"]
    signed, sent = study.map(last["signed_at"]), study.map(last["sent_at"])
    by_sending = exams["sent_at"].notna() & sent.notna()
    later = (exams["sent_at"] > sent).where(by_sending, exams["signed_at"] > signed)
    return exams[~gone & (~study.isin(last.index) | later)]


def redated(exams: pd.DataFrame) -> pd.DataFrame:
    """Date what changed a signed report and repeats its time of signing, or may do so.

    Some systems leave the time of signing unchanged in later versions, and some their status too: a
    correction, an addendum, or a report in other words than the one that was sent first is taken as
    signed when it was sent, if it was first sent after that. So is a correction or an addendum of
    which no earlier version is there, as where an export holds reports as they are now: nothing
    shows that its time is its own. Where no sending is told, nobody knows when an addendum of an
    X-ray came, or other words under the time of the report before.

    Parameters
    ----------
    exams
        ``exam_key, study_code, modality, status, signed_at, sent_at, sequence, text_mark``; a
        version sent again has a row for each time.
    """
    signed, is_signed = exams["signed_at"], exams["status"].isin((*_SIGNED, "addendum"))
    is_change = exams["status"].isin(("corrected", "addendum"))
    sent = exams["sent_at"].groupby(exams["exam_key"]).transform("min")
    study = [exams[name] for name in _STUDY]
    begun = signed.where(is_signed).groupby(study).transform("min")
    first = sent.where(is_signed).groupby([*study, signed]).transform("min")
    said = sent.where(is_signed).groupby([*study, signed, exams["text_mark"]]).transform("min")
    is_later = (sent > first) & (is_change | (said > first))
    is_late = (is_later | (is_change & (signed == begun))) & (sent > signed)
    at_once = [*study, signed]
    has_whole = (is_signed & ~is_change).astype(float).groupby(at_once).transform("max") > 0
    number = exams["sequence"].astype(float).where(is_signed)
    worded = number.groupby([*at_once, exams["text_mark"]]).transform("min")
    is_again = (is_change & has_whole) | (worded > number.groupby(at_once).transform("min"))
    is_first = (exams["status"] == "addendum") & (signed == begun)
    is_film = exams["modality"] == "XR"  # of a CT the last report counts, whenever it came
    is_untold = is_film & sent.isna() & (is_again | is_first)
    dated = signed.mask(is_late, sent).mask(is_untold)
    return exams.assign(signed_at=dated, stated_at=signed)


def contradictory(exams: pd.DataFrame) -> pd.Series:
    """Mark versions that nothing puts in an order and whose words or readers differ.

    Parameters
    ----------
    exams
        ``study_code, modality, signed_at, sequence, status, sent_at, text_digest, text_mark,
        reader_code``.
        Words differ where they did before cleaning (``text_mark``) and do after it; a reader ''
        is one that is not known, and differs from nobody.

    Returns
    -------
    pd.Series
        Booleans in the order of the rows.
    """
    ranked = _ranked(exams)
    known = ranked["reader_code"].where(ranked["reader_code"].fillna("") != "")
    ranked = ranked.assign(_reader=known)
    alike = ranked.groupby([*_STUDY, *_ORDER], dropna=False, sort=False)
    several = {name: alike[name].transform("nunique") > 1 for name in (*_WORDS, "_reader")}
    return (several["text_digest"] & several["text_mark"]) | several["_reader"]


def _ranked(exams: pd.DataFrame) -> pd.DataFrame:
    return exams.assign(_rank=exams["status"].map(_RANK))


_WORD: Final = re.compile(r"[^\W\d_]{3,}")
_SHARE: Final = 0.6
"""An addendum with this share of the report's different words holds the report itself."""
_SIGNED: Final = ("final", "corrected")
_HEADING: Final = re.compile(r"\s{0,8}addend", re.IGNORECASE)


def parts(exams: pd.DataFrame, chosen: Sequence[str]) -> pd.DataFrame:
    """Find what each chosen addendum is to be read with.

    Parameters
    ----------
    exams
        ``exam_key, study_code, modality, reader_code, status, signed_at, shard``,
        `versions.VERSION_COLUMNS`.
    chosen
        Keys of the versions that will be read.

    Returns
    -------
    pd.DataFrame
        ``exam_key, part_key, shard`` in the order of signing, the addendum itself last; nothing
        for versions that are no addendum or have no signed version before them.
    """
    columns = ["exam_key", *_STUDY, "reader_code", "status", "signed_at", "shard"]
    columns += VERSION_COLUMNS
    wanted = exams["exam_key"].isin(set(chosen)) & (exams["status"] == "addendum")
    studies = exams.loc[exams["study_code"].isin(exams.loc[wanted, "study_code"]), columns]
    signed = studies[studies["status"].isin((*_SIGNED, "addendum")) & studies["signed_at"].notna()]
    keys = set(exams.loc[wanted, "exam_key"])
    rows: list[tuple[str, str, str]] = []
    for _, versions in in_order(signed).groupby(_STUDY):
        whole: list[tuple[str, str]] = []
        for key, status, shard in versions[["exam_key", "status", "shard"]].itertuples(index=False):
            whole = [*(whole if status == "addendum" else []), (key, shard)]
            if key in keys and len(whole) > 1:
                rows += [(key, part, place) for part, place in whole]
    return pd.DataFrame(rows, columns=["exam_key", "part_key", "shard"], dtype="str")


def joined(texts: Sequence[str]) -> str:
    r"""Put a report and its addenda together; an addendum that holds the report replaces it.

    Examples
    --------
    >>> joined(["Small effusion.", "Called to the ward."])
    'Small effusion.\n\nADDENDUM:\nCalled to the ward.'
    """
    report, *addenda = texts
    for addendum in addenda:
        known = set(map(str.casefold, _WORD.findall(report)))
        kept = known & set(map(str.casefold, _WORD.findall(addendum)))
        if len(kept) >= _SHARE * len(known):
            report = addendum
        else:
            heading = "" if _HEADING.match(addendum) else "ADDENDUM:\n"
            report = f"{report}\n\n{heading}{addendum}"
    return report
