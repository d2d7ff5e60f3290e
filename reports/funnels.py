"""From calibration's funnel and false-discovery control to what the funnel plot draws.

Whether a reader is a signal is calibration's answer, from that reader's own variance. The drawn
limits are guides: they show the limits of a reader with the department's median variance per
statement, √(v/n + τ²), so that they are smooth lines instead of one step per reader.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from calibration.several_readers import Discoveries
from calibration.several_readers import Funnel as Measured
from reports.content import Funnel, FunnelPoint

__all__ = ["funnel_content"]

_Z95, _Z998 = 1.959963984540054, 3.0902323061678132
_STEPS: Final = 80


def funnel_content(
    codes: Sequence[str],
    *,
    measured: Measured,
    found: Discoveries,
    minimum_n: int,
    measure: str = "CT minus words",
) -> Funnel | None:
    """Carry a funnel to its page; None where no reader has ``minimum_n`` observations.

    Parameters
    ----------
    codes
        Reader codes in the order of ``measured``, R of them.
    measured, found
        Gaps with their standard errors, and the adjusted p-values (R,).
    minimum_n
        Readers with fewer observations are not drawn.
    measure
        What is plotted, as the axis title says it.
    """
    shown = [
        r for r in range(len(codes)) if measured.n[r] >= minimum_n and np.isfinite(measured.gap[r])
    ]
    if not shown:
        return None
    points = tuple(
        FunnelPoint(
            code=codes[r],
            n=round(float(measured.n[r])),
            value=float(measured.gap[r]),
            q_value=float(found.adjusted[r]),
            signal=bool(found.rejected[r]),
        )
        for r in sorted(shown, key=lambda r: codes[r])
    )
    per_statement = float(np.median(measured.standard_error[shown] ** 2 * measured.n[shown]))
    sizes = np.linspace(float(minimum_n), 1.05 * float(measured.n[shown].max()), _STEPS)
    spread = np.sqrt(per_statement / sizes + measured.between_variance)
    return Funnel(
        measure=measure,
        centre=0.0,
        sizes=sizes,
        low_95=-_Z95 * spread,
        high_95=_Z95 * spread,
        low_998=-_Z998 * spread,
        high_998=_Z998 * spread,
        points=points,
        overdispersion=measured.inflation,
        hypotheses=found.hypotheses,
        false_discovery_rate=found.rate,
    )
