"""Every test process is searched for garbage seldom.

What is imported and collected is kept: searching that again and again was a third of collecting.
What a property is tried on is the same in every run, and no machine is too slow for it.
"""

from __future__ import annotations

import gc

from hypothesis import HealthCheck, settings

gc.set_threshold(50_000)
settings.register_profile(
    "house", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("house")
