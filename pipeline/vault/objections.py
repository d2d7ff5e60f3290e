"""Who asked to be left out: the site's list of patients (all their exams) and readers (X-rays).

A listed patient's exams get no code and are not cleaned, under whichever of the patient's numbers
they are; `pipeline.vault.upkeep.purge` deletes what was kept of them before. A listed reader's
X-rays are not judged either, but the CTs that they read still answer their colleagues' X-rays.
Of a former reader nothing is left out: only no page is drawn for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pipeline.config.basis import digest_of
from pipeline.formats.readers import ReaderRules
from pipeline.formats.tables import named, read_table, refuse
from pipeline.store.files import typed
from pipeline.vault.codes import normalised, patient_identifier, patient_identifiers, readable
from pipeline.vault.merges import all_numbers

if TYPE_CHECKING:
    from pipeline.store.workspace import Workspace

SAID_OF: Final = ("patient_id", "patient_domain", "reader_id", "modality", "source_digest")
"""Columns of a raw exam that tell whether it is one of theirs, and which."""
_OPTION: Final = "input.left_out"
_COLUMNS: Final = {
    "who": "patient, reader or former",
    "id": "the number, or the reader's id, as exported",
}
_KINDS: Final = ("patient", "reader", "former")


@dataclass(frozen=True, slots=True)
class Objections:
    """Folded numbers of patients, with who gave them where the list says so, and readers' ids.

    ``former`` are readers who left, and object to nothing.
    """

    patients: frozenset[str] = frozenset()
    readers: frozenset[str] = frozenset()
    former: frozenset[str] = frozenset()

    def __len__(self) -> int:
        """Count the entries of the list."""
        return len(self.patients | self.readers | self.former)

    @classmethod
    def of(
        cls, path: Path | None, rules: ReaderRules, encoding: str = "UTF-8", *, shared: bool = False
    ) -> Objections:
        """Read the list, if there is one; ``authority`` is who gave a patient's number.

        Parameters
        ----------
        shared
            Whether all sources share one numbering of patients: then nobody's number tells who
            gave it, and neither does the list's.

        Raises
        ------
        InputError
            If it cannot be read, lacks a column, or has a row of another kind or without an id.
        """
        if path is None:
            return cls()
        with named(_OPTION):
            table = read_table(path, _COLUMNS, encoding).fillna("").astype("str")
            who, ids = table["who"].str.strip().str.casefold(), table["id"].str.strip()
            wrong = ~who.isin(_KINDS) | (ids == "")
            refuse(wrong, path.name, "rows name neither patient nor reader")
        told = "authority" in table and not shared
        givers = table["authority"].str.strip() if told else ids.str[:0]
        patients = map(patient_identifier, ids[who == "patient"], givers[who == "patient"])
        readers = (frozenset(rules.meant(ids[who == kind])) for kind in _KINDS[1:])
        return cls(frozenset(map(normalised, patients)), *readers)

    def of_patients(self, exams: pd.DataFrame, stands: Mapping[str, str]) -> NDArray[np.bool_]:
        """Tell whose exams are a listed patient's, also under a number that is the patient's too.

        Parameters
        ----------
        exams
            ``patient_id`` and ``patient_domain``, as exported.
        stands
            Folded identifier of a patient → the identifier that stands for the same.
        """
        if not self.patients:
            return np.zeros(len(exams), dtype=np.bool_)
        gone, own = self.joined(stands), map(normalised, patient_identifiers(exams))
        found = (each in gone or self._is_listed(each) for each in own)
        return np.fromiter(found, dtype=np.bool_, count=len(exams))

    def joined(self, stands: Mapping[str, str]) -> frozenset[str]:
        """Give every merged number that is a listed patient's, folded; no exam need bear it."""
        listed = (one for one in all_numbers(stands).values() if any(map(self._is_listed, one)))
        return frozenset(number for one in listed for number in one)

    def apply(self, exams: pd.DataFrame, stands: Mapping[str, str]) -> NDArray[np.bool_]:
        """Tell which exams are left out; with a reader's, only X-rays."""
        own = exams["reader_id"].isin(self.readers) & (exams["modality"] == "XR")
        return self.of_patients(exams, stands) | own.to_numpy(dtype=np.bool_)

    def met(self, exams: pd.DataFrame, stands: Mapping[str, str]) -> frozenset[str]:
        """Give the entries of the list that stand in exams, or for a patient who does."""
        each, same = frozenset(map(normalised, patient_identifiers(exams))), all_numbers(stands)
        each = each.union(*(one for one in same.values() if one & each))
        numbers = {number for one in each for number in (one, readable(one))}
        readers = (self.readers | self.former) & frozenset(exams["reader_id"])
        return (self.patients & numbers) | readers

    def _is_listed(self, patient: str) -> bool:
        return patient in self.patients or readable(patient) in self.patients


NOBODY: Final = Objections()


def marks(exams: pd.DataFrame) -> list[str]:
    """Hash each exam: what is kept once it is deleted on request, so that it is still counted."""
    return [digest_of(each) for each in exams["source_digest"]]


@dataclass(frozen=True, slots=True)
class Traces:
    """What is kept of deleted exams: `marks` of those left out on request, a count of others."""

    on_request: tuple[str, ...] = ()
    past_retention: int = 0

    @classmethod
    def of(cls, store: Workspace, shard: str) -> Traces:
        """Read what is kept of a raw shard's exams that went."""
        kept: Any = store.facts("raw", "exams", shard, object)
        return typed(cls, kept) if isinstance(kept, dict) else cls(tuple(kept or ()))
