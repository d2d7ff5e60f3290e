"""Numbers that are one patient's: what exports said of them, and exams under one of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import pandas as pd

from pipeline.formats.exams import Merge
from pipeline.formats.people import Joined, Said, joined
from pipeline.vault.codes import issued, normalised, patient_identifier, patient_identifiers

if TYPE_CHECKING:
    from pipeline.store.workspace import Workspace

SAID: Final = ("site", "listed", "numbers", "issuers")


def merge_table(merges: Iterable[tuple[str, int, Merge]]) -> pd.DataFrame:
    """Give what a source says of patients' numbers as a table of the raw zone."""
    rows = [(file, row, said.site, said.listed, *map(list, zip(*said.numbers, strict=True)))
            for file, row, said in merges]  # fmt: skip
    return pd.DataFrame(rows, columns=["source", "row", *SAID])


def said_in(merges: pd.DataFrame, *, shared: bool) -> list[Said]:
    """Give what each row of such a table says, patients named as the vault knows them."""
    found: list[Said] = []
    for site, listed, numbers, issuers in merges[list(SAID)].itertuples(index=False):
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
    every = store.read("raw", "merges", store.keys("raw", "merges"), columns=SAID)
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
    each = [issued(one) for one in found]
    parts = {"patient_domain": [issuer for issuer, _ in each], "patient_id": [n for _, n in each]}
    now = {name: exams[name].mask(merged, pd.Series(parts[name], index=exams.index, dtype="str"))
           for name in parts if name in exams}  # fmt: skip
    if "other_ids" in exams:
        more = exams["other_ids"] + ";" + exams["patient_id"]
        now["other_ids"] = exams["other_ids"].mask(merged, more.str.strip(";"))
    return exams.assign(**now)
