"""How long a profile takes: `python benchmarks/profile_speed.py [small|large]`, one core.

Departments of 24 findings and 18 phrases: 30 readers with 100,000 observations (limit 5 s and
500 MiB), and 500 readers with 1,600,000 (limit 60 s). Printed: seconds, peak memory of the
process, and the share of the limit. Every department runs in a process of its own.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parents[1]))

SIZES = {"small": (30, 100_000, 5.0, 500.0), "large": (500, 1_600_000, 60.0, None)}
FINDINGS = 24


def one(name: str) -> None:
    """Draw a department and profile it."""
    import numpy as np
    import pandas as pd
    from scipy.special import expit, logit

    from calibration.profile import profile
    from calibration.survey import builtin

    readers, size, limit, memory = SIZES[name]
    table, g = builtin("diagnostic-certainty-scale"), np.random.default_rng(0)
    x = logit(np.clip(table.means, 0.01, 0.99))
    reader, finding = g.integers(0, readers, size), g.integers(0, FINDINGS, size)
    use = g.dirichlet(np.full(len(table), 1.5), size=readers)
    phrase = (use.cumsum(axis=1)[reader] < g.random((size, 1))).sum(axis=1).clip(max=len(table) - 1)
    line = g.normal(0.0, 0.3, readers)[reader] + g.normal(1.0, 0.2, readers)[reader] * x[phrase]
    quirk = g.normal(0.0, 0.2, (readers, len(table)))[reader, phrase]
    frame = pd.DataFrame(
        {
            "reader": reader.astype(str),
            "pathology": finding.astype(str),
            "phrase": np.array(table.phrases)[phrase],
            "patient": g.integers(0, size // 4, size).astype(str),
            "label": (g.random(size) < expit(line + quirk)).astype(float),
        }
    )
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
    start = time.perf_counter()
    found = profile(frame, phrases=table)
    spent = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
    told = found.diagnostics
    print(
        f"{readers} readers, {size:,} observations: {spent:.1f} s ({spent / limit:.0%} of "
        f"{limit:g} s), peak {peak:.0f} MiB"
        + (f" ({peak / memory:.0%} of {memory:g} MiB)" if memory else "")
        + f", {before:.0f} MiB before; {told.rounds} rounds, converged {told.converged}"
    )


def main() -> None:
    """Run the sizes asked for, each in a process of its own."""
    if len(sys.argv) > 2 and sys.argv[2] == "here":
        one(sys.argv[1])
        return
    for name in sys.argv[1:] or SIZES:
        subprocess.run([sys.executable, __file__, name, "here"], check=True)


if __name__ == "__main__":
    main()
