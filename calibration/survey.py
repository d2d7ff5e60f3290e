"""Phrase tables: the phrases of a vocabulary, in order, each with its distribution.

Built-in tables live in ``surveys/`` as one CSV of measured numbers beside one TOML that says where
they come from; the digest in the TOML must match the CSV, or loading refuses.
"""

from __future__ import annotations

import csv
import hashlib
import tomllib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib import resources
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from calibration.arrays import BoolArray, FloatArray, IntArray
from calibration.distributions import (
    Atom,
    Beta,
    Distribution,
    fit_moments,
    moments_of_ranges,
)
from calibration.errors import SurveyError

BUILTIN = ("diagnostic-certainty-scale", "probability-words", "language-model-phrases")
"""Names accepted by :func:`builtin`."""
CERTAIN = 0.01
"""A phrase that means less than this, or more than 1 minus this, is no hedge, on any page."""


def certain(means: FloatArray) -> BoolArray:
    """Whether phrases are no hedges, by what they mean."""
    return np.asarray((means < CERTAIN) | (means > 1.0 - CERTAIN))


@dataclass(frozen=True, slots=True)
class PhraseTable:
    """Phrases in order, each with the distribution of the confidence it expresses.

    Attributes
    ----------
    name
        Name of the table, printed with every result.
    phrases
        Canonical phrases, K of them, without repeats.
    distributions
        One per phrase.
    respondents
        People asked about each phrase; None where it was not surveyed (atoms, assigned phrases).
    borrowed
        Phrase → surveyed phrase whose distribution it uses, so that a page can say so.
    source
        Where the numbers come from, in one line.
    """

    name: str
    phrases: tuple[str, ...]
    distributions: tuple[Distribution, ...]
    respondents: tuple[int | None, ...]
    borrowed: Mapping[str, str] = field(default_factory=dict)
    source: str = ""

    def __post_init__(self) -> None:
        if not len(self.phrases) == len(self.distributions) == len(self.respondents):
            raise SurveyError(
                f"{self.name}: {len(self.phrases)} phrases, {len(self.distributions)} "
                f"distributions and {len(self.respondents)} respondent counts must agree."
            )
        if not self.phrases:
            raise SurveyError(f"{self.name}: the phrase table is empty; give at least one phrase.")
        repeated = sorted({p for p in self.phrases if self.phrases.count(p) > 1})
        if repeated:
            raise SurveyError(f"{self.name}: phrases given more than once: {', '.join(repeated)}.")

    def __len__(self) -> int:
        return len(self.phrases)

    def index(self, phrase: str) -> int:
        """Position of a phrase.

        Raises
        ------
        SurveyError
            If the table has no such phrase.
        """
        try:
            return self.phrases.index(phrase)
        except ValueError:
            raise SurveyError(
                f"{phrase!r} is not in the phrase table {self.name!r} ({len(self)} phrases); "
                "assign it a distribution or borrow one with with_borrowed()."
            ) from None

    def codes(
        self, spoken: pd.Series, *, count: FloatArray | None = None
    ) -> tuple[IntArray, dict[str, int]]:
        """Position of every phrase spoken (N,), and how often each that the table lacks was.

        Blanks around a phrase are no part of it, nor are its capitals unless phrases of the table
        differ by them alone. Unknown ones have the position −1.

        Parameters
        ----------
        spoken
            Phrases as they were written, shape (N,).
        count
            How often each was, shape (N,); once if not given.
        """
        place, found = pd.factorize(spoken, use_na_sentinel=False)
        said = [str(phrase).strip() for phrase in found]
        exact = {phrase: k for k, phrase in enumerate(self.phrases)}
        alike = Counter(map(str.casefold, exact))
        folded = {p.casefold(): k for p, k in exact.items() if alike[p.casefold()] == 1}
        code = np.array([exact.get(s, folded.get(s.casefold(), -1)) for s in said], dtype=np.int64)
        uses = np.bincount(place, weights=count, minlength=len(said))
        unknown: dict[str, int] = {}
        for phrase, k, n in zip(said, code.tolist(), uses.tolist(), strict=True):
            if k < 0:
                unknown[phrase] = unknown.get(phrase, 0) + round(n)
        return code[place], unknown

    @property
    def means(self) -> FloatArray:
        """Mean confidence of every phrase, shape (K,)."""
        return np.array([d.mean for d in self.distributions])

    @property
    def variances(self) -> FloatArray:
        """Variance of the confidence of every phrase, shape (K,)."""
        return np.array([d.variance for d in self.distributions])

    @property
    def asked(self) -> FloatArray:
        """Respondents of every phrase, its lender's where borrowed, NaN where not surveyed."""
        told = dict(zip(self.phrases, self.respondents, strict=True))
        each = [told[self.borrowed.get(phrase, phrase)] for phrase in self.phrases]
        return np.array([np.nan if n is None or n <= 0 else n for n in each], dtype=np.float64)

    @property
    def errors(self) -> FloatArray:
        """Standard error of every mean by its respondents, 0 where it was assigned, shape (K,)."""
        return np.nan_to_num(np.sqrt(self.variances / self.asked))

    @property
    def certain(self) -> BoolArray:
        """Whether a phrase is no hedge: it means almost 0 % or 100 %, shape (K,)."""
        return certain(self.means)

    def with_borrowed(self, borrowed: Mapping[str, str]) -> PhraseTable:
        """Add phrases that use a surveyed phrase's distribution, and remember that they do.

        Parameters
        ----------
        borrowed
            New phrase → phrase of this table.
        """
        lenders = [self.index(lender) for lender in borrowed.values()]
        surveyed = {new: self.borrowed.get(old, old) for new, old in borrowed.items()}
        return replace(
            self,
            phrases=self.phrases + tuple(borrowed),
            distributions=self.distributions + tuple(self.distributions[k] for k in lenders),
            respondents=self.respondents + (None,) * len(lenders),
            borrowed=MappingProxyType({**self.borrowed, **surveyed}),
        )

    def to_frame(self) -> pd.DataFrame:
        """One row per phrase: ``phrase, kind, alpha, beta, at, mean, sd, n``."""
        rows = [
            {
                "phrase": phrase,
                "kind": _KINDS[type(d)],
                "alpha": d.alpha if isinstance(d, Beta) else np.nan,
                "beta": d.beta if isinstance(d, Beta) else np.nan,
                "at": d.at if isinstance(d, Atom) else np.nan,
                "mean": d.mean,
                "sd": float(np.sqrt(d.variance)),
                "n": n,
            }
            for phrase, d, n in zip(self.phrases, self.distributions, self.respondents, strict=True)
        ]
        frame = pd.DataFrame(rows)
        return frame.assign(n=frame["n"].astype("Int64"))

    @classmethod
    def from_frame(cls, frame: pd.DataFrame, *, name: str, source: str = "") -> PhraseTable:
        """Read the table :meth:`to_frame` writes; cells may be text, as in a CSV.

        Raises
        ------
        SurveyError
            If a row is neither a usable Beta nor a usable atom, naming every such row.
        """
        missing = {"phrase", "kind"} - set(frame.columns)
        if missing:
            raise SurveyError(f"{name}: column(s) missing: {', '.join(sorted(missing))}.")
        distributions, respondents, problems = [], [], []
        rows = frame.to_dict("records")
        for number, row in enumerate(rows, start=1):
            try:
                distributions.append(_distribution_of({str(k): v for k, v in row.items()}))
                n = row.get("n")
                respondents.append(None if _blank(n) else int(float(str(n))))
            except (KeyError, TypeError, ValueError) as error:
                problems.append(f"row {number} ({row['phrase']}): {error}")
        if problems:
            raise SurveyError(f"{name}: {len(problems)} unusable row(s): " + "; ".join(problems))
        return cls(
            name=name,
            phrases=tuple(str(row["phrase"]) for row in rows),
            distributions=tuple(distributions),
            respondents=tuple(respondents),
            source=source,
        )


def builtin(name: str) -> PhraseTable:
    """Load a phrase table that comes with the package; "absent" and "present" are in it as atoms.

    Parameters
    ----------
    name
        One of :data:`BUILTIN`.

    Raises
    ------
    SurveyError
        If there is no such table or its file is not the one the metadata describes.

    Examples
    --------
    >>> likely = builtin("diagnostic-certainty-scale")
    >>> round(float(likely.means[likely.index("likely")]), 3)
    0.774
    """
    rows, facts = builtin_source(name)
    kept = [row for row in rows if row["kind"] != "unmapped"]
    distributions, n = zip(*(_builtin_distribution(row, facts) for row in kept), strict=True)
    phrases = tuple(row["phrase"] for row in kept)
    return PhraseTable(name, phrases, distributions, n, source=str(facts["source"]))


def builtin_source(name: str) -> tuple[list[dict[str, str]], dict[str, Any]]:
    """Rows of a built-in survey as text, and its metadata."""
    if not isinstance(name, str) or name not in BUILTIN:
        raise SurveyError(f"{name!r}: no such built-in table; there are {', '.join(BUILTIN)}.")
    folder = resources.files("calibration") / "surveys"
    data = (folder / f"{name}.csv").read_bytes()
    facts = tomllib.loads((folder / f"{name}.toml").read_text("utf-8"))
    if hashlib.sha256(data).hexdigest() != facts["sha256"]:
        raise SurveyError(f"{name}.csv is not the file its metadata describes; reinstall it.")
    return list(csv.DictReader(data.decode("utf-8").splitlines())), facts


def _builtin_distribution(
    row: Mapping[str, str], facts: Mapping[str, Any]
) -> tuple[Distribution, int | None]:
    if row["kind"] != "ranges":
        n = row.get("n", "")
        return _distribution_of(row), None if _blank(n) else int(n)
    edges = np.asarray(facts["range_edges"], dtype=np.float64)
    proportions = np.array([float(row[c]) for c in facts["range_columns"]])
    mean, variance = moments_of_ranges(edges, proportions)
    respondents = round(float(proportions.sum()) * facts["respondents"])
    return fit_moments(mean, variance, phrase=row["phrase"]), respondents


_KINDS = {Atom: "atom", Beta: "beta"}


def _distribution_of(row: Mapping[str, object]) -> Distribution:
    kind = str(row["kind"]).strip().lower()
    if kind == "atom":
        return Atom(float(str(row["at"])))
    if kind == "beta":
        return Beta(float(str(row["alpha"])), float(str(row["beta"])))
    raise SurveyError(f"kind {kind!r} is not 'beta' or 'atom'")


def _blank(value: object) -> bool:
    return value is None or value is pd.NA or str(value).strip().lower() in {"", "nan", "<na>"}
