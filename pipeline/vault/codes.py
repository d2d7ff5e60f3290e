"""Codes and the identifiers behind them, as pure functions.

Codes are random letters and digits, without those that are confused in reading (0 O, 1 I L, U V).
An identifier is normalised before it is looked up, so that spelling variants share a code.
"""

from __future__ import annotations

import secrets
import unicodedata
from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

import pandas as pd

from pipeline.errors import InputError

Domain: TypeAlias = Literal["patient", "study", "reader", "exam", "site"]
DOMAINS: Final[Mapping[Domain, str]] = {
    "patient": "P", "study": "S", "reader": "R", "exam": "E", "site": "T",
}  # fmt: skip
"""Domain → first letter of its codes."""

_ALPHABET: Final = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
_CODE_LENGTH: Final = {"patient": 10, "study": 12, "reader": 6, "exam": 12, "site": 4}
_OF: Final = "\N{SYMBOL FOR UNIT SEPARATOR}"
"""Separates an issuer from the number it issued; no source writes it."""


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


def issued(identifier: str) -> tuple[str, str]:
    """Give who issued a patient's number, '' where that is not told, and the number."""
    issuer, _, number = identifier.rpartition(_OF)
    return issuer, number


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


def readable(identifier: str) -> str:
    """Give the number as the source has it, without its issuer.

    Examples
    --------
    >>> patient = pd.DataFrame({"patient_id": ["7"], "patient_domain": ["NORTH"]})
    >>> readable(patient_identifiers(patient)[0])
    '7'
    """
    return issued(identifier)[1]


def random_code(domain: Domain) -> str:
    """Make a code."""
    letters = (secrets.choice(_ALPHABET) for _ in range(_CODE_LENGTH[domain]))
    return DOMAINS[domain] + "-" + "".join(letters)
