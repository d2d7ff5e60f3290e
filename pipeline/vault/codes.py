"""Pure functions behind the vault: codes, identifiers, merged numbers, date shifts, stated months.

Codes: random letters and digits, without those that are confused in reading (0 O, 1 I L, U V). An
identifier is normalised before it is looked up, so that spelling variants share a code.

Date shifts: each patient's times are shifted by a secret number of days s, from -365 to 365 and
never 0. The analysis zone holds the shifted time t + s of an exam, and beside it a month, because
pages are issued by month. Whoever has both can rule shifts out: s' fits an exam if t + s - s' lies
in the stated month, and fits a patient if it fits all of the patient's exams. One exam leaves 28 to
31 shifts; exams on several days of a month, or on both sides of its end, leave fewer. Where fewer
than `LEAST_SHIFTS` would be left, `stated_months` states other months: those of a calendar that
runs some days ahead or behind.
"""

from __future__ import annotations

import secrets
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np
import pandas as pd

from pipeline.errors import InputError
from pipeline.formats.exams import Merge
from pipeline.formats.people import Joined, Said, joined

if TYPE_CHECKING:
    from pipeline.store.workspace import Workspace

Domain: TypeAlias = Literal["patient", "study", "reader", "exam", "site"]
DOMAINS: Final[Mapping[Domain, str]] = {
    "patient": "P", "study": "S", "reader": "R", "exam": "E", "site": "T",
}  # fmt: skip
"""Domain → first letter of its codes."""

_ALPHABET: Final = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
_CODE_LENGTH: Final = {"patient": 10, "study": 12, "reader": 6, "exam": 12, "site": 4}
_OF: Final = "\N{SYMBOL FOR UNIT SEPARATOR}"
"""Separates an issuer from the number it issued; no source writes it."""
_MAX_SHIFT_DAYS: Final = 365
LEAST_SHIFTS: Final = 8
"""At least so many date shifts fit any patient's exams and their stated months."""
_LEEWAY_DAYS: Final = 15
"""Most days by which the calendar of the stated months runs ahead or behind."""
_SPANS_DAYS: Final = (0, 30, 60, 120, 240, 10**6)
"""Exams within so many days get one stated month; the first span that leaves enough is taken."""
_DAY: Final = pd.Timedelta(days=1)
_SAID: Final = ("site", "listed", "numbers", "issuers")

Room: TypeAlias = tuple[int, int]
"""(least, most): beside a shift s, the shifts s + d with least ≤ d ≤ most fit all stated months."""
# Both may be negative: where the stated months are not the true ones, d = 0 need not fit.


def normalised(identifier: str, domain: Domain = "patient") -> str:
    """Fold an identifier so that spelling variants of the same one share a code.

    A reader's keeps its case: whether it tells readers apart, ``[input.reader_ids]`` says.
    """
    composed = unicodedata.normalize("NFKC", identifier)
    return " ".join((composed if domain == "reader" else composed.casefold()).split())


def domain_of(code: str) -> Domain:
    """Tell a code's domain by its first letter.

    Raises
    ------
    InputError
        If it is no code of a vault.
    """
    for domain, letter in DOMAINS.items():
        if code.startswith(f"{letter}-"):
            return domain
    raise InputError(
        "code: not a code of this program; it begins with P- (patient), S- (study) or R- (reader)."
    )


def exam_identifiers(exams: pd.DataFrame) -> list[str]:
    """Name each version of a report for the vault, which gives it a random code.

    A version's own label may hold its time of signing, so it must not stand in the analysis zone.
    """
    columns = (exams["accession"], exams["status"], exams["source_digest"])
    return ["/".join(parts) for parts in zip(*columns, strict=True)]


def patient_identifiers(exams: pd.DataFrame) -> list[str]:
    """Name each exam's patient: the number, and where the source says so, who gave it.

    Two sites may give one number to two people. Exams that former versions of this program wrote do
    not say who gave it.
    """
    numbers = exams["patient_id"].tolist()
    issuers = exams["patient_domain"] if "patient_domain" in exams else [""] * len(numbers)
    return [patient_identifier(*each) for each in zip(numbers, issuers, strict=True)]


def patient_identifier(number: str, issuer: str) -> str:
    """Name a patient by a number and who gave it, '' where that is not to tell patients apart."""
    return f"{issuer}{_OF}{number}" if issuer else number


def study_identifiers(exams: pd.DataFrame) -> list[str]:
    """Name each exam's study: its accession number and its patient, for two may share one.

    Exams that former versions of this program wrote had their accession number alone.
    """
    if "patient_domain" not in exams:
        return list(exams["accession"])
    return list(map(study_identifier, patient_identifiers(exams), exams["accession"]))


def study_identifier(patient: str, accession: str) -> str:
    """Name a study by its patient's identifier and its accession number."""
    return f"{patient}{_OF}{accession}"


def merge_table(merges: Iterable[tuple[str, int, Merge]]) -> pd.DataFrame:
    """Give what a source says of patients' numbers as a table of the raw zone."""
    rows = [(file, row, said.site, said.listed, *map(list, zip(*said.numbers, strict=True)))
            for file, row, said in merges]  # fmt: skip
    return pd.DataFrame(rows, columns=["source", "row", *_SAID])


def said_in(merges: pd.DataFrame, *, shared: bool) -> list[Said]:
    """Give what each row of such a table says, patients named as the vault knows them."""
    found: list[Said] = []
    for site, listed, numbers, issuers in merges[list(_SAID)].itertuples(index=False):
        own = [patient_identifier(n, "" if shared else by or site)
               for n, by in zip(numbers, issuers, strict=True)]  # fmt: skip
        found.append((tuple(own), bool(listed)))
    return found


def folded(said: Said) -> Said:
    """Normalise the numbers of what was said, as they are looked up."""
    return tuple(map(normalised, said[0])), said[1]


def patients_joined(store: Workspace, *, shared: bool) -> Joined:
    """Find which numbers are one patient's by all that was ever said: exports go, exams may stay.

    A number that stands for others is given as it was written.
    """
    every = store.read("raw", "merges", store.keys("raw", "merges"), columns=_SAID)
    said = set(said_in(every, shared=shared))
    found = joined(map(folded, said))
    written = {normalised(n): n for numbers, _ in sorted(said, reverse=True) for n in numbers}
    return replace(found, stands={n: written[one] for n, one in found.stands.items()})


def all_numbers(stands: Mapping[str, str]) -> dict[str, frozenset[str]]:
    """Give all numbers of each merged patient, folded, by the one that stands for them.

    Examples
    --------
    >>> sorted(all_numbers({"a": "C", "b": "C"})["c"])
    ['a', 'b', 'c']
    """
    found: defaultdict[str, set[str]] = defaultdict(set)
    for number, one in stands.items():
        found[normalised(one)] |= {number, normalised(one)}
    return {one: frozenset(numbers) for one, numbers in found.items()}


def under_one_number(exams: pd.DataFrame, stands: Mapping[str, str]) -> pd.DataFrame:
    """Give exams under the numbers by which their patients are known.

    A number that was merged into another stays among ``other_ids``: a text may hold it.

    Parameters
    ----------
    stands
        Folded identifier of a patient → the identifier that stands for the same (`people.Joined`).
    """
    found = [stands.get(normalised(each), "") for each in patient_identifiers(exams)]
    merged = pd.Series([each != "" for each in found], index=exams.index, dtype=bool)
    if not merged.any():
        return exams
    each = [one.rpartition(_OF) for one in found]
    parts = {"patient_domain": [issuer for issuer, *_ in each], "patient_id": [n for *_, n in each]}
    now = {name: exams[name].mask(merged, pd.Series(parts[name], index=exams.index, dtype="str"))
           for name in parts if name in exams}  # fmt: skip
    if "other_ids" in exams:
        more = exams["other_ids"] + ";" + exams["patient_id"]
        now["other_ids"] = exams["other_ids"].mask(merged, more.str.strip(";"))
    return exams.assign(**now)


def readable(identifier: str) -> str:
    """Give the number as the source has it, without its issuer.

    Examples
    --------
    >>> patient = pd.DataFrame({"patient_id": ["7"], "patient_domain": ["NORTH"]})
    >>> readable(patient_identifiers(patient)[0])
    '7'
    """
    return identifier.rpartition(_OF)[2]


def random_code(domain: Domain) -> str:
    """Make a code."""
    letters = (secrets.choice(_ALPHABET) for _ in range(_CODE_LENGTH[domain]))
    return DOMAINS[domain] + "-" + "".join(letters)


def random_shift(room: Room | None = None) -> int:
    """Draw a date shift of -365 to 365 days, never 0; `LEAST_SHIFTS` or more fit in the room."""
    while True:
        days = secrets.randbelow(2 * _MAX_SHIFT_DAYS) - _MAX_SHIFT_DAYS
        days = days if days < 0 else days + 1
        if room is None or _possible(days + room[0], days + room[1]) >= LEAST_SHIFTS:
            return days


def _possible(least: int, most: int) -> int:
    """Count the possible shifts from least to most."""
    least, most = max(least, -_MAX_SHIFT_DAYS), min(most, _MAX_SHIFT_DAYS)
    return most - least + 1 - (least <= 0 <= most)


def stated_months(times: Sequence[pd.Timestamp]) -> tuple[list[str], list[bool], Room]:
    """Choose the months that are stated for a patient's exams, so that enough shifts fit them.

    The true months if they leave enough shifts; else those of a calendar that runs up to 15 days
    ahead or behind, by as few days as suffice; else exams within 30, 60, ... days of one another
    all get the month of the first of them. Only the times decide, in any order, so every vault
    states the same months.

    Parameters
    ----------
    times
        True times of all the patient's exams, UTC.

    Returns
    -------
    tuple
        Each exam's month, whether it is its own and not that of an earlier exam, and the room.

    Examples
    --------
    >>> stated_months([pd.Timestamp("2026-03-31T22:00Z"), pd.Timestamp("2026-04-01T01:00Z")])
    (['2026-04', '2026-04'], [True, True], (-29, -1))
    """
    ordered = sorted(set(times))
    found: tuple[dict[pd.Timestamp, str], set[pd.Timestamp], Room] | None = None
    for span in _SPANS_DAYS:
        heads = _heads(ordered, span)
        own = set(heads.values())
        for days in sorted(range(-_LEEWAY_DAYS, _LEEWAY_DAYS + 1), key=lambda d: (abs(d), d)):
            back, forth = _room([at - days * _DAY for at in own])
            if forth - back > LEAST_SHIFTS:
                months = {at: f"{heads[at] - days * _DAY:%Y-%m}" for at in ordered}
                found = (months, own, (days + back, days + forth))
                break
        if found:
            break
    months, own, room = found or ({}, set(), (0, 0))
    return [months[at] for at in times], [at in own for at in times], room


def _heads(ordered: Sequence[pd.Timestamp], span: int) -> dict[pd.Timestamp, pd.Timestamp]:
    """Give each time the first time of its group; a group spans less than so many days."""
    heads: dict[pd.Timestamp, pd.Timestamp] = {}
    head = ordered[0]
    for at in ordered:
        head = head if at - head < span * _DAY else at
        heads[at] = head
    return heads


def _room(times: Iterable[pd.Timestamp]) -> Room:
    """Give the `Room` under true months, by the fewest days to the end and since the start."""
    starts = [at.normalize().replace(day=1) for at in times]
    both = [(at - start, start + pd.offsets.MonthBegin(1) - at)
            for at, start in zip(times, starts, strict=True)]  # fmt: skip
    return -min(-(-rest // _DAY) - 1 for _, rest in both), min(since // _DAY for since, _ in both)


ONE_EXAM_SHIFTS: Final = 28
"""Shifts that a single exam leaves at least: the days of a February."""


def feasible_shifts(exams: pd.DataFrame) -> pd.Series:
    """Count the date shifts that fit each patient's exams.

    Parameters
    ----------
    exams
        ``patient_code, performed_at`` (shifted, UTC), ``performed_month`` (as stated, ``YYYY-MM``)
        and, where some have the month of an earlier exam, ``month_is_own``.

    Returns
    -------
    pd.Series
        Whole days, by ``patient_code``.

    Examples
    --------
    >>> exams = pd.DataFrame({"patient_code": ["A", "B", "B"]})
    >>> days = ["2026-03-10", "2026-03-01", "2026-03-31"]
    >>> exams["performed_at"] = pd.to_datetime(days, utc=True) + pd.Timedelta(days=100)
    >>> exams["performed_month"] = "2026-03"
    >>> feasible_shifts(exams).tolist()
    [31, 1]
    """
    if "month_is_own" in exams:
        exams = exams[exams["month_is_own"]]
    start = pd.to_datetime(exams["performed_month"], format="%Y-%m", utc=True)
    end = start + pd.offsets.MonthBegin(1)
    day = pd.Timedelta(days=1)
    limits = exams[["patient_code"]].assign(  # back into the month: start <= t - s < end
        least=np.floor((exams["performed_at"] - end) / day) + 1,
        most=np.floor((exams["performed_at"] - start) / day),
    )
    by_patient = limits.groupby("patient_code", sort=True)
    least = by_patient["least"].max().clip(lower=-_MAX_SHIFT_DAYS)
    most = by_patient["most"].min().clip(upper=_MAX_SHIFT_DAYS)
    none = (least <= 0) & (most >= 0)
    return (most - least + 1 - none).astype(np.int64)


def shift_summary(exams: pd.DataFrame) -> dict[str, int]:
    """Count patients by how many shifts fit their exams."""
    left, most = feasible_shifts(exams), ONE_EXAM_SHIFTS - 1
    return {
        "patients": len(left),
        f"{ONE_EXAM_SHIFTS} or more": int((left >= ONE_EXAM_SHIFTS).sum()),
        f"{LEAST_SHIFTS} to {most}": int(left.between(LEAST_SHIFTS, most).sum()),
        f"2 to {LEAST_SHIFTS - 1}": int(left.between(2, LEAST_SHIFTS - 1).sum()),
        "exactly 1": int((left == 1).sum()),
    }
