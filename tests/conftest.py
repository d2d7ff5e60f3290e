"""Every test process is searched for garbage seldom.

What is imported and collected is kept: searching that again and again was a third of collecting.
"""

from __future__ import annotations

import gc

gc.set_threshold(50_000)
