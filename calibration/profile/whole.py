"""What a profile says of a department, its readers and its own fit, also as plain data.

As plain data it has the shape that ``docs/profile-json.md`` describes; numbers that do not exist
are None, and the state beside them says why.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from calibration.plain import LEFT_OUT, Plain, plain, plain_fields
from calibration.profile.results import NOTHING, Coordinate, Interval, Large, ReaderProfile, Shared
from calibration.profile.settings import ProfileSettings


@dataclass(frozen=True, slots=True)
class Diagnostics:
    """Whether the fit may be believed, and what it assumed.

    Attributes
    ----------
    converged
        Newton reached its tolerance and the deviations settled; without it there is no profile.
    gradient, newton_steps, rounds
        Largest gradient at the end, 1e-9 if less; steps of the last mode; rounds of all.
    deviations
        Estimated standard deviations by name.
    same_finding, other_finding
        Correlation of two outcomes of one patient within a finding and across findings.
    patients
        Whether patients were given.
    label_dispersion
        Variance of the labels relative to hard 0/1 labels.
    unsurveyed
        Hedges whose meaning carries no survey error.
    """

    converged: bool
    gradient: float
    newton_steps: int
    rounds: int
    deviations: Mapping[str, float] = field(metadata=LEFT_OUT)
    same_finding: float
    other_finding: float
    patients: bool
    label_dispersion: float
    unsurveyed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """How far a reader's shift and slope moved since an earlier period.

    ``probability`` is that of having moved by more than the margin, on the side of ``value``.
    """

    reader: str
    shift: Coordinate
    slope: Coordinate


@dataclass(frozen=True, slots=True)
class DepartmentProfile:
    """All readers of a department judged together.

    ``unmapped`` counts statements by phrases without a meaning, which nothing uses.
    ``expected_false`` is the expected number of stated patterns that are not sound;
    ``changes`` are since an earlier period, None where none was compared; ``spread`` is the
    standard deviation of readers' shifts by the data alone (`calibration.profile.variances`).
    """

    readers: tuple[ReaderProfile, ...]
    phrases: tuple[str, ...]
    findings: tuple[str, ...]
    shift: Interval
    slope: Interval
    shared: Shared
    large: Large
    expected_false: float
    unmapped: Mapping[str, int]
    diagnostics: Diagnostics
    settings: ProfileSettings
    changes: tuple[Change, ...] | None = None
    spread: Interval = NOTHING

    def __iter__(self) -> Iterator[ReaderProfile]:
        return iter(self.readers)

    def reader(self, name: str) -> ReaderProfile:
        """One reader's profile.

        Raises
        ------
        KeyError
            If there is no such reader.
        """
        return {each.reader: each for each in self.readers}[name]


VERSION = 1
"""Of the file's shape; it rises when a field changes its meaning."""


def profile_data(found: DepartmentProfile, *, messages: Mapping[str, str]) -> dict[str, Plain]:
    """Return everything a profile holds; ``messages`` gives each reader's words."""
    return {
        "version": VERSION,
        "readers": [_reader(each, messages[each.reader]) for each in found.readers],
        "department": {
            name: plain(getattr(found, name))
            for name in ("shift", "slope", "shared", "large", "expected_false", "spread")
        }
        | {"deviations": plain(found.diagnostics.deviations)},
        "changes": plain(found.changes),
        "phrases": list(found.phrases),
        "pathologies": [name or None for name in found.findings],
        "unmapped": plain(found.unmapped),
        "diagnostics": plain(found.diagnostics),
        "settings": plain(found.settings),
    }


def _reader(each: ReaderProfile, message: str) -> dict[str, Plain]:
    data = plain_fields(each)
    data["atoms"] = {name: data.pop(name) for name in ("absent", "present")}
    pattern = {**plain_fields(each.pattern), "direction": each.pattern.direction, "at": 0.5}
    return {**data, "pattern": pattern, "message": message}
